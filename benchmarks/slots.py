"""Where human describers speak, and how much of it our slots hold: what ``slots.*`` is chosen from.

    python benchmarks/slots.py [--data FOLDER] [--set slots.minimum=4] [--captions FILE SECONDS]

Minimum and lengths are tuned on the first describer of Elephants Dream (Pfeiffer) and judged on the second
(Hunt) and on the short films of Able Player; one film with two describers is little, and so are 22 cues of
three short ones. Speech is what the captions say; the rabbit clip has none, so shotad's own detection listens
to it. Left out: "IT accessibility" of Able Player, whose cues lie over speech (the player pauses), and "K",
without captions. Lines of CMD-AD and TV-AD are timed by their sound; where speech is was not published, so
they tell how long lines and pauses last, and not how short the gaps are.

Tables: lines and pauses; gaps by length and how many are used (a gap is used where a cue lies in it for half
of the cue's or of the gap's time); words that we allow against words that people say in the same gaps; slots
of each setting, with the share of human cues and words in them (a cue counts by the share of its time).
Cuts, of which slots depend, are drawn five times from the lengths of CMD-AD's shots, and figures are means.
``--captions``: how many slots any film with captions gets, and how many more than before.
"""

from __future__ import annotations

import ast
import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
from common import DATA, DESCRIBERS, Lines, command_line, described_lines

import shotad.film.slots as slots_module
from shotad.core import (
    Interval,
    Shot,
    Slot,
    load_config,
)
from shotad.core.config.film import SlotSettings, SpeechSettings
from shotad.core.weight_store import weights_file
from shotad.film import (
    open_film,
    plan_slots,
    read_subtitles,
    sound_blocks,
    word_budget,
)
from shotad.film.slots import (
    HARD_MINIMUM,
    join_intervals,
    subtract,
)
from shotad.film.speech import speech_in
from shotad.script import count_words

DREAM_SECONDS = 653.0
"""Length of Elephants Dream: the end of its last chapter."""
DRAWS = 5
"""How often cuts are drawn."""
DETAILS = ("brief", "normal", "rich")
BEFORE = {"brief": 4.0, "normal": 4.0, "rich": 3.0}
"""``slots.minimum`` by detail until November 2026."""
EDGES = (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, float("inf"))
"""Borders of the lengths of gaps, in seconds between two stretches of speech."""
ONE_GAP = 2.0
"""Seconds; longer pauses of CMD-AD and TV-AD may hold speech, so only shorter ones are counted as pauses."""


@dataclass(frozen=True)
class DescribedFilm:
    """Speech of a film, and what each describer says when."""

    name: str
    duration: float
    speech: tuple[Interval, ...]
    describers: Mapping[str, Lines]

    @property
    def gaps(self) -> tuple[Interval, ...]:
        """The times between speech, without any margin."""
        return subtract(Interval(0.0, self.duration), self.speech)

    def free_time(self) -> tuple[Interval, ...]:
        """The times that `shotad` takes for free: gaps less the margin at each side."""
        margin = SpeechSettings().margin
        taken = [Interval(said.start - margin, said.end + margin) for said in self.speech]
        return subtract(Interval(0.0, self.duration), taken)


def captioned_film(
    name: str, captions: Path, describers: Mapping[str, Path], duration: float | None = None
) -> DescribedFilm:
    """A film whose speech is what its captions say; without ``duration`` it ends with its last cue."""
    speech = join_intervals(utterance.interval for utterance in read_subtitles(captions).utterances)
    lines = {describer: described_lines(path) for describer, path in describers.items()}
    ends = [time.end for described in lines.values() for time, _ in described]
    return DescribedFilm(name, duration or max(speech[-1].end, *ends), speech, lines)


def rabbit_film(folder: Path) -> DescribedFilm:
    """The rabbit clip has no captions: its speech is what `shotad` hears."""
    weights_file("silero-vad")
    with open_film(folder / "video.mp4") as film:
        duration = film.info.duration
        speech = speech_in(sound_blocks(film), duration) or ()
    lines = {"W3C": described_lines(folder / "descriptions.vtt")}
    return DescribedFilm("Rabbit (own detection)", duration, tuple(speech), lines)


def films_of(data: Path) -> list[DescribedFilm]:
    dream, able = data / "ad-text" / "elephants-dream", data / "ad-text" / "able-player"
    tracks = {name: dream / file for name, file in DESCRIBERS.items()}
    films = [captioned_film("Elephants Dream", dream / "captions.en.vtt", tracks, DREAM_SECONDS)]
    for name, stem, track in (
        ("Deadline", "deadline", "descriptions"),
        ("Blocks4All", "blocks4all", "descriptions"),
        ("World Wide Access", "wwa", "description"),
    ):
        described = {"Able Player": able / f"{stem}_{track}_en.vtt"}
        films.append(captioned_film(name, able / f"{stem}_captions_en.vtt", described))
    return [*films, rabbit_film(data / "films" / "rabbit")]


# Lines and pauses


def percentiles(values: Sequence[float]) -> str:
    """10th, 25th, 50th, 75th and 90th."""
    if not values:
        return "-"
    return " ".join(f"{value:.2f}" for value in np.percentile(np.array(values), [10, 25, 50, 75, 90]))


def lines_row(name: str, lines: Lines) -> str:
    seconds = np.array([time.duration for time, _ in lines])
    words = np.array([count_words(text) for _, text in lines])
    short = " ".join(f"{(seconds < limit).mean():4.0%}" for limit in (2, 3, 4))
    rate = words.sum() / seconds.sum()
    spread = f"{percentiles(list(seconds)):28} {short}"
    return f"{name:32} {len(lines):5}  {spread}  {rate:.2f}  {np.median(words):.0f}"


def blocks_of(lines: Lines, pause: float) -> list[Interval]:
    """Lines joined where at most ``pause`` seconds lie between them."""
    return list(join_intervals((time for time, _ in lines), bridge=pause))


def pauses_of(film: DescribedFilm, lines: Lines) -> tuple[list[float], list[float], list[float]]:
    """Seconds from speech to a line, from a line to speech, and between two lines of one gap."""
    after_speech, before_speech, between = [], [], []
    for gap in film.gaps:
        inside = sorted(time for time, _ in lines if gap.contains(time.middle))
        if not inside:
            continue
        after_speech.append(inside[0].start - gap.start)
        before_speech.append(gap.end - inside[-1].end)
        between += [later.start - earlier.end for earlier, later in pairwise(inside)]
    return after_speech, before_speech, between


def dataset_lines(path: Path, clip_column: str) -> list[Lines]:
    """The lines of CMD-AD or TV-AD, clip by clip, by the times of their sound."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    clips = []
    for _, clip in groupby(rows, key=lambda row: row[clip_column]):
        clips.append([(Interval(float(row["start"]), float(row["end"])), row["text"]) for row in clip])
    return clips


def print_lines(films: Sequence[DescribedFilm], data: Path) -> None:
    print(
        "Lines: number; seconds (10, 25, 50, 75, 90 %); share under 2, 3, 4 s; words a second; median words"
    )
    for film in films:
        for describer, lines in film.describers.items():
            print(lines_row(f"{film.name}, {describer}", lines))
    sets = {
        "CMD-AD": dataset_lines(data / "cmd-ad" / "cmdad_anno.csv", "cmd_filename"),
        "TV-AD": dataset_lines(data / "tv-ad" / "tvad_anno.csv", "tvad_name"),
    }
    for name, clips in sets.items():
        print(lines_row(name, [line for clip in clips for line in clip]))
        blocks = [block for clip in clips for block in blocks_of(clip, 1.0)]
        short = " ".join(
            f"{sum(b.duration < limit for b in blocks) / len(blocks):4.0%}" for limit in (2, 3, 4)
        )
        print(f"  {len(blocks)} blocks of lines at most 1 s apart; under 2, 3, 4 s: {short}")

    print(
        "\nPauses in seconds (10, 25, 50, 75, 90 %): speech to line; line to speech; between lines of one gap"
    )
    for film in films:
        for describer, lines in film.describers.items():
            columns = " | ".join(percentiles(values) for values in pauses_of(film, lines))
            print(f"{film.name + ', ' + describer:32} {columns}")
    for name, clips in sets.items():
        pauses = [later.start - earlier.end for clip in clips for (earlier, _), (later, _) in pairwise(clip)]
        near = [pause for pause in pauses if pause < ONE_GAP]
        under_one = [pause for pause in pauses if pause < 1.0]
        print(
            f"{name:32} - | - | {percentiles(near)} ({len(near)} of {len(pauses)}, those under {ONE_GAP:g} s;"
            f" median of those under 1 s: {np.median(under_one):.2f})"
        )


# Gaps


def words_inside(lines: Lines, intervals: Sequence[Interval]) -> float:
    """Words in ``intervals``; those of a cue count by the share of its time."""
    return sum(share_inside(time, intervals) * count_words(text) for time, text in lines)


def share_inside(time: Interval, intervals: Sequence[Interval]) -> float:
    shared = (time.clip(interval) for interval in intervals)
    return sum(piece.duration for piece in shared if piece is not None) / time.duration


def is_used(gap: Interval, lines: Lines) -> bool:
    for time, _ in lines:
        piece = time.clip(gap)
        if piece is not None and piece.duration > 0.5 * min(time.duration, gap.duration):
            return True
    return False


def print_gaps(films: Sequence[DescribedFilm], settings: SlotSettings) -> None:
    print("\nGaps between speech, by length: number; used; human words (share of all); words we allow there")
    for film in films:
        margin = SpeechSettings().margin
        for shortest, longest in pairwise(EDGES):
            gaps = [gap for gap in film.gaps if shortest <= gap.duration < longest]
            if not gaps:
                continue
            columns = []
            for describer, lines in film.describers.items():
                used = sum(is_used(gap, lines) for gap in gaps)
                words = words_inside(lines, gaps)
                total = sum(count_words(text) for _, text in lines)
                columns.append(f"{describer}: {used} used, {words:.0f} words ({words / total:.1%})")
            free = [gap.duration - 2 * margin for gap in gaps]
            allowed = sum(word_budget(seconds, settings) for seconds in free if seconds > 0)
            bounds = f"{shortest:g} to {longest:g} s" if longest < EDGES[-1] else f"{shortest:g} s and more"
            print(f"{film.name:18} {bounds:14}: {len(gaps):3} | {' | '.join(columns)} | {allowed}")
    print("\nGaps under 2 s that are used, and of 2 s or more")
    for film in films:
        for describer, lines in film.describers.items():
            columns = []
            for gaps in (
                [gap for gap in film.gaps if gap.duration < HARD_MINIMUM],
                [gap for gap in film.gaps if gap.duration >= HARD_MINIMUM],
            ):
                columns.append(f"{sum(is_used(gap, lines) for gap in gaps)} of {len(gaps)}")
            print(f"{film.name + ', ' + describer:32} {', '.join(columns)}")


def print_free_time(films: Sequence[DescribedFilm]) -> None:
    print("\nTime of human lines in free time of at least 0, 2, 3, 4 s (free time is a gap less our margins)")
    for film in films:
        free = film.free_time()
        for describer, lines in film.describers.items():
            total = sum(time.duration for time, _ in lines)
            shares = []
            for least in (0.0, 2.0, 3.0, 4.0):
                gaps = [gap for gap in free if gap.duration >= least]
                inside = sum(share_inside(time, gaps) * time.duration for time, _ in lines)
                shares.append(f"{inside / total:.1%}")
            print(f"{film.name + ', ' + describer:32} {' '.join(shares)}")


# Slots


def shot_lengths(rows: Sequence[Mapping[str, str]]) -> list[float]:
    """Lengths of all whole shots of CMD-AD; those of its list end 20 ms apart."""
    lengths = []
    for row in rows:
        lengths += [end - start + 0.02 for start, end in ast.literal_eval(row["shot_list"])[1:-1]]
    return lengths


def drawn_cuts(duration: float, data: Path) -> list[list[Shot]]:
    """Shots of made films, with lengths of CMD-AD's shots."""
    with (data / "cmd-ad" / "cmdad_shot_info.csv").open(encoding="utf-8", newline="") as file:
        lengths = shot_lengths(list(csv.DictReader(file)))
    films = []
    for draw in range(DRAWS):
        chance = random.Random(draw)
        shots: list[Shot] = []
        start = 0.0
        while start < duration:
            end = start + chance.choice(lengths)
            shots.append(Shot(len(shots), Interval(start, end)))
            start = end
        films.append(shots)
    return films


def planned(
    film: DescribedFilm, cuts: Sequence[Sequence[Shot]], settings: SlotSettings
) -> list[tuple[Slot, ...]]:
    """The slots of the film with each draw of cuts."""
    whole, free = Interval(0.0, film.duration), film.free_time()
    return [plan_slots(free, shots, settings, film=whole) for shots in cuts]


def slots_row(film: DescribedFilm, plans: Sequence[Sequence[Slot]]) -> str:
    """Mean number of slots, words they allow, share under 4 s, and shares of cues and words inside."""
    number = float(np.mean([len(plan) for plan in plans]))
    allowed = float(np.mean([sum(slot.max_words for slot in plan) for plan in plans]))
    columns = []
    for describer, lines in film.describers.items():
        total = sum(count_words(text) for _, text in lines)
        cues, words = [], []
        for plan in plans:
            intervals = [slot.interval for slot in plan]
            cues.append(np.mean([share_inside(time, intervals) for time, _ in lines]))
            words.append(words_inside(lines, intervals) / total)
        columns.append(f"{describer}: {np.mean(cues):.1%} of cues, {np.mean(words):.1%} of words")
    hourly = number * 3600 / film.duration
    return f"{number:5.1f} slots ({hourly:3.0f} an hour), {allowed:5.0f} words | {' | '.join(columns)}"


def print_slots(films: Sequence[DescribedFilm], settings: SlotSettings, data: Path) -> None:
    for film in films:
        cuts = drawn_cuts(film.duration, data)
        print(f"\n{film.name}: slots; words they may hold; share of human cues and words inside")
        for describer, lines in film.describers.items():
            print(f"  {describer}: {len(lines)} lines, {sum(count_words(text) for _, text in lines)} words")
        for detail in DETAILS:
            old = settings.model_copy(update={"detail": detail, "minimum": BEFORE[detail]})
            new = settings.model_copy(update={"detail": detail})
            print(f"  {detail:6} before    {slots_row(film, planned(film, cuts, old))}")
            print(f"  {detail:6} now       {slots_row(film, planned(film, cuts, new))}")
    dream = films[0]
    cuts = drawn_cuts(dream.duration, data)
    print(f"\n{dream.name}, normal, other choices")
    for minimum in (4.0, 3.5, 3.0, 2.5, 2.0, 1.5):
        with_minimum = settings.model_copy(update={"minimum": minimum})
        plans = with_constants(dream, cuts, with_minimum, HARD_MINIMUM=min(2.0, minimum))
        print(f"  minimum {minimum:g} s              {slots_row(dream, plans)}")
    for name, value in (
        ("FULL_LENGTH", 2.0), ("FULL_LENGTH", 3.0), ("FULL_LENGTH", 5.0),
        ("PREFERRED", 4.5), ("PREFERRED", 6.5), ("BREATH", 0.3), ("BREATH", 1.0),
    ):  # fmt: skip
        plans = with_constants(dream, cuts, settings, **{name: value})
        print(f"  {name + f' {value:g} s':26} {slots_row(dream, plans)}")


def with_constants(
    film: DescribedFilm, cuts: Sequence[Sequence[Shot]], settings: SlotSettings, **constants: float
) -> list[tuple[Slot, ...]]:
    """The same with other constants of `shotad.film.slots`."""
    kept = {name: getattr(slots_module, name) for name in constants}
    try:
        for name, value in constants.items():
            setattr(slots_module, name, value)
        return planned(film, cuts, settings)
    finally:
        for name, value in kept.items():
            setattr(slots_module, name, value)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with films, captions and AD")
    parser.add_argument("--set", action="append", default=[], dest="sets", metavar="KEY=VALUE")
    parser.add_argument("--captions", nargs=2, action="append", default=[], metavar=("FILE", "SECONDS"))
    options = parser.parse_args()
    settings = load_config(None, options.sets).slots
    if options.captions:
        for file, seconds in options.captions:
            film = captioned_film(Path(file).name, Path(file), {}, float(seconds))
            for detail in DETAILS:
                cuts = drawn_cuts(film.duration, options.data)
                old = settings.model_copy(update={"detail": detail, "minimum": BEFORE[detail]})
                new = settings.model_copy(update={"detail": detail})
                print(f"{film.name}, {detail}, before: {slots_row(film, planned(film, cuts, old))}")
                print(f"{film.name}, {detail}, now:    {slots_row(film, planned(film, cuts, new))}")
        return
    films = films_of(options.data)
    print_lines(films, options.data)
    print_free_time(films)
    print_gaps(films, settings)
    print_slots(films, settings, options.data)


if __name__ == "__main__":
    main()
