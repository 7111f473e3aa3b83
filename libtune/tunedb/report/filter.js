// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which trials are shown: conditions such as "wgs=32|64; time<=1 ms".

const clausePattern = /^\s*(.+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*$/;
const unitSizes = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };

function parseClauses(text) {
  return text.split(";").filter((part) => part.trim()).map((part) => {
    const found = clausePattern.exec(part);
    if (!found) throw new Error(`“${part.trim()}” is no condition such as name=value`);
    return { name: found[1], sign: found[2], right: found[3] };
  });
}

const clausesText = (clauses) => clauses.map(({ name, sign, right }) => `${name}${sign}${right}`).join("; ");

function parseNumber(text, unit) {
  const found = /^([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(ns|us|µs|ms|s)?$/.exec(text);
  if (!found || (found[2] && unit !== "ns")) throw new Error(`“${text}” is no number here`);
  return Number(found[1]) * (found[2] ? unitSizes[found[2]] : 1);
}

const comparisons = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
};

function choiceTest(column, sign, right) {
  let fits;
  if (sign === "=" || sign === "!=") {
    const wanted = new Set(right.split("|").map((one) => one.trim()));
    fits = column.labels.map((label) => wanted.has(label) === (sign === "="));
  } else {
    const bound = parseNumber(right, "");
    fits = column.values.map((v) => isNumber(v) && comparisons[sign](v, bound));
  }
  return (i) => column.index[i] >= 0 && fits[column.index[i]];
}

function numberTest(column, sign, right) {
  if (sign === "=" || sign === "!=") {
    const wanted = right.split("|").map((one) => parseNumber(one.trim(), column.unit));
    const isOne = (v) => wanted.some((w) => Math.abs(v - w) <= 1e-6 * Math.abs(w));
    return (i) => isOne(column.at(i)) === (sign === "=");
  }
  const bound = parseNumber(right, column.unit);
  return (i) => comparisons[sign](column.at(i), bound);
}

function testOf(view, { name, sign, right }) {
  const column = view.columns.get(name);
  if (!column) throw new Error(`no parameter or metric is called “${name}”`);
  return (column.isChoice ? choiceTest : numberTest)(column, sign, right);
}

/** Selects the trials that fit state.filter; says what is wrong with it otherwise. */
function applyFilter(view) {
  const field = byId("filter");
  let tests = [];
  let fault = "";
  try {
    tests = parseClauses(state.filter).map((clause) => testOf(view, clause));
  } catch (problem) {
    fault = problem.message;
  }
  let count = 0;
  for (let i = 0; i < view.count; ++i) {
    view.selected[i] = tests.every((test) => test(i)) ? 1 : 0;
    count += view.selected[i];
  }
  view.selectedCount = count;
  field.setAttribute("aria-invalid", fault ? "true" : "false");
  byId("filter-count").textContent = fault
    ? `${fault}; all are shown.`
    : `${grouped(count)} of ${plural(view.count, "trial")} shown.${bestText(view)}`;
  byId("filter-count").dataset.count = count;
}

function bestText(view) {
  const best = view.order.find((i) => view.selected[i]);
  return best === undefined ? "" : ` The best of them: ${trialText(view, best)}.`;
}

/** Replaces all conditions on a column by others, which a brush has made. */
function replaceClauses(name, made) {
  let clauses = [];
  try {
    clauses = parseClauses(state.filter).filter((clause) => clause.name !== name);
  } catch { /* what cannot be read goes */ }
  setFilter(clausesText([...clauses, ...made]));
}

function setFilter(text) {
  state.filter = text;
  byId("filter").value = text;
  applyFilter(current);
  writeFragment();
  for (const figure of figures) if (figure.onFilter) figure.onFilter();
}
