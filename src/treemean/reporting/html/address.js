// What is shown stands in the address after #, so that every sentence and every filter is a link.

const DEFAULTS = {
  view: "overview",
  s: "",
  q: "",
  sort: "",
  gap: "",
  label: "",
  wrong: "",
  decided: "",
  by: "support",
  min: "0",
  colour: "",
  show: "",
};

function readAddress() {
  const found = { ...DEFAULTS };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1)))
    if (key in found) found[key] = value;
  if (found.s) found.view = "sentences";
  return found;
}

function addressOf(state) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(state))
    if (value !== DEFAULTS[key] && !(key === "view" && state.s)) parts.set(key, value);
  return `#${parts}`;
}

// `step` makes an entry in the history, to which the browser's button goes back.
function writeAddress(state, step = false) {
  const address = addressOf(state);
  if (address === location.hash || (address === "#" && !location.hash)) return;
  if (step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
