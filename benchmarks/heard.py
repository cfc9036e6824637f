"""What a finished film really says: its AD track, written down by a speech recogniser, against the script.

    python benchmarks/heard.py FILM (--track WORKFOLDER/track.json | --script AD.vtt) [--track-number N]
        [--takes WORKFOLDER/voice] [--control ORIGINAL]

For each line that was spoken the sound around it is transcribed. A word is found if it was heard, numbers and
spellings evened out; names that were heard as something like them are counted apart. It is in its place if it
was heard within a second of where it should be, the line's words spread over its time by their letters.

control: the same moments of the original programme: words that stand there by chance. shift: by how many ms
the line's own take from ``--takes`` stands off its place, by cross-correlation at 16 kHz.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from common import command_line, sound_of
from heardwords import plain_words, side_by_side
from recogniser import LONGEST, RATE, Samples, Whisper, Word
from scipy.signal import correlate

from shotad.core import Interval
from shotad.film import Film, SoundBlock, open_film, sound_blocks
from shotad.script import load_track, read_cues
from shotad.sound.pauses import names_of

AROUND = 0.5
"""Seconds that are listened to before and after a line."""
WITHIN = 1.0
"""Seconds by which a word may be heard off its place."""
SAME_LENGTH = 0.02
"""Seconds by which a take may differ from its line."""


@dataclass(frozen=True, slots=True)
class Said:
    id: str
    text: str
    interval: Interval


@dataclass(frozen=True, slots=True)
class Heard:
    """How many of a line's words were found, and what was heard. ``shift`` in ms."""

    line: Said
    heard: str
    words: int
    found: int
    near: int
    placed: int
    control: int | None = None
    shift: float | None = None


def lines_of(track: Path | None, script: Path | None) -> list[Said]:
    """The lines of a track as they were last spoken; or of a script in any format, as somebody else may have
    spoken them."""
    if script:
        return [Said(cue.id or str(i), cue.text, cue.interval) for i, cue in enumerate(read_cues(script), 1)]
    spoken = ((cue.id, cue.stored_take) for cue in load_track(track).cues)
    return [Said(name, said.text, said.interval) for name, said in spoken if said and said.interval]


def pieces(blocks: Iterable[SoundBlock], windows: Sequence[Interval]) -> Iterator[Samples]:
    """The sound in each window, ascending by start, out of a stream; shorter where the film ends before."""
    stream, held, begin = iter(blocks), np.zeros(0, np.float32), 0
    for window in windows:
        first, last = max(0, round(window.start * RATE)), round(window.end * RATE)
        while begin + len(held) < last and (block := next(stream, None)) is not None:
            kept = held[max(0, first - begin) :]
            begin += len(held) - len(kept)
            held = np.concatenate([kept, block.samples])
        yield held[max(0, first - begin) : max(0, last - begin)]


def window_of(line: Said) -> Interval:
    start = max(0.0, line.interval.start - AROUND)
    return Interval(start, min(line.interval.end + AROUND, start + LONGEST))


def word_times(words: Sequence[str], interval: Interval) -> list[float]:
    """The second at the middle of each word, if a line's letters are spread evenly over its time."""
    lengths = np.array([len(word) + 1 for word in words], float)
    middles = (lengths.cumsum() - lengths / 2) / max(1.0, lengths.sum())
    return (interval.start + middles * interval.duration).tolist()


def judge(line: Said, heard: Sequence[Word], names: Sequence[str]) -> Heard:
    """What was heard of a line; ``heard`` counts seconds from the start of its window."""
    wanted = plain_words(line.text)
    spread = [Word(part, word.start, word.end) for word in heard for part in plain_words(word.text)]
    matches = side_by_side(wanted, [word.text for word in spread], names)
    offset, expected = window_of(line).start, word_times(wanted, line.interval)
    placed = 0
    for match in matches:
        middle = offset + (spread[match.first].start + spread[match.last].end) / 2
        placed += abs(middle - expected[match.wanted]) <= WITHIN
    near = sum(match.near for match in matches)
    said = " ".join(word.text for word in heard)
    return Heard(line, said, len(wanted), len(matches) - near, near, placed)


def shift_of(sound: Samples, line: Said, takes: Sequence[Samples]) -> float | None:
    """How many ms off its place the take is heard, of those as long as the line the most alike one.

    ``sound`` begins where the line's window does. Likeness is the normalised correlation (1: the same sound).
    """
    found = []
    place = round((line.interval.start - window_of(line).start) * RATE)
    running = np.concatenate([[0.0], np.cumsum(sound.astype(np.float64) ** 2)])
    for take in takes:
        if abs(len(take) / RATE - line.interval.duration) > SAME_LENGTH or len(take) > len(sound):
            continue
        products = correlate(sound, take, "valid")
        energy = running[len(take) :] - running[: -len(take)]
        alike = products / np.sqrt(np.maximum(energy, 1e-9) * max(float((take**2).sum()), 1e-9))
        at = int(products.argmax())
        found.append((float(alike[at]), (at - place) / RATE * 1000))
    return max(found)[1] if found else None


def listen(
    recogniser: Whisper,
    film: Film,
    number: int | None,
    lines: Sequence[Said],
    names: Sequence[str],
    *,
    takes: Sequence[Samples] = (),
    control: tuple[Film, int | None] | None = None,
) -> Iterator[Heard]:
    """Each line, as it is found in track ``number`` of the film; see the module's own words."""
    windows = [window_of(line) for line in lines]
    sounds = pieces(sound_blocks(film, number, RATE, "mono"), windows)
    others = pieces(sound_blocks(control[0], control[1], RATE, "mono"), windows) if control else None
    for line, sound in zip(lines, sounds, strict=True):
        result = replace(judge(line, recogniser.hear(sound), names), shift=shift_of(sound, line, takes))
        if others is not None:
            chance = judge(line, recogniser.hear(next(others)), names)
            result = replace(result, control=chance.found + chance.near)
        yield result


def totals(results: Sequence[Heard]) -> dict[str, float]:
    """Counts over all lines, and shares of the words in per cent."""
    words = sum(result.words for result in results)
    counted: dict[str, float] = {"lines": len(results), "words": words}
    for key in ("found", "near", "placed", "control"):
        had = [value for result in results if (value := getattr(result, key)) is not None]
        if had:
            counted |= {key: sum(had), f"{key} %": round(100 * sum(had) / max(1, words), 1)}
    shifts = [abs(result.shift) for result in results if result.shift is not None]
    return {**counted, **({"shift worst": round(max(shifts), 3)} if shifts else {})}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("film", type=Path)
    script = parser.add_mutually_exclusive_group(required=True)
    script.add_argument("--track", type=Path)
    script.add_argument("--script", type=Path)
    parser.add_argument("--track-number", type=int)
    parser.add_argument("--takes", type=Path)
    parser.add_argument("--control", type=Path)
    args = parser.parse_args()
    lines = lines_of(args.track, args.script)
    names = sorted(names_of([line.text for line in lines], "en"))
    film = open_film(args.film)
    tracks, number = film.info.audio, args.track_number
    if number is None:
        number = next((one.number for one in reversed(tracks) if one.descriptive or len(tracks) == 1), None)
    if number is None:
        parser.error("no track says that it is AD: name one with --track-number")
    control = (open_film(args.control), None) if args.control else None
    takes = [sound_of(path, RATE) for path in sorted(args.takes.glob("*.flac"))] if args.takes else []
    results = list(listen(Whisper(), film, number, lines, names, takes=takes, control=control))
    for result in results:
        shift = f", shift {result.shift:+.2f} ms" if result.shift is not None else ""
        counts = f"{result.found}+{result.near}/{result.words}, {result.placed} in place{shift}"
        print(f"{result.line.interval.start:8.2f}  {counts}")
        print(f"    said:  {result.line.text}\n    heard: {result.heard}")
    print("\n".join(f"{key}: {value}" for key, value in totals(results).items()))


if __name__ == "__main__":
    main()
