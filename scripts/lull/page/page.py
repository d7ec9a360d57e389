# SPDX-License-Identifier: BSD-3-Clause
"""Makes an HTML page of tables and charts. Style, script and data are in the page: it needs no network."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from matplotlib.figure import Figure

from lull import __version__
from lull.page import chart

_HERE = Path(__file__).parent
_SCRIPTS = ("scale.js", "panel.js", "chart.js", "pareto.js", "what-if.js", "main.js")
"""The scripts of the page, each after those that it needs."""
Part = dict[str, Any]
"""A part of a section. The template chooses its HTML by the value of `kind`."""


@dataclass
class Section:
    title: str
    id: str
    parts: list[Part] = field(default_factory=list)

    def text(self, text: str) -> None:
        self.parts.append({"kind": "text", "text": text})

    def warning(self, text: str) -> None:
        self.parts.append({"kind": "warning", "text": text})

    def facts(self, facts: Mapping[str, str]) -> None:
        self.parts.append({"kind": "facts", "facts": list(facts.items())})

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
        cells = [["-" if cell is None else cell for cell in row] for row in rows]
        self.parts.append({"kind": "table", "title": title, "heads": heads, "rows": cells})

    def folded(self, title: str, text: str = "", html: str = "") -> None:
        """Add a part that a click opens. `html` is not escaped, because it is made in lull from escaped text."""
        self.parts.append({"kind": "folded", "title": title, "text": text, "html": html})

    def figure(self, name: str, figure: Figure, caption: str) -> None:
        made = chart.of_figure(name, figure, caption)
        title, _, origin = made.title.partition("\n")
        block = {"kind": "chart", "id": f"{self.id}-{name}", "title": title, "chart": dataclasses.asdict(made)}
        self.parts.append({**block, "caption": " ".join(filter(None, (caption, origin)))})

    def pareto(self, data: Part, caption: str) -> None:
        block = {"kind": "chart", "id": f"{self.id}-pareto", "title": "Pareto view", "caption": caption}
        self.parts.append({**block, "pareto": data})

    def what_if(self, data: Part, caption: str, front: str) -> None:
        """Add sliders with curves, and below them the Pareto front for the sliders' hardware."""
        curves, best = f"{self.id}-curves", f"{self.id}-front"
        block = {"kind": "chart", "id": curves, "title": "Other idle states", "caption": caption}
        self.parts.append({**block, "what_if": {**data, "front": best}})
        self.parts.append({"kind": "chart", "id": best, "title": "Pareto front", "caption": front})


@dataclass
class Page:
    title: str
    lead: list[str]
    warnings: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)

    def section(self, title: str, name: str | None = None) -> Section:
        made = Section(title, name or title.lower().replace(" ", "-"))
        self.sections.append(made)
        return made

    @property
    def footer(self) -> str:
        return f"Made by lull {__version__}. Everything shown is inside this file."


def render(page: Page) -> str:
    parts = [part for section in page.sections for part in section.parts]
    data = {
        "charts": [{**part["chart"], "id": part["id"]} for part in parts if "chart" in part],
        "paretos": [{**part["pareto"], "id": part["id"]} for part in parts if "pareto" in part],
        "whatIfs": [{**part["what_if"], "id": part["id"]} for part in parts if "what_if" in part],
    }
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("page.html.j2").render(
        page=page,
        css=(_HERE / "page.css").read_text(encoding="utf-8"),
        script="\n".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS),
        # Inside <script>, only "</script" would be taken for markup.
        data=json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
    )
