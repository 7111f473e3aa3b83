// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Figures with a mark for each trial: convergence, every configuration, parallel coordinates.

// ---- Convergence ---------------------------------------------------------------------------------

function convergenceFigure(view) {
  const node = makeFigure("convergence", "Convergence",
    "Each dot is a configuration when it was tried; the line is the best so far. Crosses at the foot have no time.");
  if (!view.seconds || view.search.seconds.includes(null)) state.clock = "trial";
  if (!clockNames[state.clock]) state.clock = "seconds";
  const picture = makePicture(`Convergence of the search. ${summaryOf(view)} ${stepHint}`, { steps: true });
  let place = () => null;
  const readout = addReadout(picture, view, (i) => place(i), () => selectedInOrder(view));
  const choices = view.seconds ? Object.entries(clockNames) : [["trial", clockNames.trial]];
  const clock = selectFor("Over", "clock", choices, state.clock, (v) => {
    state.clock = v;
    writeFragment();
    draw();
  });
  const alternative = tableDetails("The improvements as a table", () => improvementsTable(view));
  node.append(clock, picture.node, readout, alternative);

  function draw() {
    place = drawConvergence(view, picture);
    readout.follow();
  }
  return { node, draw, onFilter: draw };
}

const better = (view, a, b) => (view.maximise ? a > b : a < b);

/** The trials that were the best so far, in the order in which they were made. */
function improvements(view) {
  const list = [];
  for (let i = 0; i < view.count; ++i) {
    if (!isMeasured(view, i) || !Number.isFinite(view.goal.at(i))) continue;
    if (!list.length || better(view, view.goal.at(i), view.goal.at(list[list.length - 1]))) list.push(i);
  }
  return list;
}

function improvementsTable(view) {
  const columns = [{ title: "trial", number: true }, { title: "after", number: true },
                   { title: view.goal.name, number: true }, { title: "configuration", class: "text" }];
  return table("Each trial that was the best so far", columns, improvements(view).map((i) => [
    String(i + 1), view.seconds ? durationText(view.seconds[i]) : "–", view.goal.text(i),
    configurationText(view, i)]));
}

function clockColumn(view) {
  if (state.clock === "trial" || !view.seconds) return numberColumn("trial", "", view.columns.get("trial").numbers);
  return { ...numberColumn("time", "s", view.seconds), name: "since the start" };
}

function drawConvergence(view, picture) {
  const { width, height, ink, plot } = picture.clear(320);
  plot.selectAll("*").remove();
  const clock = clockColumn(view);
  const [left, right, top, foot] = [54, 8, 24, 58];
  const domain = rangeOf(view.goal.numbers, (i) => isMeasured(view, i));
  const times = rangeOf(clock.numbers) ?? [0, 1];
  const x = linearFrom(clock, [0, times[1]], [left, width - right]);
  drawAxis(plot, x, { side: "bottom", at: height - 38, span: [x.scale(0), x.scale(times[1])], titleAt: width - right });
  const failedAt = height - foot + 9;
  if (!domain) {
    plot.append("text").attr("x", left).attr("y", height / 2).text("No trial was measured.");
  }
  const y = domain ? numberScale(view.goal, domain, [height - foot - 8, top]) : null;
  const place = (i) => {
    const across = x.scale(clock.at(i));
    if (!Number.isFinite(across)) return null;
    return y && isMeasured(view, i) && Number.isFinite(view.goal.at(i)) ? [across, y.scale(view.goal.at(i))] : null;
  };
  if (y) drawAxis(plot, y, { side: "left", at: left - 6, span: domain.map(y.scale) });
  if (y) plot.append("text").attr("class", "unit").attr("x", 0).attr("y", 11).text(y.title);
  picture.canvas.dataset.points = drawDots(ink, view.count, place, view);
  picture.canvas.dataset.failed = drawFailed(ink, view, (i) => x.scale(clock.at(i)), failedAt);
  if (y) drawBestLine(plot, view, place, width - right);
  return place;
}

function linearFrom(column, domain, range) {
  const scale = d3.scaleLinear().domain(domain).range(range);
  const ticks = d3.ticks(domain[0], domain[1], range[1] - range[0] < 420 ? 4 : 8);
  return { scale, ticks, text: tickText, title: column.unit ? `${column.name} [${column.unit}]` : column.name };
}

function drawFailed(ink, view, across, at) {
  ink.strokeStyle = colour("warm");
  ink.lineWidth = 1;
  ink.beginPath();
  let failed = 0;
  for (let i = 0; i < view.count; ++i) {
    if (isMeasured(view, i) || !view.selected[i]) continue;
    ++failed;
    if (Number.isFinite(across(i))) drawCross(ink, across(i), at, 2.5);
  }
  ink.stroke();
  return failed;
}

function drawBestLine(plot, view, place, end) {
  const steps = improvements(view).map(place).filter((at) => at);
  if (!steps.length) return;
  const last = steps[steps.length - 1];
  plot.append("path").attr("class", "best")
    .attr("d", d3.line().curve(d3.curveStepAfter)([...steps, [end, last[1]]]));
  plot.append("circle").attr("class", "best").attr("r", 4.5).attr("cx", last[0]).attr("cy", last[1]);
  const isLate = end - last[0] < 120;
  plot.append("text").attr("class", "best-text halo").attr("text-anchor", "end").attr("x", isLate ? last[0] - 9 : end)
    .attr("y", last[1] + (isLate ? 4 : last[1] < 60 ? 16 : -8)).text(`best ${view.goal.text(view.best)}`);
}

function summaryOf(view) {
  const measured = view.order.length;
  const best = view.best < 0 ? "None was measured." : `The best is ${view.goal.text(view.best)}, ${configurationText(view, view.best)}.`;
  return `${plural(view.count, "trial")}, ${grouped(measured)} measured. ${best}`;
}

// ---- Every configuration -------------------------------------------------------------------------

function scatterFigure(view) {
  const node = makeFigure("configurations", "Every configuration",
    "A dot for each measured configuration. Those of one value of a parameter lie beside each other in the order in which they were tried.");
  const across = [...view.varied, ...[...view.columns.values()].filter((column) =>
    !column.isChoice && rangeOf(column.numbers))];
  const up = across.filter((column) => !column.isChoice && column.name !== "trial");
  if (!up.length || view.order.length < 2) return null;
  const pick = (wanted, list, other) => list.find(({ name }) => name === wanted) ?? other ?? list[0];
  state.x = pick(state.x, across).name;
  state.y = pick(state.y, up, view.goal).name;
  const picture = makePicture(`Every configuration. ${summaryOf(view)} ${stepHint}`, { steps: true });
  let place = () => null;
  const readout = addReadout(picture, view, (i) => place(i), () => selectedInOrder(view));
  const alternative = tableDetails("The configurations as a table", () =>
    trialsTable(view, selectedInOrder(view), view.goal === view.time ? [] : [view.goal]));
  const named = (list) => list.map((column) => [column.name, column.title]);
  const choose = (member) => (v) => {
    state[member] = v;
    writeFragment();
    draw();
  };
  node.append(element("p", { class: "choices" },
                      selectFor("Vertical", "y-axis", named(up), state.y, choose("y")),
                      selectFor("Horizontal", "x-axis", named(across), state.x, choose("x"))),
              picture.node, readout, alternative);

  function draw() {
    alternative.forget();
    place = drawScatter(view, picture);
    readout.follow();
  }
  return { node, draw, onFilter: draw };
}

/** A place between -0.5 and 0.5 for each trial, among those of its value in their order. */
function spreadWithin(column, count) {
  const totals = new Int32Array(column.labels.length);
  for (let i = 0; i < count; ++i) if (column.index[i] >= 0) ++totals[column.index[i]];
  const seen = new Int32Array(column.labels.length);
  const spread = new Float64Array(count);
  for (let i = 0; i < count; ++i) {
    const choice = column.index[i];
    if (choice >= 0) spread[i] = (++seen[choice] - 0.5) / totals[choice] - 0.5;
  }
  return spread;
}

function drawScatter(view, picture) {
  const { width, height, ink, plot } = picture.clear(340);
  plot.selectAll("*").remove();
  const [left, right, top, foot] = [54, 8, 24, 46];
  const columnX = view.columns.get(state.x);
  const columnY = view.columns.get(state.y);
  const counts = (i) => isMeasured(view, i);
  const domainX = columnX.isChoice ? null : rangeOf(columnX.numbers, counts);
  const domainY = rangeOf(columnY.numbers, counts);
  if (!domainY || (!columnX.isChoice && !domainX)) {
    plot.append("text").attr("x", left).attr("y", height / 2).text("No trial has both figures.");
    picture.canvas.dataset.points = 0;
    return () => null;
  }
  const x = scaleFor(columnX, domainX, [left, width - right]);
  const y = numberScale(columnY, domainY, [height - foot, top]);
  const spread = columnX.isChoice ? spreadWithin(columnX, view.count) : null;
  const place = (i) => {
    if (!counts(i)) return null;
    const at = [x.scale(columnX.at(i)) + (spread ? spread[i] * x.spread : 0), y.scale(columnY.at(i))];
    return Number.isFinite(at[0]) && Number.isFinite(at[1]) ? at : null;
  };
  const span = columnX.isChoice ? [left, width - right] : domainX.map(x.scale);
  drawAxis(plot, x, { side: "bottom", at: height - foot + 8, span, titleAt: width - right });
  drawAxis(plot, y, { side: "left", at: left - 6, span: domainY.map(y.scale) });
  plot.append("text").attr("class", "unit").attr("x", 0).attr("y", 11).text(y.title);
  picture.canvas.dataset.points = drawDots(ink, view.count, place, view);
  const best = view.best < 0 ? null : place(view.best);
  if (best) {
    plot.append("circle").attr("class", "best").attr("r", 5.5).attr("cx", best[0]).attr("cy", best[1]);
    const isRight = best[0] > width / 2;
    plot.append("text").attr("class", "best-text halo").attr("x", best[0] + (isRight ? -10 : 10)).attr("y", best[1] + 4)
      .attr("text-anchor", isRight ? "end" : "start").text("best");
  }
  return place;
}

// ---- Parallel coordinates ------------------------------------------------------------------------

const levels = 80;  // of an axis of numbers, where lines are added up

function parallelFigure(view) {
  if (!view.varied.length || view.order.length < 2) return null;
  const node = makeFigure("parallel", "Parameters side by side",
    "Each line is a configuration, from its value of one parameter to that of the next, and to its result at the foot; the stronger, the more of them. Drag along an axis, or write a condition above, to keep some values.");
  const axes = [...parallelParameters(view), view.goal];
  const picture = makePicture(`Parallel coordinates of ${axes.map(({ name }) => name).join(", ")}. ${summaryOf(view)} Use the field Show only instead of dragging.`);
  const alternative = tableDetails("The configurations as a table", () => trialsTable(view, selectedInOrder(view)));
  node.append(picture.node, alternative);
  const draw = () => {
    alternative.forget();
    drawParallel(view, picture, axes);
  };
  return { node, draw, onFilter: draw };
}

/** Those that explain most, in the order of the configuration. */
function parallelParameters(view) {
  const most = 12;
  if (view.varied.length <= most) return view.varied;
  const explained = new Map((view.search.effects?.parameters ?? []).map((one, i) => [one.name, i]));
  const rank = (column) => explained.get(column.name) ?? Infinity;
  const kept = new Set([...view.varied].sort((a, b) => rank(a) - rank(b)).slice(0, most));
  return view.varied.filter((column) => kept.has(column));
}

function parallelRow(column, view, range) {
  if (column.isChoice) return { column, ...choiceScale(column, range) };
  const domain = rangeOf(column.numbers, (i) => isMeasured(view, i));
  return { column, ...numberScale(column, domain, range), domain };
}

function drawParallel(view, picture, axes) {
  const gap = axes.length > 8 ? 46 : 56;
  const { width, ink, plot } = picture.clear(30 + gap * (axes.length - 1) + 34);
  plot.selectAll("*").remove();
  const range = [10, width - 10];
  const rows = axes.map((column, i) => ({ ...parallelRow(column, view, range), y: 24 + gap * i }));
  const drawn = drawParallelLines(ink, view, rows);
  picture.canvas.dataset.points = drawn;
  for (const row of rows) drawParallelAxis(plot, row, range);
}

function drawParallelAxis(plot, row, range) {
  const group = plot.append("g").attr("transform", `translate(0,${row.y})`);
  group.append("line").attr("class", "frame").attr("x1", range[0]).attr("x2", range[1]);
  for (const tick of row.ticks) {
    const at = row.scale(tick);
    group.append("line").attr("class", "frame").attr("x1", at).attr("x2", at).attr("y2", 4);
    group.append("text").attr("class", "unit halo").attr("text-anchor", "middle").attr("x", at).attr("y", 16).text(row.text(tick));
  }
  group.append("text").attr("class", "halo").attr("x", range[0] - 10).attr("y", -7).text(row.title);
  addBrush(group, row, range);
}

let movesBrush = false;  // by this page, which is no wish of the user

function addBrush(group, row, range) {
  const brush = d3.brushX().extent([[range[0], -10], [range[1], 10]]).on("end", () => {
    if (movesBrush) return;
    replaceClauses(row.column.name, brushedClauses(row, d3.event.selection));
  });
  const layer = group.append("g").attr("class", "brush").call(brush);
  const kept = keptExtent(row);
  if (!kept) return;
  movesBrush = true;
  layer.call(brush.move, kept);
  movesBrush = false;
}

function brushedClauses(row, selection) {
  if (!selection) return [];
  const { column } = row;
  if (!column.isChoice) {
    const [low, high] = selection.map((at) => Number(row.scale.invert(at).toPrecision(4)));
    return [{ name: column.name, sign: ">=", right: low }, { name: column.name, sign: "<=", right: high }];
  }
  const covered = column.labels.filter((_, i) => row.scale(i) >= selection[0] && row.scale(i) <= selection[1]);
  return covered.length ? [{ name: column.name, sign: "=", right: covered.join("|") }] : [];
}

/** The part of an axis that the conditions keep, if it is one part. */
function keptExtent(row) {
  const { column, scale } = row;
  let clauses;
  try {
    clauses = parseClauses(state.filter).filter(({ name }) => name === column.name);
    if (!clauses.length) return null;
    if (!column.isChoice) {
      const bound = (signs, other) => clauses.filter(({ sign }) => signs.includes(sign))
        .map(({ right }) => parseNumber(right, column.unit))[0] ?? other;
      const ends = [bound([">", ">="], row.domain[0]), bound(["<", "<="], row.domain[1])].map(scale);
      return ends.every(Number.isFinite) && ends[0] < ends[1] ? ends : null;
    }
    const tests = clauses.map(({ sign, right }) => choiceTest({ ...column, index: d3.range(column.labels.length) }, sign, right));
    const kept = d3.range(column.labels.length).filter((i) => tests.every((test) => test(i)));
    const half = Math.max(4, scale.step() / 2 - 2);
    if (!kept.length || kept[kept.length - 1] - kept[0] !== kept.length - 1) return null;
    return [scale(kept[0]) - half, scale(kept[kept.length - 1]) + half];
  } catch {
    return null;
  }
}

/** Adds lines up between two axes, so that the work does not grow with their number squared. */
function drawParallelLines(ink, view, rows) {
  const level = rows.map((row) => levelsOf(row, view));
  const shown = selectedInOrder(view);
  const all = view.order;
  if (shown.length < all.length) drawBundles(ink, rows, level, all, colour("faint"), 0.6);
  drawBundles(ink, rows, level, shown, colour("point"), 0.8);
  drawOneLine(ink, rows, level, shown[0]);
  return shown.length;
}

/** For each trial the number of its level on an axis, and where the levels are. */
function levelsOf(row, view) {
  const { column } = row;
  if (column.isChoice) return { count: column.labels.length, of: (i) => column.index[i], at: (n) => row.scale(n) };
  const [low, high] = row.scale.range();
  const step = (high - low) / (levels - 1);
  const numbers = new Int16Array(view.count).fill(-1);
  for (const i of view.order) numbers[i] = Math.round((row.scale(column.at(i)) - low) / step);
  return { count: levels, of: (i) => numbers[i], at: (n) => low + n * step };
}

function drawBundles(ink, rows, level, chosen, stroke, strength) {
  ink.strokeStyle = stroke;
  ink.lineWidth = 1.2;
  for (let k = 0; k + 1 < rows.length; ++k) {
    const [a, b] = [level[k], level[k + 1]];
    const counts = new Int32Array(a.count * b.count);
    let most = 0;
    for (const i of chosen) {
      const [from, to] = [a.of(i), b.of(i)];
      if (from < 0 || to < 0) continue;
      most = Math.max(most, ++counts[from * b.count + to]);
    }
    for (let place = 0; place < counts.length; ++place) {
      if (!counts[place]) continue;
      ink.globalAlpha = strength * (0.12 + 0.88 * Math.sqrt(counts[place] / most));
      ink.beginPath();
      ink.moveTo(a.at(Math.floor(place / b.count)), rows[k].y);
      ink.lineTo(b.at(place % b.count), rows[k + 1].y);
      ink.stroke();
    }
  }
  ink.globalAlpha = 1;
}

function drawOneLine(ink, rows, level, i) {
  if (i === undefined) return;
  ink.strokeStyle = colour("warm");
  ink.lineWidth = 2.4;
  ink.beginPath();
  rows.forEach((row, k) => ink[k ? "lineTo" : "moveTo"](level[k].at(level[k].of(i)), row.y));
  ink.stroke();
}
