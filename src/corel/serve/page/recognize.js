// Recognize: photos with their verdicts; a slider that decides anew, and corrections.

import { board } from "./board.js";
import * as client from "./client.js";
import { saveCsv } from "./csv.js";
import { attempt, counted, dialog, h, nameField, percent, toast } from "./dom.js";
import { decide } from "./decide.js";
import { chooser, portions, preview } from "./files.js";
import { drawCard, pill, VERDICTS } from "./photo.js";
import { slider } from "./rate.js";

export const id = "recognize";
export const title = "Recognize";

const SORTS = {
  added: ["as added", (a, b) => a.number - b.number],
  p: ["p-value, lowest first", (a, b) => rank(a) - rank(b)],
  class: ["class", (a, b) => likely(a).localeCompare(likely(b)) || rank(b) - rank(a)],
  name: ["file name", (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true })],
};
const HASHES = 500;  // a request

// Photos stay while the page is open, also when another section is shown.
const photos = [];
const selected = new Set();
let filter = "all";
let sort = "added";
let next = 0;
let edition = 0;  // of the classes that the photos were scored against
let view = null;

const rank = photo => photo.scores?.known ?? -1;
const likely = photo => photo.decision ? photo.classes[photo.decision.order[0]] : "";

export function mount(root) {
  const grid = h("ul", { className: "photos", "aria-label": "Photos" });
  const chips = h("div", { className: "chips", role: "group", "aria-label": "Show" });
  const order = h("select", { "aria-label": "Sort by", onchange: event => { sort = event.target.value; arrange(); } },
    Object.entries(SORTS).map(([key, [label]]) => h("option", { value: key, selected: key === sort }, label)));
  const tray = h("div", { className: "tray", hidden: true });
  const tools = h("div", { className: "tools" }, chips, h("div", { className: "actions" },
    h("label", { className: "sort" }, "Sort ", order),
    h("button", { type: "button", onclick: () => choose(photos.filter(shown)) }, "Select all"),
    h("button", { type: "button", onclick: () => saveCsv(photos.filter(shown), board.rate) }, "Download CSV"),
    h("button", { type: "button", onclick: () => take([...photos]) }, "Clear")));
  root.append(
    h("div", { className: "head" }, h("h1", {}, "Recognize")),
    h("div", { className: "zone" }, h("p", {}, "Drop or paste photos here, or"), chooser(add)),
    slider(rate => `${percent(rate)}: at most about 1 in ${Math.round(1 / rate)} photos of known things is called a stranger`),
    tools, h("div", { className: "empty" }, introduction()), grid, tray);

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
    h("button", { type: "button", onclick: () => choose([]) }, "Select none"));
  }

  view = { arrange, drawTray };
  arrange();
  if (edition !== board.edition) rescore();
  const stop = board.listen(what => {
    if (what === "rate") { photos.forEach(redecide); arrange(); }
    else rescore();
  });
  return { accept: add, leave: () => { stop(); view = null; } };
}

/** What the section is for, while it is empty. */
function introduction() {
  if (!board.classes.length) {
    return [h("h2", {}, "Nothing is enrolled yet"), h("p", {}, "A photo is compared with your classes. Make the first one: "),
      h("p", {}, h("a", { href: "#/classes" }, "Go to the classes"))];
  }
  const verdicts = [
    ["known", "it looks like one class alone"], ["unsure", "it could be one of several"], ["stranger", "it is none of your classes"],
    ["not a photograph", "blank, flat or noise"],
  ];
  return [h("h2", {}, "What is on a new photo?"), h("p", {}, "Drop photos anywhere on this page. Each gets one of four verdicts:"),
    h("ul", { className: "legend" }, verdicts.map(([key, why]) => h("li", {}, pill(key), ` ${why}`)))];
}

const shown = photo => filter === "all" || photo.verdict === filter;

/** Put photos on the list and score them. */
async function add(files) {
  if (!board.classes.length) {
    toast("Nothing is enrolled yet: make a class first.", { error: true });
    return;
  }
  const fresh = files.map(make);
  edition = board.edition;
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
  photo.decision = decide(photo.scores, photo.calibration, board.rate, photo.classes);
  photo.verdict = photo.decision.verdict;
  if (always || JSON.stringify(photo.decision) !== before) draw(photo);
}

/** Score everything again after the classes changed; what the server has forgotten is sent again. */
async function rescore() {
  edition = board.edition;
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

function draw(photo) {
  drawCard(photo, {
    selected: selected.has(photo),
    select: on => { selected[on ? "add" : "delete"](photo); view?.drawTray(); },
    putInto: name => (name === undefined ? putInto([photo]) : correct([photo], name)),
  });
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
  let answered = false;
  for (const portion of portions(some.map(photo => photo.file), board.settings.limits)) {
    const outcome = await attempt(() => client.enroll(name, portion));
    if (!outcome) break;
    answered = true;
    added.push(...outcome.files.filter(file => file.outcome === "added").map(file => file.hash));
  }
  const what = some.length === 1 ? some[0].name : counted(some.length, "photo");
  if (added.length) {
    toast(`${what} put into ${name}.`, { action: { label: "Undo", run: () => takeBack(name, added) } });
  } else if (answered) toast(`${name} holds ${what} already.`);
  selected.clear();
  await attempt(() => board.refresh());
}

async function takeBack(name, hashes) {
  await client.remove(name, hashes);
  await board.refresh();
}

function take(some) {
  for (const photo of some) photos.splice(photos.indexOf(photo), 1);
  choose([]);
}

/** Select these photos and no others. */
function choose(some) {
  selected.clear();
  some.forEach(photo => selected.add(photo));
  for (const photo of photos) {
    const box = photo.element.querySelector("input");
    if (box) box.checked = selected.has(photo);
  }
  view?.arrange();
}
