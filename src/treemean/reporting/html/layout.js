// Where everything of a drawing goes, as in treemean's own drawings (trees/drawing/layout.py tells the ideas):
// no two stems run into one another, what fills a gap lies below the bar that bridges it, and the only
// crossings are stems that pass a bar. A test compares both.
//
// Nodes are numbered: words first (node p is word p), then constituents in canonical order.

function parentsOf(words, masks) {
  const owner = new Array(words).fill(-1);
  const parents = new Array(masks.length).fill(-1);
  const sizes = masks.map((mask) => positionsOf(mask).length);
  const order = masks.map((_, place) => place).sort((a, b) => sizes[b] - sizes[a] || a - b);
  for (const place of order) {
    const positions = positionsOf(masks[place]);
    parents[place] = owner[positions[0]];
    for (const position of positions) owner[position] = place;
  }
  return { parents, owner };
}

function arrange(words, masks) {
  const { parents, owner } = parentsOf(words, masks);
  const total = words + masks.length;
  const parent = [
    ...owner.map((place) => words + place),
    ...parents.map((place) => (place < 0 ? -1 : words + place)),
  ];
  const listed = Array.from({ length: total }, () => []);
  for (let node = 0; node < total; node++) if (parent[node] >= 0) listed[parent[node]].push(node);
  const key = Array.from({ length: total }, (_, node) => node);
  const home = key.map((node) => [node, node]);
  const anchors = key.map((node) => [node, node]);
  const first = (node) => (node < words ? node : positionsOf(masks[node - words])[0]);
  for (let node = total - 1; node >= words; node--) {
    const children = listed[node].sort((a, b) => first(a) - first(b));
    children.sort((a, b) => key[a] - key[b]);
    const chosen = chooseHome(children, key, spansOf(masks[node - words]));
    anchors[node] = [chosen.first, chosen.last];
    home[node] = chosen.first === chosen.last ? home[chosen.first] : [chosen.start, chosen.end];
    key[node] = (key[chosen.first] + key[chosen.last]) / 2;
  }
  const level = levelsOf(words, masks, parents, listed, home);
  return { words, parent, children: listed, anchors, home, level, rows: rowsOf(level, parent, key) };
}

// The continuous part nearest to the middle of all children, and its first and last child.
function chooseHome(children, key, spans) {
  const middle = (key[children[0]] + key[children[children.length - 1]]) / 2;
  let best = null;
  for (const [start, end] of spans) {
    const inside = children.filter((child) => key[child] >= start && key[child] < end);
    if (!inside.length) continue;
    const [left, right] = [inside[0], inside[inside.length - 1]];
    const distance = Math.max(key[left] - middle, middle - key[right], 0);
    if (!best || distance < best.distance) best = { distance, start, end: end - 1, first: left, last: right };
  }
  return best;
}

function levelsOf(words, masks, parents, children, home) {
  const bars = new Map();
  for (let node = words; node < children.length; node++) {
    const own = children[node];
    if (own.length < 2) continue;
    bars.set(node, {
      node,
      anchor: home[node][0],
      stems: own.map((child) => home[child][0]),
      first: home[own[0]][0],
      last: home[own[own.length - 1]][1],
    });
  }
  const meet = (a, b) => a.first <= b.last && b.first <= a.last;
  const above = children.map(() => []);
  const waits = new Array(children.length).fill(0);
  const put = (upper, lower) => {
    above[lower].push(upper);
    waits[upper]++;
  };
  parents.forEach((parent, place) => parent >= 0 && put(words + parent, words + place));
  masks.forEach((mask, upper) => {
    const bridge = bars.get(words + upper);
    const spans = spansOf(mask);
    if (!bridge || spans.length === 1) return;
    const hull = maskOfSpans([[spans[0][0], spans[spans.length - 1][1]]]);
    masks.forEach((other, lower) => {
      if (other & mask || other & ~hull) return;
      const inner = bars.get(words + lower);
      if (inner && meet(bridge, inner)) put(words + upper, words + lower);
    });
  });

  const level = new Array(children.length).fill(0);
  const preferences = new Map();
  let ready = [];
  for (let node = words; node < children.length; node++) if (!waits[node]) ready.push(node);
  for (let current = 1; ready.length; current++) {
    const settled = new Set(ready.filter((node) => !bars.has(node)));
    const waiting = ready.filter((node) => bars.has(node)).map((node) => bars.get(node));
    for (const node of settle(waiting, preferences, meet)) settled.add(node);
    ready = ready.filter((node) => !settled.has(node));
    for (const node of settled) {
      level[node] = current;
      for (const upper of above[node]) if (--waits[upper] === 0) ready.push(upper);
    }
  }
  return level;
}

// Choose bars for one level that do not meet, those first that cause fewest crossings.
function settle(bars, preferences, meet) {
  const below = (lower, upper) =>
    upper.stems.filter((stem) => stem >= lower.first && stem <= lower.last).length +
    (upper.first <= lower.anchor && lower.anchor <= upper.last ? 1 : 0);
  const score = new Map(bars.map((bar) => [bar.node, 0]));
  bars.sort((a, b) => a.first - b.first || a.node - b.node);
  bars.forEach((a, place) => {
    for (const b of bars.slice(place + 1)) {
      if (b.first > a.last) break;
      const pair = `${a.node} ${b.node}`;
      if (!preferences.has(pair)) preferences.set(pair, below(a, b) - below(b, a));
      score.set(a.node, score.get(a.node) + preferences.get(pair));
      score.set(b.node, score.get(b.node) - preferences.get(pair));
    }
  });
  const chosen = [];
  const order = [...bars].sort(
    (a, b) => score.get(a.node) - score.get(b.node) || a.last - a.first - (b.last - b.first),
  );
  for (const bar of order) if (!chosen.some((other) => meet(bar, other))) chosen.push(bar);
  return chosen.map((bar) => bar.node);
}

// For every level the nodes that have their label on it or pass it, from left to right.
function rowsOf(level, parent, key) {
  const rows = Array.from({ length: Math.max(...level) + 1 }, () => []);
  const order = key.map((_, node) => node).sort((a, b) => key[a] - key[b] || a - b);
  for (const node of order) {
    const above = parent[node] >= 0 ? level[parent[node]] : 0;
    for (let row = level[node]; row < Math.max(above, level[node] + 1); row++) rows[row].push(node);
  }
  return rows;
}

// The nodes whose stems pass the bar of a constituent, from left to right.
function crossing(arrangement, node) {
  const row = arrangement.rows[arrangement.level[node] - 1];
  const children = arrangement.children[node];
  const between = row.slice(row.indexOf(children[0]) + 1, row.indexOf(children[children.length - 1]));
  return between.filter((other) => arrangement.parent[other] !== node);
}

// Give every node its coordinate; `halves` are half the widths of the texts.
function place(arrangement, halves, gap, snap) {
  const { words, children, anchors, home, level, rows } = arrangement;
  const x = new Array(halves.length).fill(0);
  const anchor = (node) => {
    const [first, last] = anchors[node];
    const middle = (x[first] + x[last]) / 2;
    let nearest = middle;
    let distance = Infinity;
    for (const child of children[node]) {
      if (x[child] <= x[first] || x[child] >= x[last]) continue;
      const own = Math.abs(x[child] - middle);
      if (own < distance) [nearest, distance] = [x[child], own];
    }
    return distance <= snap ? nearest : middle;
  };
  const move = (position, by) => {
    for (let word = position; word < words; word++) x[word] += by;
    for (let node = halves.length - 1; node >= words; node--)
      if (home[node][1] >= position) x[node] = anchor(node);
  };
  for (let moved = true; moved;) {
    moved = false;
    rows.forEach((row, number) => {
      for (let at = 1; at < row.length; at++) {
        const [left, right] = [row[at - 1], row[at]];
        const reach =
          (level[left] === number ? halves[left] : 0) + (level[right] === number ? halves[right] : 0);
        const lacking = reach + gap - (x[right] - x[left]);
        if (lacking > 1e-9) {
          move(home[right][0], lacking);
          moved = true;
        }
      }
    });
  }
  const origin = Math.min(...x.map((position, node) => position - halves[node]));
  const placed = x.map((position) => position - origin);
  return { x: placed, width: Math.max(...placed.map((position, node) => position + halves[node])) };
}
