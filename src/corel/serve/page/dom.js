// Elements, messages and dialogs. Text from outside only ever becomes a text node.

/** Make an element: `on…` are listeners, `class`, `aria-…` and the like attributes, other names properties. */
export function h(tag, settings = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.includes("-") && name !== "list" && name !== "form") element[name] = value;
    else element.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

export const counted = (n, thing, things = `${thing}s`) => `${n.toLocaleString("en")} ${n === 1 ? thing : things}`;

export const percent = rate => `${+(100 * rate).toPrecision(2)}%`;

export const shownP = p => (p >= 0.0995 ? p.toFixed(2) : p >= 0.00095 ? p.toFixed(3) : p.toExponential(0));

/** Show a message for a while; `action` is a button in it: {label, run}. */
export function toast(text, { action, error = false, seconds = 12 } = {}) {
  const box = h("div", { className: error ? "toast error" : "toast", role: error ? "alert" : null }, h("p", {}, text));
  const close = () => box.remove();
  if (action) {
    box.append(h("button", { type: "button", onclick: () => { close(); attempt(action.run); } }, action.label));
  }
  box.append(h("button", { type: "button", className: "quiet", "aria-label": "Dismiss", onclick: close }, "✕"));
  document.getElementById("toasts").append(box);
  setTimeout(close, 1000 * seconds);
}

/** Run something that may fail, and say so if it does. */
export async function attempt(run) {
  try {
    return await run();
  } catch (error) {
    toast(error.message, { error: true });
    return undefined;
  }
}

/** Open a dialog; it leaves the page when it closes. Gives the element. */
export function dialog(title, ...children) {
  const heading = h("h2", { id: `title-${Math.random().toString(36).slice(2)}` }, title);
  const close = h("button", { type: "button", className: "quiet close", "aria-label": "Close" }, "✕");
  const box = h("dialog", { "aria-labelledby": heading.id }, h("header", {}, heading, close), ...children);
  close.addEventListener("click", () => box.close());
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", event => { if (event.target === box) box.close(); });
  document.body.append(box);
  box.showModal();
  return box;
}

/** A field for a class's name, which says by itself what cannot be one. */
export function nameField(id, value = "") {
  return h("input", {
    id, value, type: "text", required: true, maxLength: 100, autocomplete: "off", pattern: "[^\\/\\\\]+",
    title: "a name without / and \\",
  });
}

/** The last part of a path. */
export const fileName = path => path.split(/[\\/]/).pop() || path;

/** A name of at most so many letters: files of one camera differ at the end. */
export const shortened = (name, most = 17) => {
  const letters = [...name];
  return letters.length > most ? [...letters.slice(0, most >> 2), "…", ...letters.slice((most >> 2) + 1 - most)].join("") : name;
};

// A picture is asked for while it is near the screen. One that leaves before it came is not waited for: a browser asks for
// six things at a time, and whoever scrolls past a thousand pictures wants the next page before them.
const sight = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting && !target.complete) target.removeAttribute("src");
    else if (isIntersecting && !target.hasAttribute("src")) target.src = target.dataset.src;
  }
}, { rootMargin: "400px" });

/** A thumbnail of an exemplar, loaded when it comes into sight. */
export function thumbnail(name, exemplar, settings = {}) {
  const where = new URLSearchParams({ name, hash: exemplar.hash });
  const image = h("img", {
    "data-src": `/v1/thumbnails?${where}`, alt: exemplar.source ?? "", decoding: "async", draggable: false,
    onload: () => sight.unobserve(image), ...settings,
  });
  sight.observe(image);
  return image;
}

/** Ask for no more pictures inside `root`, before what they show is renamed or removed. Gives a function that goes on. */
export function pausePictures(root) {
  const awaited = [...root.querySelectorAll("img")].filter(image => !image.hasAttribute("src") || !image.complete);
  for (const image of awaited) {
    sight.unobserve(image);
    image.removeAttribute("src");
  }
  return () => awaited.forEach(image => sight.observe(image));
}

/** Call `run` whenever an element comes into sight. */
export function whenSeen(element, run) {
  const observer = new IntersectionObserver(
    entries => { if (entries.some(entry => entry.isIntersecting)) run(); }, { rootMargin: "400px" });
  observer.observe(element);
  return () => observer.disconnect();
}
