"""How many lines of an AD find place at each step of the ladder, spoken by a real voice.

    python benchmarks/fit.py AD.vtt CAPTIONS.vtt [AD.vtt CAPTIONS.vtt ...] [--voice NAME] [--set KEY=VALUE]

Captions are what nobody may speak over. A line counts for the deepest step that was taken with it. The ladder
is also run without moving, without speed, and without either. ``--set`` changes a setting
(``fit.fastest=1.3``).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from common import command_line

from shotad.core import Interval, load_config
from shotad.script import (
    Cue,
    Track,
    count_words,
    read_cues,
)
from shotad.script.cue import hand_id
from shotad.script.track import FilmId
from shotad.sound import CachingStudio, make_voice
from shotad.sound.fitted_takes import fit
from shotad.sound.kinds import Fitting, LineToSpeak
from shotad.sound.placement import lines_of

STEPS = ("as it is", "moved", "faster", "sentences", "clauses", "unspoken")


def of_scripts(description: Path, captions: Path) -> tuple[Track, tuple[Interval, ...]]:
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
    return track, speech


def step_of(steps: Sequence[str]) -> str:
    """The deepest step that was taken."""
    said = " ".join(steps)
    return next((step for step in reversed(STEPS[1:-1]) if step.removesuffix("s") in said), STEPS[0])


def row(lines: Sequence[LineToSpeak], fitting: Fitting) -> list[str]:
    found = Counter(step_of(line.steps) for line in fitting.spoken)
    found["unspoken"] = len(fitting.unspoken)
    words = sum(count_words(line.text) for line in lines)
    kept = sum(count_words(line.text) for line in fitting.spoken)
    return [str(len(lines)), *(str(found[step]) for step in STEPS), f"{kept / max(1, words):.1%}"]


STILL, SLOW = {"earlier": 0.0, "later": 0.0}, {"fastest": 1.0}
WAYS = {"": {}, ", not moved": STILL, ", not faster": SLOW, ", neither": {**STILL, **SLOW}}
"""The ladder as it is set, and with steps taken out."""


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("scripts", nargs="+", type=Path)
    parser.add_argument("--voice", default="auto")
    parser.add_argument("--set", action="append", default=[], dest="sets")
    options = parser.parse_args()
    if len(options.scripts) % 2:
        parser.error("name an AD and its captions, in pairs")
    config = load_config(None, (f"voice.name={options.voice}", *options.sets))
    voice = make_voice(config.voice, "en")
    print(f"voice: {voice.name}; fastest {config.fit.fastest}, moved by {config.fit.earlier} s "
          f"earlier to {config.fit.later} s later")  # fmt: skip
    print(" | ".join(("track", "lines", *STEPS, "words kept")))
    with tempfile.TemporaryDirectory() as takes:
        for description, captions in zip(options.scripts[::2], options.scripts[1::2], strict=True):
            track, speech = of_scripts(description, captions)
            for name, change in WAYS.items():
                settings = config.fit.model_copy(update=change)
                studio = CachingStudio(voice, Path(takes), config.voice, track.language)
                lines = lines_of(track, speech, {}, settings, margin=config.speech.margin)
                cells = row(lines, fit(lines, studio, settings))
                print(" | ".join((f"{description.stem}{name}", *cells)), flush=True)


if __name__ == "__main__":
    main()
