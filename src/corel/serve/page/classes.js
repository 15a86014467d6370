// Classes: a card for each, and the way to a new one.

import { board } from "./board.js";
import { keepsRate, neededFor } from "./decide.js";
import { counted, dialog, h, nameField, percent, thumbnail } from "./dom.js";
import { addTo } from "./enroll.js";
import { chooser, preview } from "./files.js";

export const id = "classes";
export const title = "Classes";

const SEARCH_FROM = 9;  // classes

export function mount(root) {
  const cards = h("ul", { className: "cards" });
  const filter = h("input", {
    type: "search", placeholder: "Find a class", "aria-label": "Find a class", oninput: () => draw(),
  });
  const count = h("p", { className: "hint", role: "status" });
  const create = h("button", { type: "button", className: "primary write", onclick: () => newClass([]) }, "New class");
  root.append(h("div", { className: "head" }, h("h1", {}, "Classes"), filter, create), count, cards);

  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const found = board.classes.filter(each => each.name.toLowerCase().includes(wanted));
    filter.hidden = board.classes.length < SEARCH_FROM;
    create.hidden = board.settings.read_only;
    const exemplars = board.classes.reduce((sum, each) => sum + each.exemplars, 0);
    count.textContent = board.classes.length
      ? `${counted(found.length, "class", "classes")}, ${counted(exemplars, "exemplar")}. A class keeps a rate once it `
        + `has enough exemplars to turn strangers away at that rate (${neededFor(board.rate)} at ${percent(board.rate)}).` : "";
    cards.replaceChildren(...(board.classes.length ? found.map(card) : [empty()]));
  }

  draw();
  const stop = board.listen(draw);
  return { leave: stop, accept: board.settings.read_only ? null : accept };
}

function accept(files, onto) {
  if (onto) addTo(onto, files);
  else newClass(files);
}

function card(each) {
  const cover = each.cover.map(hash => thumbnail(each.name, { hash, source: "" }));
  while (cover.length < 6) cover.push(h("span", { className: "blank" }));
  return h("li", { "data-class": each.name },
    h("a", { className: "card", href: `#/class/${encodeURIComponent(each.name)}` },
      h("span", { className: "collage", "aria-hidden": "true" }, cover),
      h("span", { className: "name" }, each.name),
      h("span", { className: "count" }, counted(each.exemplars, "exemplar")),
      support(each.exemplars)));
}

/** Whether a class has exemplars enough for the rate. */
export function support(exemplars) {
  const { rate } = board;
  if (keepsRate(exemplars, rate)) return h("span", { className: "tag good" }, `keeps ${percent(rate)}`);
  const missing = neededFor(rate) - exemplars;
  return h("span", { className: "tag few" }, `${missing} more for ${percent(rate)}`);
}

function empty() {
  const steps = [
    ["Name a thing", "a face, a part, a plant: anything that you can photograph."],
    ["Drop twenty photos of it", "nothing is trained, it takes seconds."],
    ["Show new photos", "each is known, unsure, or a stranger, with a rate of error that you choose."],
  ];
  const begin = board.settings.read_only ? null
    : h("button", { type: "button", className: "primary", onclick: () => newClass([]) }, "Make the first class");
  return h("li", { className: "empty" }, h("h2", {}, "Nothing is enrolled yet"),
    h("ol", {}, steps.map(([what, why]) => h("li", {}, h("b", {}, what), h("span", {}, why)))), begin);
}

/** Ask for a name and photos, then enroll. */
export function newClass(given) {
  let files = [...given];
  const name = nameField("new-name", given.folder ?? "");
  const strip = h("ul", { className: "strip" });
  const hint = h("p", { className: "hint", role: "status" });
  const go = h("button", { type: "submit", className: "primary" }, "Enroll");
  const zone = h("div", { className: "zone" }, h("p", {}, "Drop or paste photos here, or"), chooser(add));
  const names = h("datalist", { id: "known-names" }, board.classes.map(each => h("option", { value: each.name })));
  name.setAttribute("list", "known-names");
  const body = h("form", { method: "dialog" }, h("label", { htmlFor: "new-name" }, "What is on the photos?"), name, names,
    zone, strip, hint, h("footer", {}, go));
  const box = dialog("New class", body);

  function add(more) {
    files.push(...more);
    if (!name.value && more.folder) name.value = more.folder;
    draw();
  }

  function draw() {
    go.disabled = !files.length;
    go.textContent = files.length ? `Enroll ${counted(files.length, "photo")}` : "Enroll";
    const needed = neededFor(board.rate);
    hint.textContent = files.length && files.length < needed
      ? `With ${needed} photos or more the class keeps a rate of ${percent(board.rate)} by itself; fewer work too.` : "";
    const fresh = files.slice(strip.children.length, 60);
    for (const file of fresh) {
      const item = h("li", { title: file.name });
      strip.append(item);
      preview(file, 96).then(address => item.append(address ? h("img", { src: address, alt: file.name }) : h("span", {}, "?")));
    }
  }

  body.addEventListener("submit", () => {
    const chosen = name.value.trim();
    if (chosen && files.length) enrollNew(chosen, files);
    files = [];
  });
  // Photos that are dropped or pasted while the dialog is open belong to it.
  box.classList.add("takes-photos");
  box.addEventListener("photos", event => add(event.detail));
  draw();
  if (!name.value) name.focus();
}

async function enrollNew(name, files) {
  const outcome = await addTo(name, files);
  if (outcome.clean) outcome.close();
}
