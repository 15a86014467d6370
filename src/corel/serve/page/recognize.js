// Recognize: photos with their verdicts; a slider that decides anew, and corrections.

import { board } from "./board.js";
import * as client from "./client.js";
import { saveCsv } from "./csv.js";
import { attempt, counted, dialog, fileName, h, nameField, percent, shownP, toast } from "./dom.js";
import { decide } from "./decide.js";
import { chooser, portions, preview } from "./files.js";
import { slider } from "./rate.js";
import { explain } from "./why.js";

export const id = "recognize";
export const title = "Recognize";

export const VERDICTS = {
  known: { label: "Known", sign: "✓" },
  unsure: { label: "Unsure", sign: "?" },
  stranger: { label: "Stranger", sign: "✕" },
  "not a photograph": { label: "Not a photograph", sign: "∅" },
  unreadable: { label: "Unreadable", sign: "!" },
  waiting: { label: "Waiting", sign: "…" },
};
const SORTS = {
  added: ["as added", (a, b) => a.number - b.number],
  p: ["p-value, lowest first", (a, b) => rank(a) - rank(b)],
  class: ["class", (a, b) => likely(a).localeCompare(likely(b)) || rank(b) - rank(a)],
  name: ["file name", (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true })],
};
const SHOWN = 3;  // candidates on a card
const HASHES = 500;  // a request

// Photos stay while the page is open, also when another section is shown.
const photos = [];
const selected = new Set();
let filter = "all";
let sort = "added";
let next = 0;
let view = null;

const rank = photo => photo.scores?.known ?? -1;
const likely = photo => photo.decision ? photo.classes[photo.decision.order[0]] : "";

export function mount(root) {
  const grid = h("ul", { className: "photos", "aria-label": "Photos" });
  const chips = h("div", { className: "chips", role: "group", "aria-label": "Show" });
  const order = h("select", { "aria-label": "Sort by", onchange: event => { sort = event.target.value; arrange(); } },
    Object.entries(SORTS).map(([key, [label]]) => h("option", { value: key, selected: key === sort }, label)));
  const tray = h("div", { className: "tray", hidden: true });
  const tools = h("div", { className: "tools" }, chips, h("label", { className: "sort" }, "Sort ", order),
    h("button", { type: "button", onclick: () => saveCsv(photos.filter(shown), board.rate) }, "Download CSV"),
    h("button", { type: "button", onclick: clear }, "Clear"));
  root.append(
    h("div", { className: "head" }, h("h1", {}, "Recognize")),
    h("div", { className: "zone" }, h("p", {}, "Drop or paste photos here, or"), chooser(add)),
    slider(rate => `${percent(rate)}: at most about 1 in ${Math.round(1 / rate)} photos of known things is called a stranger`),
    tools, grid, tray);

  function arrange() {
    const found = photos.filter(shown).sort(SORTS[sort][1]);
    found.forEach((photo, index) => { if (grid.children[index] !== photo.element) grid.insertBefore(photo.element, grid.children[index] ?? null); });
    while (grid.children.length > found.length) grid.lastChild.remove();
    root.classList.toggle("none", !photos.length);
    drawChips();
    drawTray();
  }

  function drawChips() {
    const counts = { all: photos.length };
    for (const photo of photos) counts[photo.verdict] = (counts[photo.verdict] ?? 0) + 1;
    if (!counts[filter]) filter = "all";
    const keys = ["all", ...Object.keys(VERDICTS)].filter(key => counts[key] || key === "all");
    const label = key => (key === "all" ? "All" : VERDICTS[key].label);
    const focused = document.activeElement?.dataset?.key;
    chips.replaceChildren(...keys.map(key => h("button", {
      type: "button", className: `chip ${key.replaceAll(" ", "-")}`, "data-key": key, "aria-pressed": String(key === filter),
      onclick: () => { filter = key; arrange(); },
    }, `${label(key)} `, h("b", {}, counts[key]))));
    if (focused) chips.querySelector(`[data-key="${focused}"]`)?.focus();
  }

  function drawTray() {
    for (const photo of selected) if (!photos.includes(photo)) selected.delete(photo);
    tray.hidden = !selected.size;
    tray.replaceChildren(h("span", {}, counted(selected.size, "photo")), ...(board.settings.read_only ? [] : [
      h("button", { type: "button", className: "primary", onclick: () => putInto([...selected]) }, "Put into a class…")]),
    h("button", { type: "button", onclick: () => { take([...selected]); } }, "Take off the list"),
    h("button", { type: "button", onclick: selectNone }, "Select none"));
  }

  view = { arrange, drawTray };
  arrange();
  const stop = board.listen(what => {
    if (what === "rate") { photos.forEach(redecide); arrange(); }
    else rescore();
  });
  return { accept: add, leave: () => { stop(); view = null; } };
}

const shown = photo => filter === "all" || photo.verdict === filter;

/** Put photos on the list and score them. */
async function add(files) {
  if (!board.classes.length) {
    toast("Nothing is enrolled yet: make a class first.", { error: true });
    return;
  }
  const fresh = files.map(make);
  photos.push(...fresh);
  view?.arrange();
  await scoreFiles(fresh);
}

function make(file) {
  const photo = { number: next++, file, name: file.shownAs ?? file.name, verdict: "waiting", picture: h("img", { alt: "" }) };
  photo.element = h("li", { className: "photo" });
  preview(file).then(address => {
    if (address) photo.picture.src = address;
    else photo.picture.replaceWith(photo.picture = h("span", { className: "blank" }, photo.name.split(".").pop()));
  });
  draw(photo);
  return photo;
}

async function scoreFiles(some) {
  const byFile = new Map(some.map(photo => [photo.file, photo]));
  for (const portion of portions([...byFile.keys()], board.settings.limits)) {
    const chosen = portion.map(file => byFile.get(file));
    try {
      settle(chosen, await client.score(portion));
    } catch (error) {
      const skipped = error.document?.skipped ?? [];
      chosen.forEach((photo, index) => fail(photo, skipped[index]?.reason ?? error.message));
    }
    view?.arrange();
  }
}

/** Give each photo its scores, or the reason why it has none. */
function settle(chosen, answer) {
  for (const each of answer.images) assign(chosen[each.file], each, answer);
  for (const each of answer.skipped) fail(chosen[each.file], each.reason);
}

function assign(photo, scored, answer) {
  Object.assign(photo, { scores: scored, classes: answer.classes, calibration: answer.calibration, hash: scored.hash });
  redecide(photo, true);
}

function fail(photo, reason) {
  Object.assign(photo, { verdict: "unreadable", reason, decision: null });
  draw(photo);
}

function redecide(photo, always = false) {
  if (!photo.scores) return;
  const before = JSON.stringify(photo.decision);
  photo.decision = decide(photo.scores, photo.calibration, board.rate);
  photo.verdict = photo.decision.verdict;
  if (always || JSON.stringify(photo.decision) !== before) draw(photo);
}

/** Score everything again after the classes changed; what the server has forgotten is sent again. */
async function rescore() {
  const known = photos.filter(photo => photo.hash);
  if (!board.classes.length) return;
  for (let start = 0; start < known.length; start += HASHES) {
    await attempt(() => rescorePart(known.slice(start, start + HASHES)));
  }
  view?.arrange();
}

async function rescorePart(part) {
  let missing = new Set();
  try {
    const unique = [...new Set(part.map(photo => photo.hash))];
    await scoreKept(part, unique);
  } catch (error) {
    if (error.status !== 404) throw error;
    missing = new Set(error.document.missing);
    const kept = part.filter(photo => !missing.has(photo.hash));
    if (kept.length) await scoreKept(kept, [...new Set(kept.map(photo => photo.hash))]);
    await scoreFiles(part.filter(photo => missing.has(photo.hash)));
  }
}

async function scoreKept(some, hashes) {
  const answer = await client.score([], hashes);
  const byHash = new Map(answer.images.map(each => [each.hash, each]));
  some.forEach(photo => assign(photo, byHash.get(photo.hash), answer));
}

/** Draw a photo's card anew. */
function draw(photo) {
  const { label, sign } = VERDICTS[photo.verdict];
  const box = h("input", {
    type: "checkbox", checked: selected.has(photo), "aria-label": `Select ${photo.name}`,
    onchange: event => { selected[event.target.checked ? "add" : "delete"](photo); view?.drawTray(); },
  });
  const why = h("button", {
    type: "button", className: "link", "aria-label": `Why? ${photo.name}`, onclick: () => explain(photo),
  }, "Why?");
  photo.element.dataset.verdict = photo.verdict;
  photo.element.replaceChildren(
    h("label", { className: "picture" }, box, photo.picture),
    h("div", { className: "line" },
      h("p", { className: `verdict ${photo.verdict.replaceAll(" ", "-")}` }, h("span", { "aria-hidden": "true" }, sign), ` ${label}`),
      photo.decision ? why : ""),
    h("p", { className: "answer" }, answer(photo)),
    photo.scores?.enrolled.length ? h("p", { className: "hint" }, `already enrolled as ${photo.scores.enrolled.join(", ")}`) : "",
    photo.decision ? h("ul", { className: "candidates" }, candidates(photo)) : "",
    h("p", { className: "file", title: photo.name }, fileName(photo.name)));
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
function candidates(photo) {
  const { set, order, p: ps } = photo.decision;
  const rows = order.slice(0, Math.max(2, Math.min(set.length, SHOWN))).map(index => {
    const name = photo.classes[index];
    const p = ps[index];
    return h("li", { className: p > board.rate ? "could" : "rejects" }, h("span", { className: "name", title: name }, name),
      h("span", { className: "p", title: "p-value" }, shownP(p)), plus(`Put ${photo.name} into ${name}`, () => correct([photo], name)));
  });
  const others = set.length > SHOWN ? `and ${set.length - SHOWN} more` : "another class";
  if (board.settings.read_only && set.length <= SHOWN) return rows;
  return [...rows, h("li", { className: "rejects" }, h("span", { className: "name" }, others), h("span", {}),
    plus(`Put ${photo.name} into another class`, () => putInto([photo])))];
}

function plus(label, run) {
  if (board.settings.read_only) return "";
  return h("button", { type: "button", className: "plus", "aria-label": label, title: label, onclick: run }, "+");
}

/** Ask for the class that photos belong to. */
function putInto(some) {
  const name = nameField("into");
  name.setAttribute("list", "into-names");
  const form = h("form", {}, h("label", { htmlFor: "into" }, "Class, new or not"), name,
    h("datalist", { id: "into-names" }, board.classes.map(each => h("option", { value: each.name }))),
    h("footer", {}, h("button", { type: "submit", className: "primary" }, "Put into this class")));
  const box = dialog(`Put ${counted(some.length, "photo")} into a class`, form);
  form.addEventListener("submit", event => {
    event.preventDefault();
    box.close();
    correct(some, name.value.trim());
  });
}

/** Make photos exemplars of a class; everything is decided anew. */
async function correct(some, name) {
  const added = [];
  for (const portion of portions(some.map(photo => photo.file), board.settings.limits)) {
    const outcome = await attempt(() => client.enroll(name, portion));
    if (!outcome) return;
    added.push(...outcome.files.filter(file => file.outcome === "added").map(file => file.hash));
  }
  const what = some.length === 1 ? some[0].name : counted(some.length, "photo");
  if (added.length) {
    toast(`${what} put into ${name}.`, { action: { label: "Undo", run: () => takeBack(name, added) } });
  } else toast(`${name} holds ${what} already.`);
  selected.clear();
  await attempt(() => board.refresh());
}

async function takeBack(name, hashes) {
  await client.remove(name, hashes);
  await board.refresh();
}

function take(some) {
  for (const photo of some) photos.splice(photos.indexOf(photo), 1);
  selectNone();
}

function clear() {
  take([...photos]);
}

function selectNone() {
  selected.clear();
  for (const photo of photos) {
    const box = photo.element.querySelector("input");
    if (box) box.checked = false;
  }
  view?.arrange();
}
