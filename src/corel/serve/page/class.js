// One class: its exemplars, the odd ones first; add, remove with undo, rename, forget.

import { board } from "./board.js";
import { support } from "./classes.js";
import * as client from "./client.js";
import { attempt, counted, dialog, fileName, h, nameField, pausePictures, shortened, thumbnail, toast, whenSeen } from "./dom.js";
import { addTo } from "./enroll.js";
import { chooser } from "./files.js";

export const id = "class";
export const title = "Class";
export const under = "classes";

const PAGE = 100;
const MOST = 500;  // exemplars a request
const PATIENCE = 300;  // milliseconds after which exemplars are shown before they are compared

export function mount(root, name) {
  const chosen = new Set();
  const exemplars = h("ul", { className: "exemplars", "aria-label": `Exemplars of ${name}` });
  const more = h("button", { type: "button", hidden: true, onclick: () => load() }, "Show more");
  const count = h("p", { className: "facts" });
  const picked = h("button", { type: "button", className: "danger", onclick: () => removeChosen() });
  const tray = h("div", { className: "tray", hidden: true }, picked,
    h("button", { type: "button", onclick: () => choose([]) }, "Select none"));
  const order = h("p", { className: "hint", role: "status" });
  const odd = h("button", { type: "button", hidden: true, onclick: () => choose(oddOnes()) });
  let total = 0;
  let loading = false;
  let started = null;  // the promise of what is loaded first

  root.append(
    h("nav", { className: "crumbs", "aria-label": "Back" }, h("a", { href: "#/classes" }, "← All classes")),
    h("div", { className: "head" }, h("h1", {}, name), actions(name, change)), count,
    board.settings.read_only ? "" : h("div", { className: "zone small" }, h("p", {}, "Add more: drop, paste, or"), chooser(add)),
    h("div", { className: "tools" }, order, board.settings.read_only ? "" : odd), exemplars, more, tray);

  /** Show the class from its beginning: at once as enrolled, and in the order of the audit as soon as that is known. */
  async function start() {
    loading = true;
    const shown = Math.min(MOST, Math.max(PAGE, exemplars.children.length));
    const audit = client.audit(name, 0, shown).catch(complain);
    const soon = await Promise.race([audit, new Promise(resolve => setTimeout(resolve, PATIENCE))]);
    if (!soon) {
      const enrolled = await client.exemplars(name, 0, shown).catch(() => null);
      if (enrolled) fill(enrolled, "Comparing the exemplars with each other; those that fit worst will come first.");
    }
    const page = await audit;
    if (page) fill(page, "Those that fit worst come first; the odd ones are marked. Select and remove what does not belong here.");
    more.hidden = exemplars.children.length >= total;
    loading = false;
  }

  function complain(error) {
    if (error.status === 404) root.replaceChildren(...missing(name));
    else toast(error.message, { error: true });
  }

  function fill(page, said) {
    total = page.total;
    order.textContent = said;
    exemplars.replaceChildren(...page.exemplars.map(item));
    describe();
  }

  async function load() {
    if (loading) return;
    loading = true;
    const page = await attempt(() => client.audit(name, exemplars.children.length, PAGE));
    loading = false;
    if (!page) return;
    exemplars.append(...page.exemplars.map(item));
    more.hidden = exemplars.children.length >= total;
    describe();
  }

  const oddOnes = () => [...exemplars.querySelectorAll("li[data-odd] input")].map(box => box.value);

  function describe() {
    odd.hidden = !oddOnes().length;
    odd.textContent = `Select the ${oddOnes().length} odd`;
    count.replaceChildren(counted(total, "exemplar"), " ", support(total));
    tray.hidden = !chosen.size;
    picked.textContent = `Remove ${counted(chosen.size, "exemplar")}`;
  }

  function item(exemplar) {
    const box = h("input", {
      type: "checkbox", disabled: board.settings.read_only, value: exemplar.hash, checked: chosen.has(exemplar.hash),
      "aria-label": `Select ${exemplar.source}`, onchange: event => {
        if (event.target.checked) chosen.add(exemplar.hash);
        else chosen.delete(exemplar.hash);
        describe();
      },
    });
    return h("li", { "data-hash": exemplar.hash, "data-odd": exemplar.odd }, h("label", {}, box, thumbnail(name, exemplar, { alt: "" }),
      h("span", { className: "file", title: exemplar.source }, shortened(fileName(exemplar.source))),
      exemplar.odd ? h("span", { className: "tag odd" }, "odd") : ""));
  }

  function choose(hashes) {
    chosen.clear();
    hashes.forEach(hash => chosen.add(hash));
    for (const box of exemplars.querySelectorAll("input")) box.checked = chosen.has(box.value);
    describe();
  }

  /** Change the class while nothing is asked about it: an answer would say that what it asks for is gone. */
  async function change(run) {
    await started;
    const goOn = pausePictures(exemplars);
    const done = await attempt(run);
    if (!done) goOn();
    return done;
  }

  async function removeChosen() {
    const removals = [];
    await change(() => client.remove(name, [...chosen], removals));
    choose([]);
    if (!removals.length) return;
    const count = removals.reduce((sum, each) => sum + each.exemplars, 0);
    toast(`${counted(count, "exemplar")} of ${name} removed.`, {
      seconds: removals[0].seconds, action: { label: "Undo", run: () => putBack(removals) },
    });
    await again();
  }

  async function putBack(removals) {
    for (const each of removals) await client.undo(each.undo);
    await again();
  }

  async function again() {
    await attempt(() => board.refresh());
    if (!board.classes.some(each => each.name === name)) {
      location.hash = "#/classes";
      return;
    }
    if (!root.isConnected) return;
    started = start();
    await started;
  }

  async function add(files) {
    const outcome = await addTo(name, files);
    if (outcome.clean) outcome.close();
    await again();
  }

  started = start();
  const stop = whenSeen(more, () => { if (!more.hidden) load(); });
  return { leave: stop, accept: board.settings.read_only ? null : add };
}

function missing(name) {
  return [h("h1", {}, "There is no such class"), h("p", {}, `Nothing is enrolled as “${name}”.`),
    h("p", {}, h("a", { href: "#/classes" }, "← All classes"))];
}

function actions(name, change) {
  if (board.settings.read_only) return "";
  return h("div", { className: "actions" },
    h("button", { type: "button", onclick: () => rename(name, change) }, "Rename"),
    h("button", { type: "button", className: "danger", onclick: () => forget(name, change) }, "Forget…"));
}

function rename(name, change) {
  const field = nameField("renamed", name);
  const form = h("form", {}, h("label", { htmlFor: "renamed" }, "New name"), field,
    h("footer", {}, h("button", { type: "submit", className: "primary" }, "Rename")));
  const box = dialog(`Rename ${name}`, form);
  field.select();
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const to = field.value.trim();
    if (!(await change(() => client.rename(name, to)))) return;
    box.close();
    await board.refresh();
    location.hash = `#/class/${encodeURIComponent(to)}`;
  });
}

function forget(name, change) {
  const field = h("input", { id: "forgotten", type: "text", autocomplete: "off" });
  const go = h("button", { type: "submit", className: "danger", disabled: true }, "Forget it for good");
  field.addEventListener("input", () => { go.disabled = field.value !== name; });
  const form = h("form", {},
    h("p", {}, "All its exemplars are overwritten in the gallery. This cannot be undone."),
    h("label", { htmlFor: "forgotten" }, "Type the name of the class to confirm: ", h("b", {}, name)), field,
    h("footer", {}, go));
  const box = dialog(`Forget ${name}?`, form);
  form.addEventListener("submit", async event => {
    event.preventDefault();
    if (field.value !== name) return;
    const gone = await change(() => client.forget(name));
    if (!gone) return;
    box.close();
    await board.refresh();
    location.hash = "#/classes";
    toast(`${name} is forgotten.`);
  });
}
