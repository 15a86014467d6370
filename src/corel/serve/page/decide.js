// The verdict on an image at a rate: the rule of `Scores.decide` in Python, so that a slider decides at once.

/** How many of m exemplars a rate may reject: ⌊rate·(m + 1)⌋, forgiving the rounding of products. */
export const allowedRejections = (rate, m) => Math.floor(rate * (m + 1) + 1e-9);

/** Whether a class of so many exemplars can reject anything by itself. */
export const keepsRate = (m, rate) => allowedRejections(rate, m) >= 1;

/** How many exemplars a rate needs. */
export const neededFor = rate => Math.ceil(1 / rate - 1e-9) - 1;

/** How many of ascending values are no higher. */
function noHigher(ascending, value) {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// For one calibration, the exemplars that small classes share at a rate: a slider comes back to few rates.
const pools = new WeakMap();

function poolAt(calibration, rate) {
  if (!pools.has(calibration)) pools.set(calibration, new Map());
  const known = pools.get(calibration);
  if (!known.has(rate)) {
    const pool = calibration.own.filter(own => allowedRejections(rate, own.length - 1) < 1);
    known.set(rate, { classes: pool.length, members: Float64Array.from(pool.flat()).sort() });
  }
  return known.get(rate);
}

/** P-values that decide the set: classes too small for the rate share one category. */
export function setPValues(image, calibration, rate) {
  const { classes, members } = poolAt(calibration, rate);
  return image.p_values.map((p, c) => {
    const own = calibration.own[c];
    if (allowedRejections(rate, own.length) >= 1 || classes < 2) return p;
    const like = image.likeness[c];
    const others = noHigher(members, like) - noHigher(own, like);
    return (1 + others + noHigher(calibration.joined[c], like)) / (members.length + 1);
  });
}

/**
 * Decide. Classes are given by their numbers: `set` holds those that do not reject the image, or those that hold it, the
 * likeliest first; `order` continues with the others; `likeliest` is the one that it is most like, whatever the verdict.
 */
export function decide(image, calibration, rate, classes) {
  const p = setPValues(image, calibration, rate);
  const holds = classes.map(name => image.enrolled.includes(name));
  const order = p.map((_, index) => index).sort((a, b) =>
    holds[b] - holds[a] || (p[a] <= rate) - (p[b] <= rate) || image.likeness[b] - image.likeness[a] || p[b] - p[a]);
  const held = holds.includes(true);
  const set = order.filter(index => held ? holds[index] : p[index] > rate);
  const likeliest = image.likeness.indexOf(Math.max(...image.likeness));
  let verdict = set.length === 1 ? "known" : "unsure";
  if (image.known <= rate && !held) verdict = "stranger";
  if (!image.photographic) verdict = "not a photograph";
  return { verdict, set, order, likeliest, p };
}
