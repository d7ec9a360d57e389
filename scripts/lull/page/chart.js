// SPDX-License-Identifier: BSD-3-Clause
// The panels of a figure, with what they share: legend, tip, table of values.

const ROWS_SHOWN = 3000;

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
