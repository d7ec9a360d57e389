// SPDX-License-Identifier: BSD-3-Clause
// Draws the charts of a page as SVG, from the data beside them: hover, zoom by dragging or by the wheel, a legend that
// hides and shows, and the same by keyboard. No library and no network.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = 12;

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
