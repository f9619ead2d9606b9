// One sentence: its text, and gold, average and every run drawn side by side. Only what is near the window is
// drawn.

const NARROWEST = 0.68; // trees are drawn smaller rather than scrolled, down to this scale

class SentenceView {
  constructor(report, decisions, elements, act) {
    Object.assign(this, { report, decisions, elements, act });
    this.tags = report.hasTags;
    this.waiting = new Map();
    this.observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) this._draw(target);
      },
      { rootMargin: "300px" },
    );
    for (const box of [elements.trees, elements.candidates, elements.decision]) {
      box.addEventListener("pointerover", (event) =>
        this.light(event.target.closest("[data-set]")?.dataset.set ?? ""),
      );
      box.addEventListener("pointerleave", () => this.light(""));
    }
    elements.candidates.addEventListener("focusin", (event) =>
      this.light(event.target.closest("[data-set]")?.dataset.set ?? ""),
    );
    elements.candidates.addEventListener("focusout", () => this.light(""));
    elements.trees.addEventListener("click", (event) => {
      const group = event.target.closest(".constituent[data-set]");
      const tree = event.target.closest("figure")?.dataset.tree;
      if (group && tree) this.act.toggle(this.branchAt(Number(tree), group.dataset.set));
    });
  }

  branchAt(tree, name) {
    return this.sentence.branchesOf(tree).find((branch) => branch.name === name);
  }

  show(sentence, state) {
    this.sentence = sentence;
    this.state = state;
    this.decision = this.decisions.of(sentence);
    this.observer.disconnect();
    this.waiting.clear();
    this._heading();
    const trees = this.report.trees.map((_, tree) => this._prepare(tree));
    this._columns(trees.map(({ planned }) => planned));
    this.elements.trees.replaceChildren(...trees.map((tree) => this._figure(tree)));
    this._decision();
    this.light("");
  }

  _heading() {
    const { sentence, report } = this;
    const { title, name, text, facts } = this.elements;
    title.textContent = `Sentence ${sentence.number}`;
    name.textContent = shown(sentence.id, "");
    text.replaceChildren(
      ...sentence.tokens.flatMap((word) => {
        const attributes = word.position >= 0 ? { "data-position": word.position } : { class: "punctuation" };
        return [html("span", attributes, shown(word.text, "∅")), " "];
      }),
    );
    const told = [`${sentence.words.length} words`];
    const score = report.score(report.main, sentence.place);
    const gain = report.gain(sentence.place);
    if (score) told.push(`F1 of the ${report.average >= 0 ? "average" : "run"} ${score.f1.toFixed(1)}`);
    if (score && report.average >= 0)
      told.push(`${gain >= 0 ? "+" : "−"}${Math.abs(gain).toFixed(1)} to the mean of its runs`);
    if (report.columns.dispute) told.push(`dispute ${percent(report.dispute(sentence.place))}`);
    facts.textContent = told.join(" · ");
  }

  // What is to be drawn of a tree: constituents below the slider are collapsed into what holds them.
  _prepare(tree) {
    const { sentence, state, report } = this;
    const least = Number(state.min) / 100;
    const all = sentence.constituents(tree).map((c) => this._marked(c));
    const kept =
      tree === report.gold ? all : all.filter((c) => c.whole || (c[state.by] ?? 1) >= least - 1e-9);
    const missed = sentence.missed(tree);
    const planned = plan({
      words: sentence.wordsOf(tree),
      constituents: kept,
      missed,
      number: state.show,
      tags: this.tags,
    });
    return { tree, kept, missed, planned, collapsed: all.length - kept.length };
  }

  _marked(c) {
    const whole = c.mask === this.sentence.everything;
    const accepted = !whole && Boolean(this.decision?.branches.some((branch) => branch.mask === c.mask));
    return { ...c, whole, accepted };
  }

  // As many columns as the widest tree lets stand side by side without becoming too small.
  _columns(plans) {
    const { trees } = this.elements;
    const room = trees.clientWidth || 900;
    const widest = Math.max(...plans.map((planned) => planned.box[2])) * NARROWEST + 34;
    const columns = Math.max(
      1,
      Math.min(4, plans.length, Math.floor((room + 16) / (Math.max(widest, 250) + 16))),
    );
    trees.style.setProperty("--columns", columns);
    this.cell = (room - 16 * (columns - 1)) / columns - 34;
  }

  _scale(planned) {
    return Math.max(Math.min(1, this.cell / planned.box[2]), NARROWEST);
  }

  _figure(found) {
    const { report, sentence } = this;
    const own = report.trees[found.tree];
    const id = `tree-${found.tree}`;
    const score = report.score(found.tree, sentence.place);
    const caption = html(
      "figcaption",
      {},
      html("span", { class: `name ${own.kind}`, id: `${id}-name` }, own.name),
    );
    if (own.kind === "run" && report.average >= 0 && report.weighted) {
      caption.append(
        html(
          "span",
          { class: "quiet" },
          own.weight > 0 ? `weight ${own.weight.toFixed(2)}` : "not in the average",
        ),
      );
    }
    const counts = html("span", { class: "score" });
    if (score) {
      counts.append(
        html("span", {}, `F1 ${score.f1.toFixed(0)}`),
        html("span", { class: "right" }, `✓ ${score.matched} right`),
        html("span", { class: "wrong" }, `✗ ${score.predicted - score.matched} wrong`),
        html("span", { class: "missing" }, `${score.gold - score.matched} missed`),
      );
    } else {
      const amount = found.kept.filter((c) => !c.whole).length;
      counts.append(html("span", {}, `${amount} constituent${amount === 1 ? "" : "s"}`));
    }
    if (found.collapsed) counts.append(html("span", {}, `${found.collapsed} collapsed`));
    const accepted = this.decisions.isTree(sentence, found.tree);
    const accept = html(
      "button",
      {
        type: "button",
        class: "accept",
        id: `accept-${id}`,
        "aria-pressed": String(accepted),
        "aria-label": `Accept the tree of ${report.nameOf(found.tree)}`,
      },
      "Accept",
    );
    accept.addEventListener("click", () => this.act.acceptTree(found.tree));
    caption.append(html("span", { class: "push" }), accept, counts);
    const room = html("div", { class: "drawing", id });
    this._reserve(room, found.planned);
    const title = `Tree of ${report.nameOf(found.tree)}, ${found.kept.length} constituents`;
    this.waiting.set(room, { ...found, title, id });
    this.observer.observe(room);
    const details = html("details", { class: "as-text" }, html("summary", {}, "As text"));
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector("pre"))
        details.append(
          html(
            "pre",
            { tabindex: 0, "aria-label": `Tree of ${own.name} as text` },
            outline(sentence, found.kept, found.missed),
          ),
        );
    });
    return html(
      "figure",
      { class: `tree ${own.kind}`, "data-tree": found.tree, "aria-labelledby": `${id}-name` },
      caption,
      room,
      details,
    );
  }

  // A drawing takes its place before it exists, so that nothing jumps.
  _reserve(room, planned) {
    const scale = this._scale(planned);
    room.style.minHeight = `${Math.ceil(planned.box[3] * scale) + 2}px`;
    if (planned.box[2] * scale > this.cell + 1) {
      room.tabIndex = 0;
      room.setAttribute("role", "group");
      room.setAttribute("aria-label", "A wide drawing: arrow keys scroll it");
    }
  }

  _draw(room) {
    const found = this.waiting.get(room);
    if (!found) return;
    this.waiting.delete(room);
    this.observer.unobserve(room);
    const picture = draw(found.planned, { title: found.title, colour: this.state.colour, id: found.id });
    const scale = this._scale(found.planned);
    picture.setAttribute("width", round(found.planned.box[2] * scale));
    picture.setAttribute("height", round(found.planned.box[3] * scale));
    room.replaceChildren(picture);
  }

  // Everything, for printing: what was not looked at yet is not drawn yet.
  drawAll() {
    for (const room of [...this.waiting.keys()]) this._draw(room);
  }

  _decision() {
    const { decision, sentence } = this;
    const { decisionDrawing, decisionText } = this.elements;
    if (!decision) {
      decisionDrawing.replaceChildren();
      decisionText.textContent =
        "Nothing decided yet. Accept a whole tree, or single constituents in the drawings and in the table.";
      return;
    }
    const constituents = decision.branches.flatMap(({ mask, labels }) =>
      labels.map(([label, role]) => ({
        mask,
        name: nameOfSet(mask),
        gapped: spansOf(mask).length > 1,
        label,
        function: role,
        right: null,
        support: sentence.support(mask),
        probability: sentence.probability(mask),
        whole: mask === sentence.everything,
      })),
    );
    const planned = plan({ words: sentence.words, constituents, tags: this.tags });
    const picture = draw(planned, {
      title: `Your tree, ${constituents.length} constituents`,
      colour: "plain",
      id: "decision-drawing",
    });
    decisionDrawing.replaceChildren(picture);
    decisionText.textContent =
      decision.from === "constituents"
        ? `${decision.branches.length - 1} constituents accepted one by one.`
        : decision.from
          ? `The tree of ${decision.from}.`
          : "No constituents accepted.";
  }

  // Highlight a set of words, and the constituent over it, wherever it stands.
  light(name) {
    if (name === this.lit) return;
    this.lit = name;
    const inside = new Set();
    for (const part of name ? name.split(",") : []) {
      const [start, end] = part.split("-").map(Number);
      for (let position = start; position < end; position++) inside.add(String(position));
    }
    for (const box of [
      this.elements.trees,
      this.elements.text,
      this.elements.candidates,
      this.elements.decision,
    ]) {
      for (const element of box.querySelectorAll("[data-set]"))
        element.classList.toggle("lit", name !== "" && element.dataset.set === name);
      for (const element of box.querySelectorAll("[data-position]"))
        element.classList.toggle("lit", inside.has(element.dataset.position));
    }
  }
}
