// The API. Busy answers are tried again; any other error carries the server's sentence.

const PATIENCE = 8;  // attempts
const REMOVED = 200;  // exemplars a request
const LOADING = 120;  // seconds to wait for the encoder

export class Problem extends Error {
  constructor(status, document) {
    super(document.detail ?? `the server answered with ${status}`);
    this.status = status;
    this.document = document;
  }
}

let loaded = false;  // the encoder

const pause = seconds => new Promise(resolve => setTimeout(resolve, 1000 * seconds));

async function ask(method, path, { query, body, json } = {}) {
  const address = query ? `/v1/${path}?${new URLSearchParams(query)}` : `/v1/${path}`;
  const headers = json === undefined ? {} : { "Content-Type": "application/json" };
  const content = json === undefined ? body : JSON.stringify(json);
  if (method !== "GET" || path === "audit") await ready();
  for (let attempt = 1; ; attempt += 1) {
    let response;
    try {
      response = await fetch(address, { method, headers, body: content });
    } catch {
      throw new Problem(0, { detail: "The server cannot be reached. Is it still running?" });
    }
    if (response.ok) return response.json();
    if (response.status === 401) location.reload();
    if (![429, 503].includes(response.status) || attempt === PATIENCE) {
      throw new Problem(response.status, await response.json().catch(() => ({})));
    }
    await pause(Math.min(0.25 * 2 ** attempt, 4));
  }
}

/** Wait until the encoder is loaded; gives whether it is. */
export async function ready() {
  for (const until = Date.now() + 1000 * LOADING; !loaded && Date.now() < until; await pause(0.5)) {
    const response = await fetch("/v1/settings").catch(() => null);
    loaded = Boolean(response?.ok && (await response.json()).encoder);
    if (loaded || !response) break;
  }
  return loaded;
}

function form(files, fields) {
  const body = new FormData();
  for (const [name, values] of Object.entries(fields)) for (const value of values) body.append(name, value);
  for (const file of files) body.append("images", file, file.shownAs ?? file.name);
  return body;
}

export const settings = () => ask("GET", "settings");
export const classes = async () => (await ask("GET", "classes")).classes;
export const rename = (name, to) => ask("PATCH", "classes", { query: { name }, json: { name: to } });
export const forget = name => ask("DELETE", "classes", { query: { name } });
export const exemplars = (name, offset, limit) => ask("GET", "exemplars", { query: { name, offset, limit } });
export const audit = (name, offset, limit) => ask("GET", "audit", { query: { name, offset, limit } });
export const enroll = (name, files) => ask("POST", "exemplars", { query: { name }, body: form(files, {}) });
/** Remove exemplars, in several requests since hashes are in the address; `done` gets each answer, with its key to undo it. */
export async function remove(name, hashes, done = []) {
  for (let start = 0; start < hashes.length; start += REMOVED) {
    const some = hashes.slice(start, start + REMOVED).map(hash => ["hash", hash]);
    done.push(await ask("DELETE", "exemplars", { query: [["name", name], ...some] }));
  }
  return done;
}
export const undo = key => ask("POST", "exemplars/undo", { json: { undo: key } });
let calibration = null;  // the last one, with its key

/** Score files, and images that the server keeps; the answer always has its calibration. */
export async function score(files, hashes = []) {
  const has = calibration ? [calibration.key] : [];
  const answer = await ask("POST", "score", { body: form(files, { hash: hashes, calibration: has }) });
  if (answer.calibration) calibration = { ...answer.calibration, key: answer.calibration_key };
  if (calibration.key !== answer.calibration_key) return score(files, hashes);  // another request's came between
  return { ...answer, calibration };
}
export const explain = (file, names) => ask("POST", "explain", { body: form([file], { name: names }) });
/** Search photos for what `fields` name: a box of the first one, or a class. */
export const find = async (files, fields) => (await ask("POST", "find", { body: form(files, fields) })).photos;
