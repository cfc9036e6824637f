"""Our gaps, slots and pace against two describers of one film, Elephants Dream.

    python benchmarks/human_ad.py [--text FOLDER]

Speech is what the film's captions say. There is no picture, so slots are planned as if the whole film
were one shot. Cues that only name the description's own licence are left out.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Literal

import pysubs2

from shotad.core import Interval, SlotSettings, SpeechSettings
from shotad.film import free_time, plan_slots, read_subtitles, union
from shotad.film.subtitles import strip_tags

TEXT = Path(__file__).resolve().parents[2] / "shared" / "data" / "ad-text" / "elephants-dream"
DURATION = 653.0
"""Seconds; the end of the last chapter."""
CREDITS = Interval(565.0, DURATION)
"""The closing titles, by the chapters."""
DESCRIBERS = {"Pfeiffer": "descriptions.en.vtt", "Hunt": "descriptions-jjhunt.en.vtt"}
DETAILS: tuple[Literal["brief", "normal", "rich"], ...] = ("brief", "normal", "rich")


@dataclass(frozen=True)
class Line:
    interval: Interval
    words: int


def read_lines(path: Path) -> list[Line]:
    lines = []
    for event in pysubs2.load(str(path), keep_html_tags=True):
        text = strip_tags(event.text)
        if event.end > event.start and not re.search(r"licen[cs]e", text, re.IGNORECASE):
            lines.append(Line(Interval(event.start / 1000, event.end / 1000), len(text.split())))
    return lines


def shared(these: Sequence[Interval], those: Sequence[Interval]) -> float:
    """Seconds that both sets have in common."""
    return sum(piece.duration for a in union(these) for b in union(those) if (piece := a.clip(b)) is not None)


def total(intervals: Sequence[Interval]) -> float:
    return sum(i.duration for i in union(intervals))


def spread(values: Sequence[float]) -> str:
    tenths = quantiles(values, n=10)
    return f"{tenths[0]:5.1f} {median(values):5.1f} {tenths[-1]:5.1f}"


def people(lines: dict[str, list[Line]]) -> None:
    print(f"{'describer':10s} lines  length 10 %, median, 90 %   words 10 %, median, 90 %  words/s")
    for name, own in lines.items():
        words, seconds = [x.words for x in own], [x.interval.duration for x in own]
        pace = sum(words) / sum(seconds)
        print(f"{name:10s} {len(own):5d}         {spread(seconds)}          {spread(words)}    {pace:.2f}")


def gaps_table(folder: Path, lines: dict[str, list[Line]]) -> None:
    speech = read_subtitles(folder / "captions.en.vtt")
    print(f"\nOur gaps, {len(speech)} captions; share of each describer's time that lies in them")
    print("margin  shortest  gaps  seconds  " + "  ".join(f"{name:>8s}" for name in lines))
    for margin in (0.0, SpeechSettings().margin, 0.5):
        for shortest in (0.0, 2.0, 3.0, 4.0):
            free = free_time(speech, DURATION, SpeechSettings(margin=margin))
            gaps = [gap for gap in free if gap.duration >= shortest]
            inside = [shared([x.interval for x in own], gaps) for own in lines.values()]
            of = [total([x.interval for x in own]) for own in lines.values()]
            shares = "  ".join(f"{100 * a / b:6.1f} %" for a, b in zip(inside, of, strict=True))
            print(f"{margin:5.2f} s  {shortest:6.1f} s  {len(gaps):4d}  {total(gaps):6.1f}   {shares}")


def slots_table(folder: Path, lines: dict[str, list[Line]]) -> None:
    speech = read_subtitles(folder / "captions.en.vtt")
    gaps = free_time(speech, DURATION, SpeechSettings())
    story = Interval(0, CREDITS.start)
    told = {name: [x for x in own if x.interval.overlaps(story)] for name, own in lines.items()}
    free = [piece for gap in gaps if gap.duration >= SlotSettings().minimum and (piece := gap.clip(story))]
    print(f"\nOur slots before the credits (0 to {story.end:.0f} s), with the describers' in the same time")
    print("              lines  seconds  of free  words  words/s  in Pfeiffer's  in Hunt's time")
    for detail in DETAILS:
        found = plan_slots(gaps, [], SlotSettings(detail=detail), credits=CREDITS, film=Interval(0, DURATION))
        slots = [slot for slot in found if not slot.credits]
        times = [slot.interval for slot in slots]
        at = [100 * shared(times, [x.interval for x in own]) / total(times) for own in told.values()]
        print(
            usage(f"ours, {detail}", times, free, sum(slot.max_words for slot in slots)),
            *(f"{share:12.0f} %" for share in at),
        )
    for name, own in told.items():
        print(usage(name, [x.interval for x in own], free, sum(x.words for x in own)))


def usage(name: str, times: Sequence[Interval], free: Sequence[Interval], words: int) -> str:
    share, pace = 100 * shared(times, free) / total(free), words / total(times)
    return f"{name:13s} {len(times):5d} {total(times):8.1f} {share:6.0f} % {words:6d} {pace:8.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path, default=TEXT, help="the folder with captions and descriptions")
    folder = parser.parse_args().text
    lines = {name: read_lines(folder / file) for name, file in DESCRIBERS.items()}
    people(lines)
    gaps_table(folder, lines)
    slots_table(folder, lines)


if __name__ == "__main__":
    main()
