// The list of sentences: searched, filtered, sorted; only the rows that can be seen exist.

const ROW = 62; // pixels, as in the style sheet
const AROUND = 6; // rows above and below those that can be seen

function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

// The places of the sentences that a state asks for, in its order.
function chosenSentences(report, decisions, state) {
  const needle = state.q.trim().toLowerCase();
  const wanted = [];
  for (let place = 0; place < report.count; place++) {
    if (needle && !matches(report, place, needle)) continue;
    if (state.gap && !report.gapped[state.gap]?.[place]) continue;
    if (state.wrong && !report.errors(place)) continue;
    if (state.decided && decisions.has(place) !== (state.decided === "yes")) continue;
    if (state.label && !report.hasLabel(place, state.label)) continue;
    wanted.push(place);
  }
  const keys = {
    dispute: (place) => -report.dispute(place),
    gain: (place) => -report.gain(place),
    loss: (place) => report.gain(place),
    errors: (place) => -report.errors(place),
    longest: (place) => -report.columns.length[place],
    shortest: (place) => report.columns.length[place],
  };
  const key = keys[state.sort];
  if (!key) return wanted;
  const values = new Map(wanted.map((place) => [place, key(place)]));
  return wanted.sort((a, b) => values.get(a) - values.get(b) || a - b);
}

// In the words, the id, or the number of a sentence, as "#17".
function matches(report, place, needle) {
  if (needle.startsWith("#")) return String(report.columns.number[place]) === needle.slice(1);
  return report.text(place).toLowerCase().includes(needle) || report.id(place).toLowerCase().includes(needle);
}

class SentenceList {
  constructor(report, decisions, box, choose) {
    Object.assign(this, { report, decisions, box, choose, places: [], chosen: -1 });
    this.space = html("div", { class: "space", role: "presentation" });
    this.box.append(this.space);
    this.box.addEventListener("scroll", () => this.fill(), { passive: true });
    this.box.addEventListener("click", (event) => {
      const row = event.target.closest("[data-place]");
      if (row) this.choose(Number(row.dataset.place), true);
    });
    new ResizeObserver(() => this.fill()).observe(this.box);
  }

  show(places, chosen) {
    this.places = places;
    this.chosen = chosen;
    this.box.hidden = !places.length;
    this.space.style.height = `${places.length * ROW}px`;
    this.fill(true);
  }

  get index() {
    return this.places.indexOf(this.chosen);
  }

  // Bring the chosen row into view.
  reveal() {
    const top = this.index * ROW;
    if (this.index < 0) return;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + ROW > this.box.scrollTop + this.box.clientHeight)
      this.box.scrollTop = top + ROW - this.box.clientHeight;
    this.fill(true);
  }

  fill(again = false) {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - AROUND);
    const last = Math.min(
      this.places.length,
      Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + AROUND,
    );
    if (!again && first === this.first && last === this.last) return;
    [this.first, this.last] = [first, last];
    const rows = [];
    for (let index = first; index < last; index++) rows.push(this.row(index));
    this.space.replaceChildren(...rows);
    if (this.index >= first && this.index < last)
      this.box.setAttribute("aria-activedescendant", `row-${this.chosen}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  row(index) {
    const { report } = this;
    const place = this.places[index];
    const score = report.score(report.main, place);
    const row = html("div", {
      class: "row",
      role: "option",
      id: `row-${place}`,
      "data-place": place,
      "aria-selected": String(place === this.chosen),
      "aria-setsize": this.places.length,
      "aria-posinset": index + 1,
    });
    row.style.top = `${index * ROW}px`;
    const facts = html(
      "span",
      { class: "facts" },
      html("span", { class: "number" }, `#${report.columns.number[place]}`),
    );
    if (report.id(place)) facts.append(html("span", { class: "id" }, shown(report.id(place), "")));
    if (report.gapped.gold[place] || report.gapped.average[place])
      facts.append(html("span", { class: "gaps", title: "discontinuous" }, "gaps"));
    if (this.decisions.has(place)) facts.append(html("span", { class: "decided" }, "decided"));
    facts.append(html("span", { class: "push" }));
    if (score) facts.append(html("span", { title: "F1 of the average" }, `F1 ${Math.round(score.f1)}`));
    if (report.columns.dispute) facts.append(meter(report.dispute(place), "dispute"));
    row.append(html("span", { class: "text" }, shown(report.text(place), "∅")), facts);
    return row;
  }
}

// A number from 0 to 1 as a small bar.
function meter(value, what) {
  const bar = svg("svg", {
    class: "meter",
    viewBox: "0 0 36 6",
    width: 36,
    height: 6,
    role: "img",
    "aria-label": `${what} ${percent(value)}`,
  });
  bar.append(
    svg("rect", { class: "all", width: 36, height: 6, rx: 3 }),
    svg("rect", { class: "part", width: round(36 * value), height: 6, rx: 3 }),
  );
  return bar;
}
