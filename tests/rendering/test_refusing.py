"""Renders that are refused, disturbed or killed: what is said, and what stays."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from shotad.core import (
    Interval,
    NoProgress,
    ShotadError,
    WorkFolder,
    load_config,
)
from shotad.core.errors import (
    FilmError,
    ScriptError,
    SoundError,
    UsageError,
    WorkFolderError,
)
from shotad.core.files import remove_leftovers_beside, replace_file
from shotad.description.shorter_lines import shortener
from shotad.film import open_film
from shotad.script.track import to_json
from shotad.script.track_files import TRACK
from shotad.sound import (
    OutputFile,
    Take,
    run_render,
)
from shotad.sound.outputs import (
    Kind,
    parse_wanted,
    summary,
    wanted_files,
)
from shotad.sound.own_voices import FakeVoice
from shotad.sound.render import check_wanted
from tests.media import SoundSpec, make_stills
from tests.rendering.described import STEREO, change, film_with, rendered, track_of, write_folder
from tests.runs import Heard

MEASURING = "Measuring the film's sound"
"""The step in which a render listens to the film."""


class Meanwhile(FakeVoice):
    """While it speaks its first line, something else happens."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self._happens = [happens]

    def speak(self, text: str, speed: float = 1.0) -> Take:
        if self._happens:
            self._happens.pop()()
        return super().speak(text, speed)


@pytest.mark.parametrize("ending", ["json", "vtt"])
def test_what_is_saved_while_lines_are_spoken_is_heard(place: Path, ending: str) -> None:
    file = place / TRACK if ending == "json" else next(place.glob("*.ad.vtt"))
    voice = Meanwhile(lambda: change(file, "A cat sleeps", "A dog sleeps"))
    done, _ = rendered(place, "ad", voice=voice)
    assert done.spoken[0].text == "A dog sleeps by the window."
    assert track_of(place).cues[0].text == "A dog sleeps by the window."
    assert "A dog sleeps" in next(place.glob("*.ad.vtt")).read_text()
    assert (done.takes_spoken, done.takes_kept) == (4, 0)


def test_a_track_that_never_rests_is_rendered_as_it_was_read_last_and_not_written_over(place: Path) -> None:
    class Restless(FakeVoice):
        def speak(self, text: str, speed: float = 1.0) -> Take:
            saved = track_of(place).cues[0].text
            change(place / TRACK, saved, f"Cat number {len(self.calls)} sleeps.")
            return super().speak(text, speed)

    done, _ = rendered(place, "ad", voice=Restless())
    spoken = done.spoken[0].text
    last = track_of(place).cues
    assert spoken.startswith("Cat number")
    assert last[0].text.startswith("Cat number")
    assert last[0].text != spoken
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
    with replace_file(target) as part:
        part.write_bytes(b"whole")
        shutil.copy(part, part.with_name(f"{part.name}x"))
    others = [target.with_name(name) for name in (".tmp-theirs", ".other.77.part.wav", ".movie.part.wav")]
    for file in (*others, target.with_name(".movie.77.part.wav")):
        file.touch()
    remove_leftovers_beside(target)
    assert set(target.parent.iterdir()) == {target, *others}


def test_an_unchanged_render_listens_to_nothing_also_where_its_folder_was_moved(place: Path) -> None:
    first, later = Heard(), Heard()
    rendered(place, "ad", "film", "mix:flac", progress=first)
    assert MEASURING in first.steps
    script = next(place.glob("*.recorded.dapt.xml"))
    before = script.read_bytes()
    again, _ = rendered(place, "ad", "film", "mix:flac", progress=later)
    assert script in again.files
    place = place.rename(place.with_name("elsewhere"))
    moved, voice = rendered(place, "ad", "film", "mix:flac", progress=later)
    assert MEASURING not in later.steps
    assert voice.calls == []
    assert [file.fresh for file in moved.made] == [False] * 3
    record = json.loads((place / "render.json").read_text())
    assert {Path(row["path"]).parent for row in record["made"]} == {place}
    script = place / script.name
    script.unlink()
    rendered(place, "ad")
    assert script.read_bytes() == before


def test_one_file_that_fails_does_not_take_the_others_with_it(place: Path) -> None:
    """A folder of its name is made while the lines are spoken."""
    in_the_way = place / f"{film_with().stem}.ad.wav"
    done, _ = rendered(place, "ad", "mix:flac", voice=Meanwhile(in_the_way.mkdir))
    assert [file.output.kind for file in done.made] == [Kind.MIX]
    ((output, reason),) = done.failures.items()
    assert output.kind is Kind.AD
    assert f"{in_the_way} cannot be written" in reason
    assert done.failed
    assert f"{in_the_way}: {reason}" in summary(done)
    in_the_way.rmdir()
    with pytest.raises(WorkFolderError, match="cannot be written"):
        rendered(place, "ad", force=True, voice=Meanwhile(in_the_way.mkdir))
    in_the_way.rmdir()
    after, voice = rendered(place, "ad", "mix:flac")
    assert [file.fresh for file in after.made] == [True, False]
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


VP9 = {
    "codec": "libvpx-vp9",
    "suffix": ".webm",
    "sounds": (replace(STEREO, codec="libopus", language=""),),
    "options": (("deadline", "realtime"), ("cpu-used", "8")),
}


def test_what_a_container_cannot_hold_is_known_before_a_word_is_spoken(tmp_path: Path) -> None:
    film = film_with(**VP9)
    place = write_folder(tmp_path / "w", film)
    voice, before, progress = FakeVoice(), (place / TRACK).read_bytes(), Heard()
    cases: list[tuple[tuple[str, ...], tuple[str, ...], type[ShotadError], str]] = [
        (("ad", "film:ts"), (), SoundError, "MPEG-TS cannot hold video track 0"),
        (("text:ts",), (), SoundError, "MPEG-TS"),
        (("film",), ("container.codec=aac",), SoundError, "WebM cannot hold a track of aac"),
        (("mix", "film"), ("film.audio_track=7",), FilmError, "no audio track 7"),
    ]
    for makes, settings, error, reason in cases:
        with pytest.raises(error, match=reason):
            rendered(place, *makes, film=film, voice=voice, settings=settings)
    assert voice.calls == []
    assert (place / TRACK).read_bytes() == before
    assert not list(place.glob("*.ad.wav"))
    # One that might have paused is refused later, and before the mix.
    with pytest.raises(SoundError, match="MPEG-TS cannot hold"):
        rendered(place, "film:ts", film=film, settings=("extended.on=true",), progress=progress)
    assert progress.steps
    assert MEASURING not in progress.steps


def test_numbered_frames_give_sound_and_no_film(tmp_path: Path) -> None:
    stills = make_stills(tmp_path / "stills", 60)
    with open_film(stills, frame_rate=Fraction(3)) as film:
        config = load_config(None, ())
        check_wanted(film, [OutputFile(Kind.AD, tmp_path / "a.wav")], config, "en")
        with pytest.raises(SoundError, match=r"series of pictures.* --make ad"):
            check_wanted(film, [OutputFile(Kind.FILM, tmp_path / "a.mkv")], config, "en")


def refused(place: Path, film: Path, target: Path, kind: Kind = Kind.FILM) -> str:
    """Why a render to ``target`` is refused."""
    voice, wanted = FakeVoice(), [OutputFile(kind, target)]
    with (
        open_film(film) as opened,
        WorkFolder(place) as folder,
        pytest.raises((UsageError, WorkFolderError)) as refusal,
    ):
        run_render(opened, folder, load_config(None, ()), wanted, NoProgress(), voice=voice)
    assert voice.calls == []
    return str(refusal.value)


def test_the_film_itself_is_never_written_over(tmp_path: Path) -> None:
    film = Path(shutil.copy(film_with(), tmp_path / "movie.mp4"))
    place = write_folder(tmp_path / "movie.shotad", film)
    copy = Path(shutil.copy(film, tmp_path / "other name.mp4"))
    (tmp_path / "link.mp4").symlink_to(film)
    content = film.read_bytes()
    for target in (film, copy, tmp_path / "link.mp4"):
        assert "is the film itself" in refused(place, film, target)
        assert target.read_bytes() == content


def test_places_that_are_none(place: Path, tmp_path: Path) -> None:
    film = film_with()
    (tmp_path / "file").touch()
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "is a file, not a folder" in refused(place, film, tmp_path / "file" / "deep" / "a.wav", Kind.MIX)
    assert "is a folder" in refused(place, film, tmp_path / "folder.mp4")
    if os.geteuid() != 0:  # root may write everywhere
        assert "cannot be made" in refused(place, film, tmp_path / "locked" / "new" / "a.wav", Kind.AD)


def test_another_film_and_a_folder_without_its_speech_are_refused(place: Path, tmp_path: Path) -> None:
    other = film_with(frames=300, sounds=())
    with pytest.raises(WorkFolderError, match="belongs to another film"):
        rendered(place, "ad", film=other)
    film = Path(shutil.copy(film_with(), tmp_path / "movie.mp4"))
    own = write_folder(tmp_path / "movie.shotad", film)
    shutil.copy(other, film)
    with pytest.raises(WorkFolderError, match=r"is of another version of"):
        rendered(own, "ad", film=film)
    (place / "speech.json").unlink()
    with pytest.raises(WorkFolderError, match=r"speech\.json is missing"):
        rendered(place, "ad")


def test_a_film_that_was_renamed_keeps_its_scripts_and_their_edits(tmp_path: Path) -> None:
    """The first name is as long as disks allow."""
    film = Path(shutil.copy(film_with(), tmp_path / f"{'ü' * 125}.mp4"))
    place = write_folder(tmp_path / "w", film)
    done, _ = rendered(place, "film+text", "ad", film=film)
    assert all(file.output.path.is_file() for file in done.made)
    other = film.rename(tmp_path / "the movie.mp4")
    rendered(place, "ad", film=other)
    (script,) = place.glob("*.ad.vtt")
    assert script.name.startswith("üü")
    script.write_text(script.read_text().replace("A cat", "A dog"))
    rendered(place, "ad", film=other)
    assert track_of(place).cues[0].text.startswith("A dog")


def edit(place: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the lines of the track as a person does, in its file."""
    values = json.loads((place / TRACK).read_text(encoding="utf-8"))
    change(values["cues"])
    (place / TRACK).write_text(json.dumps(values), encoding="utf-8")


def test_a_track_without_a_line_makes_no_described_film(place: Path) -> None:
    edit(place, lambda cues: [cue.update(status="dropped") for cue in cues])
    for makes in (("film",), ("text",), ("ad", "mix")):
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


def test_a_line_of_marks_alone_is_left_out_and_hundreds_of_words_are_told_in_few(place: Path) -> None:
    edit(place, lambda cues: (cues[0].update(text="😀"), cues[1].update(text="?!")))
    done, voice = rendered(place, "ad")
    assert len(done.spoken) == len(voice.calls) == 1
    assert all(f"{text} (there is no word in it)" in summary(done) for text in ("😀", "?!"))
    long = " ".join(["She walks along the road and smiles."] * 40)
    edit(place, lambda cues: cues[0].update(text=long))
    report = summary(rendered(place, "ad")[0])
    assert "Heard in fewer words: 1." in report
    assert "dropped" in report
    assert max(map(len, report.splitlines())) < 600


def test_two_lines_of_one_time_are_both_heard_apart(place: Path) -> None:
    edit(place, lambda cues: cues.append({"start": 1.0, "end": 3.0, "text": "A person added this."}))
    done, _ = rendered(place, "ad")
    times = sorted(cue.spoken.interval for cue in done.spoken if cue.spoken and cue.spoken.interval)
    assert len(times) == 4
    assert all(time.end <= following.start for time, following in pairwise(times))
    assert "Moved to fit: 2 lines" in summary(done)


def test_a_damaged_track_is_told_and_left_as_it_is(place: Path) -> None:
    (place / TRACK).write_text('{"cues": [}')
    before, voice = {path: path.read_bytes() for path in (place / TRACK, *place.glob("*.ad.*"))}, FakeVoice()
    with pytest.raises(ScriptError, match=r"track\.json"):
        rendered(place, "ad", voice=voice)
    assert {path: path.read_bytes() for path in before} == before
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


def test_two_scripts_may_be_edited_at_once(place: Path) -> None:
    change(next(place.glob("*.ad.vtt")), "A cat", "A dog")
    change(next(place.glob("*.ad.csv")), "Rain falls", "Snow falls")
    done, _ = rendered(place, "ad")
    assert [" ".join(cue.text.split()[:2]) for cue in done.spoken] == ["A dog", "She opens", "Snow falls"]
    assert summary(done).startswith("Taken over from")
    assert ": 1 line." in summary(done)


@pytest.mark.parametrize("noted", [False, True])
def test_what_leaves_the_machine_is_said_before_a_word_is_spoken(place: Path, noted: bool) -> None:
    film, voice, progress = film_with(), FakeVoice(), Heard()
    voice.sends_to = "speech.example"
    with open_film(film) as opened, WorkFolder(place) as folder:
        wanted = wanted_files(parse_wanted(("ad",)), film.name, place)
        run_render(
            opened, folder, load_config(), wanted, progress,
            shorten=shortener, voice=voice, privacy_noted=noted,
        )  # fmt: skip
    notes = [text for text in progress.notes if "speech.example" in text]
    assert notes == progress.notes[: not noted]
    assert voice.calls
    assert "rendered" in (place / "log.txt").read_text()


HERE = Path("w")


def names(*texts: str, film: str = "movie.mp4", tag: str = "", out: Path | None = None) -> list[str]:
    return [str(file.path) for file in wanted_files(parse_wanted(texts), film, HERE, out=out, tag=tag)]


def test_every_kind_has_a_name_of_its_own_and_a_film_keeps_its_container_where_it_can() -> None:
    kinds = ("described.mp4", "descriptions.mp4", "ad.wav", "mix.wav")
    assert names("film", "text", "ad", "mix") == [f"w/movie.{kind}" for kind in kinds]
    assert names("film:mkv", "AD:.MP3") == ["w/movie.described.mkv", "w/movie.ad.mp3"]
    assert names("film", "ad", tag="de") == ["w/movie.de.described.mp4", "w/movie.de.ad.wav"]
    kept = {"a.webm": "a.described.webm", "a.MKV": "a.described.mkv", "a.b.ts": "a.b.described.ts"}
    for film, expected in {**kept, "a.avi": "a.described.mkv", "a": "a.described.mkv"}.items():
        assert names("film", film=film) == [f"w/{expected}"]
