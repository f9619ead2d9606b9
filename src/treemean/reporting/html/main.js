// The page comes to life: controls, keys, address, decisions.

const $ = (id) => document.getElementById(id);

function begin() {
  const report = new Report($("data").textContent);
  const decisions = new Decisions(report);
  let state = withDefaults(report, readAddress());
  let places = [];

  const act = {
    toggle(branch) {
      const { sentence } = view;
      if (!branch || branch.mask === sentence.everything) return;
      if (decisions.accepts(sentence, branch)) {
        decisions.takeBack(sentence, branch);
        say(`${sentence.describe(branch)} taken back.`);
        return;
      }
      const refusal = decisions.accept(sentence, branch);
      if (refusal) say(refusal, true);
      else say(`${sentence.describe(branch)} accepted.`);
    },
    acceptTree(tree) {
      if (decisions.isTree(view.sentence, tree)) {
        decisions.clear(view.sentence);
        say(`The tree of ${report.nameOf(tree)} taken back.`);
        return;
      }
      decisions.acceptTree(view.sentence, tree);
      say(`The tree of ${report.nameOf(tree)} accepted.`);
    },
  };
  const elements = {
    title: $("sentence-title"),
    name: $("sentence-id"),
    text: $("sentence-text"),
    facts: $("sentence-facts"),
    trees: $("trees"),
    candidates: $("candidates"),
    decision: $("decision"),
    decisionDrawing: $("decision-tree"),
    decisionText: $("decision-text"),
  };
  const view = new SentenceView(report, decisions, elements, act);
  const list = new SentenceList(report, decisions, $("list"), (place, step) =>
    go({ s: String(report.columns.number[place]) }, step),
  );

  function say(message, refused = false) {
    $("message").textContent = message;
    $("message").classList.toggle("refused", refused);
    $("message").hidden = !message;
  }

  function chosenPlace() {
    const wanted = state.s ? report.columns.number.indexOf(Number(state.s)) : -1;
    return wanted >= 0 ? wanted : (places[0] ?? -1);
  }

  // Change the state, and everything that follows from it.
  function go(changes, step = false) {
    const before = state;
    state = { ...state, ...changes };
    writeAddress(bare(report, state), step);
    render(before);
  }

  function render(before = {}) {
    const changed = (...keys) => keys.some((key) => before[key] !== state[key]);
    const inSentences = state.view === "sentences";
    $("overview").hidden = inSentences;
    $("sentences").hidden = !inSentences;
    document.body.classList.toggle("reading", inSentences);
    for (const [id, own] of [
      ["to-overview", !inSentences],
      ["to-sentences", inSentences],
    ]) {
      if (own) $(id).setAttribute("aria-current", "page");
      else $(id).removeAttribute("aria-current");
    }
    if (changed("view")) window.scrollTo(0, 0);
    if (!inSentences) return;
    if (changed("view", "q", "sort", "gap", "label", "wrong", "decided")) {
      places = chosenSentences(report, decisions, state);
      fillControls();
    }
    const place = chosenPlace();
    tellCount(place); // before the list, which takes the room that is left
    list.show(places, place);
    if (changed("view", "s", "sort", "q")) list.reveal();
    if (place < 0) return;
    if (changed("view", "s")) say("");
    drawSentence(place);
  }

  function drawSentence(place) {
    const sentence = view.sentence?.place === place ? view.sentence : report.sentence(place);
    view.show(sentence, state);
    elements.candidates.replaceChildren(candidateTable(report, decisions, sentence, act));
    $("note").value = decisions.of(sentence)?.note ?? "";
    $("clear").disabled = !decisions.has(place);
    $("link").href = addressOf({ ...DEFAULTS, s: String(sentence.number) });
  }

  function tellCount(place) {
    const index = places.indexOf(place);
    const all = report.count.toLocaleString("en");
    $("count").textContent =
      places.length === report.count
        ? `${all} sentences`
        : `${places.length.toLocaleString("en")} of ${all} sentences`;
    $("empty").hidden = places.length > 0;
    $("sentence").hidden = place < 0;
    $("position").textContent =
      index >= 0
        ? `${(index + 1).toLocaleString("en")} of ${places.length.toLocaleString("en")}`
        : "not in the list";
    $("previous").disabled = index <= 0;
    $("next").disabled = index >= places.length - 1;
  }

  function fillControls() {
    for (const id of ["q", "sort", "gap", "label", "decided", "by", "min", "colour", "show"])
      if ($(id) && $(id).value !== state[id]) $(id).value = state[id];
    if ($("wrong")) $("wrong").checked = Boolean(state.wrong);
    tellSlider();
  }

  function tellSlider() {
    const what = state.by === "probability" ? "probability" : "support";
    $("min-told").textContent = Number(state.min)
      ? `${what} below ${state.min}% collapsed`
      : "nothing collapsed";
    $("min").setAttribute("aria-valuetext", $("min-told").textContent);
  }

  function walk(by) {
    const index = Math.min(places.length - 1, Math.max(0, list.index + by));
    if (places.length) go({ s: String(report.columns.number[places[index]]) });
  }

  // ---- controls -------------------------------------------------------------------------------------

  for (const id of ["sort", "gap", "label", "decided", "by", "colour", "show"]) {
    $(id)?.addEventListener("change", () => {
      go({ [id]: $(id).value });
      tellSlider();
    });
  }
  $("wrong")?.addEventListener("change", () => go({ wrong: $("wrong").checked ? "1" : "" }));
  let typing = 0;
  $("q").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => go({ q: $("q").value }), 120);
  });
  $("min").addEventListener("input", () => {
    go({ min: $("min").value });
    tellSlider();
  });
  $("previous").addEventListener("click", () => walk(-1));
  $("next").addEventListener("click", () => walk(1));
  $("clear").addEventListener("click", () => {
    decisions.clear(view.sentence);
    say("Decision cleared.");
  });
  $("note").addEventListener("change", () => decisions.annotate(view.sentence, $("note").value.trim()));
  window.addEventListener("hashchange", () => {
    const before = state;
    state = withDefaults(report, readAddress());
    fillControls();
    render(before);
  });
  window.addEventListener("beforeprint", () => view.sentence && view.drawAll());
  let resizing = 0;
  window.addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(
      () => state.view === "sentences" && view.sentence && view.show(view.sentence, state),
      150,
    );
  });

  // ---- decisions ------------------------------------------------------------------------------------

  function tellDecisions() {
    const { count } = decisions;
    $("decided-count").textContent = count
      ? `${count} decided${decisions.kept ? "" : ", not kept by this browser: export them"}`
      : "nothing decided";
    $("export").disabled = !count;
  }
  decisions.listeners.push(() => {
    tellDecisions();
    if (state.view !== "sentences") return;
    if (state.decided) places = chosenSentences(report, decisions, state);
    const focused = document.activeElement?.id;
    const place = chosenPlace();
    list.show(places, place);
    tellCount(place);
    if (place >= 0) drawSentence(place);
    if (focused) $(focused)?.focus({ preventScroll: true });
  });
  $("export").addEventListener("click", () => {
    const file = new Blob([decisions.toJsonLines()], { type: "application/jsonl" });
    const link = html("a", { href: URL.createObjectURL(file), download: "decisions.jsonl" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say(`${decisions.count} decided sentences exported to decisions.jsonl.`);
  });
  $("import").addEventListener("click", () => $("import-file").click());
  $("import-file").addEventListener("change", async () => {
    const [file] = $("import-file").files;
    if (!file) return;
    const { taken, refused } = decisions.fromJsonLines(await file.text());
    const more = refused.length > 3 ? ` … and ${refused.length - 3} more.` : "";
    const told = refused.length ? ` Refused: ${refused.slice(0, 3).join("; ")}.${more}` : "";
    say(`${taken} decisions imported from ${file.name}.${told}`, refused.length > 0);
    $("import-file").value = "";
  });

  // ---- keys -----------------------------------------------------------------------------------------

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const inField = event.target.closest("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape" && event.target.id === "q") $("q").blur();
    if (inField) return;
    const keys = {
      j: () => walk(1),
      k: () => walk(-1),
      "/": () => $("q").focus(),
      "?": () => $("help").showModal(),
      a: () => report.average >= 0 && act.acceptTree(report.average),
    };
    if (!event.target.closest(".drawing, pre"))
      Object.assign(keys, { ArrowRight: () => walk(1), ArrowLeft: () => walk(-1) });
    if (event.target === $("list")) Object.assign(keys, listKeys());
    const own = keys[event.key];
    if (!own) return;
    if (state.view !== "sentences" && event.key !== "?") {
      if (event.key !== "/" && event.key !== "j") return;
      go({ view: "sentences" }, true);
    }
    event.preventDefault();
    own();
  });
  const listKeys = () => {
    const page = Math.max(1, Math.floor($("list").clientHeight / ROW) - 1);
    return {
      ArrowDown: () => walk(1),
      ArrowUp: () => walk(-1),
      PageDown: () => walk(page),
      PageUp: () => walk(-page),
      Home: () => walk(-report.count),
      End: () => walk(report.count),
    };
  };
  $("show-help").addEventListener("click", () => $("help").showModal());
  $("close-help").addEventListener("click", () => $("help").close());

  fillLabels(report);
  tellDecisions();
  render();
}

// What an address does not say depends on what there is.
function withDefaults(report, state) {
  return { ...state, sort: state.sort || usualSort(report), colour: state.colour || usualColour(report) };
}

function bare(report, state) {
  return {
    ...state,
    sort: state.sort === usualSort(report) ? "" : state.sort,
    colour: state.colour === usualColour(report) ? "" : state.colour,
  };
}

const usualSort = (report) => (report.columns.dispute ? "dispute" : "number");
const usualColour = (report) => (report.hasGold ? "judgement" : "support");

function fillLabels(report) {
  const labels = [...new Set(report.columns.branches.labels.map(([label]) => label))].filter(Boolean).sort();
  $("label").append(...labels.map((label) => html("option", { value: label }, shown(label, "•"))));
}

// ---- light and dark -----------------------------------------------------------------------------------

function beginTheme() {
  const names = { auto: "as the system", light: "light", dark: "dark" };
  const tell = (theme) => {
    document.documentElement.dataset.theme = theme;
    $("theme").setAttribute("aria-label", `Colours: ${names[theme]}. Change`);
    $("theme").textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
  };
  let theme = "auto";
  try {
    theme = localStorage.getItem("treemean-report:theme") ?? "auto";
  } catch {
    /* a browser that keeps nothing follows the system */
  }
  tell(theme in names ? theme : "auto");
  $("theme").addEventListener("click", () => {
    const order = Object.keys(names);
    const next = order[(order.indexOf(document.documentElement.dataset.theme) + 1) % order.length];
    tell(next);
    try {
      localStorage.setItem("treemean-report:theme", next);
    } catch {
      /* as above */
    }
  });
}

beginTheme();
begin();
