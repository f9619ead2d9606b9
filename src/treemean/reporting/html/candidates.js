// All constituents that somebody proposes for a sentence, as a table in which they can be accepted.

function candidateTable(report, decisions, sentence, act) {
  const rows = sentence.branches
    .filter(
      (branch) => branch.mask !== sentence.everything && (branch.counts || branch.mask & (branch.mask - 1n)),
    )
    .sort(
      (a, b) =>
        sentence.support(b.mask) - sentence.support(a.mask) ||
        canonical(a, b) ||
        (a.name < b.name ? -1 : a.name > b.name ? 1 : b.ownSupport - a.ownSupport),
    );
  const columns = ["Accept", "Constituent", "Support"];
  if (report.hasProbability) columns.push("Probability");
  if (report.hasGold) columns.push("Gold");
  if (report.average >= 0) columns.push("Average");
  columns.push("Runs");
  const head = html(
    "thead",
    {},
    html("tr", {}, ...columns.map((name) => html("th", { scope: "col" }, name))),
  );
  const body = html(
    "tbody",
    {},
    ...rows.map((branch, place) =>
      candidateRow(report, decisions, sentence, branch, rows[place - 1]?.mask === branch.mask, place, act),
    ),
  );
  const caption = html("caption", { class: "unseen" }, "Constituents that gold or a run has");
  return html("table", {}, caption, head, body);
}

// The first row of a set of words tells about the set; further ones (`again`) offer its other labels.
function candidateRow(report, decisions, sentence, branch, again, place, act) {
  const alike = sentence.branches.filter((other) => other.mask === branch.mask);
  const whole = !again && !report.protocol.labelled; // labels do not count
  const has = (tree) => (whole ? alike.some((other) => other.has[tree]) : branch.has[tree]);
  const yes = (there) =>
    html(
      "td",
      { class: "mark" },
      there ? html("span", { class: "yes" }, "✓") : html("span", { class: "no" }, "–"),
      html("span", { class: "unseen" }, there ? " yes" : " no"),
    );
  const box = html("input", {
    type: "checkbox",
    id: `accept-${place}`,
    "aria-label": `Accept ${sentence.describe(branch)}`,
  });
  box.checked = decisions.accepts(sentence, branch);
  box.addEventListener("change", () => {
    act.toggle(branch);
    box.checked = decisions.accepts(sentence, branch); // it may have been refused
  });
  const kinds = [branch.gapped && "gapped", again && "again"].filter(Boolean).join(" ");
  const row = html("tr", { "data-set": branch.name, class: kinds || null });
  row.append(
    html("td", {}, box),
    html(
      "th",
      { scope: "row" },
      html("span", { class: "label" }, chainText(branch.labels)),
      " ",
      html("span", { class: "words" }, again ? "as above, another label" : sentence.excerpt(branch.mask)),
    ),
    share(again ? null : sentence.support(branch.mask), "support"),
  );
  if (report.hasProbability)
    row.append(share(again ? null : sentence.probability(branch.mask), "probability"));
  if (report.hasGold) row.append(yes(has(report.gold)));
  if (report.average >= 0) row.append(yes(has(report.average)));
  const names = report.runs.filter(has).map((run) => report.trees[run].name);
  row.append(
    html(
      "td",
      { class: "who", title: names.join(", ") },
      `${names.length} of ${report.runs.length}`,
      html("span", { class: "unseen" }, names.length ? `: ${names.join(", ")}` : ""),
    ),
  );
  return row;
}

function share(value, what) {
  if (value === null) return html("td", { class: "share" });
  return html("td", { class: "share" }, meter(value, what), html("span", {}, percent(value)));
}
