"""Our free time against two describers of one film, Elephants Dream, and the describers' pace.

    python benchmarks/human_ad.py [--text FOLDER]

Speech is what the film's captions say. Cues that only name the description's own licence are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles

from common import DESCRIBERS, DREAM, Lines, command_line, described_lines

from shotad.core import Interval, SpeechSettings
from shotad.film import free_time, read_subtitles, union

DURATION = 653.0
"""Seconds; the end of the last chapter."""


def shared(these: Sequence[Interval], those: Sequence[Interval]) -> float:
    """Seconds that both sets have in common."""
    return sum(piece.duration for a in union(these) for b in union(those) if (piece := a.clip(b)) is not None)


def total(intervals: Sequence[Interval]) -> float:
    return sum(i.duration for i in union(intervals))


def spread(values: Sequence[float]) -> str:
    tenths = quantiles(values, n=10)
    return f"{tenths[0]:5.1f} {median(values):5.1f} {tenths[-1]:5.1f}"


def people(lines: dict[str, Lines]) -> None:
    print(f"{'describer':10s} lines  length 10 %, median, 90 %   words 10 %, median, 90 %  words/s")
    for name, own in lines.items():
        words, seconds = [len(text.split()) for _, text in own], [time.duration for time, _ in own]
        pace = sum(words) / sum(seconds)
        print(f"{name:10s} {len(own):5d}         {spread(seconds)}          {spread(words)}    {pace:.2f}")


def gaps_table(folder: Path, lines: dict[str, Lines]) -> None:
    speech = read_subtitles(folder / "captions.en.vtt")
    print(f"\nOur gaps, {len(speech)} captions; share of each describer's time that lies in them")
    print("shortest  gaps  seconds  " + "  ".join(f"{name:>8s}" for name in lines))
    free = free_time(speech, DURATION, SpeechSettings())
    for shortest in (0.0, 2.0, 3.0, 4.0):
        gaps = [gap for gap in free if gap.duration >= shortest]
        times = [[time for time, _ in own] for own in lines.values()]
        told = "  ".join(f"{100 * shared(own, gaps) / total(own):6.1f} %" for own in times)
        print(f"{shortest:6.1f} s  {len(gaps):4d}  {total(gaps):6.1f}   {told}")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--text", type=Path, default=DREAM, help="the folder with captions and descriptions")
    folder = parser.parse_args().text
    lines = {name: described_lines(folder / file) for name, file in DESCRIBERS.items()}
    people(lines)
    gaps_table(folder, lines)


if __name__ == "__main__":
    main()
