"""How much of what two people described of one film, Elephants Dream, lies in our free time.

    python benchmarks/human_ad.py [--text FOLDER]

Speech is what the film's captions say. Cues that only name the description's own licence are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from common import DESCRIBERS, DREAM, command_line, described_lines

from shotad.core import Interval, SpeechSettings
from shotad.film import free_time, read_subtitles, union

DURATION = 653.0
"""Seconds; the end of the last chapter."""


def shared(these: Sequence[Interval], those: Sequence[Interval]) -> float:
    """Seconds that both sets have in common."""
    return sum(piece.duration for a in union(these) for b in union(those) if (piece := a.clip(b)) is not None)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--text", type=Path, default=DREAM, help="the folder with captions and descriptions")
    folder = parser.parse_args().text
    times = {n: [time for time, _ in described_lines(folder / file)] for n, file in DESCRIBERS.items()}
    free = free_time(read_subtitles(folder / "captions.en.vtt").utterances, DURATION, SpeechSettings())
    print("shortest  gaps  seconds  " + "  ".join(f"{name:>8s}" for name in times))
    for shortest in (0.0, 2.0, 3.0, 4.0):
        gaps = [gap for gap in free if gap.duration >= shortest]
        told = "  ".join(f"{100 * shared(own, gaps) / shared(own, own):6.1f} %" for own in times.values())
        print(f"{shortest:6.1f} s  {len(gaps):4d}  {shared(gaps, gaps):6.1f}   {told}")


if __name__ == "__main__":
    main()
