// Sets of word positions as BigInt masks: position p is bit p.

function maskOfSpans(spans) {
  let mask = 0n;
  for (const [start, end] of spans) mask |= ((1n << BigInt(end - start)) - 1n) << BigInt(start);
  return mask;
}

function positionsOf(mask) {
  const found = [];
  for (let position = 0; mask; position++, mask >>= 1n) if (mask & 1n) found.push(position);
  return found;
}

function spansOf(mask) {
  const spans = [];
  for (const position of positionsOf(mask)) {
    const last = spans[spans.length - 1];
    if (last && last[1] === position) last[1]++;
    else spans.push([position, position + 1]);
  }
  return spans;
}

// Two sets cross if they share words and neither holds the other: no tree has both.
function cross(a, b) {
  const common = a & b;
  return common !== 0n && common !== a && common !== b;
}

// By first word, larger sets first: the root comes first, and parents before their children.
function canonical(a, b) {
  const first = (set) => set & -set;
  if (first(a.mask) !== first(b.mask)) return first(a.mask) < first(b.mask) ? -1 : 1;
  return positionsOf(b.mask).length - positionsOf(a.mask).length;
}

// A name for a set that can stand in an attribute: "0-2,4-5".
function nameOfSet(mask) {
  return spansOf(mask)
    .map(([start, end]) => `${start}-${end}`)
    .join(",");
}
