// A photo's card: its verdict, the classes in question with their p-values, and the way to correct it.

import { board } from "./board.js";
import { fileName, h, shortened, shownP } from "./dom.js";
import { explain } from "./why.js";

export const VERDICTS = {
  known: { label: "Known", sign: "✓" },
  unsure: { label: "Unsure", sign: "?" },
  stranger: { label: "Stranger", sign: "✕" },
  "not a photograph": { label: "Not a photograph", sign: "∅" },
  unreadable: { label: "Unreadable", sign: "!" },
  waiting: { label: "Waiting", sign: "…" },
};
const SHOWN = 3;  // candidates on a card

export function pill(verdict) {
  const { label, sign } = VERDICTS[verdict];
  return h("span", { className: `verdict ${verdict.replaceAll(" ", "-")}` }, h("span", { "aria-hidden": "true" }, sign), ` ${label}`);
}

/** Draw a card anew; `actions` are `selected`, `select(on)`, and `putInto(name)`, which asks where no name is given. */
export function drawCard(photo, actions) {
  const box = h("input", {
    type: "checkbox", checked: actions.selected, "aria-label": `Select ${photo.name}`,
    onchange: event => actions.select(event.target.checked),
  });
  photo.element.dataset.verdict = photo.verdict;
  photo.element.replaceChildren(
    h("label", { className: "picture" }, box, photo.picture),
    h("div", { className: "line" }, pill(photo.verdict), photo.decision ? known(photo) : ""),
    h("p", { className: photo.verdict === "unreadable" ? "hint" : "answer" }, answer(photo)),
    photo.scores?.enrolled.length ? h("p", { className: "hint" }, `already enrolled as ${photo.scores.enrolled.join(", ")}`) : "",
    photo.decision ? h("ul", { className: "candidates" }, candidates(photo, actions.putInto)) : "",
    h("div", { className: "line foot" }, h("span", { className: "file", title: photo.name }, shortened(fileName(photo.name), 22)),
      photo.decision ? why(photo) : ""));
}

function known(photo) {
  const title = "p-value for “of one of the classes”: a stranger's is at most the rate";
  return h("span", { className: "numbers", title }, `p ${shownP(photo.scores.known)}`);
}

function why(photo) {
  return h("button", {
    type: "button", className: "link", "aria-label": `Why? ${photo.name}`, onclick: () => explain(photo),
  }, "Why?");
}

function answer(photo) {
  if (photo.verdict === "unreadable") return photo.reason;
  if (!photo.decision) return "…";
  const { verdict, set, likeliest } = photo.decision;
  if (verdict === "known") return photo.classes[set[0]];
  if (verdict === "stranger") return "none of the classes";
  if (verdict !== "unsure") return "blank, noise or the like";
  return set.length ? `one of ${set.length} classes` : `perhaps ${photo.classes[likeliest]}`;
}

/** The classes in question with their p-values, each with a button that puts the photo there. */
function candidates(photo, putInto) {
  const { set, order, p: ps } = photo.decision;
  const rows = order.slice(0, Math.max(2, Math.min(set.length, SHOWN))).map(index => {
    const name = photo.classes[index];
    const p = ps[index];
    return h("li", { className: p > board.rate ? "could" : "rejects" }, h("span", { className: "name", title: name }, name),
      h("span", { className: "p", title: "p-value" }, shownP(p)), plus(`Put ${photo.name} into ${name}`, () => putInto(name)));
  });
  const others = set.length > SHOWN ? `and ${set.length - SHOWN} more` : "another class";
  if (board.settings.read_only && set.length <= SHOWN) return rows;
  return [...rows, h("li", { className: "rejects" }, h("span", { className: "name" }, others), h("span", {}),
    plus(`Put ${photo.name} into another class`, () => putInto()))];
}

function plus(label, run) {
  if (board.settings.read_only) return "";
  return h("button", { type: "button", className: "plus", "aria-label": label, title: label, onclick: run }, "+");
}
