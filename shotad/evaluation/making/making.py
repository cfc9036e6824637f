"""``evaluate actions``: texts in, a file of actions in the published format out, and who made them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad import __version__
from shotad.core import NoProgress, Progress, readable_json, reported, write_text
from shotad.evaluation.datasets.findings import counted
from shotad.evaluation.making.makers import Made, Maker
from shotad.evaluation.making.sources import AdText
from shotad.evaluation.measure.rows import Json

COLUMNS = ("anno_idx", "imdbid", "text_gt", "text_gt_wo_char", "gt_action", "made_by")
"""The published ones, and who made the row."""
UNKNOWN = "0"
"""What the published files hold where there are no actions."""


@dataclass(frozen=True, slots=True)
class MadeActions:
    """What was made of each AD, and by whom. ``identity`` is all that changes it."""

    ads: tuple[AdText, ...]
    made: tuple[Made, ...]
    made_by: str
    identity: Json

    @property
    def failed(self) -> tuple[tuple[str, str], ...]:
        """The ids of the ADs without actions, each with the reason."""
        return tuple((ad.id, one.failure) for ad, one in self._pairs() if one.actions is None)

    @property
    def count(self) -> int:
        """How many actions there are in all."""
        return sum(len(one.actions or ()) for one in self.made)

    @property
    def csv(self) -> str:
        """The published format: a row for each AD, actions as Python writes a list."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for ad, one in self._pairs():
            actions = UNKNOWN if one.actions is None else repr(list(one.actions))
            writer.writerow([ad.id, ad.film, ad.text, one.without_names, actions, self.made_by])
        return out.getvalue()

    @property
    def jsonl(self) -> str:
        """The same as JSON Lines, with the reason of each failure."""
        return "".join(
            json.dumps(
                {
                    "anno_idx": ad.id,
                    "imdbid": ad.film,
                    "text_gt": ad.text,
                    "text_gt_wo_char": one.without_names,
                    "gt_action": None if one.actions is None else list(one.actions),
                    "failure": one.failure,
                    "made_by": self.made_by,
                },
                ensure_ascii=False,
            )
            + "\n"
            for ad, one in self._pairs()
        )

    @property
    def text(self) -> str:
        """What came of it, for people."""
        known = len(self.ads) - len(self.failed)
        mean = f", {self.count / known:.2f} for each of these" if known else ""
        lines = [
            f"{self.count:,} actions of {known:,} of {len(self.ads):,} ADs{mean}. Made by {self.made_by}."
        ]
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.failed:
            by_reason.setdefault(reason, []).append(name)
        lines += [
            f"No actions for {len(names):,} ADs ({counted(names)}): {reason}"
            for reason, names in sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        ]
        return "\n".join(lines)

    def record(self) -> Json:
        """What came of it, as JSON."""
        return {
            "shotad": __version__,
            "n": {"ads": len(self.ads), "failed": len(self.failed), "actions": self.count},
            "made_by": self.made_by,
            "identity": self.identity,
            "failed": [{"id": name, "reason": reason} for name, reason in self.failed],
        }

    def _pairs(self) -> list[tuple[AdText, Made]]:
        return list(zip(self.ads, self.made, strict=True))


def make_actions(ads: Sequence[AdText], maker: Maker, progress: Progress | None = None) -> MadeActions:
    """The actions of each AD. What an engine answered is kept on the maker's bench as it comes.

    Raises EngineError for what stops an engine.
    """
    made = []
    with reported(progress or NoProgress(), f"Making actions by {maker.made_by}", len(ads), "ADs") as task:
        for one in maker.made([ad.text for ad in ads]):
            made.append(one)
            task.advance(1)
    return MadeActions(tuple(ads), tuple(made), maker.made_by, maker.identity)


def write_actions(made: MadeActions, out: Path) -> tuple[Path, ...]:
    """Write the CSV file, and beside it the same as JSON Lines, and who made it how. All paths."""
    lines, about = out.with_suffix(".jsonl"), out.with_suffix(".about.json")
    write_text(lines, made.jsonl)
    write_text(about, readable_json(made.record()))
    write_text(out, made.csv)
    return out, lines, about
