// A tree as SVG: right angles, bars with a gap where a branch passes, missed constituents as brackets below.

const SVG = "http://www.w3.org/2000/svg";
const SIZE = 14; // of the font, in pixels; other distances are in units of it
const GAP = 0.75,
  SNAP = 0.8,
  PITCH = 2.55,
  LABEL_TOP = 0.95,
  LABEL_BOTTOM = 0.4,
  BAR = 0.85,
  CORNER = 0.4,
  BREAK = 0.3;
const SMALL = 0.78,
  TAG_LINE = 1.25,
  LANE = 2,
  TICK = 0.4,
  MARGIN = 0.6;

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// The width of a text in pixels, as the browser will set it.
const widthOf = (() => {
  const context = document.createElement("canvas").getContext("2d");
  const known = new Map();
  let family = "";
  return (text, scale = 1, weight = 400) => {
    const name = `${weight} ${scale} ${text}`;
    if (!known.has(name)) {
      family ||= getComputedStyle(document.body).fontFamily;
      context.font = `${weight} ${SIZE * scale}px ${family}`;
      known.set(name, context.measureText(text).width);
    }
    return known.get(name);
  };
})();

const percent = (value) => `${Math.round(100 * value)}%`;
const MARKS = new Map([
  [true, "✓"],
  [false, "✗"],
  [null, ""],
]);

// What a drawing shows, measured and laid out, without any element yet.
//   words         texts with tags
//   constituents  in canonical order, with mask, label, right, support, …
//   missed        sets that only gold has
//   number        which number stands behind labels: "", "support" or "probability"
function plan({ words, constituents, missed = [], number = "", tags = true }) {
  const arrangement = arrange(
    words.length,
    constituents.map((c) => c.mask),
  );
  const wordTexts = words.map((word) => shown(word.text, "∅"));
  const tagTexts = words.map((word) => (tags ? shown(word.tag, "") : ""));
  const labels = constituents.map((c) => {
    const value =
      number && c[number] !== null && c[number] !== undefined && !c.whole ? percent(c[number]) : "";
    const more = [MARKS.get(c.right ?? null), value].filter(Boolean).join(" ");
    return { text: labelText([c.label, c.function]), more };
  });
  const halves = [
    ...wordTexts.map((text, place) => Math.max(widthOf(text), widthOf(tagTexts[place], SMALL)) / 2),
    ...labels.map(({ text, more }) => (widthOf(text, 1, 600) + (more ? widthOf(` ${more}`, SMALL) : 0)) / 2),
  ];
  const { x, width } = place(arrangement, halves, GAP * SIZE, SNAP * SIZE);
  const top = arrangement.level[words.length];
  const y = arrangement.level.map((level) => (1 + (top - level) * PITCH) * SIZE);
  const tagged = tagTexts.some(Boolean);
  const wordY = (1 + top * PITCH + (tagged ? TAG_LINE : 0)) * SIZE;
  const found = { arrangement, constituents, wordTexts, tagTexts, labels, halves, x, y, wordY, tagged };
  found.brackets = planBrackets(found, missed, wordY + LABEL_BOTTOM * SIZE);
  const bottom =
    wordY + LABEL_BOTTOM * SIZE + (found.brackets.lanes ? (found.brackets.lanes * LANE - 0.1) * SIZE : 0);
  const left = Math.min(0, ...found.brackets.items.map((item) => item.left));
  const right = Math.max(width, ...found.brackets.items.map((item) => item.right));
  const margin = MARGIN * SIZE;
  found.box = [left - margin, 0, right - left + 2 * margin, bottom + margin / 2];
  return found;
}

// Brackets under the sentence, short ones first, in as few lanes as fit.
function planBrackets({ x, halves }, missed, bottom) {
  const lanes = [];
  const width = (item) => spansOf(item.mask).at(-1)[1] - spansOf(item.mask)[0][0];
  const items = [...missed]
    .sort((a, b) => width(a) - width(b))
    .map((item) => {
      const spans = spansOf(item.mask).map(([start, end]) => [
        x[start] - halves[start],
        x[end - 1] + halves[end - 1],
      ]);
      const text = item.labels.map((label) => shown(label, "•")).join("+");
      const centre = (spans[0][0] + spans.at(-1)[1]) / 2;
      const half = Math.max(widthOf(`✗ ${text}`, SMALL) / 2, centre - spans[0][0]);
      const [left, right] = [centre - half, centre + half];
      let lane = lanes.findIndex((taken) =>
        taken.every(([start, end]) => right + GAP * SIZE <= start || end + GAP * SIZE <= left),
      );
      if (lane < 0) lane = lanes.push([]) - 1;
      lanes[lane].push([left, right]);
      return { item, spans, text, centre, left, right, y: bottom + (0.8 + lane * LANE) * SIZE };
    });
  return { items, lanes: lanes.length };
}

// Draw what was planned. `title` is for those who do not see it, `colour` is "judgement" or "support".
function draw(planned, { title, colour, id }) {
  const { box } = planned;
  const picture = svg(
    "svg",
    {
      class: `tree-drawing by-${colour}`,
      role: "img",
      "aria-labelledby": `${id}-title`,
      viewBox: box.map(round).join(" "),
      width: round(box[2]),
      height: round(box[3]),
      "font-size": SIZE,
      "text-anchor": "middle",
    },
    svg("title", { id: `${id}-title` }, title),
  );
  planned.constituents.forEach((c, place) => picture.append(drawConstituent(planned, c, place, colour)));
  planned.wordTexts.forEach((text, position) => {
    const group = svg("g", { class: "word", "data-position": position });
    if (planned.tagTexts[position]) {
      group.append(
        svg(
          "text",
          {
            class: "tag",
            x: round(planned.x[position]),
            y: round(planned.y[position]),
            "font-size": `${SMALL}em`,
          },
          planned.tagTexts[position],
        ),
      );
    }
    group.append(
      svg("text", { class: "form", x: round(planned.x[position]), y: round(planned.wordY) }, text),
    );
    picture.append(group);
  });
  for (const item of planned.brackets.items) picture.append(drawBracket(item));
  return picture;
}

const round = (value) => Math.round(100 * value) / 100;

function drawConstituent(planned, c, index, colour) {
  const node = planned.arrangement.words + index;
  const kinds = ["constituent"];
  if (colour === "support") kinds.push(`strength-${Math.min(4, Math.floor(5 * c.support))}`);
  else if (c.right !== null) kinds.push(c.right ? "right" : "wrong");
  if (c.gapped) kinds.push("gapped");
  if (c.accepted) kinds.push("accepted");
  const group = svg("g", { class: kinds.join(" "), "data-set": c.name, "data-index": index });
  const line = svg("path", { class: "branch", d: branches(planned, node) });
  if (c.support !== null) line.style.strokeWidth = (0.8 + 1.5 * c.support).toFixed(2);
  const { text, more } = planned.labels[index];
  const [x, y] = [round(planned.x[node]), round(planned.y[node])];
  const half = planned.halves[node];
  const touch = svg("rect", {
    class: "touch",
    x: round(x - half - 3),
    y: round(y - 1.1 * SIZE),
    width: round(2 * half + 6),
    height: round(1.5 * SIZE),
    rx: 4,
  });
  const label = svg("text", { class: "label", x, y }, text);
  if (more) label.append(svg("tspan", { class: "more", "font-size": `${SMALL}em` }, ` ${more}`));
  group.append(line, touch, label);
  return group;
}

// The path of the bar, with a gap for every branch that passes, and of its stems.
function branches({ arrangement, x, y, wordY, tagTexts }, node) {
  const top = (child) => {
    if (child >= arrangement.words) return y[child] - LABEL_TOP * SIZE;
    return tagTexts[child] ? y[child] - LABEL_TOP * SMALL * SIZE : wordY - LABEL_TOP * SIZE;
  };
  const middle = x[node];
  const [start, bar] = [y[node] + LABEL_BOTTOM * SIZE, y[node] + BAR * SIZE];
  const ends = arrangement.children[node].map((child) => [x[child], top(child)]);
  const steps = [];
  const add = (...parts) =>
    steps.push(...parts.map((part) => (typeof part === "string" ? part : round(part))));
  if (ends.length === 1) {
    add("M", middle, start, "V", ends[0][1]);
    return steps.join(" ");
  }
  const [[left, leftEnd], [right, rightEnd]] = [ends[0], ends.at(-1)];
  const corner = CORNER * SIZE;
  if (left === middle) add("M", left, start, "V", leftEnd, "M", left, bar);
  else add("M", left, leftEnd, "V", bar + corner, "Q", left, bar, left + corner, bar);
  for (const other of crossing(arrangement, node))
    add("H", x[other] - BREAK * SIZE, "M", x[other] + BREAK * SIZE, bar);
  if (right === middle) add("H", right, "M", right, start, "V", rightEnd);
  else add("H", right - corner, "Q", right, bar, right, bar + corner, "V", rightEnd);
  for (const [child, end] of ends.slice(1, -1)) add("M", child, child === middle ? start : bar, "V", end);
  if (ends.every(([child]) => child !== middle)) add("M", middle, start, "V", bar);
  return steps.join(" ");
}

function drawBracket({ item, spans, text, centre, y }) {
  const group = svg("g", { class: "missed", "data-set": item.name });
  const top = y - TICK * SIZE;
  for (const [left, right] of spans) {
    group.append(svg("path", { d: `M ${round(left)} ${round(y)} H ${round(right)}` }));
    group.append(
      svg("path", {
        class: "ends",
        d: `M ${round(left)} ${round(top)} V ${round(y)} M ${round(right)} ${round(top)} V ${round(y)}`,
      }),
    );
  }
  for (let place = 1; place < spans.length; place++) {
    group.append(
      svg("path", {
        class: "bridge",
        d: `M ${round(spans[place - 1][1])} ${round(y)} H ${round(spans[place][0])}`,
      }),
    );
  }
  group.append(svg("text", { x: round(centre), y: round(y + 0.95 * SIZE), "font-size": `${SMALL}em` }, text));
  return group;
}

// The same tree as indented lines, for those who do not see it and for those who copy it.
function outline(sentence, constituents, missed) {
  const { parents } = parentsOf(
    sentence.words.length,
    constituents.map((c) => c.mask),
  );
  const depth = [];
  const lines = constituents.map((c, place) => {
    depth.push(parents[place] < 0 ? 0 : depth[parents[place]] + 1);
    const facts = [];
    if (c.right !== null && c.right !== undefined) facts.push(c.right ? "right" : "wrong");
    if (c.support !== null && !c.whole) facts.push(`support ${percent(c.support)}`);
    if (c.probability !== null && c.probability !== undefined && !c.whole)
      facts.push(`probability ${percent(c.probability)}`);
    const label = labelText([c.label, c.function]);
    const told = facts.length ? ` (${facts.join(", ")})` : "";
    return `${"  ".repeat(depth[place])}${label} [${sentence.excerpt(c.mask)}]${told}`;
  });
  for (const item of missed) {
    lines.push(
      `missed: ${item.labels.map((label) => shown(label, "•")).join("+")} [${sentence.excerpt(item.mask)}]`,
    );
  }
  return lines.join("\n");
}
