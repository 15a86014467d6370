// The frame: tabs, addresses, drops and pastes go to the section that is shown.
// A new tab is a module with `id`, `title` and `mount(root, argument)`, added to SECTIONS.

import { board } from "./board.js";
import * as classPage from "./class.js";
import * as classes from "./classes.js";
import * as client from "./client.js";
import { attempt, h, toast } from "./dom.js";
import { dropped, pasted } from "./files.js";
import * as find from "./find.js";
import * as recognize from "./recognize.js";

const SECTIONS = [classes, recognize, find, classPage];
const main = document.getElementById("main");
const tabs = document.getElementById("tabs");
const cover = document.getElementById("drop");
let shown = null;

function address() {
  const [id, ...rest] = location.hash.replace(/^#\//, "").split("/");
  const section = SECTIONS.find(each => each.id === id) ?? classes;
  return { section, argument: decodeURIComponent(rest.join("/")) };
}

function show() {
  const { section, argument } = address();
  shown?.leave?.();
  const root = h("div", { className: `section ${section.id}` });
  main.replaceChildren(root);
  shown = section.mount(root, argument) ?? {};
  for (const tab of tabs.children) {
    if (tab.dataset.id === (section.under ?? section.id)) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  document.title = `${argument || section.title} · corel studio`;
  scrollTo(0, 0);
}

/** Give photos to an open dialog that asks for some, else to the section. */
function hand(files, onto) {
  const open = document.querySelector("dialog[open].takes-photos");
  if (open) open.dispatchEvent(new CustomEvent("photos", { detail: files }));
  else if (!document.querySelector("dialog[open]")) shown?.accept?.(files, onto);
}

function takeDrops() {
  let depth = 0;
  const hasFiles = event => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const wanted = event => hasFiles(event) && shown?.accept;
  addEventListener("dragenter", event => { if (wanted(event)) { depth += 1; cover.classList.add("shown"); } });
  addEventListener("dragleave", event => {
    if (wanted(event) && --depth <= 0) { depth = 0; cover.classList.remove("shown"); }
  });
  addEventListener("dragover", event => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener("drop", async event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    cover.classList.remove("shown");
    const onto = event.target.closest?.("[data-class]")?.dataset.class;
    const files = await attempt(() => dropped(event.dataTransfer));
    if (files?.length) hand(files, onto);
  });
  addEventListener("paste", event => {
    const files = pasted(event);
    if (files.length) { event.preventDefault(); hand(files); }
  });
}

/** Say beside the gallery's name that the encoder is not there yet: classes can be looked at meanwhile. */
async function awaitEncoder() {
  const note = document.getElementById("state");
  note.textContent = "loading the encoder…";
  note.textContent = (await client.ready()) ? "" : "the encoder is not loaded";
}

async function begin() {
  board.settings = await client.settings();
  await board.refresh();
  const kind = board.settings.read_only ? " (read-only)" : "";
  document.getElementById("where").textContent = board.settings.gallery + kind;
  document.body.classList.toggle("read-only", board.settings.read_only);
  if (board.settings.token) {
    document.querySelector(".bar").append(h("form", { method: "post", action: "/logout" }, h("button", { type: "submit", className: "link" }, "Log out")));
  }
  tabs.replaceChildren(...SECTIONS.filter(each => !each.under)
    .map(each => h("a", { href: `#/${each.id}`, "data-id": each.id }, each.title)));
  addEventListener("hashchange", () => { show(); main.focus({ preventScroll: true }); });
  takeDrops();
  // Another server, or the command line, may have changed the gallery meanwhile.
  document.addEventListener("visibilitychange", () => { if (!document.hidden) attempt(() => board.refresh()); });
  show();
  if (!board.settings.encoder) awaitEncoder();
}

begin().catch(error => {
  main.replaceChildren(h("p", { className: "loading", role: "alert" }, error.message));
  toast(error.message, { error: true });
});
