"""A described film for tests of rendering: a small film with sound, speech, slots and lines of our own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shotad.core import (
    Interval,
    NoProgress,
    Progress,
    RunInputs,
    Shot,
    Slot,
    Utterance,
    WorkFolder,
    load_config,
)
from shotad.core.runsettings import write_settings
from shotad.core.types import slot_id
from shotad.film import open_film, sound_blocks
from shotad.script import (
    Cue,
    CueStatus,
    Track,
    load_track,
    save_track,
)
from shotad.script.track import FilmId
from shotad.script.track_files import TRACK
from shotad.sound import Rendered, run_render
from shotad.sound.outputs import SOUNDS, parse_wanted, wanted_files
from shotad.sound.own_voices import FakeVoice
from tests.handmade import shots_record, slots_record, speech_record
from tests.media import FilmSpec, SoundSpec, make_film
from tests.sound.tones import decoded

BEEPS = tuple(i + 0.5 for i in range(20))
STEREO = SoundSpec(duration=20.0, beeps=BEEPS, layout="stereo", language="eng")
SPEC = FilmSpec(frames=500, cuts=(100, 210, 330, 420), sounds=(STEREO,))

SPEECH = (Interval(6.0, 8.0),)
LINES: Mapping[float, str] = {
    1.0: "A cat sleeps by the window.",
    9.0: "She opens the old door. A lamp goes out.",
    14.0: "Rain falls on the empty street.",
}


def film_with(**changes: object) -> Path:
    """The test film, changed."""
    return make_film(replace(SPEC, **changes)).path  # type: ignore[arg-type]


def write_folder(
    place: Path,
    film: Path | None = None,
    lines: Mapping[float, str] = LINES,
    speech: tuple[Interval, ...] = SPEECH,
    language: str = "en",
    settings: tuple[str, ...] = (),
) -> Path:
    """A work folder as a run would leave it, with these lines; the folder."""
    film = film or film_with()
    with open_film(film) as opened:
        info = opened.info
    ends = [*sorted(lines)[1:], info.duration]
    slots = tuple(
        Slot(slot_id(at), Interval(at, min(end, at + 5)), 20)
        for at, end in zip(sorted(lines), ends, strict=True)
    )
    cues = tuple(
        Cue(slot.id, slot.id, Interval(slot.interval.start, slot.interval.start + 2), text, language=language)
        for slot, (_, text) in zip(slots, sorted(lines.items()), strict=True)
    )
    cuts = [i * 100 for i in range(1, 5) if i * 4.0 < info.duration]
    bounds = [0.0, *(cut / 25 for cut in cuts), info.duration]
    shots = tuple(Shot(i, Interval(*pair)) for i, pair in enumerate(itertools.pairwise(bounds)))
    with WorkFolder(place) as folder:
        write_settings(folder, load_config(None, (f"language={language}", *settings)), film, RunInputs())
        folder.write_json("shots.json", shots_record(shots, cuts, info.duration))
        utterances = [Utterance(interval, "Where is the key to the garden?") for interval in speech]
        folder.write_json("speech.json", speech_record(*utterances))
        folder.write_json("slots.json", slots_record(slots))
        track = Track(FilmId(film.name, info.fingerprint, info.duration), language, (), "0.1.0", cues)
        save_track(track, folder.path, film.name)
    return place


def retrack(place: Path, change: Callable[[Cue], Cue]) -> Path:
    """The folder, with each line of its track changed."""
    track = track_of(place)
    save_track(track.with_cues([*map(change, track.cues)]), place, track.film.name)
    return place


def change(file: Path, old: str, new: str) -> None:
    """Change words in a file as a person does."""
    text = file.read_text(encoding="utf-8-sig")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def fake_voice(place: Path) -> Path:
    """The folder, of whose run the voice is now the fake one."""
    tree = json.loads((place / "settings.json").read_text(encoding="utf-8"))
    tree["config"]["voice"]["name"] = "fake"
    (place / "settings.json").write_text(json.dumps(tree), encoding="utf-8")
    return place


def rendered(
    place: Path,
    *makes: str,
    film: Path | None = None,
    voice: FakeVoice | None = None,
    settings: tuple[str, ...] = (),
    file: Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[Rendered, FakeVoice]:
    """A render with the fake voice; what it came to, and the voice, which counts what it spoke."""
    progress = progress or NoProgress()
    voice, film = voice or FakeVoice(), film or film_with()
    config = load_config(None, settings)
    with open_film(film) as opened, WorkFolder(place) as folder:
        tag = "" if file is None else load_track(file).language
        wanted = wanted_files(parse_wanted(makes), film.name, place, tag=tag)
        done = run_render(opened, folder, config, wanted, progress, file=file, voice=voice, force=force)
    return done, voice


def track_of(place: Path) -> Track:
    return load_track(place / TRACK)


def sound_of(path: Path, number: int = 0, rate: int = 48000) -> npt.NDArray[np.float32]:
    """A track of sound as players hear it, ``float32[n]`` mono from film second 0."""
    if path.suffix.lstrip(".") in SOUNDS:
        samples, own = decoded(path)
        assert own == rate
        return samples.mean(1)
    with open_film(path) as film:
        return np.concatenate([block.samples for block in sound_blocks(film, number, rate)])


EMPTY_SLOTS = (4.0, 10.6, 13.0, 15.5, 18.0)
"""Where the empty slots of `write_folder_to_fill` begin, in film seconds."""


def write_folder_to_fill(place: Path, film: Path | None = None) -> Path:
    """A work folder whose first slot has the machine's line and whose other five are empty; the voice is the fake
    one."""
    texts = {0.5: "A cat sleeps by the window.", **dict.fromkeys(EMPTY_SLOTS, "Nobody wrote this.")}
    write_folder(place, film, lines=texts, speech=(Interval(9.0, 10.5),), settings=("voice.name=fake",))

    def empty(cue: Cue) -> Cue:
        return replace(cue, text="", status=CueStatus.SILENT) if cue.start in EMPTY_SLOTS else cue

    return retrack(place, empty)
