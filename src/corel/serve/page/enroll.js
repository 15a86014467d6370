// Adding photos to a class, with what became of each file.

import * as client from "./client.js";
import { counted, dialog, h } from "./dom.js";
import { portions } from "./files.js";
import { board } from "./board.js";

const WORDS = { waiting: "waiting", sending: "sending…", added: "added", duplicate: "duplicate", skipped: "skipped" };

/** Send files to a class in several requests; gives the number added. Files that fail are listed, the others go on. */
export async function addTo(name, files) {
  const rows = new Map(files.map(file => [file, row(file)]));
  const progress = h("progress", { max: files.length, value: 0, "aria-label": "Files done" });
  const summary = h("p", { className: "summary", role: "status" }, `0 of ${counted(files.length, "photo")}`);
  const list = h("ul", { className: "outcomes", tabindex: 0, "aria-label": "Files" }, [...rows.values()]);
  const done = h("button", { type: "button", className: "primary" }, "Keep working in the background");
  const box = dialog(`Adding photos to ${name}`, progress, summary, list, h("footer", {}, done));
  done.addEventListener("click", () => box.close());
  const counts = { added: 0, duplicate: 0, skipped: 0 };
  for (const portion of portions(files, board.settings.limits)) {
    portion.forEach(file => mark(rows.get(file), "sending"));
    const outcomes = await send(name, portion);
    portion.forEach((file, index) => {
      const { outcome, reason } = outcomes[index];
      counts[outcome] += 1;
      mark(rows.get(file), outcome, reason);
      if (outcome !== "added") list.prepend(rows.get(file));
    });
    progress.value += portion.length;
    summary.textContent = `${progress.value} of ${counted(files.length, "photo")}: ${said(counts)}`;
  }
  done.textContent = "Done";
  await board.refresh();
  return { ...counts, close: () => box.close(), clean: counts.duplicate + counts.skipped === 0 };
}

async function send(name, portion) {
  try {
    return (await client.enroll(name, portion)).files;
  } catch (error) {
    const reasons = error.document?.skipped ?? [];
    return portion.map((_, index) => ({ outcome: "skipped", reason: reasons[index]?.reason ?? error.message }));
  }
}

function row(file) {
  return h("li", {}, h("span", { className: "file" }, file.shownAs ?? file.name),
    h("span", { className: "state waiting" }, WORDS.waiting));
}

function mark(item, state, reason) {
  const label = item.querySelector(".state");
  label.className = `state ${state}`;
  label.textContent = reason ? `${WORDS[state]}: ${reason}` : WORDS[state];
}

const said = counts => [`${counts.added} added`,
  counts.duplicate && counted(counts.duplicate, "duplicate"), counts.skipped && `${counts.skipped} skipped`]
  .filter(Boolean).join(", ");
