// SPDX-License-Identifier: BSD-3-Clause
// Draws the charts of a page as SVG, from the data beside them: hover, zoom by dragging or by the wheel, a legend that
// hides and shows, and the same by keyboard. No library and no network.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = 12;
const REACH = 28; // pixels of the drawing within which the pointer finds a value
const ROWS_SHOWN = 3000;

function element(name, attributes = {}, parent = null, text = null) {
  const made = name.startsWith("svg:") ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function shown(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(3).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(5)));
}

class Scale {
  constructor(spec) {
    this.spec = spec;
    this.log = spec.kind === "log";
    this.reset();
  }
  reset() { this.domain = [this.inner(this.spec.from), this.inner(this.spec.to)]; }
  inner(value) { return this.log ? Math.log10(Math.max(value, 1e-300)) : value; }
  outer(value) { return this.log ? 10 ** value : value; }
  place(from, to) { this.range = [from, to]; }
  at(value) {
    const [low, high] = this.domain, [from, to] = this.range;
    return from + (this.inner(value) - low) / (high - low) * (to - from);
  }
  back(pixel) {
    const [low, high] = this.domain, [from, to] = this.range;
    return low + (pixel - from) / (to - from) * (high - low);
  }
  zoom(factor, centre) {
    this.domain = this.domain.map((end) => centre + (end - centre) * factor);
  }
  pan(share) {
    const [low, high] = this.domain, by = (high - low) * share;
    this.domain = [low + by, high + by];
  }
  ticks(count) {
    const [low, high] = this.domain[0] < this.domain[1] ? this.domain : [this.domain[1], this.domain[0]];
    if (this.spec.ticks) return this.spec.ticks.filter(([at]) => this.inner(at) >= low && this.inner(at) <= high);
    if (this.log && high - low > 0.7) {
      const parts = high - low > 2.5 ? [1] : [1, 2, 5], found = [];
      for (let power = Math.floor(low); power <= high; power++)
        for (const part of parts) {
          const value = part * 10 ** power;
          if (this.inner(value) >= low && this.inner(value) <= high) found.push([value, shown(value)]);
        }
      return found;
    }
    const [from, to] = [this.outer(low), this.outer(high)];
    const rough = (to - from) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((part) => part * power).find((one) => one >= rough) || rough;
    const found = [];
    for (let number = Math.ceil(from / step - 1e-9); number * step <= to + step * 1e-9; number++)
      found.push([number * step, shown(Number((number * step).toPrecision(12)))]);
    return found;
  }
  name(value) {
    const tick = (this.spec.ticks || []).find(([at]) => Math.abs(at - value) < 0.5);
    return tick && isNaN(Number(tick[1])) ? tick[1] : shown(value);
  }
}

const MARKS = {
  o: "M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0", s: "M-3,-3h6v6h-6z", "^": "M0,-4l4,7h-8z", v: "M0,4l4,-7h-8z",
  D: "M0,-4.5l4,4.5l-4,4.5l-4,-4.5z", x: "M-3.5,-3.5l7,7M-3.5,3.5l7,-7", P: "M-4,0h8M0,-4v8",
  "*": "M-4,0h8M-2,-3.5l4,7M-2,3.5l4,-7", X: "M-3.5,-3.5l7,7M-3.5,3.5l7,-7",
};

class Panel {
  constructor(chart, spec, wide) {
    this.chart = chart;
    this.spec = spec;
    this.x = new Scale(spec.x);
    this.y = new Scale(spec.y);
    const named = spec.y.ticks && spec.y.ticks.some(([, name]) => isNaN(Number(name)));
    const longest = named ? Math.max(...spec.y.ticks.map(([, name]) => name.length)) : 7;
    this.width = wide ? 960 : 480;
    this.height = Math.max(wide ? 380 : 300, named ? spec.y.ticks.length * 26 + 90 : 0);
    this.left = Math.min(this.width / 2.5, 24 + 7.2 * longest);
    this.x.place(this.left, this.width - 14);
    this.y.place(this.height - 46, 30);
    this.svg = element("svg:svg", {
      viewBox: `0 0 ${this.width} ${this.height}`, class: "panel", tabindex: "0", role: "group",
      "aria-roledescription": "interactive chart",
      "aria-label": `${spec.title || chart.spec.title}: ${spec.y.label || "bars"} over ${spec.x.label || "groups"}. `
        + "Arrow keys step through values, plus and minus zoom, shift and arrows move, 0 resets.",
    }, chart.panels);
    this.listen();
  }

  colour(label) {
    const place = this.chart.spec.legend.indexOf(label);
    if (this.chart.only(label, "segments")) return "var(--ink)";
    return place < 0 ? "var(--muted)" : `var(--series-${place % COLOURS})`;
  }

  draw() {
    this.svg.replaceChildren();
    this.targets = [];
    this.picked = -1;
    const [left, right] = this.x.range, [bottom, top] = this.y.range;
    const clip = `${this.chart.spec.id}-${this.chart.all.indexOf(this)}-clip`;
    const definitions = element("svg:defs", {}, this.svg);
    const path = element("svg:clipPath", { id: clip }, definitions);
    element("svg:rect", { x: left, y: top, width: right - left, height: bottom - top }, path);
    this.axes();
    const inside = element("svg:g", { "clip-path": `url(#${clip})` }, this.svg);
    for (const series of this.spec.series) {
      if (series.label && this.chart.hidden.has(series.label)) continue;
      const group = element("svg:g", {
        class: `series ${series.kind}`, style: `--colour:${this.colour(series.label)}`, "data-label": series.label,
      }, inside);
      this[series.kind](group, series);
    }
    this.notes();
    this.cursor = element("svg:circle", { r: 6, class: "cursor", visibility: "hidden" }, inside);
    this.frame = element("svg:rect", { class: "frame", visibility: "hidden" }, this.svg);
  }

  notes() {
    (this.spec.notes || []).forEach((note, number) => {
      const group = element("svg:g", {}, this.svg);
      element("svg:text", { class: "note", x: this.x.range[0] + 8, y: this.y.range[1] + 14 + 15 * number }, group, note);
    });
  }

  axes() {
    const [left, right] = this.x.range, [bottom, top] = this.y.range;
    const axes = element("svg:g", { class: "axes", "aria-hidden": "true" }, this.svg);
    for (const [at, name] of this.x.ticks(this.width / 80)) {
      const x = this.x.at(at);
      element("svg:line", { x1: x, x2: x, y1: top, y2: bottom, class: "grid" }, axes);
      element("svg:text", { x, y: bottom + 17, "text-anchor": "middle" }, axes, name);
    }
    for (const [at, name] of this.y.ticks(6)) {
      const y = this.y.at(at);
      element("svg:line", { x1: left, x2: right, y1: y, y2: y, class: "grid" }, axes);
      element("svg:text", { x: left - 7, y: y + 4, "text-anchor": "end" }, axes, name);
    }
    element("svg:path", { d: `M${left},${top}V${bottom}H${right}`, class: "axis" }, axes);
    element("svg:text", { x: (left + right) / 2, y: this.height - 8, "text-anchor": "middle" }, axes, this.spec.x.label);
    const middle = (top + bottom) / 2;
    element("svg:text", { x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, axes,
      this.spec.y.label);
    element("svg:text", { x: left, y: 18, class: "title" }, axes, this.spec.title);
  }

  // One method for each kind of series. `targets` are what hover and arrow keys find.

  target(series, x, y, text) { this.targets.push({ series, x, y, text }); }

  value(series, x, y, more = []) {
    return [series.label, `${this.spec.x.label || "at"}: ${this.x.name(x)}`, `${this.spec.y.label}: ${this.y.name(y)}`,
      ...more];
  }

  line(group, series) {
    const points = series.x.map((x, place) => [this.x.at(x), this.y.at(series.y[place])]);
    const path = points.map(([x, y], place) => {
      if (!place) return `M${x.toFixed(1)},${y.toFixed(1)}`;
      return series.step ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `L${x.toFixed(1)},${y.toFixed(1)}`;
    }).join("");
    element("svg:path", { d: path, class: "stroke", "stroke-dasharray": series.dash }, group);
    if (series.mark || !series.label) this.marks(group, series, points, series.mark);
    else points.forEach(([x, y], place) => this.target(series, x, y, this.value(series, series.x[place], series.y[place])));
  }

  points(group, series) {
    this.marks(group, series, series.x.map((x, place) => [this.x.at(x), this.y.at(series.y[place])]), series.mark || "o");
  }

  marks(group, series, points, mark) {
    points.forEach(([x, y], place) => {
      if (mark) element("svg:path", { d: MARKS[mark] || MARKS.o, transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`,
        class: "mark" }, group);
      if (!series.label) return;
      const more = series.more ? series.more[place] : [];
      this.target(series, x, y, this.value(series, series.x[place], series.y[place], more));
    });
  }

  bars(group, series) {
    for (const [x, y, width, height] of series.boxes) {
      const xs = [this.x.at(x), this.x.at(x + width)], ys = [this.y.at(y), this.y.at(y + height)];
      const [left, right] = [Math.min(...xs), Math.max(...xs)], [top, bottom] = [Math.min(...ys), Math.max(...ys)];
      element("svg:rect", { x: left, y: top, width: right - left, height: bottom - top, class: "bar" }, group);
      const [along, across] = series.upright ? ["y", "x"] : ["x", "y"];
      const size = series.upright ? height : width, start = series.upright ? y : x;
      const text = [series.label, this[across].name(series.upright ? x + width / 2 : y + height / 2),
        `${this.spec[along].label}: ${shown(size)}`];
      if (start) text.push(`from ${shown(start)} to ${shown(start + size)}`);
      this.targets.push({ series, x: (left + right) / 2, y: (top + bottom) / 2, text, box: [left, top, right, bottom] });
    }
  }

  area(group, series) {
    const { edges, low, high } = series, last = high.length - 1;
    const there = high.map((value, place) => `L${this.x.at(edges[place])},${this.y.at(value)}H${this.x.at(edges[place + 1])}`);
    const back = low.map((value, place) => `L${this.x.at(edges[place + 1])},${this.y.at(value)}H${this.x.at(edges[place])}`);
    const path = `M${this.x.at(edges[0])},${this.y.at(low[0])}${there.join("")}${back.reverse().join("")}Z`;
    element("svg:path", { d: path, class: "fill" }, group);
    for (let place = 0; place <= last; place++) {
      const box = [this.x.at(edges[place]), this.y.at(high[place]), this.x.at(edges[place + 1]), this.y.at(low[place])];
      this.targets.push({
        series, x: (box[0] + box[2]) / 2, y: (box[1] + box[3]) / 2, box,
        text: [series.label, `${this.spec.x.label}: ${shown(edges[place])} to ${shown(edges[place + 1])}`,
          `${this.spec.y.label}: ${shown(high[place] - low[place])}`],
      });
    }
  }

  segments(group, series) {
    for (const [x1, y1, x2, y2] of series.segments) {
      const ends = { x1: this.x.at(x1), y1: this.y.at(y1), x2: this.x.at(x2), y2: this.y.at(y2) };
      element("svg:line", { ...ends, class: "whisker" }, group);
      if (this.chart.only(series.label, "segments")) {
        const [name, low, high] = y1 === y2 ? ["x", x1, x2] : ["y", y1, y2];
        this.target(series, ends.x2, ends.y2, [series.label, `${this.spec[name].label}: ${shown(low)} to ${shown(high)}`]);
      }
    }
  }

  polygons(group, series) {
    for (const outline of series.outlines) {
      const path = outline.map(([x, y]) => `${this.x.at(x).toFixed(1)},${this.y.at(y).toFixed(1)}`).join(" ");
      element("svg:polygon", { points: path, class: "shade" }, group);
    }
  }

  rule(group, series) {
    const [left, right] = this.x.range, [bottom, top] = this.y.range, at = this[series.axis].at(series.at);
    const ends = series.axis === "x" ? { x1: at, x2: at, y1: top, y2: bottom } : { x1: left, x2: right, y1: at, y2: at };
    element("svg:line", { ...ends, class: "rule", "stroke-dasharray": series.dash }, group);
  }

  band(group, series) {
    const [left, right] = this.x.range, [bottom, top] = this.y.range;
    const ends = [series.from, series.to].map((end) => this[series.axis].at(end)).sort((a, b) => a - b);
    const [x1, x2, y1, y2] = series.axis === "x" ? [...ends, top, bottom] : [left, right, ...ends];
    element("svg:rect", { x: x1, y: y1, width: x2 - x1, height: y2 - y1, class: "shade" }, group);
  }

  // What a user does.

  listen() {
    let start = null;
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = this.inside(event);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => {
      const at = this.inside(event);
      if (start) this.drag(start, at);
      else this.hover(at);
    });
    this.svg.addEventListener("pointerup", (event) => {
      const end = this.inside(event), from = start;
      start = null;
      this.frame.setAttribute("visibility", "hidden");
      if (from && Math.hypot(end[0] - from[0], end[1] - from[1]) > 6) this.zoomTo(from, end);
    });
    this.svg.addEventListener("pointercancel", () => { start = null; });
    this.svg.addEventListener("pointerleave", () => { if (!start) this.pick(-1); });
    this.svg.addEventListener("blur", () => this.pick(-1));
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("wheel", (event) => {
      // A page has to scroll: the wheel zooms the chart that was chosen, or with control.
      if (!event.ctrlKey && document.activeElement !== this.svg) return;
      event.preventDefault();
      const [x, y] = this.inside(event);
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, x, y);
    }, { passive: false });
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }

  inside(event) {
    const box = this.svg.getBoundingClientRect();
    return [(event.clientX - box.left) * this.width / box.width, (event.clientY - box.top) * this.height / box.height];
  }

  drag(start, at) {
    const box = { x: Math.min(start[0], at[0]), y: Math.min(start[1], at[1]), visibility: "visible",
      width: Math.abs(at[0] - start[0]), height: Math.abs(at[1] - start[1]) };
    for (const [key, value] of Object.entries(box)) this.frame.setAttribute(key, value);
  }

  zoomTo(start, end) {
    // A flat drag is of one axis only.
    for (const [place, scale] of [[0, this.x], [1, this.y]]) {
      if (Math.abs(end[place] - start[place]) < 8) continue;
      const ends = [start[place], end[place]].map((pixel) => scale.back(pixel));
      const rising = scale.domain[0] < scale.domain[1];
      scale.domain = ends.sort((a, b) => rising ? a - b : b - a);
    }
    this.draw();
  }

  zoom(factor, x = (this.x.range[0] + this.x.range[1]) / 2, y = (this.y.range[0] + this.y.range[1]) / 2) {
    this.x.zoom(factor, this.x.back(x));
    this.y.zoom(factor, this.y.back(y));
    this.draw();
  }

  reset() {
    this.x.reset();
    this.y.reset();
    this.draw();
  }

  hover([x, y]) {
    let best = -1, nearest = REACH;
    this.targets.forEach((target, place) => {
      const [left, top, right, bottom] = target.box || [target.x, target.y, target.x, target.y];
      const far = Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
      if (far < nearest) [best, nearest] = [place, far];
    });
    this.pick(best);
  }

  pick(place) {
    this.picked = place;
    const target = this.targets[place];
    if (!target) {
      this.cursor.setAttribute("visibility", "hidden");
      this.chart.tip.hidden = true;
      return;
    }
    this.cursor.setAttribute("cx", target.x);
    this.cursor.setAttribute("cy", target.y);
    this.cursor.setAttribute("visibility", "visible");
    this.chart.say(target.text.filter(Boolean), this.svg, target.x / this.width, target.y / this.height);
  }

  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (steps && event.shiftKey) {
      this.x.pan(0.15 * steps[0]);
      this.y.pan(-0.15 * steps[1]);
      this.draw();
    } else if (steps && this.targets.length) this.step(...steps);
    else if (event.key === "+" || event.key === "=") this.zoom(0.8);
    else if (event.key === "-") this.zoom(1.25);
    else if (event.key === "0" || event.key === "Escape") this.reset();
    else return;
    event.preventDefault();
  }

  step(along, across) {
    const count = this.targets.length;
    if (this.picked < 0) return this.pick(0);
    if (along) return this.pick((this.picked + along + count) % count);
    const series = this.targets[this.picked].series;
    for (let by = 1; by < count; by++) {
      const place = (this.picked + across * by + count * 2) % count;
      if (this.targets[place].series !== series) return this.pick(place);
    }
  }
}

class Chart {
  constructor(root, spec) {
    this.root = root;
    this.spec = spec;
    this.hidden = new Set();
    this.legend = element("div", { class: "legend", role: "group", "aria-label": "Series shown" }, root);
    this.panels = element("div", { class: "panels" }, root);
    this.tip = element("div", { class: "tip", role: "status", hidden: "" }, root);
    const tools = element("div", { class: "tools" }, root);
    const reset = element("button", { type: "button", class: "reset" }, tools, "Reset zoom");
    reset.addEventListener("click", () => this.all.forEach((panel) => panel.reset()));
    element("span", { class: "hint" }, tools, "Drag to zoom, double-click to reset; wheel zooms the chart in focus.");
    this.table(tools);
    this.show(spec);
  }

  show(spec) {
    this.spec = spec;
    this.panels.replaceChildren();
    this.panels.classList.toggle("single", spec.panels.length === 1);
    this.all = [];
    for (const panel of spec.panels) this.all.push(new Panel(this, panel, spec.panels.length === 1));
    this.all.forEach((panel) => panel.draw());
    this.legend.replaceChildren();
    spec.legend.forEach((label) => {
      const button = element("button", { type: "button", "aria-pressed": String(!this.hidden.has(label)) }, this.legend);
      const look = spec.panels.flatMap((panel) => panel.series).find((series) => series.label === label);
      const key = element("svg:svg", { class: "key", viewBox: "0 0 26 12", "aria-hidden": "true",
        style: `--colour:${this.all[0].colour(label)}` }, button);
      if (["bars", "area"].includes(look.kind)) element("svg:rect", { x: 5, y: 1, width: 16, height: 10, class: "bar" }, key);
      else if (look.kind === "polygons") element("svg:rect", { x: 5, y: 1, width: 16, height: 10, class: "shade" }, key);
      else {
        if (look.kind !== "points") element("svg:line", { x1: 0, x2: 26, y1: 6, y2: 6, class: "stroke",
          "stroke-dasharray": look.dash || "" }, key);
        if (look.mark) element("svg:path", { d: MARKS[look.mark] || MARKS.o, transform: "translate(13,6)", class: "mark" }, key);
      }
      button.append(label);
      button.addEventListener("click", () => {
        if (!this.hidden.delete(label)) this.hidden.add(label);
        button.setAttribute("aria-pressed", String(!this.hidden.has(label)));
        this.all.forEach((panel) => panel.draw());
      });
    });
  }

  // Whether all of an entry is of one kind: whiskers on bars, which need no colour of their own.
  only(label, kind) {
    const own = this.spec.panels.flatMap((panel) => panel.series).filter((series) => series.label === label);
    return own.length > 0 && own.every((series) => series.kind === kind);
  }

  say(lines, svg, x, y) {
    this.tip.replaceChildren(...lines.map((line, place) => element(place ? "div" : "strong", {}, null, line)));
    this.tip.hidden = false;
    const box = svg.getBoundingClientRect(), own = this.root.getBoundingClientRect();
    const left = box.left - own.left + x * box.width, top = box.top - own.top + y * box.height;
    const fits = left + 14 + this.tip.offsetWidth < own.width;
    this.tip.style.left = `${fits ? left + 14 : Math.max(0, left - 14 - this.tip.offsetWidth)}px`;
    this.tip.style.top = `${Math.max(0, top - this.tip.offsetHeight / 2)}px`;
  }

  table(tools) {
    const details = element("details", {}, tools);
    element("summary", {}, details, "Values");
    details.addEventListener("toggle", () => {
      details.querySelector("div")?.remove();
      if (!details.open) return;
      const table = element("table", {}, element("div", { class: "scroll" }, details));
      let rows = 0;
      for (const panel of this.all)
        for (const target of panel.targets) {
          if (++rows > ROWS_SHOWN) break;
          const row = element("tr", {}, table);
          element("td", {}, row, panel.spec.title);
          for (const text of target.text) element("td", {}, row, text);
        }
    });
  }
}

// Points of a sweep, one measure over another: those that no other point beats in both are joined.
class Pareto {
  constructor(root, data) {
    this.data = data;
    const controls = element("div", { class: "controls" }, root);
    this.selects = ["x", "y"].map((axis) => {
      const label = element("label", {}, controls, axis === "x" ? "Across " : "Up ");
      const select = element("select", { "data-axis": axis }, label);
      for (const name of data.measures) element("option", { value: name }, select, name);
      select.value = data[axis];
      select.addEventListener("change", () => this.draw());
      return select;
    });
    this.chart = new Chart(root, this.spec());
  }

  draw() { this.chart.show(this.spec()); }

  spec() {
    const [across, up] = this.selects.map((select) => select.value);
    const points = this.data.points.map((point) => ({ ...point, at: [across, up].map((name) => this.mean(point, name)) }))
      .filter((point) => point.at.every((value) => value !== null));
    const front = points.filter((one) => !points.some((other) => other.at[0] <= one.at[0] && other.at[1] <= one.at[1]
      && (other.at[0] < one.at[0] || other.at[1] < one.at[1]))).sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
    const series = (label, some, mark) => ({
      kind: "points", label, mark, dash: "", step: false, x: some.map((one) => one.at[0]), y: some.map((one) => one.at[1]),
      more: some.map((one) => [...one.settings, this.seeds(one, up)]),
    });
    const rest = points.filter((one) => !front.includes(one));
    const all = [
      { kind: "line", label: "", mark: null, dash: "5 4", step: false, x: front.map((one) => one.at[0]), y: front.map((one) => one.at[1]) },
      series("best in one for what it costs in the other", front, "D"),
      ...(rest.length ? [series("beaten in both by another", rest, "o")] : []),
    ];
    const scale = (name, place) => {
      const values = points.map((one) => one.at[place]);
      const low = Math.min(...values), high = Math.max(...values), room = (high - low || Math.abs(high) || 1) * 0.08;
      const unit = this.data.units[name];
      return { label: unit ? `${name} (${unit})` : name, kind: "linear", from: low - room, to: high + room, ticks: null };
    };
    const panel = { title: "", x: scale(across, 0), y: scale(up, 1), series: points.length ? all : [], notes: points.length ? [] : ["no point has both"] };
    return { id: this.data.id, title: "Pareto view", panels: [panel], legend: points.length ? all.filter((one) => one.label).map((one) => one.label) : [] };
  }

  mean(point, name) {
    const values = point.values.map((row) => row[name]).filter((value) => value !== undefined && value !== null);
    return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  }

  seeds(point, name) {
    const values = point.values.map((row) => row[name]).filter((value) => value !== undefined && value !== null);
    if (values.length < 2) return "1 seed";
    return `${values.length} seeds, ${name} ${shown(Math.min(...values))} to ${shown(Math.max(...values))}`;
  }
}

function sortable(table) {
  table.querySelectorAll("thead th").forEach((head, place) => {
    const button = element("button", { type: "button" }, null, head.textContent);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0], text = (row) => row.cells[place].textContent;
      const order = (a, b) => {
        const [one, other] = [parseFloat(text(a)), parseFloat(text(b))];
        return isNaN(one) || isNaN(other) ? text(a).localeCompare(text(b)) : one - other;
      };
      body.replaceChildren(...[...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)));
    });
  });
}

function theme() {
  const button = document.getElementById("theme"), root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const tell = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; tell(); });
  tell();
}

const data = JSON.parse(document.getElementById("data").textContent);
for (const spec of data.charts) new Chart(document.getElementById(spec.id), spec);
for (const spec of data.paretos) new Pareto(document.getElementById(spec.id), spec);
document.querySelectorAll("table.sortable").forEach(sortable);
theme();
document.documentElement.dataset.ready = "yes";
