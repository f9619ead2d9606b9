// Adjudication: which constituents of a sentence a person accepts, kept in the browser, and as a treebank file.
//
// A decision is a list of branches {spans, labels}: sets of words with their labels, the whole sentence among
// them. They never cross, so that a decision is a tree at any moment.

class Decisions {
  constructor(report) {
    this.report = report;
    this.key = `treemean-report:${report.fingerprint}`;
    this.kept = true; // whether the browser keeps them
    this.listeners = [];
    this.load();
    window.addEventListener("storage", (event) => {
      if (event.key !== this.key) return;
      this.load();
      this.listeners.forEach((listener) => listener());
    });
  }

  load() {
    try {
      this.all = new Map(
        Object.entries(JSON.parse(localStorage.getItem(this.key) ?? "{}")).map(([n, d]) => [Number(n), d]),
      );
    } catch {
      this.all = new Map();
      this.kept = false;
    }
  }

  _save() {
    try {
      localStorage.setItem(this.key, JSON.stringify(Object.fromEntries(this.all)));
      this.kept = true;
    } catch {
      this.kept = false;
    }
    this.listeners.forEach((listener) => listener());
  }

  has(sentence) {
    return this.all.has(this.report.columns.number[sentence]);
  }

  get count() {
    return this.all.size;
  }

  // What was decided about a sentence, as branches with masks; null if nothing was.
  of(sentence) {
    const found = this.all.get(sentence.number);
    if (!found) return null;
    return {
      ...found,
      branches: found.branches.map(([spans, labels]) => ({ mask: maskOfSpans(spans), labels })),
    };
  }

  _set(sentence, branches, from) {
    const note = this.all.get(sentence.number)?.note;
    const listed = [...branches].sort(canonical).map(({ mask, labels }) => [spansOf(mask), labels]);
    this.all.set(sentence.number, { from, branches: listed, ...(note ? { note } : {}) });
    this._save();
  }

  acceptTree(sentence, tree) {
    this._set(sentence, sentence.branchesOf(tree), this.report.nameOf(tree));
  }

  clear(sentence) {
    this.all.delete(sentence.number);
    this._save();
  }

  annotate(sentence, note) {
    const found = this.all.get(sentence.number) ?? { from: "", branches: this._root(sentence) };
    this.all.set(sentence.number, { ...found, note: note || undefined });
    this._save();
  }

  // The whole sentence, with the labels that the average has over it.
  _root(sentence) {
    const root = sentence.branchesOf(this.report.main).find((branch) => branch.mask === sentence.everything);
    return [[spansOf(sentence.everything), root ? root.labels : [["ROOT", ""]]]];
  }

  accepts(sentence, branch) {
    const found = this.of(sentence);
    return Boolean(
      found?.branches.some((other) => other.mask === branch.mask && same(other.labels, branch.labels)),
    );
  }

  // Whether exactly a tree was accepted, by whatever way.
  isTree(sentence, tree) {
    const found = this.of(sentence);
    const own = sentence.branchesOf(tree);
    return (
      Boolean(found) &&
      found.branches.length === own.length &&
      own.every((branch) => this.accepts(sentence, branch))
    );
  }

  // Accept a constituent; return why not if it crosses one that was accepted, else nothing. Another label over
  // the same words takes the place of the one that was there.
  accept(sentence, branch) {
    const found = this.of(sentence);
    const own = found
      ? found.branches
      : this._root(sentence).map(([spans, labels]) => ({ mask: maskOfSpans(spans), labels }));
    const obstacle = own.find((other) => cross(other.mask, branch.mask));
    if (obstacle) {
      const [wanted, kept] = [sentence.describe(branch), sentence.describe(obstacle)];
      return `${wanted} crosses ${kept}, which you accepted: no tree has both. Take that one back first.`;
    }
    this._set(sentence, [...own.filter((other) => other.mask !== branch.mask), branch], "constituents");
    return "";
  }

  takeBack(sentence, branch) {
    const found = this.of(sentence);
    if (!found || branch.mask === sentence.everything) return;
    this._set(
      sentence,
      found.branches.filter((other) => other.mask !== branch.mask),
      "constituents",
    );
  }

  // ---- files ----------------------------------------------------------------------------------------

  // The decided sentences as JSON Lines of treemean, with their punctuation.
  toJsonLines() {
    const { columns } = this.report;
    const places = columns.number.flatMap((number, place) => (this.all.has(number) ? [place] : []));
    return places.map((place) => `${JSON.stringify(this._line(this.report.sentence(place)))}\n`).join("");
  }

  _line(sentence) {
    const decided = this.of(sentence);
    const { tokens } = sentence;
    const line = { words: tokens.map((word) => word.text) };
    if (sentence.id) line.id = sentence.id;
    if (tokens.some((word) => word.tag)) line.tags = tokens.map((word) => word.tag);
    if (tokens.some((word) => word.function)) line.functions = tokens.map((word) => word.function);
    line.constituents = decided.branches.flatMap(({ mask, labels }) => {
      const spans = spansOf(withPunctuation(mask, sentence));
      return labels.map(([label, role]) => ({
        spans,
        ...(label ? { label } : {}),
        ...(role ? { function: role } : {}),
      }));
    });
    line.metadata = { adjudicated: decided.from || "no constituents", sentence: String(sentence.number) };
    if (decided.note) line.metadata.note = decided.note;
    return line;
  }

  // Take over the decisions of a file; return how many, and the reasons for those that were refused.
  fromJsonLines(text) {
    const places = new Map(this.report.columns.number.map((number, place) => [number, place]));
    const refused = [];
    let taken = 0;
    text.split("\n").forEach((line, index) => {
      if (!line.trim()) return;
      try {
        const [number, decision] = this._read(JSON.parse(line), places);
        this.all.set(number, decision);
        taken++;
      } catch (error) {
        refused.push(`line ${index + 1}: ${error.message}`);
      }
    });
    if (taken) this._save();
    return { taken, refused };
  }

  _read(line, places) {
    const number = Number(line.metadata?.sentence);
    if (!places.has(number)) throw new Error("it names no sentence of this report (metadata, sentence)");
    const sentence = this.report.sentence(places.get(number));
    const texts = sentence.tokens.map((word) => word.text);
    if (!Array.isArray(line.words) || JSON.stringify(line.words) !== JSON.stringify(texts)) {
      throw new Error(`sentence ${number} of this report has other words`);
    }
    const branches = [];
    for (const { spans, label = "", function: role = "" } of line.constituents ?? []) {
      const mask = withoutPunctuation(maskOfSpans(spans), sentence);
      if (!mask) continue;
      const crossed = branches.find((other) => cross(other.mask, mask));
      if (crossed) {
        const [one, other] = [sentence.excerpt(mask), sentence.excerpt(crossed.mask)];
        throw new Error(`two constituents of sentence ${number} cross: [${one}] and [${other}]`);
      }
      const there = branches.find((other) => other.mask === mask);
      if (there) there.labels.push([String(label), String(role)]);
      else branches.push({ mask, labels: [[String(label), String(role)]] });
    }
    if (!branches.some((branch) => branch.mask === sentence.everything))
      throw new Error(`sentence ${number} has no constituent over all its words`);
    const note = line.metadata.note;
    return [
      number,
      {
        from: String(line.metadata.adjudicated ?? "a file"),
        branches: branches.sort(canonical).map(({ mask, labels }) => [spansOf(mask), labels]),
        ...(note ? { note: String(note) } : {}),
      },
    ];
  }
}

function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

// A set of the words that are left, as a set of all words: punctuation belongs to what surrounds it, so that it
// makes no gaps, and to the whole sentence.
function withPunctuation(mask, sentence) {
  const whole = mask === sentence.everything;
  const { tokens } = sentence;
  const has = tokens.map((word) => word.position >= 0 && Boolean((mask >> BigInt(word.position)) & 1n));
  const before = [];
  tokens.forEach((word, place) => before.push(word.position >= 0 ? has[place] : Boolean(before[place - 1])));
  let result = 0n;
  let after = false;
  for (let place = tokens.length - 1; place >= 0; place--) {
    if (tokens[place].position >= 0) after = has[place];
    const inside = tokens[place].position >= 0 ? has[place] : before[place] && after;
    if (whole || inside) result |= 1n << BigInt(place);
  }
  return result;
}

function withoutPunctuation(mask, sentence) {
  let result = 0n;
  sentence.tokens.forEach((word, place) => {
    if (word.position >= 0 && (mask >> BigInt(place)) & 1n) result |= 1n << BigInt(word.position);
  });
  return result;
}
