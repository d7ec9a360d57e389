// SPDX-License-Identifier: BSD-3-Clause
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
