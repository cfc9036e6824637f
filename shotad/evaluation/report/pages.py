"""``report.html`` and ``compare.html``: one file each, to be read by eye, by ear and on paper, no scripts."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.evaluation.report.plots import Plot
from shotad.evaluation.report.wording import count
from shotad.film import page_environment

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "page"


def page(template: str, **values: Any) -> str:
    """The page of this template, filled in."""
    return _environment().get_template(f"{template}.html.j2").render(**values)


def embedded(plot: Plot) -> str:
    """The picture as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(plot.png).decode('ascii')}"


def _environment() -> Environment:
    return page_environment(
        _TEMPLATES,
        embedded=embedded,
        bare=lambda mark: mark.strip("[]"),
        adcount=lambda n: count(n, "AD"),
        linecount=lambda n: count(n, "line"),
    )
