// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of a search as a whole: effects, samples, time, reasons, roofline, comparison.

// ---- Effects -------------------------------------------------------------------------------------

function effectsFigure(view) {
  const effects = view.search.effects;
  const shown = effects?.parameters?.filter((one) => one.values.filter((v) => v.measured > 0).length > 1) ?? [];
  if (!shown.length) return null;
  const node = makeFigure("effects", "Effects and the best of each value",
    `How many times worse the ${view.goal.name} is with a value than with the parameter's best, all else being equal, with a 95 % interval: an additive model of its logarithm, which explains ${share(effects.explained)} of the variance. Beside it, what the best configuration with that value reached.`);
  const widest = Math.min(100, d3.max(shown, (one) => d3.max(one.values, (v) => v.upper ?? v.ratio ?? 1)));
  const width = root.clientWidth < 640 ? 90 : 150;
  const scale = d3.scaleLog().domain([0.97, Math.max(1.2, widest * 1.05)]).range([2, width - 2]).clamp(true);
  const grid = element("div", { class: "effects" }, ...shown.slice(0, 8).map((one) => effectSection(view, one, scale)));
  node.append(grid);
  if (shown.length > 8) {
    node.append(tableDetails(`The other ${plural(shown.length - 8, "parameter")}`, () =>
      element("div", { class: "effects" }, ...shown.slice(8).map((one) => effectSection(view, one, scale)))));
  }
  return { node, draw: () => {} };
}

function effectSection(view, parameter, scale) {
  const mostValues = 32;
  const goalUnit = view.goal.unit;
  let values = parameter.values;
  if (values.length > mostValues) {
    const key = (one) => one.ratio ?? Infinity;
    const kept = new Set([...values].sort((a, b) => key(a) - key(b)).slice(0, mostValues));
    values = values.filter((one) => kept.has(one));
  }
  const columns = [{ title: "value" }, { title: "tried", number: true, class: "spare" },
                   { title: "measured", number: true }, { title: `best ${view.goal.name}`, number: true },
                   { title: "times worse" }, { title: "", number: true }];
  const rows = values.map((one) => [
    valueText(one.value), grouped(one.tried), grouped(one.measured), figureText(one.best, goalUnit),
    isNumber(one.ratio) ? effectMark(one, scale) : "–",
    isNumber(one.ratio) ? one.ratio.toFixed(2) : "–"]);
  const left = parameter.values.length > values.length ? `; the best ${mostValues} of ${parameter.values.length} values` : "";
  return element("section", {}, element("h3", {}, parameter.name),
                 scrolled(table(`explains ${share(parameter.share)} of the variance${left}`, columns, rows)));
}

function effectMark(one, scale) {
  const svg = d3.create("svg").attr("width", scale.range()[1] + 2).attr("height", 16).attr("role", "img")
    .attr("aria-label", isNumber(one.lower) ? `${one.ratio.toFixed(2)}, from ${one.lower.toFixed(2)} to ${one.upper.toFixed(2)}` : one.ratio.toFixed(2));
  svg.append("line").attr("class", "reference").attr("x1", scale(1)).attr("x2", scale(1)).attr("y2", 16);
  if (isNumber(one.lower)) {
    svg.append("line").attr("class", "interval").attr("x1", scale(one.lower)).attr("x2", scale(one.upper)).attr("y1", 8).attr("y2", 8);
  }
  svg.append("circle").attr("class", "dot").attr("cx", scale(one.ratio)).attr("cy", 8).attr("r", 3);
  return svg.node();
}

// ---- Finalists -----------------------------------------------------------------------------------

function finalistsFigure(view) {
  const finalists = view.search.finalists.filter((one) => one.samples.length);
  if (!finalists.length) return null;
  const node = makeFigure("finalists", "Samples of the best",
    "A dot for each sample of the best configurations, the best at the top; the bar is the median, the band around it its confidence interval. Samples beyond the axis stand at its right end.");
  const picture = makePicture(`Samples of the best ${finalists.length} configurations; the table has their quartiles.`);
  const trials = finalists.map(({ trial }) => trial);
  const differing = view.varied.filter((column) => new Set(trials.map((i) => column.index[i])).size > 1);
  const alternative = tableDetails("The samples as a table", () => finalistsTable(view, finalists));
  node.append(picture.node, alternative);
  return { node, draw: () => drawFinalists(view, picture, finalists, differing) };
}

function drawFinalists(view, picture, finalists, differing) {
  const row = 42;
  const { width, height, ink, plot } = picture.clear(row * finalists.length + 46);
  plot.selectAll("*").remove();
  const all = finalists.flatMap(({ samples }) => samples).sort(d3.ascending);
  const domain = [all[0], d3.quantile(all, 0.97)];
  const x = numberScale({ name: "time", unit: "ns" }, domain, [10, width - 12], width < 600 ? 4 : 8);
  x.scale.clamp(true);
  drawAxis(plot, x, { side: "bottom", at: height - 40, span: domain.map(x.scale), titleAt: width - 12 });
  let points = 0;
  finalists.forEach(({ trial, samples }, k) => {
    const y = row * k + 28;
    drawMedian(ink, view, trial, x.scale, y);
    points += drawSamples(ink, samples, x.scale, y);
    plot.append("text").attr("class", "halo").attr("x", 0).attr("y", y - 13)
      .text(shortened(`${timeText(view.time.at(trial))}  ${configurationText(view, trial, differing.length ? differing : view.varied)}`, Math.floor(width / 6.8)));
  });
  picture.canvas.dataset.points = points;
}

function drawMedian(ink, view, trial, scale, y) {
  const { lower, upper } = view.search;
  if (lower[trial] !== null && upper[trial] !== null) {
    ink.fillStyle = colour("rule");
    ink.fillRect(scale(lower[trial]), y - 8, Math.max(1, scale(upper[trial]) - scale(lower[trial])), 16);
  }
  ink.fillStyle = colour("warm");
  ink.fillRect(scale(view.time.at(trial)) - 1, y - 9, 2, 18);
}

/** Each sample at its time, up and down in turns so that equal ones stay apart. */
function drawSamples(ink, samples, scale, y) {
  ink.fillStyle = colour("point");
  ink.globalAlpha = samples.length > 60 ? 0.4 : 0.65;
  samples.forEach((sample, i) => {
    const lift = ((i * 0.618034) % 1 - 0.5) * 12;
    ink.beginPath();
    ink.arc(scale(sample), y + lift, 1.7, 0, 2 * Math.PI);
    ink.fill();
  });
  ink.globalAlpha = 1;
  return samples.length;
}

function finalistsTable(view, finalists) {
  const columns = ["trial", "samples", "least", "quartile", "median", "quartile", "greatest"]
    .map((title) => ({ title, number: true }));
  const bits = view.search.metrics.find(({ name }) => name === "bits")?.values;
  const bitsText = (trial) => {
    if (!isNumber(bits[trial]) || !isNumber(bits[finalists[0].trial])) return "–";
    return bits[trial] === bits[finalists[0].trial] ? `as the best (group ${bits[trial]})` : `others (group ${bits[trial]})`;
  };
  const rows = finalists.map(({ trial, samples }) => {
    const sorted = [...samples].sort(d3.ascending);
    return [String(trial + 1), grouped(view.search.samples[trial]),
            ...[0, 0.25, 0.5, 0.75, 1].map((part) => timeText(d3.quantile(sorted, part))),
            ...(bits ? [bitsText(trial)] : []), configurationText(view, trial)];
  });
  if (bits) columns.push({ title: "bits", class: "text" });
  return table("", [...columns, { title: "configuration", class: "text" }], rows);
}

// ---- Where the time went -------------------------------------------------------------------------

function timeFigure(view) {
  if (!view.seconds || !view.count) return null;
  const node = makeFigure("time", "Where the time went",
    "Above, the device while it took samples; below, each configuration from its start to its first sample, in as few rows as they need: with its compilation, unless a helper had compiled it ahead, for which no times are stored. Trials are stored with the second of their end, and those of one second are spread evenly over it: read this to the second.");
  const picture = makePicture("Timeline of the device and of preparation; the table has the totals.");
  const totals = timeTotals(view);
  node.append(picture.node, scrolled(timeTable(totals)));
  return { node, draw: () => drawTimeline(view, picture, totals) };
}

const sum = (list) => {
  let total = 0;
  for (const v of list) total += v;
  return total;
};

function timeTotals(view) {
  const { search } = view;
  const span = Date.parse(search.finished) - Date.parse(search.started);
  const last = rangeOf(view.seconds)?.[1] ?? 0;
  const elapsed = Math.max(Number.isFinite(span) ? span / 1000 : 0, last);
  const measuring = sum(search.measuring) / 1e9;
  const preparation = sum(search.preparation) / 1e9;
  return { elapsed, measuring, preparation, idle: Math.max(0, elapsed - measuring) };
}

function timeTable({ elapsed, measuring, preparation, idle }) {
  const row = (title, seconds, text) => [title, durationText(seconds), elapsed > 0 ? share(seconds / elapsed) : "–", text];
  return table("", [{ title: "" }, { title: "time", number: true }, { title: "of the search", number: true }, { title: "", class: "text quiet" }], [
    row("search", elapsed, "from its start to its end, or to its last trial"),
    row("device in samples", measuring, "the sum of all samples; warm-up and checks are not stored"),
    row("device otherwise", idle, "warm-up, checks, waiting for programs, other searches"),
    row("preparation", preparation, `of all configurations together; at a time on average: ${threeDigits(elapsed > 0 ? preparation / elapsed : 0)}`),
  ]);
}

/** Gives each interval the first row that is free. The intervals come in the order of their begin. */
function packRows(intervals, most) {
  const ends = [];
  for (const interval of intervals) {
    let row = ends.findIndex((end) => end <= interval.from + 1e-9);
    if (row < 0) row = ends.length < most ? ends.push(0) - 1 : most - 1;
    ends[row] = interval.to;
    interval.row = row;
  }
  return ends.length;
}

function timelineOf(view) {
  const { search, seconds } = view;
  const device = [];  // in the order of their ends
  const workers = [];
  for (let i = 0; i < view.count; ++i) {
    if (!Number.isFinite(seconds[i])) continue;
    const begin = Math.max(0, seconds[i] - search.measuring[i] / 1e9);
    if (search.measuring[i] > 0) device.push({ from: begin, to: seconds[i], row: 0 });
    const from = Math.max(0, begin - search.preparation[i] / 1e9);
    if (search.preparation[i] > 0) workers.push({ from, to: begin, failed: !isMeasured(view, i) });
  }
  workers.sort((a, b) => a.from - b.from);
  return { device, workers };
}

/** Draws spans in their rows, and those that follow each other within a third of a pixel as one. */
function drawSpans(ink, scale, spans, rows, top, tall) {
  const open = new Array(rows).fill(null);
  const close = (row) => open[row] && ink.fillRect(open[row][0], top(row), Math.max(0.6, open[row][1] - open[row][0]), tall);
  for (const { from, to, row } of spans) {
    const [begin, end] = [scale(from), scale(to)];
    if (open[row] && begin <= open[row][1] + 0.3) {
      open[row][1] = Math.max(open[row][1], end);
      continue;
    }
    close(row);
    open[row] = [begin, end];
  }
  for (let row = 0; row < rows; ++row) close(row);
}

function drawTimeline(view, picture, { elapsed }) {
  const { device, workers } = timelineOf(view);
  const rows = packRows(workers, 24);
  const line = 7;
  const { width, height, ink, plot } = picture.clear(40 + rows * line + 48);
  plot.selectAll("*").remove();
  const x = linearFrom({ name: "since the start", unit: "s" }, [0, elapsed || 1], [64, width - 8]);
  ink.fillStyle = colour("accent");
  drawSpans(ink, x.scale, device, 1, () => 12, 12);
  ink.globalAlpha = 0.75;
  for (const kind of [false, true]) {
    ink.fillStyle = colour(kind ? "warm" : "point");
    const spans = workers.filter(({ failed }) => failed === kind);
    drawSpans(ink, x.scale, spans, rows, (row) => 36 + row * line + (kind ? 2.5 : 0), kind ? 1.6 : 5);
  }
  ink.globalAlpha = 1;
  plot.append("text").attr("x", 0).attr("y", 22).text("device");
  plot.append("text").attr("x", 0).attr("y", 45).text("preparing");
  if (workers.some(({ failed }) => failed)) {
    plot.append("text").attr("class", "unit").attr("x", 64).attr("y", height - 6).text("thin: without a time in the end");
  }
  drawAxis(plot, x, { side: "bottom", at: height - 44, span: [x.scale(0), x.scale(elapsed || 1)], titleAt: width - 8 });
  picture.canvas.dataset.points = device.length + workers.length;
  picture.canvas.dataset.workers = rows;
}

// ---- Without a time ------------------------------------------------------------------------------

function reasonsFigure(view) {
  const { reasons } = view.search;
  const node = makeFigure("reasons", "Skipped and failed", reasons.length ? "Configurations without a time, and the first reason given for each outcome." : "Every configuration that was tried has a time.");
  if (!reasons.length) return { node, draw: () => {} };
  const columns = [{ title: "outcome" }, { title: "trials", number: true }, { title: "of all", number: true, class: "spare" },
                   { title: "known before", number: true, class: "spare" }, { title: "first reason", class: "text" }, { title: "" }];
  node.append(scrolled(table("", columns, reasons.map(({ outcome, count, remembered, message }) => [
    outcome, grouped(count), share(count / view.count), grouped(remembered), message || "–", showButton(outcome)]))));
  return { node, draw: () => {} };
}

function showButton(outcome) {
  const button = element("button", { type: "button", class: "link", "aria-label": `Show only ${outcome}` }, "show");
  button.addEventListener("click", () => {
    setFilter(`outcome=${outcome}`);
    byId("filter").focus();
  });
  return button;
}

// ---- Roofline ------------------------------------------------------------------------------------

/** The greatest bandwidth and rate that any trial on this device in this report has reached, and
    the device's peaks where searches have measured them: of memory, and of the arithmetic of this
    search. */
function roofsOf(view) {
  const greatest = (values) => rangeOf(toNumbers(values ?? []))?.[1] ?? 0;
  const own = new Map(view.search.metrics.map((one) => [one.name, one.values]));
  const roofs = { copy: 0, gbs: 0, gflops: 0, arithmetic: greatest(own.get("peak_gflops")) };
  for (const search of report.searches) {
    if (search.device !== view.search.device) continue;
    const metrics = new Map(search.metrics.map((one) => [one.name, one.values]));
    for (const name of ["gbs", "gflops"]) {
      roofs[name] = Math.max(roofs[name], greatest(metrics.get(name)));
    }
    roofs.copy = Math.max(roofs.copy, greatest(metrics.get("peak_gbs")));
    if (metrics.has("peak_gbs") || metrics.has("peak_gflops")) continue;
    // Searches of an earlier libtune.
    const bytes = metrics.get("bytes");
    const least = metrics.get("least_time");
    if (!bytes || !least) continue;
    const at = least.findIndex((v, i) => isNumber(v) && v > 0 && isNumber(bytes[i]));
    if (at >= 0) roofs.copy = Math.max(roofs.copy, bytes[at] / least[at]);
  }
  return roofs;
}

function rooflineFigure(view) {
  const column = (name) => view.columns.get(name);
  const gbs = column("gbs");
  const gflops = column("gflops");
  if (!gbs && !gflops) return null;
  const roofs = roofsOf(view);
  if (!gbs || !gflops) return rateFigure(view, gbs ?? gflops, roofs);
  const node = makeFigure("roofline", "Roofline",
    `${roofs.copy ? "The slope is the measured bandwidth of this device" : "The slope is the greatest bandwidth that a trial on this device in this report has reached"}; the level is ${roofs.arithmetic ? "its measured peak of this arithmetic" : "the greatest rate that one has reached, so the true one may lie higher"}. The work is what the operation declares.`);
  const intensity = Float64Array.from(column("flops").numbers, (flops, i) => flops / column("bytes").at(i));
  const across = numberColumn("intensity", "FLOP/B", intensity);
  const picture = makePicture(`Roofline. ${summaryOf(view)} ${stepHint}`, { steps: true });
  let place = () => null;
  const readout = addReadout(picture, view, (i) => place(i), () => selectedInOrder(view));
  const alternative = tableDetails("The rates as a table", () => trialsTable(view, selectedInOrder(view), [across, gflops, gbs]));
  node.append(picture.node, readout, alternative);
  const draw = () => {
    alternative.forget();
    place = drawRoofline(view, picture, across, gflops, roofs);
    readout.follow();
  };
  return { node, draw, onFilter: draw };
}

function drawRoofline(view, picture, across, up, roofs) {
  const { width, height, ink, plot } = picture.clear(320);
  plot.selectAll("*").remove();
  const [left, right, top, foot] = [58, 12, 24, 46];
  const slope = roofs.copy || roofs.gbs;
  const rangeX = rangeOf(across.numbers);
  const rangeY = rangeOf(up.numbers);
  if (!rangeX || !rangeY) return () => null;
  const level = roofs.arithmetic || roofs.gflops;
  const ridge = level / slope;
  const domainX = [Math.min(rangeX[0], ridge) / 3, Math.max(rangeX[1], ridge) * 3];
  const domainY = [Math.min(rangeY[0], slope * domainX[0]), Math.max(level, roofs.gflops) * 1.6];
  const x = logAxis(across, domainX, [left, width - right]);
  const y = logAxis(up, domainY, [height - foot, top]);
  drawAxis(plot, x, { side: "bottom", at: height - foot + 8, span: x.scale.range(), titleAt: width - right });
  drawAxis(plot, y, { side: "left", at: left - 6, span: y.scale.range() });
  plot.append("text").attr("class", "unit").attr("x", 0).attr("y", 11).text(y.title);
  const roof = [[domainX[0], slope * domainX[0]], [ridge, level], [domainX[1], level]];
  plot.append("path").attr("class", "roof").attr("d", d3.line().x(([a]) => x.scale(a)).y(([, b]) => y.scale(b))(roof));
  plot.append("text").attr("class", "halo").attr("x", width - right).attr("y", y.scale(level) - 6).attr("text-anchor", "end")
    .text(`${threeDigits(level)} ${up.unit}`);
  plot.append("text").attr("class", "halo").attr("x", x.scale(domainX[0]) + 4).attr("y", y.scale(slope * domainX[0]) - 12)
    .text(`${threeDigits(slope)} GB/s`);
  const place = (i) => {
    const at = [x.scale(across.at(i)), y.scale(up.at(i))];
    return Number.isFinite(at[0]) && Number.isFinite(at[1]) ? at : null;
  };
  picture.canvas.dataset.points = drawDots(ink, view.count, place, view);
  const best = view.best < 0 ? null : place(view.best);
  if (best) plot.append("circle").attr("class", "best").attr("r", 5.5).attr("cx", best[0]).attr("cy", best[1]);
  return place;
}

function logAxis(column, domain, range) {
  return { scale: d3.scaleLog().domain(domain).range(range), ticks: logTicks(domain), text: (tick) => threeDigitsPlain(tick),
           title: `${column.name} [${column.unit}]` };
}

const threeDigitsPlain = (number) => String(Number(number.toPrecision(3)));

/** Where only bytes or only operations are declared: the rates themselves, against what was reached. */
function rateFigure(view, column, roofs) {
  const peak = column.name === "gbs" ? roofs.copy : roofs.arithmetic;
  const roof = peak || (column.name === "gbs" ? roofs.gbs : roofs.gflops);
  const what = peak ? "is the measured peak of this device" : "is the most that a trial on this device in this report has reached";
  const node = makeFigure("roofline", "Rate of the declared work",
    `Only ${column.name === "gbs" ? "bytes" : "operations"} are declared, so there is no intensity to draw a roofline over. The line: ${figureText(roof, column.unit)} ${what}.`);
  const picture = makePicture(`Rates of all configurations. ${summaryOf(view)}`);
  const alternative = tableDetails("The rates as a table", () => trialsTable(view, selectedInOrder(view), [column]));
  node.append(picture.node, alternative);
  const draw = () => {
    alternative.forget();
    drawRates(view, picture, column, roof);
  };
  return { node, draw, onFilter: draw };
}

function drawRates(view, picture, column, roof) {
  const { width, ink, plot } = picture.clear(110);
  plot.selectAll("*").remove();
  const most = Math.max(rangeOf(column.numbers)?.[1] ?? 0, roof);
  const x = linearFrom(column, [0, most * 1.02], [10, width - 12]);
  drawAxis(plot, x, { side: "bottom", at: 68, span: [x.scale(0), x.scale(most)], titleAt: width - 12 });
  plot.append("line").attr("class", "roof").attr("x1", x.scale(roof)).attr("x2", x.scale(roof)).attr("y1", 4).attr("y2", 68);
  const place = (i) => (Number.isFinite(column.at(i)) ? [x.scale(column.at(i)), 14 + ((i * 0.618034) % 1) * 44] : null);
  picture.canvas.dataset.points = drawDots(ink, view.count, place, view);
  const best = view.best < 0 ? null : place(view.best);
  if (best) plot.append("circle").attr("class", "best").attr("r", 5.5).attr("cx", best[0]).attr("cy", best[1]);
}

// ---- Devices and versions ------------------------------------------------------------------------

/** The best of each search of this function for this key. */
function rivalsOf(view) {
  const list = [];
  report.searches.forEach((search, number) => {
    if (search.function !== view.search.function || search.key !== view.search.key) return;
    const best = bestOf(search);
    if (best) list.push({ number, search, ...best });
  });
  return list.sort((a, b) => (view.maximise ? b.goal - a.goal : a.goal - b.goal));
}

const bests = new Map();  // of a search; forgotten with its report

function bestOf(search) {
  if (bests.has(search)) return bests.get(search);
  const owner = report.functions[search.function];
  const own = owner.metric === "time" ? null : search.metrics.find(({ name }) => name === owner.metric);
  const goals = own ? own.values : search.score;
  let best = null;
  for (let i = 0; i < goals.length; ++i) {
    if (goals[i] === null || search.score[i] === null) continue;
    if (best === null || (own && owner.maximise ? goals[i] > goals[best] : goals[i] < goals[best])) best = i;
  }
  const made = best === null ? null : { trial: best, goal: goals[best], unit: own ? own.unit : "ns",
                                        lower: own ? null : search.lower[best], upper: own ? null : search.upper[best] };
  bests.set(search, made);
  return made;
}

function shortName(path) {
  const names = report.databases.map((one) => one.split("/").pop());
  const own = path.split("/").pop();
  return names.filter((one) => one === own).length > 1 ? path : own;
}

/** The words that tell searches apart: what is the same in all of them is left out. */
function rivalTexts(rivals) {
  const parts = rivals.map(({ search }) => {
    const device = report.devices[search.device];
    return [device.name, device.platform, device.driver && `driver ${device.driver}`, search.library && `libtune ${search.library}`,
            search.compiler, shortName(report.databases[search.database]), search.started && dateText(search.started), `search ${search.id}`];
  });
  const varies = d3.range(8).filter((k) => k === 0 || new Set(parts.map((one) => one[k])).size > 1);
  const textsOf = (kept) => parts.map((one) => varies.slice(0, kept).map((k) => one[k]).filter((text) => text).join(", "));
  const enough = d3.range(1, varies.length).find((kept) => new Set(textsOf(kept)).size === rivals.length);
  return textsOf(enough ?? varies.length);
}

function comparisonFigure(view) {
  const rivals = rivalsOf(view);
  const node = makeFigure("comparison", "Devices and versions",
    rivals.length > 1 ? `The best of each search of this function for this key, with its confidence interval where the goal is the time.`
      : "There is one search of this function for this key; name several databases, or tune again, to compare.");
  if (rivals.length < 2) return { node, draw: () => {} };
  const texts = rivalTexts(rivals);
  const picture = makePicture("The best of each search; the table has the same numbers.");
  const shown = rivals.slice(0, 24);
  node.append(picture.node, tableDetails("The comparison as a table", () => comparisonTable(view, rivals, texts)));
  return { node, draw: () => drawComparison(view, picture, shown, texts) };
}

function comparisonTable(view, rivals, texts) {
  const columns = [{ title: "search", class: "text" }, { title: view.goal.name, number: true }, { title: "of the best", number: true },
                   { title: "trials", number: true }, { title: "configuration", class: "text" }];
  return table("", columns, rivals.map(({ search, trial, goal, unit }, k) => [
    texts[k], figureText(goal, unit), `${(goal / rivals[0].goal).toFixed(2)} ×`, grouped(search.trials), parametersText(search, trial)]));
}

function parametersText(search, trial) {
  return search.parameters.filter(({ values }) => values.length > 1)
    .map(({ name, values, index }) => `${name}=${index[trial] < 0 ? "–" : valueText(values[index[trial]])}`).join(", ");
}

function drawComparison(view, picture, rivals, texts) {
  const row = 40;
  const { width, height, plot } = picture.clear(row * rivals.length + 46);
  plot.selectAll("*").remove();
  const ends = rivals.flatMap(({ goal, lower, upper }) => [goal, lower ?? goal, upper ?? goal]);
  const x = numberScale({ name: view.goal.name, unit: rivals[0].unit }, d3.extent(ends), [10, width - 12]);
  rivals.forEach(({ goal, lower, upper, number }, k) => {
    const y = row * k + 28;
    plot.append("line").attr("class", "rule").attr("x1", 10).attr("x2", width - 12).attr("y1", y).attr("y2", y);
    if (lower !== null && upper !== null) {
      plot.append("line").attr("class", "interval").attr("x1", x.scale(lower)).attr("x2", x.scale(upper)).attr("y1", y).attr("y2", y);
    }
    plot.append("circle").attr("class", number === view.number ? "ring" : "dot").attr("cx", x.scale(goal)).attr("cy", y).attr("r", 4.5);
    plot.append("text").attr("class", "halo").attr("x", 0).attr("y", y - 11)
      .text(shortened(`${figureText(goal, rivals[k].unit)}  ${texts[k]}${number === view.number ? " (shown above)" : ""}`, Math.floor(width / 6.8)));
  });
  drawAxis(plot, x, { side: "bottom", at: height - 40, span: d3.extent(ends).map(x.scale), titleAt: width - 12 });
  picture.canvas.dataset.points = rivals.length;
}
