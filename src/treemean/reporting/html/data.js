// What the page knows: the columns of the report, and single sentences made of them when they are looked at.
// docs/report.md and columns.py tell what the columns hold.

class Report {
  constructor(text) {
    const data = JSON.parse(text);
    Object.assign(this, data.about);
    this.columns = data.sentences;
    this.count = this.columns.number.length;
    this.gold = this.trees.findIndex((tree) => tree.kind === "gold");
    this.average = this.trees.findIndex((tree) => tree.kind === "average");
    this.main = this.average >= 0 ? this.average : this.trees.findIndex((tree) => tree.kind === "run");
    this.runs = this.trees.flatMap((tree, place) => (tree.kind === "run" ? [place] : []));
    this.weight = this.runs.reduce((sum, run) => sum + this.trees[run].weight, 0);
    this.hasGold = this.gold >= 0;
    this.hasProbability = Boolean(this.columns.branches.probability);
    this.wordStarts = starts(this.columns.length);
    this.punctuation = new Set(this.columns.punctuation);
    this.hasTags = [this.columns.tags, ...(this.columns.own_tags ?? [])].some(
      (tags) => tags && tags.texts.filter(Boolean).length > 1,
    );
    this._readBranches();
    this._texts = new Array(this.count);
  }

  // One pass over all branches: where those of each sentence begin, and who has gaps.
  _readBranches() {
    const { count, spans, has, chain } = this.columns.branches;
    this.branchStarts = starts(count);
    this.spanStarts = new Int32Array(chain.length + 1);
    this.gapped = {
      gold: new Uint8Array(this.count),
      average: new Uint8Array(this.count),
      some: new Uint8Array(this.count),
    };
    const inTree = (tree, branch) => tree >= 0 && (has[Math.floor(tree / 30)][branch] >> (tree % 30)) & 1;
    let at = 0;
    for (let sentence = 0; sentence < this.count; sentence++) {
      for (let branch = this.branchStarts[sentence]; branch < this.branchStarts[sentence + 1]; branch++) {
        this.spanStarts[branch] = at;
        const gapped = spans[at + 1] < 0;
        while (spans[at + 1] < 0) at += 2;
        at += 2;
        if (!gapped) continue;
        this.gapped.some[sentence] = 1;
        if (inTree(this.gold, branch)) this.gapped.gold[sentence] = 1;
        if (inTree(this.main, branch)) this.gapped.average[sentence] = 1;
      }
    }
    this.spanStarts[chain.length] = at;
    this.inTree = inTree;
    this.goldPlace = null;
  }

  id(sentence) {
    return this.columns.id ? this.columns.id[sentence] : "";
  }

  nameOf(tree) {
    return tree === this.average ? "the average" : this.trees[tree].name;
  }

  // The words of a sentence as one text, to search in.
  text(sentence) {
    this._texts[sentence] ??= this.words(sentence)
      .map((word) => word.text)
      .join(" ");
    return this._texts[sentence];
  }

  // All words with their tags; `position` counts those that are part of trees, and is -1 for punctuation.
  words(sentence) {
    const { words, tags, functions } = this.columns;
    const found = [];
    let position = 0;
    for (let token = this.wordStarts[sentence]; token < this.wordStarts[sentence + 1]; token++) {
      found.push({
        text: words.texts[words.codes[token]],
        tag: tags ? tags.texts[tags.codes[token]] : "",
        function: functions ? functions.texts[functions.codes[token]] : "",
        position: this.punctuation.has(token) ? -1 : position++,
      });
    }
    return found;
  }

  // How many words that are part of trees come before a sentence.
  treeWordsBefore(sentence) {
    if (!this.treeWordStarts) {
      const counts = this.columns.length.map((length, place) => {
        let inTrees = 0;
        for (let token = this.wordStarts[place]; token < this.wordStarts[place + 1]; token++) {
          if (!this.punctuation.has(token)) inTrees++;
        }
        return inTrees;
      });
      this.treeWordStarts = starts(counts);
    }
    return this.treeWordStarts[sentence];
  }

  // Matched, predicted and gold constituents of a tree, and the scores that follow.
  score(tree, sentence) {
    const columns = this.columns.scores[tree];
    if (!columns) return null;
    const [matched, predicted, gold] = columns.map((column) => column[sentence]);
    return { matched, predicted, gold, f1: predicted + gold ? (200 * matched) / (predicted + gold) : 100 };
  }

  errors(sentence) {
    const score = this.score(this.main, sentence);
    return score ? score.predicted + score.gold - 2 * score.matched : 0;
  }

  // How much better the average is than its runs are on the mean.
  gain(sentence) {
    const own = this.score(this.average, sentence);
    if (!own) return 0;
    const asked = this.runs.filter((run) => this.trees[run].weight > 0);
    return own.f1 - asked.reduce((sum, run) => sum + this.score(run, sentence).f1, 0) / asked.length;
  }

  dispute(sentence) {
    return this.columns.dispute ? this.columns.dispute[sentence] : 0;
  }

  // Whether gold or the average has a label somewhere.
  hasLabel(sentence, label) {
    const { chain, chains, labels } = this.columns.branches;
    for (let branch = this.branchStarts[sentence]; branch < this.branchStarts[sentence + 1]; branch++) {
      if (!this.inTree(this.gold, branch) && !this.inTree(this.main, branch)) continue;
      if (chains[chain[branch]].some((code) => labels[code][0] === label)) return true;
    }
    return false;
  }

  sentence(place) {
    return new Sentence(this, place);
  }

  // Where the entry of a branch stands among those of the gold tree.
  goldEntry(branch) {
    if (this.goldPlace === null) {
      this.goldPlace = new Int32Array(this.columns.branches.chain.length);
      for (let other = 0, place = 0; other < this.goldPlace.length; other++) {
        if (this.inTree(this.gold, other)) this.goldPlace[other] = place++;
      }
    }
    return this.columns.branches.gold[this.goldPlace[branch]];
  }
}

function starts(counts) {
  const found = new Int32Array(counts.length + 1);
  for (let place = 0; place < counts.length; place++) found[place + 1] = found[place] + counts[place];
  return found;
}

class Sentence {
  constructor(report, place) {
    this.report = report;
    this.place = place;
    this.number = report.columns.number[place];
    this.id = report.id(place);
    this.tokens = report.words(place);
    this.words = this.tokens.filter((word) => word.position >= 0);
    this.everything = (1n << BigInt(this.words.length)) - 1n;
    this.branches = [];
    for (let branch = report.branchStarts[place]; branch < report.branchStarts[place + 1]; branch++) {
      this.branches.push(this._branch(branch));
    }
  }

  _branch(branch) {
    const { report } = this;
    const columns = report.columns.branches;
    const spans = [];
    let end = 0;
    for (let at = report.spanStarts[branch]; at < report.spanStarts[branch + 1]; at += 2) {
      const start = end + columns.spans[at];
      end = start + Math.abs(columns.spans[at + 1]);
      spans.push([start, end]);
    }
    const labels = columns.chains[columns.chain[branch]].map((code) => columns.labels[code]);
    const has = report.trees.map((_, tree) => Boolean(report.inTree(tree, branch)));
    const share = (runs) => runs.reduce((sum, run) => sum + (has[run] ? report.trees[run].weight : 0), 0);
    const verdicts = labels.map((_, place) => Math.floor(columns.verdict[branch] / 3 ** place) % 3);
    const counted = has[report.gold] ? report.goldEntry(branch) : 0;
    return {
      mask: maskOfSpans(spans),
      name: spans.map((span) => span.join("-")).join(","),
      gapped: spans.length > 1,
      labels,
      has,
      verdicts: verdicts.map((digit) => (report.hasGold && digit ? digit === 2 : null)),
      counts: verdicts.some((digit) => digit > 0) || counted > 0,
      counted: labels.map((_, place) => Boolean((counted >> place) & 1)),
      votes: report.runs.filter((run) => has[run]).length,
      ownSupport: report.weight ? share(report.runs) / report.weight : 0,
      probability:
        report.hasProbability && columns.probability[branch] >= 0 ? columns.probability[branch] / 1000 : null,
    };
  }

  // The share of the runs, by weight, that have a set of words, whatever its labels.
  support(mask) {
    this._support ??= new Map();
    if (!this._support.size) {
      for (const branch of this.branches) {
        this._support.set(branch.mask, (this._support.get(branch.mask) ?? 0) + branch.ownSupport);
      }
    }
    return this._support.get(mask) ?? 0;
  }

  probability(mask) {
    const known = this.branches.find((branch) => branch.mask === mask && branch.probability !== null);
    return known ? known.probability : null;
  }

  // The words that are part of a tree, with its own tags.
  wordsOf(tree) {
    const own = this.report.columns.own_tags?.[tree];
    if (!own) return this.words;
    const before = this.report.treeWordsBefore(this.place);
    return this.words.map((word) => ({ ...word, tag: own.texts[own.codes[before + word.position] ?? 0] }));
  }

  branchesOf(tree) {
    return this.branches.filter((branch) => branch.has[tree]);
  }

  // The constituents of a tree in canonical order: a chain of labels is as many constituents.
  constituents(tree) {
    const isGold = tree === this.report.gold;
    return this.branchesOf(tree).flatMap((branch) =>
      branch.labels.map(([label, role], place) => ({
        mask: branch.mask,
        name: branch.name,
        gapped: branch.gapped,
        label,
        function: role,
        right: isGold ? null : branch.verdicts[place],
        support: this.support(branch.mask),
        probability: this.probability(branch.mask),
      })),
    );
  }

  // What only the gold tree has: sets of words with the labels that a tree lacks.
  missed(tree) {
    if (!this.report.hasGold || tree === this.report.gold) return [];
    const own = new Map(this.branchesOf(tree).map((branch) => [branch.mask, branch]));
    const found = [];
    for (const gold of this.branchesOf(this.report.gold)) {
      const wanted = gold.labels.filter((_, place) => gold.counted[place]).map(([label]) => label);
      const there = own.get(gold.mask);
      const lacking = this.report.protocol.labelled
        ? without(
            wanted,
            there
              ? there.labels.filter((_, place) => there.verdicts[place] !== null).map(([label]) => label)
              : [],
          )
        : there && there.verdicts.some((verdict) => verdict !== null)
          ? []
          : wanted;
      if (lacking.length) found.push({ mask: gold.mask, name: gold.name, labels: lacking });
    }
    return found;
  }

  // The words of a set as a text, with an ellipsis for every gap.
  excerpt(mask) {
    return spansOf(mask)
      .map(([start, end]) =>
        this.words
          .slice(start, end)
          .map((word) => shown(word.text, "∅"))
          .join(" "),
      )
      .join(" … ");
  }

  describe(branch) {
    return `${chainText(branch.labels)} [${this.excerpt(branch.mask)}]`;
  }
}

// What is left of a list when the entries of another are taken out, once each.
function without(list, others) {
  const left = [...others];
  return list.filter((entry) => {
    const place = left.indexOf(entry);
    if (place < 0) return true;
    left.splice(place, 1);
    return false;
  });
}

// Signs in the place of characters that would be invisible, break lines or turn their direction.
function shown(text, otherwise) {
  const visible = text
    .replace(/[\u0000-\u001f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  return visible.trim() ? visible : otherwise;
}

function labelText([label, role]) {
  const name = shown(label, "•");
  return role && role !== "--" ? `${name}-${shown(role, "")}` : name;
}

function chainText(labels) {
  return labels.map(labelText).join("+");
}
