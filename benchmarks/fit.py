"""How many lines of an AD find place at each step of the ladder, spoken by a real voice.

    python benchmarks/fit.py AD.vtt CAPTIONS.vtt [AD.vtt CAPTIONS.vtt ...] [--voice NAME] [--set KEY=VALUE]
        [--takes FOLDER] [--lines]
    python benchmarks/fit.py --folder WORKFOLDER [--folder ...] [--voice NAME] ...

Captions, or the speech found in the film (``speech.json``), are what nobody may speak over. A line counts for
the deepest step that was taken with it. ``--lines`` prints each line that changed, old and new; ``--takes``
keeps takes for the next time; ``--set`` changes a setting (``fit.fastest=1.3``).

With ``--compare`` the ladder is also run without moving, without speed, and without either.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shotad.core import Config, FitSettings, Interval, WorkFolder, load_config, slots_of, utterances_of
from shotad.script import Cue, FilmId, Track, count_words, hand_id, load_track, read_cues
from shotad.sound import Keeping, make_voice
from shotad.sound.fitting import fit
from shotad.sound.kinds import Fitting, Line
from shotad.sound.placing import lines_of

STEPS = ("as it is", "moved", "faster", "sentences", "clauses", "unspoken")


@dataclass(frozen=True, slots=True)
class Task:
    """A track, where people speak, and the slots that were planned."""

    name: str
    track: Track
    speech: tuple[Interval, ...]
    slots: Mapping[str, Interval]


def of_scripts(description: Path, captions: Path) -> Task:
    """An AD by people and the captions of its film."""
    speech = tuple(cue.interval for cue in read_cues(captions))
    cues: list[Cue] = []
    for cue in read_cues(description):
        text = " ".join(cue.text.split())
        name = hand_id(cue.interval.start, [one.id for one in cues]).replace("h", "s")
        if text:
            cues.append(Cue(name, name, cue.interval, text))
    end = max(one.end for one in (*speech, *(cue.interval for cue in cues))) + 1
    track = Track(FilmId(description.name, "", end), "en", (), "", ()).with_cues(cues)
    return Task(description.stem, track, speech, {})


def of_folder(path: Path) -> Task:
    """A track of our own, with the speech and the slots of its run."""
    with WorkFolder(path) as folder:
        speech = utterances_of((folder.read_json("speech.json") or {}).get("speech", ()))
        slots = slots_of((folder.read_json("slots.json") or {}).get("slots", ()))
    track = load_track(path / "track.json")
    taken = tuple(utterance.interval for utterance in speech)
    return Task(path.stem, track, taken, {slot.id: slot.interval for slot in slots})


def step_of(steps: Sequence[str]) -> str:
    """The deepest step that was taken."""
    said = " ".join(steps)
    for word, step in (
        ("clause", "clauses"),
        ("sentence", "sentences"),
        ("faster", "faster"),
        ("moved", "moved"),
    ):
        if word in said:
            return step
    return "as it is"


def row(task: Task, lines: Sequence[Line], fitting: Fitting) -> list[str]:
    """One line of the table."""
    found = Counter(step_of(line.steps) for line in fitting.spoken)
    found["unspoken"] = len(fitting.unspoken)
    words = sum(count_words(line.text) for line in lines)
    kept = sum(count_words(line.text) for line in fitting.spoken)
    return [task.name, str(len(lines)), *(str(found[step]) for step in STEPS), f"{kept / max(1, words):.1%}"]


def ways(settings: FitSettings, compare: bool) -> Iterator[tuple[str, FitSettings]]:
    """The ladder as it is set, and with steps taken out."""
    yield "", settings
    still = {"earlier": 0.0, "later": 0.0}
    if compare:
        yield ", not moved", settings.model_copy(update=still)
        yield ", not faster", settings.model_copy(update={"fastest": 1.0})
        yield ", neither", settings.model_copy(update={**still, "fastest": 1.0})


def changes(lines: Sequence[Line], fitting: Fitting) -> Iterator[str]:
    """What was done to which line."""
    texts = {line.id: line for line in lines}
    for said in fitting.spoken:
        if said.steps:
            yield f"{said.start:8.2f}  {texts[said.id].text}"
            if said.text != texts[said.id].text:
                yield f"{'→':>8}  {said.text}"
            yield f"{'':10}({'; '.join(said.steps)})"
    for left in fitting.unspoken:
        yield f"{texts[left.id].start:8.2f}  {left.text}\n{'✗':>8}  {left.reason}"


def run(tasks: Sequence[Task], config: Config, takes: Path, *, compare: bool, listed: bool) -> None:
    """Prints the table, and the lines."""
    voice = make_voice(config.voice, "en")
    print(f"voice: {voice.name}; fastest {config.fit.fastest}, moved by {config.fit.earlier} s "
          f"earlier to {config.fit.later} s later")  # fmt: skip
    print(" | ".join(("track", "lines", *STEPS, "words kept", "takes", "voice s", "fit s")))
    for task in tasks:
        for name, settings in ways(config.fit, compare):
            studio = Keeping(voice, takes, config.voice, task.track.language)
            lines = lines_of(task.track, task.speech, task.slots, settings, margin=config.speech.margin)
            began = time.perf_counter()
            studio.say_all([line.text for line in lines])
            spoken = time.perf_counter()
            fitting = fit(lines, studio, settings)
            ended = time.perf_counter()
            cells = row(task, lines, fitting)
            cells[0] += name
            times = (f"{spoken - began:.1f}", f"{ended - spoken:.1f}")
            print(" | ".join((*cells, str(len(studio.used)), *times)), flush=True)
            if listed and not name:
                print(*changes(lines, fitting), sep="\n")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scripts", nargs="*", type=Path)
    parser.add_argument("--folder", action="append", default=[], type=Path)
    parser.add_argument("--voice", default="auto")
    parser.add_argument("--set", action="append", default=[], dest="sets")
    parser.add_argument("--takes", type=Path)
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if len(options.scripts) % 2:
        parser.error("name an AD and its captions, in pairs")
    pairs = zip(options.scripts[::2], options.scripts[1::2], strict=True)
    tasks = [of_scripts(ad, captions) for ad, captions in pairs] + [
        of_folder(path) for path in options.folder
    ]
    config = load_config(None, (f"voice.name={options.voice}", *options.sets))
    with tempfile.TemporaryDirectory() as folder:
        run(tasks, config, options.takes or Path(folder), compare=options.compare, listed=options.lines)


if __name__ == "__main__":
    main()
