// What all sections share: the server's settings, the classes, the rate. Sections listen for changes.

import * as client from "./client.js";

const RATE = "corel.rate";
const listeners = new Set();

export const RATES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5];

export const board = {
  settings: null,
  classes: [],
  edition: 0,  // grows with every change of the classes
  rate: RATES.includes(Number(localStorage.getItem(RATE))) ? Number(localStorage.getItem(RATE)) : 0.05,

  setRate(rate) {
    this.rate = rate;
    localStorage.setItem(RATE, rate);
    tell("rate");
  },

  /** Read the classes again; whatever depends on them follows if they changed. */
  async refresh() {
    const found = await client.classes();
    if (JSON.stringify(found) === JSON.stringify(this.classes)) return;
    this.classes = found;
    this.edition += 1;
    tell("classes");
  },

  /** Call `run(what)` after each change; gives a function that ends it. */
  listen(run) {
    listeners.add(run);
    return () => listeners.delete(run);
  },
};

function tell(what) {
  for (const run of [...listeners]) run(what);
}
