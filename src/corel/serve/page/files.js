// Photos from wherever they come: drop, paste, picker, folder, camera.

import { attempt, dialog, h, toast } from "./dom.js";

const IMAGE = /\.(jpe?g|png|webp|bmp|tiff?|gif|avif|hei[cf])$/i;

const isImage = file => file.type.startsWith("image/") || IMAGE.test(file.name);

/** The images of a drop, folders included. What is no image is counted. */
export async function dropped(transfer) {
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = entries.length ? (await Promise.all(entries.map(entry => walk(entry, "")))).flat() : [...transfer.files];
  const folder = entries.length === 1 && entries[0].isDirectory ? entries[0].name : null;
  return chosen(files, folder);
}

async function walk(entry, above) {
  if (entry.name.startsWith(".")) return [];
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    file.shownAs = above + file.name;
    return [file];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {  // a reader gives a hundred entries at a time
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map(each => walk(each, `${above}${entry.name}/`)))).flat();
}

function chosen(files, folder = null) {
  const images = files.filter(isImage);
  if (images.length < files.length) toast(`${files.length - images.length} of ${files.length} files are no images.`);
  images.folder = folder;
  return images;
}

export const pasted = event => chosen([...(event.clipboardData?.files ?? [])]);

/** Ask for files, a folder, or a photo taken now. */
export function pick(take, { folder = false, capture = false } = {}) {
  const input = h("input", { type: "file", multiple: !capture, accept: "image/*", className: "hidden" });
  if (folder) input.webkitdirectory = true;
  if (capture) input.setAttribute("capture", "environment");
  input.addEventListener("change", () => {
    const files = [...input.files];
    for (const file of files) if (file.webkitRelativePath) file.shownAs = file.webkitRelativePath;
    input.remove();
    const images = chosen(files, folder ? files[0]?.webkitRelativePath.split("/")[0] : null);
    if (images.length) take(images);
  });
  document.body.append(input);
  input.click();
}

/** Take photos with the live camera where the browser allows it, else with the phone's own. */
export async function photograph(take) {
  if (!navigator.mediaDevices?.getUserMedia) {
    pick(take, { capture: true });
    return;
  }
  const stream = await attempt(() => navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } }));
  if (stream) showCamera(stream, take);
}

function showCamera(stream, take) {
  const video = h("video", { autoplay: true, muted: true, playsInline: true, "aria-label": "Live picture" });
  video.srcObject = stream;
  const shots = [];
  const strip = h("ul", { className: "strip", "aria-label": "Photos taken" });
  const use = h("button", { type: "button", disabled: true }, "Use no photos yet");
  const shoot = h("button", { type: "button", className: "primary" }, "Take a photo");
  shoot.addEventListener("click", async () => {
    const file = await frame(video, shots.length + 1);
    shots.push(file);
    strip.append(h("li", {}, h("img", { src: URL.createObjectURL(file), alt: file.name })));
    use.textContent = `Use ${shots.length === 1 ? "this photo" : `these ${shots.length} photos`}`;
    use.disabled = false;
  });
  const box = dialog("Camera", video, strip, h("footer", {}, shoot, use));
  box.classList.add("camera");
  box.addEventListener("close", () => stream.getTracks().forEach(track => track.stop()));
  use.addEventListener("click", () => { box.close(); take(shots); });
}

async function frame(video, number) {
  const canvas = h("canvas", { width: video.videoWidth, height: video.videoHeight });
  canvas.getContext("2d").drawImage(video, 0, 0);
  const blob = await new Promise(resolve => canvas.toBlob(resolve, "image/jpeg", 0.92));
  const now = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  return new File([blob], `camera ${now} ${number}.jpg`, { type: "image/jpeg" });
}

/** The three ways to choose photos, as buttons; a phone has no folders. */
export function chooser(take) {
  const button = (label, run) => h("button", { type: "button", onclick: run }, label);
  return h("div", { className: "choose" },
    button("Photos…", () => pick(take)),
    matchMedia("(pointer: coarse)").matches ? "" : button("Folder…", () => pick(take, { folder: true })),
    button("Camera", () => photograph(take)));
}

/** Cut files into requests that the server takes. */
export function portions(files, limits, most = 16) {
  const parts = [];
  let size = Infinity;
  for (const file of files) {
    if (size + file.size > Math.min(24e6, limits.body_bytes / 2) || parts.at(-1).length >= Math.min(most, limits.files)) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1).push(file);
    size += file.size;
  }
  return parts;
}

const queue = [];
let drawing = 0;

/** Make a small picture of a file, two at a time: hundreds of photos at full size would fill the memory. */
export function preview(file, width = 320) {
  return new Promise(resolve => { queue.push({ file, width, resolve }); drawNext(); });
}

async function drawNext() {
  if (drawing >= 2 || !queue.length) return;
  drawing += 1;
  const { file, width, resolve } = queue.shift();
  try {
    const bitmap = await createImageBitmap(file);
    const scale = Math.min(1, width / Math.min(bitmap.width, bitmap.height));
    const canvas = h("canvas", {
      width: Math.max(1, Math.round(bitmap.width * scale)), height: Math.max(1, Math.round(bitmap.height * scale)),
    });
    const brush = canvas.getContext("2d");
    brush.imageSmoothingQuality = "high";
    brush.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    bitmap.close();
    resolve(URL.createObjectURL(await new Promise(done => canvas.toBlob(done, "image/webp", 0.85))));
  } catch {
    resolve(null);  // a format that this browser does not show
  }
  drawing -= 1;
  drawNext();
}
