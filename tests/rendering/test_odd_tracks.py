"""Tracks as people leave them: without lines, with lines of marks, in two languages, in files that are damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Interval, ScriptError, SoundError
from shotad.script import TRACK
from shotad.sound import summary
from shotad.sound.own_voices import FakeVoice
from tests.media import SoundSpec
from tests.rendering.described import film_with, rendered, track_of, write_folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "w")


def edit(place: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the lines of the track as a person does, in its file."""
    values = json.loads((place / TRACK).read_text(encoding="utf-8"))
    change(values["cues"])
    (place / TRACK).write_text(json.dumps(values), encoding="utf-8")


def write_first(text: str) -> Callable[[list[dict[str, Any]]], object]:
    return lambda cues: cues[0].update(text=text)


@pytest.mark.parametrize("makes", [("film",), ("text",), ("ad", "mix")])
def test_a_track_without_a_line_makes_no_described_film(place: Path, makes: tuple[str, ...]) -> None:
    edit(place, lambda cues: [cue.update(status="dropped") for cue in cues])
    with pytest.raises(SoundError, match="has no line to speak") as caught:
        rendered(place, *makes)
    assert "shotad review" in caught.value.hint
    assert "--extended" in caught.value.hint
    assert not list(place.glob("*.described.*"))


def test_a_track_of_which_nothing_fits_makes_none_either(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "w", lines={6.5: "A cat sleeps."}, speech=(Interval(0, 20),))
    with pytest.raises(SoundError, match="None of the 1 lines .* found a place"):
        rendered(place, "film")
    spoken = track_of(place).cues[0].spoken
    assert spoken is not None
    assert "people speak" in spoken.steps[-1]


def test_a_line_of_marks_alone_is_left_out_and_told(place: Path) -> None:
    for text in ("?!", "…", "😀"):
        edit(place, write_first(text))
        done, voice = rendered(place, "ad")
        assert len(done.spoken) == 2
        assert all(any(c.isalnum() for c in said) for said, _ in voice.calls)
        assert f"{text} (there is no word in it)" in summary(done)


def test_lines_of_hundreds_of_words_are_told_in_few(place: Path) -> None:
    edit(place, write_first(" ".join(["She walks along the road and smiles."] * 40)))
    told = summary(rendered(place, "ad")[0])
    assert "Heard in fewer words: 1." in told
    assert "dropped" in told
    assert max(map(len, told.splitlines())) < 600


def test_two_lines_of_one_time_are_both_heard_apart(place: Path) -> None:
    edit(place, lambda cues: cues.append({"start": 1.0, "end": 3.0, "text": "A person added this."}))
    done, _ = rendered(place, "ad")
    times = sorted(cue.spoken.interval for cue in done.spoken if cue.spoken and cue.spoken.interval)
    assert len(times) == 4
    assert all(one.end <= after.start for one, after in pairwise(times))
    assert "Moved to fit: 2 lines" in summary(done)


@pytest.mark.parametrize("content", ["", '{"cues": [}', "null"])
def test_a_damaged_track_is_told_and_left_as_it_is(place: Path, content: str) -> None:
    rendered(place, "ad")
    (place / TRACK).write_text(content)
    scripts = {path: path.read_bytes() for path in place.glob("*.ad.*")}
    voice = FakeVoice()
    with pytest.raises(ScriptError, match=r"track\.json"):
        rendered(place, "ad", voice=voice)
    assert (place / TRACK).read_text() == content
    assert {path: path.read_bytes() for path in scripts} == scripts
    assert voice.calls == []


def test_a_description_under_the_lines_is_told(tmp_path: Path) -> None:
    """The film has an audio description of its own, as the second of its tracks."""
    sound = SoundSpec(duration=20.0, layout="stereo", beeps=(0.5, 1.5), language="eng")
    film = film_with(sounds=(sound, replace(sound, title="Audio Description")), suffix=".mkv")
    place = write_folder(tmp_path / "w", film)
    plain, _ = rendered(place, "mix", film=film)
    under, _ = rendered(place, "mix", film=film, settings=("film.audio_track=1",))
    assert not any("under the lines" in note for note in plain.warnings)
    assert any("itself an audio description: track 1" in note for note in under.warnings)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8-sig")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_two_scripts_may_be_edited_at_once(place: Path) -> None:
    change(next(place.glob("*.ad.vtt")), "A cat", "A dog")
    change(next(place.glob("*.ad.csv")), "Rain falls", "Snow falls")
    done, _ = rendered(place, "ad")
    assert [cue.text.split()[0:2] for cue in done.spoken] == [
        ["A", "dog"],
        ["She", "opens"],
        ["Snow", "falls"],
    ]
    assert summary(done).startswith("Taken over from")
    assert ": 1 line." in summary(done)
