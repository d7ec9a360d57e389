// SPDX-License-Identifier: BSD-3-Clause
// What would have been with other idle states: sliders, and curves from a grid of replayed points.
class WhatIf {
  constructor(root, front, data) {
    Object.assign(this, { data, front });
    const bytes = atob(data.packed);
    const packed = Uint16Array.from({ length: data.count }, (_, at) => bytes.charCodeAt(2 * at) + 256 * bytes.charCodeAt(2 * at + 1));
    this.row = (point) => data.measures.map((_, at) => data.low[at] + packed[point * data.measures.length + at] * data.step[at]);
    this.place = Object.fromEntries(data.measures.map((name, at) => [name, at]));
    this.controls(root);
    this.numbers = element("table", { class: "what-if" }, element("div", { role: "status" }, root));
    this.curves = new Chart(root, this.curvesSpec());
    this.points = new Chart(front, this.frontSpec());
    this.tell();
  }

  // The controls: a governor, and for each state its exit latency, what Linux is told, and its power.
  controls(root) {
    const { data } = this, place = element("div", { class: "controls" }, root);
    this.governor = this.select(place, "Governor ", "governor", data.governors, data.governor);
    this.sliders = data.states.map((state) => {
      const group = element("fieldset", {}, root);
      element("legend", {}, group, state.name);
      const log = [Math.log(data.exits[0]), Math.log(data.exits[data.exits.length - 1])];
      const most = Math.min(log[1], Math.log(1 / state.share));
      return {
        exit: this.slider(group, state, "exit", "Exit latency ", log[0], log[1], 0.01, 0),
        told: this.slider(group, state, "residency", "Residency, as Linux is told ", 0, data.residencies.length - 1, 1, data.residencies.indexOf(1)),
        power: this.slider(group, state, "power", "Share of the leakage that remains ", log[0], most, 0.01, 0),
      };
    });
    const below = element("div", { class: "controls" }, root);
    const axes = data.states.flatMap((state) => [`exit latency of ${state.name}`, `residency of ${state.name}`, `leakage in ${state.name}`]);
    this.axes = axes;
    this.across = this.select(below, "Curves over ", "across", axes, `exit latency of ${data.states[data.states.length - 1].name}`);
    const reset = element("button", { type: "button", class: "as-recorded reset" }, below, "As recorded");
    reset.addEventListener("click", () => {
      this.governor.value = data.governor;
      for (const own of this.sliders) for (const input of Object.values(own)) input.value = input.defaultValue;
      this.draw();
    });
  }

  select(place, text, name, options, value) {
    const select = element("select", { "data-what": name }, element("label", {}, place, text));
    for (const option of options) element("option", { value: option }, select, option);
    select.value = value;
    select.addEventListener("change", () => this.draw());
    return select;
  }

  slider(group, state, name, text, min, max, step, value) {
    const label = element("label", {}, group, text);
    const input = element("input", { type: "range", min, max, step: step === 1 ? 1 : "any", value, "data-what": `${state.name}-${name}` }, label);
    element("output", {}, label);
    input.addEventListener("input", () => this.draw());
    return input;
  }

  asked() {
    return {
      governor: this.governor.value,
      exits: this.sliders.map((own) => Math.exp(Number(own.exit.value))),
      told: this.sliders.map((own) => this.data.residencies[Number(own.told.value)]),
      powers: this.sliders.map((own) => Math.exp(Number(own.power.value))),
    };
  }

  // The numbers of a point; null where no platform may have these residencies.
  at({ governor, exits, told, powers }) {
    const { data } = this, [nodes, one] = [data.exits, data.exits.indexOf(1)];
    const combination = data.combinations.findIndex((own) => own.every((value, at) => value === told[at]));
    if (combination < 0) return null;
    const width = 1 + data.states.length * (nodes.length - 1);
    const first = (data.governors.indexOf(governor) * data.combinations.length + combination) * width;
    const base = this.row(first), found = base.slice();
    exits.forEach((factor, number) => {
      const node = (at) => at === one ? base : this.row(first + 1 + number * (nodes.length - 1) + at - (at > one ? 1 : 0));
      let low = nodes.length - 2;
      while (low > 0 && nodes[low] > factor) low--;
      const share = (factor - nodes[low]) / (nodes[low + 1] - nodes[low]), [left, right] = [node(low), node(low + 1)];
      found.forEach((_, at) => { found[at] += (1 - share) * left[at] + share * right[at] - base[at]; });
    });
    return this.means(found, powers);
  }

  means(values, powers) {
    const { data, place } = this, value = (name) => values[place[name]];
    const factor = (name) => { const at = data.states.findIndex((state) => state.name === name); return at < 0 ? 1 : powers[at]; };
    const joules = value("other J") + data.idle.reduce((sum, name) => sum + factor(name) * value(`${name} J`), 0);
    return {
      power: 1e3 * joules / data.seconds, p99: value("p99 us"), wakes: value("wake-ups") / data.seconds,
      unseen: value("unseen") > 0.01, guess: Math.max(0, value("guess")), rests: data.idle.map((name) => value(`${name} %`)),
    };
  }

  draw() {
    this.curves.show(this.curvesSpec());
    this.points.show(this.frontSpec());
    this.tell();
  }

  tell() {
    const { data } = this, asked = this.asked(), said = this.at(asked), recorded = this.means(data.recorded, data.states.map(() => 1));
    data.states.forEach((state, at) => {
      const own = this.sliders[at], times = (factor) => factor === 1 ? "" : ` (× ${shown(Number(factor.toPrecision(3)))})`;
      const us = (by, factor) => {
        const told = Object.entries(by).map(([name, value]) => [name, shown(Number((value * factor).toPrecision(4)))]);
        return new Set(told.map(([, text]) => text)).size === 1 ? told[0][1] : told.map((one) => one.join(" ")).join(", ");
      };
      own.exit.nextSibling.textContent = `${us(state.exit, asked.exits[at])} µs${times(asked.exits[at])}`;
      own.told.nextSibling.textContent = `${us(state.residency, asked.told[at])} µs${times(asked.told[at])}`;
      own.power.nextSibling.textContent = `${shown(Number((state.share * asked.powers[at]).toPrecision(3)))}${times(asked.powers[at])}`;
    });
    this.numbers.replaceChildren();
    const line = (kind, cells) => { const row = element("tr", {}, this.numbers); cells.forEach((text) => element(kind, {}, row, text)); };
    if (!said) {
      line("td", ["No machine has these residencies: a deeper state needs a longer one than a lighter state, and one above its latency."]);
      return;
    }
    const off = data.off[asked.governor], percent = (share) => `${shown(Number((100 * share).toPrecision(2)))} %`;
    const bar = (name, key) => (data.bars[name][0] + data.bars[name][4] * said.guess) * (key === "power" ? 1e3 / data.seconds : 1) + data.bars[name][1] * said[key]
      + data.bars[name][said.unseen ? 3 : 2] * Math.abs(said[key] - recorded[key]);
    line("th", ["", "what if", "± of the method", "interpolation, 95 of 100 within", "recorded"]);
    line("td", ["power of the CPUs and L2s, mW", shown(said.power), shown(Number(bar("joules", "power").toPrecision(3))), percent(off.joules[0]), shown(recorded.power)]);
    line("td", ["p99 of the wake-up latency, µs", shown(said.p99), shown(Number(bar("p99", "p99").toPrecision(3))), percent(off.p99[0]), shown(recorded.p99)]);
    line("td", ["wake-ups a second", shown(said.wakes), "", "", shown(recorded.wakes)]);
    data.idle.forEach((name, at) => line("td", [`mean residency in ${name}, %`, shown(Number(Math.abs(said.rests[at]).toFixed(3))), "", "", shown(Number(recorded.rests[at].toFixed(3)))]));
  }

  // Power and p99 over one of the sliders, all others where they are.
  curvesSpec() {
    const { data } = this, asked = this.asked(), place = this.axes.indexOf(this.across.value);
    const state = Math.floor(place / 3), key = ["exits", "told", "powers"][place % 3], own = data.states[state];
    const inputs = this.sliders[state], by = [own.exit, own.residency, { share: own.share }][place % 3], unit = Object.values(by)[0];
    const range = (input) => Array.from({ length: 25 }, (_, at) => Math.exp(Number(input.min) + at * (input.max - input.min) / 24));
    const factors = key === "told" ? data.residencies : range(key === "exits" ? inputs.exit : inputs.power);
    const with_ = (factor, governor) => this.at({ ...asked, governor, [key]: asked[key].map((value, at) => at === state ? factor : value) });
    const lines = data.governors.map((governor, at) => ({ governor, dash: ["", "6 3", "2 3"][at],
      some: factors.map((factor) => [factor * unit, with_(factor, governor)]).filter(([, found]) => found) }));
    const recorded = this.means(data.recorded, data.states.map(() => 1)), said = this.at(asked);
    const label = key === "powers" ? this.across.value : `${this.across.value} (µs, ${Object.keys(by)[0]})`;
    const panels = [["power", "power of CPUs and L2s (mW)"], ["p99", "p99 of the wake-up latency (µs)"]].map(([what, name]) => {
      const series = lines.map(({ governor, dash, some }) => ({ kind: "line", label: governor, dash, mark: key === "told" ? "o" : null, step: false,
        x: some.map(([x]) => x), y: some.map(([, found]) => found[what]) }));
      series.push(this.mark("recorded", "X", unit, recorded[what]));
      if (said) series.push(this.mark("these settings", "D", unit * asked[key][state], said[what]));
      const x = this.scale(label, factors.map((factor) => factor * unit), "log"), y = this.scale(name, series.flatMap((one) => one.y), "linear");
      return { title: "", x, y, series, notes: [] };
    });
    return { id: data.id, title: "What if", panels, legend: [...data.governors, "recorded", ...(said ? ["these settings"] : [])] };
  }

  mark(label, mark, x, y, more = []) { return { kind: "points", label, mark, dash: "", step: false, x: [x], y: [y], more: [more] }; }

  scale(label, values, kind) {
    const low = Math.min(...values), high = Math.max(...values), room = (high - low || Math.abs(high) || 1) * 0.08;
    return { label, kind, ticks: null, ...(kind === "log" ? { from: low * 0.93, to: high * 1.07 } : { from: low - room, to: high + room }) };
  }

  // With the hardware of the sliders: what each governor makes of each combination of residencies.
  frontSpec() {
    const { data } = this, asked = this.asked();
    const all = data.governors.flatMap((governor) => data.combinations.map((told) => ({ governor, told, ...this.at({ ...asked, governor, told }) })));
    const front = all.filter((one) => !all.some((other) => other.p99 <= one.p99 && other.power <= one.power && (other.p99 < one.p99 || other.power < one.power)))
      .sort((a, b) => a.p99 - b.p99);
    const words = (one) => [`governor ${one.governor}`, ...data.states.map((state, at) => `${state.name}: residency × ${one.told[at]}`)];
    const series = (label, some, mark) => ({ kind: "points", label, mark, dash: "", step: false, x: some.map((one) => one.p99), y: some.map((one) => one.power), more: some.map(words) });
    const shownSeries = [{ kind: "line", label: "", mark: null, dash: "5 4", step: false, x: front.map((one) => one.p99), y: front.map((one) => one.power) },
      ...data.governors.map((governor, at) => series(governor, all.filter((one) => one.governor === governor && !front.includes(one)), ["o", "s", "^"][at])),
      series("beaten by no other", front, "D")].filter((one) => one.kind === "line" || one.x.length);
    const recorded = this.means(data.recorded, data.states.map(() => 1)), said = this.at(asked);
    shownSeries.push(this.mark("recorded", "X", recorded.p99, recorded.power));
    if (said) shownSeries.push(this.mark("these settings", "P", said.p99, said.power));
    const x = this.scale("p99 of the wake-up latency (µs)", shownSeries.flatMap((one) => one.x), "linear");
    const y = this.scale("power of CPUs and L2s (mW)", shownSeries.flatMap((one) => one.y), "linear");
    return { id: data.front, title: "Pareto front", panels: [{ title: "", x, y, series: shownSeries, notes: [] }], legend: shownSeries.map((one) => one.label).filter(Boolean) };
  }
}
