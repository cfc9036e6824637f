"""Renders that are killed, disturbed or repeated: nothing half-made, nobody's edit lost, nothing done twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from shotad.core import SoundError, replacing, sweep_beside
from shotad.script import TRACK, to_json
from shotad.sound import Kind, OutputFile, Take, summary
from shotad.sound.making import FileMaker
from shotad.sound.outputs import Made
from shotad.sound.own_voices import FakeVoice
from tests.rendering.described import change, film_with, rendered, track_of


class Interrupted(FakeVoice):
    """While it speaks its first line, somebody changes a file."""

    def __init__(self, file: Path, old: str, new: str) -> None:
        super().__init__()
        self._change = [(file, old, new)]

    def speak(self, text: str, speed: float = 1.0) -> Take:
        if self._change:
            change(*self._change.pop())
        return super().speak(text, speed)


@pytest.mark.parametrize("ending", ["json", "vtt"])
def test_what_is_saved_while_lines_are_spoken_is_heard(place: Path, ending: str) -> None:
    file = place / TRACK if ending == "json" else next(place.glob("*.ad.vtt"))
    voice = Interrupted(file, "A cat sleeps", "A dog sleeps")
    done, _ = rendered(place, "ad", voice=voice)
    assert done.spoken[0].text == "A dog sleeps by the window."
    assert track_of(place).cues[0].text == "A dog sleeps by the window."
    assert "A dog sleeps" in next(place.glob("*.ad.vtt")).read_text()
    assert (done.anew, done.kept) == (4, 0)


def test_a_track_that_never_rests_is_rendered_as_it_was_read_last_and_not_written_over(place: Path) -> None:
    class Restless(FakeVoice):
        def speak(self, text: str, speed: float = 1.0) -> Take:
            said = track_of(place).cues[0].text
            change(place / TRACK, said, f"Cat number {len(self.calls)} sleeps.")
            return super().speak(text, speed)

    done, _ = rendered(place, "ad", voice=Restless())
    said = done.spoken[0].text
    last = track_of(place).cues
    assert said.startswith("Cat number")
    assert last[0].text.startswith("Cat number")
    assert last[0].text != said
    assert last[0].spoken is None
    assert last[1].spoken is not None
    assert any("edited until after they were spoken" in warning for warning in done.warnings)
    again, _ = rendered(place, "ad")
    assert again.spoken[0].text == last[0].text
    assert not any("edited until after" in warning for warning in again.warnings)


def test_leftovers_of_killed_runs_are_swept_and_what_others_left_is_not(place: Path) -> None:
    rendered(place, "ad")
    copy = place / ".tmp-abcd"
    copy.mkdir()
    leftovers = [
        copy / "copy.mkv", place / ".tmp-12345678-xyz", place / "voice" / ".tmp-12345678-xyz",
        place / f".{film_with().stem}.ad.4711.part.wav",
    ]  # fmt: skip
    others = [place / ".notes.part.txt", place / "voice" / "mine.txt"]
    for file in (*leftovers, *others):
        file.write_bytes(b"half")
    rendered(place, "ad")
    assert not any(file.exists() for file in (*leftovers, copy))
    assert all(file.exists() for file in others)


def test_beside_a_file_only_what_was_to_become_it_is_swept(tmp_path: Path) -> None:
    target = tmp_path / "out" / "movie.wav"
    with replacing(target) as part:
        part.write_bytes(b"whole")
        shutil.copy(part, part.with_name(f"{part.name}x"))
    others = [target.with_name(name) for name in (".tmp-theirs", ".other.77.part.wav", ".movie.part.wav")]
    for file in (*others, target.with_name(".movie.77.part.wav")):
        file.touch()
    sweep_beside(target)
    assert set(target.parent.iterdir()) == {target, *others}


def test_an_unchanged_render_listens_to_nothing_also_where_its_folder_was_moved(place, monkeypatch):
    rendered(place, "ad", "film", "mix:flac")
    script = next(place.glob("*.recorded.dapt.xml"))
    before = script.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("shotad.sound.making.prepare_mix", None)  # the film is not measured
        again, _ = rendered(place, "ad", "film", "mix:flac")
        assert script in again.files
        place = place.rename(place.with_name("elsewhere"))
        moved, voice = rendered(place, "ad", "film", "mix:flac")
    assert voice.calls == []
    assert [one.fresh for one in moved.made] == [False] * 3
    record = json.loads((place / "render.json").read_text())
    assert {Path(row["path"]).parent for row in record["made"]} == {place}
    script = place / script.name
    script.unlink()
    rendered(place, "ad")
    assert script.read_bytes() == before


class Broken(FileMaker):
    """Cannot make the description alone."""

    def make(self, wanted: OutputFile) -> Made:
        if wanted.kind is Kind.AD:
            raise SoundError("The disk is full.", "Make room.")
        return super().make(wanted)


def test_one_file_that_fails_does_not_take_the_others_with_it(place, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("shotad.sound.render.FileMaker", Broken)
        done, _ = rendered(place, "ad", "mix:flac")
        assert [one.wanted.kind for one in done.made] == [Kind.MIX]
        ((failed, reason),) = done.failures.items()
        assert (failed.kind, reason) == (Kind.AD, "The disk is full. Make room.")
        assert done.failed
        assert summary(done).endswith(".ad.wav: The disk is full. Make room.")
        with pytest.raises(SoundError, match="disk is full"):
            rendered(place, "ad")
    after, voice = rendered(place, "ad", "mix:flac")
    assert [one.fresh for one in after.made] == [True, False]
    assert voice.calls == []


def test_the_recorded_script_follows_the_track_and_names_the_sound_and_another_voice_is_told(place):
    assert rendered(place, "ad", "ad:mp3")[0].warnings == ()
    reviewed = to_json(track_of(place)).replace('"reviewed_by": []', '"reviewed_by": ["Ada"]')
    (place / TRACK).write_text(reviewed)
    done, _ = rendered(place, "ad:mp3", voice=FakeVoice("deep"))
    recorded = next(place.glob("*.recorded.dapt.xml")).read_text()
    assert "Reviewed by Ada" in recorded
    assert ".ad.mp3" in recorded
    assert done.warnings == ("The render before was spoken by fake, this one by fake:deep.",)
