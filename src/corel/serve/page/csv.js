// A table of the verdicts to take away.

import { h } from "./dom.js";

const COLUMNS = ["image", "verdict", "class", "p_value", "known_p_value", "could_be", "runner_up", "runner_up_p_value", "rate"];

/** Quote a cell; one that a spreadsheet would run as a formula, full-width signs included, is made text. */
export function cell(value) {
  const text = String(value ?? "");
  const inert = typeof value === "string" && /^[=+\-@\t\r]/.test(text.normalize("NFKC")) ? `'${text}` : text;
  return /[",\n\r]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

function row(photo, rate) {
  if (!photo.decision) return [photo.name, photo.verdict, photo.reason ?? ""];
  const { verdict, set, order, p } = photo.decision;
  const name = index => (index === undefined ? "" : photo.classes[index]);
  const value = index => (index === undefined ? "" : p[index]);
  const could = ["known", "unsure"].includes(verdict) ? set : [];
  return [photo.name, verdict, name(order[0]), value(order[0]), photo.scores.known, could.map(name).join("|"),
    name(order[1]), value(order[1]), rate];
}

export function table(photos, rate) {
  return [COLUMNS, ...photos.map(photo => row(photo, rate))].map(cells => cells.map(cell).join(",")).join("\r\n");
}

export function saveCsv(photos, rate) {
  const address = URL.createObjectURL(new Blob([table(photos, rate)], { type: "text/csv" }));
  const link = h("a", { href: address, download: "verdicts.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
