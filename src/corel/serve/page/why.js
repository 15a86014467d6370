// Why: the exemplars that speak for a photo, beside it; for the likeliest class and for the runner-up.

import * as client from "./client.js";
import { attempt, dialog, fileName, h, shortened, shownP, thumbnail } from "./dom.js";

const SHOWN = 12;

export async function explain(photo) {
  const names = photo.decision.order.slice(0, 2).map(index => photo.classes[index]);
  const address = URL.createObjectURL(photo.file);
  const picture = h("img", { src: address, alt: `The photo ${photo.name}` });
  picture.addEventListener("error", () => picture.remove());
  const columns = h("div", { className: "columns" }, h("p", { role: "status" }, "Asking the exemplars…"));
  const box = dialog("Why?", h("div", { className: "why" },
    h("figure", {}, picture, h("figcaption", {}, photo.name)), columns));
  box.classList.add("wide");
  box.addEventListener("close", () => URL.revokeObjectURL(address));
  const found = await attempt(() => client.explain(photo.file, names));
  if (found) columns.replaceChildren(...found.classes.map((reasons, i) => column(reasons, ...decided(photo, i))));
  else box.close();
}

/** The role of a class, and the p-value that put it into the set or not at the rate of the slider. */
function decided({ decision: { order, likeliest, p } }, place) {
  const index = order[place];
  return [index === likeliest ? "likeliest" : place ? "runner-up" : "named by the verdict", p[index]];
}

function column(reasons, role, p) {
  const strongest = reasons.voters[0]?.share ?? 1;
  const voters = reasons.voters.slice(0, SHOWN).map(voter => {
    const meter = h("meter", { min: 0, max: strongest, value: voter.share, "aria-label": "Weight" });
    return h("li", {}, thumbnail(reasons.name, voter), meter, h("span", { className: "file", title: voter.source }, shortened(fileName(voter.source), 13)));
  });
  return h("section", {}, h("h3", {}, reasons.name),
    h("p", { className: "numbers" }, `${role}, p ${shownP(p)}`),
    h("p", {}, sentence(reasons)),
    h("ul", { className: "voters", "aria-label": `Exemplars of ${reasons.name}, the most important first` }, voters));
}

function sentence({ voters, exemplars }) {
  if (!voters.length) return `None of its ${exemplars} exemplars is like this photo.`;
  if (voters.length === exemplars && exemplars > SHOWN) return `The most important of its ${exemplars} exemplars:`;
  const rest = voters.length > SHOWN ? ` The ${SHOWN} most important:` : "";
  return `${voters.length} of its ${exemplars} exemplars speak for this photo.${rest}`;
}
