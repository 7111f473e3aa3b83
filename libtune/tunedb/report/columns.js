// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The trials of a search as columns, and texts of numbers. What comes from a database is text: it is
// only ever given to textContent. The files of this folder are one script: see report_page.cpp.
"use strict";

const root = document.documentElement;
const mostRows = 500;  // of a table

// ---- Small things --------------------------------------------------------------------------------

const byId = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, v] of Object.entries(attributes)) {
    if (v !== null && v !== undefined && v !== false) made.setAttribute(key, v === true ? "" : v);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
const isNumber = (v) => typeof v === "number" && Number.isFinite(v);
const plural = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;
const grouped = (count) => d3.format(",")(count).replace(/,/g, "\u202f");
const share = (part) => `${part > 0 && part < 0.001 ? "<0.1" : d3.format(".1f")(100 * part)}\u00a0%`;
const valueText = (v) => (v === null ? "none" : String(v));

function threeDigits(number) {
  if (number === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(number)));
  if (magnitude >= 6 || magnitude < -3) return d3.format(".3g")(number);
  return number.toFixed(Math.max(0, 2 - magnitude));
}

const timeUnits = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
const timeUnitFor = (ns) => timeUnits.find(([, size]) => ns >= size) ?? timeUnits[3];

function timeText(ns) {
  if (!isNumber(ns)) return "–";
  const [unit, size] = timeUnitFor(ns);
  return `${threeDigits(ns / size)}\u00a0${unit}`;
}

function figureText(number, unit) {
  if (!isNumber(number)) return "–";
  if (unit === "ns") return timeText(number);
  return unit ? `${threeDigits(number)}\u00a0${unit}` : threeDigits(number);
}

function durationText(seconds) {
  if (!isNumber(seconds)) return "–";
  if (seconds < 1) return timeText(1e9 * seconds);
  if (seconds < 120) return `${threeDigits(seconds)}\u00a0s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes}\u00a0min` : `${threeDigits(minutes / 60)}\u00a0h`;
}

const dateText = (utc) => (utc ? utc.replace("T", " ").replace("Z", "\u00a0UTC") : "–");
const deviceText = (device) => [device.name || "unknown device", device.platform, device.driver]
  .filter((part) => part).join(", ");

/** The least and the greatest of the numbers of a column, without a list of arguments. */
function rangeOf(numbers, use = () => true) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < numbers.length; ++i) {
    const v = numbers[i];
    if (!Number.isFinite(v) || !use(i)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return low <= high ? [low, high] : null;
}

// ---- A search as columns -------------------------------------------------------------------------

function toNumbers(list) {
  const numbers = new Float64Array(list.length);
  for (let i = 0; i < list.length; ++i) numbers[i] = list[i] === null ? NaN : list[i];
  return numbers;
}

function numberColumn(name, unit, numbers, title = name) {
  return { name, title, unit, isChoice: false, numbers, at: (i) => numbers[i],
           text: (i) => figureText(numbers[i], unit) };
}

function choiceColumn({ name, values, index }) {
  const labels = values.map(valueText);
  return { name, title: name, unit: "", isChoice: true, labels, values, index,
           isOrdered: values.every(isNumber),
           at: (i) => (index[i] < 0 ? NaN : index[i]),
           text: (i) => (index[i] < 0 ? "–" : labels[index[i]]) };
}

/** All columns of a search by their names; a metric called as a parameter gets a name of its own. */
function columnsOf(search) {
  const columns = new Map();
  const add = (column) => {
    while (columns.has(column.name)) column.name += "'";
    columns.set(column.name, column);
  };
  for (const parameter of search.parameters) add(choiceColumn(parameter));
  const time = numberColumn("time", "ns", toNumbers(search.score));
  add(time);
  for (const metric of search.metrics) {
    add(numberColumn(metric.name, metric.unit, toNumbers(metric.values)));
  }
  add(numberColumn("preparation", "ns", toNumbers(search.preparation), "preparation, until it could be run"));
  add(numberColumn("samples", "", toNumbers(search.samples), "samples, the number of times measured"));
  add(numberColumn("trial", "", Float64Array.from(search.score, (_, i) => i + 1), "trial, in the order made"));
  add(choiceColumn({ name: "outcome", values: search.outcomes, index: search.outcome }));
  return { columns, time };
}

function makeView(number) {
  const search = report.searches[number];
  const owner = report.functions[search.function];
  const { columns, time } = columnsOf(search);
  const own = owner.metric === "time" ? time : columns.get(owner.metric) ?? time;
  const parameters = search.parameters.map(({ name }) => columns.get(name));
  const view = {
    number, search, owner, columns, time, goal: own,
    maximise: own !== time && owner.maximise,
    device: report.devices[search.device],
    parameters,
    varied: parameters.filter((column) => column.labels.length > 1),
    count: search.trials,
    selected: new Uint8Array(search.trials).fill(1),
  };
  view.seconds = search.seconds.every((v) => v === null) ? null : toNumbers(search.seconds);
  view.order = orderOf(view);
  view.best = view.order.length ? view.order[0] : -1;
  return view;
}

/** The measured trials, the best by the goal first. */
function orderOf({ goal, time, maximise, count }) {
  const order = [];
  const keys = new Float64Array(count);
  for (let i = 0; i < count; ++i) {
    keys[i] = maximise ? -goal.numbers[i] : goal.numbers[i];
    if (Number.isFinite(time.numbers[i]) && Number.isFinite(keys[i])) order.push(i);
  }
  return order.sort((a, b) => keys[a] - keys[b]);
}

const isMeasured = (view, i) => Number.isFinite(view.time.at(i));

function configurationText(view, i, columns = view.varied) {
  return (columns.length ? columns : view.parameters)
    .map((column) => `${column.name}=${column.text(i)}`).join(", ");
}

function trialText(view, i) {
  const { search } = view;
  const parts = [`trial ${i + 1}`];
  if (isMeasured(view, i)) {
    const bounds = search.lower[i] !== null && search.upper[i] !== null
      ? ` (${timeText(search.lower[i])} to ${timeText(search.upper[i])})` : "";
    parts.push(timeText(view.time.at(i)) + bounds);
    if (view.goal !== view.time) parts.push(`${view.goal.name} ${view.goal.text(i)}`);
  } else {
    parts.push(view.columns.get("outcome").text(i));
  }
  parts.push(configurationText(view, i));
  return parts.join("; ");
}
