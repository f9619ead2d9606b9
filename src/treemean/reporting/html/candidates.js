// All constituents that somebody proposes for a sentence, as a table in which they can be accepted.

function candidateTable(report, decisions, sentence, act) {
  const rows = sentence.branches
    .filter((branch) => branch.mask !== sentence.everything && (branch.counts || branch.mask & (branch.mask - 1n)))
    .sort((a, b) => sentence.support(b.mask) - sentence.support(a.mask) || b.ownSupport - a.ownSupport || canonical(a, b));
  const columns = ["Accept", "Constituent", "Support"];
  if (report.hasProbability) columns.push("Probability");
  if (report.hasGold) columns.push("Gold");
  if (report.average >= 0) columns.push("Average");
  columns.push("Runs");
  const head = html("thead", {}, html("tr", {}, ...columns.map((name) => html("th", { scope: "col" }, name))));
  const body = html("tbody", {}, ...rows.map((branch, place) => candidateRow(report, decisions, sentence, branch, place, act)));
  const caption = html("caption", { class: "unseen" }, "Constituents that gold or a run has");
  return html("table", {}, caption, head, body);
}

function candidateRow(report, decisions, sentence, branch, place, act) {
  const yes = (there) => html("td", { class: "mark" }, there ? html("span", { class: "yes" }, "✓") : html("span", { class: "no" }, "–"), html("span", { class: "unseen" }, there ? " yes" : " no"));
  const box = html("input", { type: "checkbox", id: `accept-${place}`, "aria-label": `Accept ${sentence.describe(branch)}` });
  box.checked = decisions.accepts(sentence, branch);
  box.addEventListener("change", () => {
    act.toggle(branch);
    box.checked = decisions.accepts(sentence, branch); // it may have been refused
  });
  const row = html("tr", { "data-set": branch.name, class: branch.gapped ? "gapped" : null });
  row.append(
    html("td", {}, box),
    html("th", { scope: "row" }, html("span", { class: "label" }, chainText(branch.labels)), " ", html("span", { class: "words" }, sentence.excerpt(branch.mask))),
    html("td", { class: "share" }, meter(sentence.support(branch.mask), "support"), html("span", {}, percent(sentence.support(branch.mask)))),
  );
  if (report.hasProbability) row.append(html("td", { class: "share" }, ...(branch.probability === null ? ["–"] : [meter(branch.probability, "probability"), html("span", {}, percent(branch.probability))])));
  if (report.hasGold) row.append(yes(branch.has[report.gold]));
  if (report.average >= 0) row.append(yes(branch.has[report.average]));
  const names = report.runs.filter((run) => branch.has[run]).map((run) => report.trees[run].name);
  row.append(html("td", { class: "who", title: names.join(", ") }, `${names.length} of ${report.runs.length}`, html("span", { class: "unseen" }, names.length ? `: ${names.join(", ")}` : "")));
  return row;
}
