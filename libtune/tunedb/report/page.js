// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The page: what is shown, and its address.

const clockNames = { seconds: "time since the start of the search", trial: "number of the trial" };
const report = JSON.parse(document.getElementById("data").textContent);
const state = { search: null, filter: "", x: null, y: null, clock: null, theme: "auto" };
let current = null;  // the search that is shown, as makeView() returns it
let figures = [];

// ---- The address ---------------------------------------------------------------------------------

function readFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  const search = Number(given.get("search"));
  if (given.has("search") && report.searches[search]) state.search = search;
  state.filter = given.get("filter") ?? "";
  for (const name of ["x", "y", "clock"]) state[name] = given.get(name);
  if (["auto", "light", "dark"].includes(given.get("theme"))) state.theme = given.get("theme");
}

function writeFragment() {
  const made = new URLSearchParams();
  if (report.searches.length > 1) made.set("search", state.search);
  for (const name of ["filter", "x", "y", "clock"]) if (state[name]) made.set(name, state[name]);
  if (state.theme !== "auto") made.set("theme", state.theme);
  history.replaceState(null, "", `#${made}`);
}

// ---- The page ------------------------------------------------------------------------------------

const makers = [convergenceFigure, scatterFigure, parallelFigure, effectsFigure, finalistsFigure,
                timeFigure, reasonsFigure, rooflineFigure, comparisonFigure];

function searchTitle(search) {
  const owner = report.functions[search.function];
  const version = owner.version ? ` version ${owner.version}` : "";
  return `${owner.name}${version}${search.key ? ` (${search.key})` : ""}`;
}

function courseText({ search, owner, device }) {
  const over = search.finished ? `${search.result || "ended"}${search.ending ? `, ended by: ${search.ending}` : ""}` : "not finished";
  return [deviceText(device), `goal: ${owner.goal}`, search.strategy && `strategy ${search.strategy}`, search.inputs && `inputs: ${search.inputs}`,
          search.configurations !== null && `${grouped(search.configurations)} configurations in the space`,
          search.bits, `begun ${dateText(search.started)}`, over].filter((part) => part).join("; ");
}

function fillSummary() {
  const trials = sum(report.searches.map((search) => search.trials));
  const damaged = report.damaged ? ` ${plural(report.damaged, "row")} left out, because their checksums are wrong.` : "";
  byId("summary").textContent = `${plural(trials, "trial")} in ${plural(report.searches.length, "search", "searches")} of ` +
    `${plural(report.functions.length, "function")} on ${plural(report.devices.length, "device")}, from ` +
    `${report.databases.join(", ")}; made ${dateText(report.made_at)}.${damaged}`;
  byId("footer").textContent = `tunedb report. Drawn with d3 ${d3.version}; nothing is loaded from a network.`;
}

function fillSearches() {
  const most = 200;
  const columns = [{ title: "search", class: "text" }, { title: "best", number: true }, { title: "trials", number: true },
                   { title: "measured", number: true }, { title: "device", class: "text" }, { title: "libtune" },
                   { title: "begun" }, { title: "result" }];
  const shown = report.searches.slice(0, most);
  const rows = shown.map((search, number) => {
    const best = bestOf(search);
    const link = element("a", { href: `#search=${number}` }, searchTitle(search));
    link.addEventListener("click", (event) => {
      event.preventDefault();
      chooseSearch(number, true);
    });
    const measured = search.score.reduce((count, v) => count + (v !== null), 0);
    return [link, best ? figureText(best.goal, best.unit) : "–", grouped(search.trials), grouped(measured),
            deviceText(report.devices[search.device]), search.library || "–", dateText(search.started),
            search.finished ? search.result || "ended" : "not finished"];
  });
  const caption = shown.length < report.searches.length ? `The first ${most} of ${grouped(report.searches.length)}; all are in the list below` : "";
  byId("searches-table").replaceChildren(table(caption, columns, rows));
  byId("search").replaceChildren(...report.searches.map((search, number) =>
    element("option", { value: number }, `${number + 1}. ${searchTitle(search)}, ${deviceText(report.devices[search.device])}`)));
}

function markCurrent() {
  byId("search").value = state.search;
  byId("searches-table").querySelectorAll("tbody tr").forEach((row, number) => {
    if (number === state.search) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  });
}

function showSearch() {
  current = makeView(state.search);
  byId("chosen").textContent = searchTitle(current.search);
  byId("course").textContent = courseText(current);
  byId("filter").value = state.filter;
  byId("filter-help").textContent = filterHelp(current);
  applyFilter(current);
  markCurrent();
  figures = makers.map((make) => make(current)).filter((figure) => figure);
  byId("figures").replaceChildren(...figures.map(({ node }) => node));
  drawAll();
  writeFragment();
}

function filterHelp({ varied }) {
  const [first] = varied;
  const example = first ? `${first.name}=${first.labels.slice(0, 2).join("|")}; ` : "";
  return `Conditions with ; between them, such as: ${example}time<=1 ms. Signs: = != < <= > >=; | between values means or.`;
}

function drawAll() {
  for (const figure of figures) figure.draw();
}

function chooseSearch(number, moves) {
  Object.assign(state, { search: number, filter: "", x: null, y: null });
  showSearch();
  if (moves) byId("chosen").scrollIntoView();
}

function setTheme(theme) {
  state.theme = theme;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  byId("theme").value = theme;
}

function listen() {
  byId("skip").addEventListener("click", () => byId("figures").focus());
  byId("theme").addEventListener("change", (event) => {
    setTheme(event.target.value);
    writeFragment();
    drawAll();
  });
  byId("search").addEventListener("change", (event) => chooseSearch(Number(event.target.value), false));
  byId("controls").addEventListener("submit", (event) => {
    event.preventDefault();
    setFilter(byId("filter").value);
  });
  byId("clear").addEventListener("click", () => setFilter(""));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    requestAnimationFrame(drawAll);
  }).observe(root);
  addEventListener("hashchange", () => {
    readFragment();
    setTheme(state.theme);
    if (report.searches.length) showSearch();
  });
}

/** The latest search, and of those begun in one second the one with most trials. */
function latestSearch() {
  let latest = 0;
  report.searches.forEach((search, number) => {
    const other = report.searches[latest];
    const key = (one) => one.started ?? "";
    if (key(search) > key(other) || (key(search) === key(other) && search.trials > other.trials)) latest = number;
  });
  return latest;
}

function showReport() {
  const isEmpty = !report.searches.length;
  fillSummary();
  byId("controls").hidden = isEmpty;
  byId("searches").hidden = isEmpty;
  if (isEmpty) {
    byId("chosen").textContent = "No search is stored: the databases hold results alone, or nothing yet.";
    return;
  }
  state.search = state.search ?? latestSearch();
  fillSearches();
  showSearch();
}

function start() {
  readFragment();
  setTheme(state.theme);
  listen();
  showReport();
  root.dataset.ready = Math.round(performance.now());
}

start();
