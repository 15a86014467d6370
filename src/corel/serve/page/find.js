// Find: draw a box around a thing in a photo, see where else it is, in this photo and in others.

import { board } from "./board.js";
import * as client from "./client.js";
import { attempt, fileName, h, percent, toast } from "./dom.js";
import { chooser } from "./files.js";
import { slider } from "./rate.js";

export const id = "find";
export const title = "Find";

const WIDEST = 960;  // pixels of a photo on the page
const MOST = 8;  // photos a search
const DIMMED = 0.35;
const SIDES = ["left", "top", "width", "height"];

// Photos and what was found stay while the page is open.
const photos = [];  // {file, bitmap, canvas, scale, found}
const box = { left: 0, top: 0, width: 0, height: 0 };
let wanted = "";  // a class, or the box
let view = null;

export function mount(root) {
  const grid = h("ul", { className: "finds", "aria-label": "Photos" });
  const fields = SIDES.map(side => h("input", {
    type: "number", min: 0, step: 1, id: `box-${side}`, value: Math.round(box[side]), oninput: () => type(),
  }));
  const what = h("select", { id: "wanted", onchange: event => { wanted = event.target.value; forget(); redraw(); } },
    h("option", { value: "" }, "what the box holds"),
    board.classes.map(each => h("option", { value: each.name, selected: each.name === wanted }, each.name)));
  const go = h("button", { type: "button", className: "primary", onclick: () => search() }, "Find it");
  const frame = h("fieldset", { className: "frame" }, h("legend", {}, "Box in the first photo, in pixels"),
    SIDES.map((side, i) => h("label", { htmlFor: `box-${side}` }, `${side} `, fields[i])));
  root.append(
    h("div", { className: "head" }, h("h1", {}, "Find")),
    h("div", { className: "zone" }, h("p", {}, "Drop or paste a photo, and others to search, or"), chooser(add)),
    h("div", { className: "tools" }, h("label", { htmlFor: "wanted" }, "Look for "), what, frame, go,
      h("button", { type: "button", onclick: () => clear() }, "Clear")),
    h("div", { className: "empty" }, introduction()),
    slider(rate => `${percent(rate)}: a lower rate keeps more of the photo in color`), grid);

  function type() {
    SIDES.forEach((side, i) => { box[side] = Math.max(0, Math.round(Number(fields[i].value) || 0)); });
    forget();
    redraw();
  }

  function redraw() {
    frame.hidden = wanted !== "";
    go.disabled = !photos.length || (wanted === "" && !(box.width && box.height));
    root.classList.toggle("none", !photos.length);
    SIDES.forEach((side, i) => { if (document.activeElement !== fields[i]) fields[i].value = Math.round(box[side]); });
    grid.replaceChildren(...photos.map((photo, i) => item(photo, i)));
  }

  async function search() {
    go.disabled = true;
    go.textContent = "Searching…";
    const asked = wanted === "" ? { box: [SIDES.map(side => Math.round(box[side])).join(",")] } : { name: [wanted] };
    const found = await attempt(() => client.find(photos.map(each => each.file), asked));
    go.textContent = "Find it";
    found?.forEach((each, i) => { photos[i].found = each; });
    redraw();
  }

  view = { redraw };
  redraw();
  const stop = board.listen(what => { if (what === "rate") redraw(); });
  return { accept: add, leave: () => { stop(); view = null; } };
}

/** What the section is for, while it is empty. */
function introduction() {
  const steps = [
    ["Drop a photo", "and up to seven others to search."],
    ["Draw a box", "around a part of a thing, or choose one of your classes."],
    ["See where it is", "what is like it stays in color, in this photo and in the others."],
  ];
  return [h("h2", {}, "Where is this thing?"),
    h("ol", {}, steps.map(([what, why]) => h("li", {}, h("b", {}, what), h("span", {}, why))))];
}

/** What was found belongs to another question. */
function forget() {
  for (const photo of photos) photo.found = null;
}

function clear() {
  photos.length = 0;
  Object.assign(box, { left: 0, top: 0, width: 0, height: 0 });
  view?.redraw();
}

async function add(files) {
  for (const file of files.slice(0, MOST - photos.length)) {
    const bitmap = await createImageBitmap(file).catch(() => null);
    if (bitmap) photos.push(prepare(file, bitmap));
    else toast(`${file.name} cannot be shown here.`, { error: true });
  }
  if (files.length > MOST) toast(`A search takes ${MOST} photos at a time.`);
  view?.redraw();
}

function prepare(file, bitmap) {
  const scale = Math.min(1, WIDEST / Math.max(bitmap.width, bitmap.height));
  const canvas = h("canvas", {
    width: Math.max(1, Math.round(bitmap.width * scale)), height: Math.max(1, Math.round(bitmap.height * scale)),
  });
  const photo = { file, bitmap, canvas, scale, found: null };
  if (!photos.length) marks(photo);
  return photo;
}

function item(photo, index) {
  const share = paint(photo);
  const said = share === null ? (index ? "to be searched" : "draw a box around a part of the thing")
    : `${percent(share)} of the photo`;
  photo.canvas.setAttribute("role", "img");
  photo.canvas.setAttribute("aria-label", `${photo.file.name}: ${said}`);
  return h("li", { "data-share": share }, photo.canvas, h("p", {}, h("b", {}, fileName(photo.file.name)), ` ${said}`));
}

/** Let the pointer draw the box. */
function marks(photo) {
  let from = null;
  const at = event => {
    const place = photo.canvas.getBoundingClientRect();
    const shown = photo.bitmap.width / place.width;
    const clip = (value, most) => Math.min(Math.max(0, value), most);
    return [clip((event.clientX - place.left) * shown, photo.bitmap.width), clip((event.clientY - place.top) * shown, photo.bitmap.height)];
  };
  photo.canvas.classList.add("marked");
  photo.canvas.addEventListener("pointerdown", event => {
    if (wanted !== "") return;
    from = at(event);
    forget();
    photo.canvas.setPointerCapture(event.pointerId);
  });
  photo.canvas.addEventListener("pointermove", event => {
    if (!from) return;
    const to = at(event);
    [box.left, box.top] = [0, 1].map(i => Math.floor(Math.min(from[i], to[i])));
    [box.width, box.height] = [0, 1].map(i => Math.floor(Math.abs(from[i] - to[i])));
    paint(photo);
  });
  photo.canvas.addEventListener("pointerup", () => { from = null; view?.redraw(); });
}

/** Draw a photo with what was found in it; gives the share of it, or null before a search. */
function paint(photo) {
  const { canvas, bitmap, scale, found } = photo;
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  brush.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const share = found ? dim(brush, canvas, found) : null;
  if (photo === photos[0] && wanted === "" && box.width && box.height) {
    brush.strokeStyle = "#fff";
    brush.lineWidth = 3;
    brush.strokeRect(...SIDES.map(side => box[side] * scale));
  }
  return share;
}

/** Darken every pixel whose p-value is at most the rate; gives the share of the others. */
function dim(brush, { width, height }, found) {
  const picture = brush.getImageData(0, 0, width, height);
  const across = places(found.columns, width, found.width);
  const down = places(found.rows, height, found.height);
  let kept = 0;
  for (let y = 0; y < height; y += 1) {
    const [above, below, t] = down[y];
    for (let x = 0; x < width; x += 1) {
      const [left, right, s] = across[x];
      const p = (found.p_values[above][left] * (1 - s) + found.p_values[above][right] * s) * (1 - t)
        + (found.p_values[below][left] * (1 - s) + found.p_values[below][right] * s) * t;
      if (p > board.rate) kept += 1;
      else darken(picture.data, 4 * (y * width + x));
    }
  }
  brush.putImageData(picture, 0, 0);
  return kept / (width * height);
}

function darken(data, i) {
  const gray = DIMMED * (data[i] + data[i + 1] + data[i + 2]) / 3;
  data[i] = data[i + 1] = data[i + 2] = gray;
}

/** For each of `count` pixels the two windows around it, and how near the second is. */
function places(centers, count, length) {
  let k = 0;
  return Array.from({ length: count }, (_, i) => {
    const at = Math.min(Math.max((i + 0.5) * length / count, centers[0]), centers.at(-1));
    while (k < centers.length - 2 && centers[k + 1] <= at) k += 1;
    const next = Math.min(k + 1, centers.length - 1);
    const gap = centers[next] - centers[k];
    return [k, next, gap > 0 ? (at - centers[k]) / gap : 0];
  });
}
