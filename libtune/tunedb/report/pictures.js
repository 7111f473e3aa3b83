// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tables, canvases with axes in SVG above them, and what figures have in common.

// ---- Tables --------------------------------------------------------------------------------------

/** A table of rows of texts or nodes. @param columns  [{title, number}] */
function table(caption, columns, rows) {
  const kinds = columns.map((column) => [column.number ? "number" : "", column.class ?? ""].join(" ").trim() || null);
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell, i) =>
    (i === 0 ? element("th", { class: kinds[i], scope: "row" }, cell) : element("td", { class: kinds[i] }, cell)))));
  const head = columns.map(({ title }, i) => element("th", { scope: "col", class: kinds[i] }, title));
  return element("table", {}, caption ? element("caption", {}, caption) : null,
                 element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

/** What is wider than the page is moved within itself. */
const scrolled = (content) => element("div", { class: "scroll" }, content);

/** The table beside a picture, made when it is opened. */
function tableDetails(title, make) {
  const details = element("details", {}, element("summary", {}, title));
  const fill = () => {
    if (details.open && details.childElementCount === 1) {
      details.append(element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title }, make()));
    }
  };
  details.addEventListener("toggle", fill);
  details.forget = () => {
    while (details.childElementCount > 1) details.lastElementChild.remove();
    fill();
  };
  return details;
}

function trialsTable(view, chosen, extra = []) {
  const columns = [{ title: "trial", number: true }, { title: "time", number: true },
                   { title: "from", number: true }, { title: "to", number: true },
                   ...extra.map((column) => ({ title: column.name, number: true })),
                   { title: "outcome" }, { title: "configuration", class: "text" }];
  const { search } = view;
  const rows = chosen.slice(0, mostRows).map((i) => [
    String(i + 1), timeText(view.time.at(i)), timeText(search.lower[i]), timeText(search.upper[i]),
    ...extra.map((column) => column.text(i)), view.columns.get("outcome").text(i),
    configurationText(view, i)]);
  const caption = chosen.length > mostRows
    ? `The best ${grouped(mostRows)} of ${grouped(chosen.length)}` : plural(chosen.length, "trial");
  return table(caption, columns, rows);
}

const selectedInOrder = (view) => view.order.filter((i) => view.selected[i]);

// ---- Pictures ------------------------------------------------------------------------------------

const pixels = () => Math.min(3, globalThis.devicePixelRatio || 1);

/** A figure with its title, what it says, and a place for what is drawn. */
function makeFigure(id, title, says) {
  const caption = element("figcaption", {}, element("h2", { id: `${id}-title` }, title),
                          says ? element("p", { class: "quiet", id: `${id}-says` }, says) : null);
  const node = element("figure", { id, "aria-labelledby": `${id}-title`,
                                   "aria-describedby": says ? `${id}-says` : null }, caption);
  return node;
}

/** A place of a certain height with a canvas below an SVG; drawn anew when its width changes. */
function makePicture(label, { steps = false } = {}) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("aria-hidden", "true");
  const node = element("div", { class: "picture", role: "img", "aria-label": label,
                                tabindex: steps ? 0 : null }, canvas, svg);
  const clear = (height) => {
    const width = Math.max(240, node.clientWidth || node.parentElement.clientWidth);
    const scale = pixels();
    node.style.height = `${height}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const ink = canvas.getContext("2d");
    ink.setTransform(scale, 0, 0, scale, 0, 0);
    ink.clearRect(0, 0, width, height);
    return { width, height, ink, plot: d3.select(svg) };
  };
  return { node, canvas, svg, clear };
}

/** Round numbers for a logarithmic axis: powers of ten, with others between them where these are few. */
function logTicks([low, high]) {
  for (const steps of [[1], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]]) {
    const ticks = ticksAt(steps, low, high);
    if (ticks.length >= 3) return ticks;
  }
  return d3.ticks(low, high, 5);
}

function ticksAt(steps, low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
    for (const step of steps) {
      const tick = Number(`${step}e${power}`);
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}

/** A scale for a column of numbers, with its ticks and the unit that stands on the axis. */
function numberScale(column, domain, range, wanted = 6) {
  const size = column.unit === "ns" ? timeUnitFor(Math.sqrt(Math.max(domain[0], 1) * domain[1]) || 1) : null;
  const divisor = size ? size[1] : 1;
  const unit = size ? size[0] : column.unit;
  const isLog = domain[0] > 0 && domain[1] / domain[0] > 4 && column.name !== "trial";
  const [low, high] = widened(domain, isLog);
  const scale = (isLog ? d3.scaleLog() : d3.scaleLinear()).domain([low, high]).range(range);
  const ticks = (isLog ? logTicks([low / divisor, high / divisor]) : d3.ticks(low / divisor, high / divisor, wanted))
    .map((tick) => tick * divisor);
  return { scale, ticks, isLog, text: (tick) => tickText(tick / divisor),
           title: unit ? `${column.name} [${unit}]` : column.name };
}

const tickText = (number) => String(Number(number.toPrecision(6))).replace(/^(-?\d+)(\d{3})$/, "$1\u202f$2");

function widened([low, high], isLog) {
  if (low === high) return isLog || low > 0 ? [low * 0.9, high * 1.1] : [low - 1, high + 1];
  if (isLog) {
    const factor = (high / low) ** 0.03;
    return [low / factor, high * factor];
  }
  const margin = 0.03 * (high - low);
  return [low >= 0 ? Math.max(0, low - margin) : low - margin, high + margin];
}

function choiceScale(column, range) {
  const scale = d3.scalePoint().domain(d3.range(column.labels.length)).range(range).padding(0.5);
  const room = Math.abs(range[1] - range[0]) / Math.max(1, column.labels.length);
  const longest = Math.max(...column.labels.map((label) => Math.min(label.length, 14)));
  const every = Math.max(1, Math.ceil((longest * 7 + 10) / room));
  const ticks = d3.range(column.labels.length).filter((i) => i % every === 0);
  return { scale, ticks, isLog: false, spread: 0.6 * room, title: column.name,
           text: (tick) => shortened(column.labels[tick], 14) };
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const scaleFor = (column, domain, range) =>
  (column.isChoice ? choiceScale(column, range) : numberScale(column, domain, range));

/** An axis whose line spans the data alone. */
function drawAxis(plot, { scale, ticks, text, title }, { side, at, span, titleAt }) {
  const isBelow = side === "bottom";
  const axis = (isBelow ? d3.axisBottom : d3.axisLeft)(scale).tickValues(ticks).tickFormat(text).tickSize(4).tickPadding(4);
  const group = plot.append("g").attr("class", "axis")
    .attr("transform", isBelow ? `translate(0,${at})` : `translate(${at},0)`).call(axis);
  group.select(".domain").remove();
  group.attr("font-family", null).attr("font-size", null).attr("fill", null);
  const [from, to] = span;
  group.append("line").attr("class", "frame").attr(isBelow ? "x1" : "y1", from).attr(isBelow ? "x2" : "y2", to);
  if (!title) return;
  const label = plot.append("text").attr("class", "unit").text(title);
  if (isBelow) label.attr("x", titleAt).attr("y", at + 34).attr("text-anchor", "end");
  else label.attr("x", 0).attr("y", titleAt ?? 11);
}

/** Draws dots in two strengths: those that are shown, above those that are not. */
function drawDots(ink, count, place, view) {
  const shown = view.selectedCount ?? view.count;
  const size = shown > 20000 ? 1.4 : shown > 3000 ? 2 : 3.2;
  let drawn = 0;
  for (const isShown of [0, 1]) {
    ink.fillStyle = isShown ? colour("point") : colour("faint");
    ink.globalAlpha = isShown ? (shown > 20000 ? 0.35 : shown > 3000 ? 0.5 : 0.75) : 0.45;
    for (let i = 0; i < count; ++i) {
      if (view.selected[i] !== isShown) continue;
      const at = place(i);
      if (!at) continue;
      ink.fillRect(at[0] - size / 2, at[1] - size / 2, size, size);
      drawn += isShown;
    }
  }
  ink.globalAlpha = 1;
  return drawn;
}

function drawCross(ink, x, y, size) {
  ink.moveTo(x - size, y - size);
  ink.lineTo(x + size, y + size);
  ink.moveTo(x - size, y + size);
  ink.lineTo(x + size, y - size);
}

/** The line below a picture that says which point is meant; by pointer, or by the arrow keys. */
function addReadout(picture, view, place, chosen) {
  const readout = element("output", { class: "readout note", "aria-live": "polite" });
  const cursor = () => d3.select(picture.svg).selectAll(".cursor");
  let tree = null;
  let step = -1;
  let shown = null;
  const show = (i) => {
    cursor().remove();
    const at = place(i);
    if (!at) return;
    shown = i;
    d3.select(picture.svg).append("circle").attr("class", "cursor").attr("r", 6).attr("cx", at[0]).attr("cy", at[1]);
    readout.textContent = trialText(view, i);
  };
  const nearest = (x, y) => {
    tree = tree ?? d3.quadtree(chosen().filter((i) => place(i)), (i) => place(i)[0], (i) => place(i)[1]);
    return tree.find(x, y, 30) ?? null;
  };
  picture.node.addEventListener("pointermove", (event) => {
    const box = picture.node.getBoundingClientRect();
    const found = nearest(event.clientX - box.left, event.clientY - box.top);
    if (found !== null) show(found);
  });
  picture.node.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!move && event.key !== "Home") return;
    event.preventDefault();
    const list = chosen();
    if (!list.length) return;
    step = event.key === "Home" ? 0 : Math.max(0, Math.min(list.length - 1, step + move));
    show(list[step]);
  });
  /** After the points were drawn anew, at another width or of another filter: keeps to the one that is shown. */
  readout.follow = () => {
    tree = null;
    const kept = shown;
    const list = kept === null ? [] : chosen();
    shown = null;
    if (step >= 0) step = list.indexOf(kept);
    cursor().remove();
    if (list.includes(kept)) show(kept);
    if (shown === null) readout.textContent = "";
  };
  return readout;
}

const stepHint = "Arrow keys step through the configurations, the best first.";

function selectFor(label, id, choices, value, onChange) {
  const select = element("select", { id }, ...choices.map(([key, title]) => element("option", { value: key }, title)));
  select.value = value;
  select.addEventListener("change", () => onChange(select.value));
  return element("span", {}, element("label", { for: id }, label), select);
}
