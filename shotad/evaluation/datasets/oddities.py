"""What is odd about a dataset as a whole, though each row of it can be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from shotad.evaluation.datasets.ads import Ad, Finding
from shotad.evaluation.datasets.annotation import Annotation
from shotad.evaluation.datasets.description import Description
from shotad.evaluation.datasets.findings import MISSING, NOTE, tally


def order(ads: Iterable[Ad]) -> list[Finding]:
    """Films whose ADs are not in order of time, and neighbours that overlap: dealt with, but to be known."""
    films: dict[str, list[Ad]] = defaultdict(list)
    for ad in ads:
        films[ad.film].append(ad)
    unsorted = [film for film, those in films.items() if _starts(those) != sorted(_starts(those))]
    pairs = [pair for those in films.values() for pair in pairwise(sorted(those, key=lambda ad: ad.interval))]
    same = [(one, other) for one, other in pairs if one.interval == other.interval and one.text == other.text]
    twice = [one.id for one, _ in same]
    overlaps = [one.id for one, other in pairs if one.interval.overlaps(other.interval)]
    overlaps = [name for name in overlaps if name not in twice]
    notes = (
        (unsorted, f"films whose ADs are not in order of time, of {len(films):,}"),
        (overlaps, "ADs that overlap the next of their film"),
        (twice, "ADs that stand twice, with the same time and text"),
    )
    return [Finding(NOTE, "annotation", tally(what, names)) for names, what in notes if names]


def _starts(ads: Iterable[Ad]) -> list[float]:
    return [ad.interval.start for ad in ads]


_ENOUGH = 10
"""ADs that it takes to tell one edition's numbers of frames from another's."""


def edition(described: Description, read: Annotation) -> list[Finding]:
    """Says where the numbers of frames are another edition's, which run longer against the seconds."""
    rule, table = described.slot, read.table
    start, end = table.column(rule.start), table.column(rule.end)
    if rule.kind != "frames" or rule.longest is None or not start or not end or len(read.ads) < _ENOUGH:
        return []
    lost = {id(row) for row, _ in read.lost}
    rows = [row for row in table.rows if id(row) not in lost]
    rate = described.videos.frames_per_second
    try:
        spans = [(float(row.cells[end]) - float(row.cells[start])) * rate for row in rows]
    except ValueError:
        return []
    longer = [
        ad.slot.duration * rate - 1 - span
        for ad, span in zip(read.ads, spans, strict=True)
        if ad.slot.start > 0
    ]
    mean = sum(longer) / max(len(longer), 1)
    if not longer or mean <= rule.longest:
        return []
    what = (
        f"the numbers of frames are those of another edition (AutoAD-Zero's run about a frame longer than "
        f"Shot-by-Shot's; here {mean:+.2f} frames against the seconds, at most {rule.longest:+.2f} there). "
        "Slots differ by up to 2 frames; for Shot-by-Shot's, take its annotation."
    )
    return [Finding(NOTE, f"{table.path.name}, {' or '.join(rule.frames)}", what)]


def completeness(described: Description, ads: Sequence[Ad]) -> list[Finding]:
    """Says where this is not all that was published."""
    told = [ad.actions for ad in ads if ad.actions is not None]
    have = {
        "ads": (len(ads), "ADs"),
        "clips": (len({ad.clip for ad in ads}), "clips"),
        "films": (len({ad.film for ad in ads}), "films or episodes"),
        "actions": (sum(map(len, told)), "actions"),
        "without_actions": (len(ads) - len(told), "ADs without actions"),
    }
    found = []
    for key, (count, what) in have.items():
        published = getattr(described.published, key)
        if published is not None and published != count and (told or "actions" not in key):
            says = f"{count:,} {what}; {described.title} as published has {published:,}."
            found.append(Finding(MISSING if key == "ads" and count < published else NOTE, "in all", says))
    return found
