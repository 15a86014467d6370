// The slider for the rate, which all sections share.

import { board, RATES } from "./board.js";
import { h } from "./dom.js";

/** Make a slider; `say(rate)` tells in words what the rate means here. */
export function slider(say) {
  const said = h("output", { htmlFor: "rate" });
  const tell = () => {
    said.textContent = say(board.rate);
    range.setAttribute("aria-valuetext", said.textContent);
  };
  const range = h("input", {
    id: "rate", type: "range", min: 0, max: RATES.length - 1, step: 1, value: RATES.indexOf(board.rate),
    oninput: event => { board.setRate(RATES[event.target.value]); tell(); },
  });
  tell();
  return h("div", { className: "slider" }, h("label", { htmlFor: "rate" }, "Rate"), range, said);
}
