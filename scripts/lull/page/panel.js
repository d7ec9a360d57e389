// SPDX-License-Identifier: BSD-3-Clause
// One drawing: axes, series, and what a pointer and a keyboard do with them.

const REACH = 28; // pixels of the drawing within which the pointer finds a value

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
    // A wide one is as wide as it is shown, so that its letters stay legible on a small screen.
    this.width = wide ? Math.min(960, Math.max(340, chart.panels.clientWidth || 960)) : 480;
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
