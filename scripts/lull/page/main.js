// SPDX-License-Identifier: BSD-3-Clause
// What is made of the data when the page is there.

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
for (const spec of data.whatIfs) new WhatIf(document.getElementById(spec.id), document.getElementById(spec.front), spec);
document.querySelectorAll("table.sortable").forEach(sortable);
theme();
document.documentElement.dataset.ready = "yes";
