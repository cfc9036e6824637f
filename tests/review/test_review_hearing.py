"""A line is heard on the page as a render of the whole film has it."""

from __future__ import annotations

import io
import json
import os
import shutil
import threading
import time
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import (
    Interval,
    WorkFolder,
    load_config,
)
from shotad.core.errors import VoiceError
from shotad.description import lint_track
from shotad.film import Samples, open_film, read_prepared
from shotad.review import hearing as speaking
from shotad.review.hearing import Hearing, keep_sound
from shotad.review.routes import Review
from shotad.script import CueStatus, Level, Track
from shotad.sound import Take
from shotad.sound.outputs import summary
from shotad.sound.own_voices import FakeVoice
from shotad.sound.programme import RATE
from tests.rendering.described import (
    STEREO,
    fake_voice,
    film_with,
    rendered,
    retrack,
    track_of,
    write_folder,
)
from tests.review.reviewed import Page, reviewed
from tests.sound.tones import decoded

LSB = 1 / 32768

FAKE = ("voice.name=fake",)


def hearing(place: Path, film: Path | None = None, *settings: str, there: Path | None = None) -> Hearing:
    """Of a described folder, with the fake voice; ``there``: where the film is now."""
    film = film or lossless()
    config = load_config(None, (*FAKE, *settings))
    with open_film(film) as opened:
        found = read_prepared(WorkFolder(place), opened.info, config)
    return Hearing(there or film, place, config, lambda: found)


def lossless() -> Path:
    """The test film with sound in which no decoder draws noise by chance."""
    return film_with(suffix=".mkv", sounds=(replace(STEREO, codec="flac"),))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad", lossless())


@pytest.fixture
def heard(place: Path) -> Iterator[Hearing]:
    """Of which the whole film was listened to."""
    made = hearing(place)
    made.warm()
    made.hear(track_of(place), track_of(place).cues[0].id, "mix")
    made.wait()
    yield made
    made.close()


def bytes_of(
    heard: Hearing, track: Track, kind: str = "mix", start: float = 0.0, seconds: float = 60.0
) -> bytes:
    """The beginning of the file that is streamed from a film second."""
    stream = heard.stream(track, kind, start)
    return b"".join(stream.parts(0, min(stream.size, 44 + 4 * round(seconds * RATE))))


def sound_from(
    heard: Hearing, track: Track, kind: str = "mix", start: float = 0.0, seconds: float = 60.0
) -> Samples:
    """``float32[n, 2]`` of what is streamed from a film second."""
    data = np.frombuffer(bytes_of(heard, track, kind, start, seconds)[44:], "<i2")
    return data.reshape(-1, 2).astype(np.float32) * np.float32(LSB)


def is_part_of(sound: Samples, start: float, place: Path) -> bool:
    """Whether a sound is, from ``start`` on, that of the mix that a render made."""
    full, rate = decoded(next(place.glob("*.mix.wav")))
    first = round(start * RATE)
    return rate == RATE and bool(np.abs(sound - full[first : first + len(sound)]).max() < 0.51 * LSB + 1e-6)


def test_the_stream_is_the_mix_of_a_render_and_nothing_is_spoken_again(place: Path, heard: Hearing) -> None:
    track = track_of(place)
    line_sounds = {cue.id: heard.hear(track, cue.id, "mix") for cue in track.cues}
    streamed = sound_from(heard, track)
    done, voice = rendered(place, "mix:wav", film=lossless(), settings=FAKE)
    assert voice.calls == []
    assert len(streamed) == round(track.film.duration * RATE)
    assert is_part_of(streamed, 0.0, place)
    spoken = {line["id"]: line for line in heard.spoken_between(track, 0.0, 60.0)["lines"]}
    assert list(spoken) == [cue.id for cue in done.track.cues]
    for cue in done.track.cues:
        line_sound = line_sounds[cue.id]
        assert cue.spoken is not None
        assert cue.spoken.interval is not None
        start, end = cue.spoken.interval.start, cue.spoken.interval.end
        assert line_sound.line == pytest.approx((start, end))
        assert (spoken[cue.id]["start"], spoken[cue.id]["end"]) == pytest.approx((start, end))
        assert spoken[cue.id]["text"] == line_sound.text == cue.text
        assert line_sound.start == pytest.approx(max(0.0, start - 2.0))
        assert line_sound.end == pytest.approx(min(end + 1.5, track.film.duration))
        assert line_sound.warnings == tuple(f"{s[0].upper()}{s[1:]}." for s in cue.spoken.steps)


@pytest.mark.parametrize("kind", ["mix", "programme"])
def test_a_stream_from_anywhere_has_no_seams(place: Path, heard: Hearing, kind: str) -> None:
    track = track_of(place)
    whole = sound_from(heard, track, kind)
    for start in (0.25, 1.4, 6.0, 9.3, 13.013, 19.6):  # within lines, in speech, near the end
        part = sound_from(heard, track, kind, start)
        first = round(start * RATE)
        assert np.array_equal(part, whole[first:])


def test_lines_are_limited_and_ducked_across_blocks_as_in_one_excerpt(tmp_path: Path) -> None:
    """Loud enough for the limiter, with two lines between which the film stays low."""
    place = write_folder(
        tmp_path / "film.shotad", lossless(), {2.7: "A cat sleeps by the window.", 5.2: "It rains."}, ()
    )
    settings = ("mix.level=18", "mix.true_peak=-12")
    heard, track = hearing(place, None, *settings), track_of(place)
    heard.warm()
    heard.hear(track, track.cues[0].id, "mix")
    heard.wait()
    streamed = sound_from(heard, track)
    rendered(place, "mix:wav", film=lossless(), settings=(*FAKE, *settings))
    assert is_part_of(streamed, 0.0, place)
    assert np.array_equal(sound_from(heard, track, start=4.5), streamed[round(4.5 * RATE) :])
    heard.close()


@pytest.mark.parametrize(("layout", "channels"), [("mono", 1), ("5.1", 6)])
def test_a_stream_is_stereo_whatever_the_film_has(tmp_path: Path, layout: str, channels: int) -> None:
    film = film_with(suffix=".mkv", sounds=(replace(STEREO, codec="flac", layout=layout),))
    place = write_folder(tmp_path / "film.shotad", film)
    heard, track = hearing(place, film), track_of(place)
    heard.warm()
    heard.hear(track, track.cues[0].id, "mix")
    heard.wait()
    with wave.open(io.BytesIO(bytes_of(heard, track))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, RATE)
        assert file.getnframes() == round(track.film.duration * RATE)
    sound = sound_from(heard, track)
    assert sound[round(1.0 * RATE) : round(2.6 * RATE)].any()
    if channels == 1:
        assert np.array_equal(sound[:, 0], sound[:, 1])
    heard.close()


def of(track: Track, cue: object) -> Track:
    """The track with another line of that id."""
    return replace(track, cues=tuple(cue if one.id == cue.id else one for one in track.cues))  # type: ignore


def test_a_line_that_finds_no_place_is_not_in_its_mix_and_says_why(place: Path, heard: Hearing) -> None:
    track = track_of(place)
    # From 6 to 8 people speak.
    text = "Rain falls on the empty street of the old town by the sea"
    cue = replace(track.cues[0], interval=Interval(6.2, 7.0), slot_id=None, text=text)
    found = heard.hear(of(track, cue), cue.id, "mix")
    assert found.line is None
    assert any(text.startswith("Not spoken in the film: ") for text in found.warnings)
    silent = sound_from(heard, of(track, cue), "mix", found.start, found.end - found.start)
    film = sound_from(heard, of(track, cue), "programme", found.start, found.end - found.start)
    assert np.abs(silent - film).max() < 1.1 * LSB
    alone = heard.hear(of(track, cue), cue.id, "voice")
    assert alone.path is not None
    assert decoded(alone.path)[0].any()
    assert alone.line is None


def test_a_dropped_line_is_the_film_without_it_and_has_a_voice_all_the_same(place, heard):
    track = track_of(place)
    cue = replace(track.cues[1], status=CueStatus.DROPPED, reason="dropped by a person")
    mix, film, alone = (heard.hear(of(track, cue), cue.id, kind) for kind in ("mix", "programme", "voice"))
    assert (mix.line, film.line) == (None, None)
    assert mix.warnings == ("Not spoken in the film: dropped by a person.",)
    assert film.warnings == ()
    assert decoded(alone.path)[0].any()
    empty = replace(cue, text="", status=CueStatus.SILENT, candidates=(), chosen=None)
    unwritten = heard.hear(of(track, empty), cue.id, "mix")
    assert (unwritten.line, unwritten.text, unwritten.warnings) == (None, "", ())
    assert (unwritten.start, unwritten.end) == pytest.approx((7.0, 15.5)), "the film of the slot"
    wordless = replace(track.cues[1], text="…")
    with pytest.raises(VoiceError, match="no words"):
        heard.hear(of(track, wordless), cue.id, "voice")
    assert "no word" in heard.hear(of(track, wordless), cue.id, "mix").warnings[0]


def test_a_film_without_sound_or_that_is_gone_leaves_the_voice(tmp_path: Path) -> None:
    film = film_with(sounds=())
    place = write_folder(tmp_path / "film.shotad", film)
    track = track_of(place)
    sounding = write_folder(tmp_path / "gone.shotad", lossless())
    gone = hearing(sounding, there=tmp_path / "gone.mp4")
    lost = gone.hear(track_of(sounding), track.cues[0].id, "mix")
    assert "gone.mp4" in lost.warnings[0]
    assert lost.warnings[0].endswith("Only the voice is heard.")
    voice = sound_from(gone, track_of(sounding), seconds=4.0)
    assert voice.any()
    assert not voice[:40000].any()
    # It comes back, and is heard again.
    shutil.copy(lossless(), tmp_path / "gone.mp4")
    back = gone.hear(track_of(sounding), track.cues[0].id, "mix")
    assert not any("Only the voice" in warning for warning in back.warnings)
    assert sound_from(gone, track_of(sounding), "programme", seconds=1.0).any()
    (tmp_path / "gone.mp4").unlink()
    shutil.copy(film_with(), tmp_path / "gone.mp4")
    (other,) = gone.hear(track_of(sounding), track.cues[0].id, "programme").warnings
    assert "is another film now" in other
    gone.close()
    made = hearing(place, film)
    found = made.hear(track, track.cues[0].id, "mix")
    assert "no sound" in found.warnings[0]
    assert found.settled
    rendered(place, "mix:wav", film=film, settings=FAKE)
    assert is_part_of(sound_from(made, track), 0.0, place)
    made.close()


def test_loudness_is_kept_for_the_next_time_and_a_damaged_record_of_it_made_anew(place, heard):
    track = track_of(place)
    wanted = bytes_of(heard, track)
    record = place / "review" / "loudness.json"
    for text in (record.read_text(), "", "[1]", '{"format": 1, "measures": [{"key": 3}, 7]}'):
        record.write_text(text)
        again = hearing(place)
        early = again.hear(track, track.cues[1].id, "mix")
        assert early.settled is ("course" in text)
        again.wait()
        assert bytes_of(again, track) == wanted
        assert json.loads(record.read_text())["measures"]
        again.close()


class Watched(FakeVoice):
    """A fake that takes its time, and knows how many speak at once."""

    now = most = 0

    def speak(self, text: str, speed: float = 1.0) -> Take:
        self.now += 1
        self.most = max(self.most, self.now)
        time.sleep(0.02)
        self.now -= 1
        return super().speak(text, speed)


def test_many_may_hear_at_once_and_one_is_spoken_at_a_time(place, monkeypatch):
    watched = Watched()
    monkeypatch.setattr(speaking, "make_voice", lambda settings, language: watched)
    made, track = hearing(place), track_of(place)
    asked = [(cue.id, kind) for cue in track.cues for kind in ("mix", "voice", "programme")]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda one: made.hear(track, *one), asked * 2))
    made.wait()
    assert watched.most == 1
    assert sorted(watched.calls) == sorted(set(watched.calls))
    assert all(one.path is None or one.path.exists() for one in found)
    made.close()


def test_the_language_is_that_of_the_track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write_folder(tmp_path / "film.shotad", lossless(), language="de")
    asked: list[str] = []

    def made(settings: Any, language: str) -> FakeVoice:
        asked.append(language)
        return FakeVoice()

    monkeypatch.setattr(speaking, "make_voice", made)
    heard, track = hearing(place, None, "language=de"), track_of(place)
    heard._speaking.voice()
    heard.hear(track, track.cues[0].id, "voice")
    heard.wait()
    assert heard.hear(track, track.cues[0].id, "voice").warnings == ()
    assert asked == ["de"]
    other = replace(track, cues=(replace(track.cues[0], language="fr"), *track.cues[1:]))
    told = heard.hear(other, track.cues[0].id, "voice").warnings
    assert told[-1] == "The line is in 'fr'; the voice speaks 'de'."
    heard.hear(replace(track, language="fr"), track.cues[0].id, "voice")
    assert asked == ["de", "fr"]
    heard.close()


def test_sounds_are_bounded_the_newest_stay_and_none_of_anybody_else_is_removed(tmp_path: Path) -> None:
    (tmp_path / "song.wav").write_bytes(b"song")
    made = []
    for number in range(6):
        made.append(keep_sound(tmp_path, b"%d" % number, files=3))
        os.utime(made[-1], ns=((number + 1) * 10**9,) * 2)
    assert set(tmp_path.iterdir()) == {*made[3:], tmp_path / "song.wav"}
    assert keep_sound(tmp_path, b"3", files=3) == made[3]
    new = keep_sound(tmp_path, b"6", files=3)
    assert set(tmp_path.iterdir()) == {made[3], made[5], new, tmp_path / "song.wav"}


def test_a_voice_that_is_being_loaded_is_waited_for_at_the_end(place, monkeypatch):
    """A model that is loaded while Python ends brings the program down."""
    made, begun, done = hearing(place), threading.Event(), threading.Event()

    def voice() -> None:
        begun.set()
        time.sleep(0.3)
        done.set()

    monkeypatch.setattr(made._speaking, "voice", voice)
    made.warm()
    assert begun.wait(20)
    made.close()
    assert done.is_set()
    done.clear()
    made.warm()
    assert not [one for one in threading.enumerate() if one.name == "warming voice"]
    assert not done.is_set()


def test_that_lines_leave_this_machine_is_told_before_one_is_spoken(place: Path) -> None:
    server = ("voice.name=openai:alloy", "voice.base_url=http://speech.example/v1")
    told = hearing(place, None, *server).voices()["notice"]
    assert "they are sent to speech.example to be spoken" in told
    assert "not encrypted" in told
    assert hearing(place).voices()["notice"] == ""


def test_other_settings_are_other_sounds(place: Path, heard: Hearing) -> None:
    track = track_of(place)
    # At 5.5 its gap is nearly over: it must begin earlier.
    cue = replace(track.cues[0], interval=Interval(4.4, 6.0), slot_id=None)
    sounds = {bytes_of(heard, of(track, cue))}
    for setting in (
        "mix.duck=3",
        "mix.level=3",
        "fit.earlier=0.2",
        "voice.speed=1.2",
        "voice.name=fake:deep",
    ):
        other = hearing(place, None, setting)
        other.hear(of(track, cue), cue.id, "mix")
        other.wait()
        sounds.add(bytes_of(other, of(track, cue)))
        other.close()
    assert len(sounds) == 6


NEIGHBOURS = {1.0: "A cat sleeps.", 9.0: "She opens the door.", 12.0: "Rain falls on the empty street."}
MINE, NEXT = "s00009000", "s00012000"
TOO_LONG = "She opens the heavy old brown wooden door of the cold empty dark house of her grandmother"


def told_of(page: Page, review: Review, name: str) -> list[str]:
    """What the page says of a line by rule T4, once all is known."""
    assert review.findings.wait()
    findings = [one for one in page.line(name)["findings"] if one["rule"] == "T4"]
    return [f"{one['level']}: {one['text']}" for one in findings]


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A folder with two lines in one gap, from 8 to 14.5 seconds."""
    speech = (Interval(6.0, 8.0), Interval(14.5, 16.0))
    return fake_voice(write_folder(tmp_path / "film.shotad", lossless(), NEIGHBOURS, speech))


def test_beside_a_line_the_page_says_that_it_leaves_the_next_no_time_before_a_render_does(
    crowded: Path,
) -> None:
    leaves = (
        "warning: leaves no time for the line at 00:00:12.000 (“Rain falls on the empty street.”), which "
    )
    with reviewed(crowded, film=lossless()) as (review, page):
        assert told_of(page, review, MINE) == told_of(page, review, NEXT) == []
        page.act("write", MINE, {"text": TOO_LONG})
        # Neither was spoken yet: it is told by their words.
        (told,) = told_of(page, review, MINE)
        assert told.startswith(f"{leaves}would not be spoken (by the number of words")
        (told,) = told_of(page, review, NEXT)
        assert told.startswith("error: would not be spoken: it takes ")
        assert "without the line at 00:00:09.000 it would fit" in told
        # Heard, it says so too, and from then on it is known.
        said = page.get(f"/api/hear/{MINE}").json["warnings"]
        assert any("leaves no time for the line at 00:00:12.000" in text for text in said)
        assert told_of(page, review, MINE) == [f"{leaves}would not be spoken"]
        page.act("write", MINE, {"text": "She opens the door."})
        assert told_of(page, review, MINE) == told_of(page, review, NEXT) == []
        page.act("write", MINE, {"text": TOO_LONG})
        foreseen = review.watched().hearing.foresee(review.session.track)
    done, _ = rendered(crowded, "mix:wav", film=lossless(), settings=FAKE)
    lost = {one.cue_id for one in foreseen if one.level is Level.ERROR}
    assert lost == {cue.id for cue in done.unspoken} == {NEXT}
    assert not done.failed
    report = summary(done)
    assert "Not heard: 1." in report
    assert "without the line at 00:00:09.000 it would fit" in report
    assert f"warning T4: {MINE}: leaves no time for the line at 00:00:12.000" in report
    assert [row["cue_id"] for row in done.as_json()["findings"]] == [MINE]
    # Lint knows it from then on, until the line is another.
    linted = lint_track(track_of(crowded), crowded, load_config(None, ())).findings
    assert any(one.rule == "T4" and one.cue_id == MINE and "leaves no time" in one.message for one in linted)
    retrack(crowded, lambda cue: replace(cue, text="She opens it.") if cue.id == MINE else cue)
    linted = lint_track(track_of(crowded), crowded, load_config(None, ())).findings
    assert not any("leaves no time" in one.message for one in linted)


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize(
    "texts",
    [
        {MINE: TOO_LONG},
        {NEXT: TOO_LONG},
        {MINE: TOO_LONG, NEXT: TOO_LONG},
        {MINE: "She opens the door. A lamp goes out. He sees it, nods and leaves the room."},
        {MINE: "…", NEXT: " ".join(["word"] * 40)},
        {"s00001000": " ".join(["word"] * 60)},
    ],
)
def test_what_is_foreseen_is_what_a_render_comes_to(
    crowded: Path, texts: dict[str, str], extended: bool
) -> None:
    settings = (*FAKE, f"extended.on={str(extended).lower()}")
    retrack(crowded, lambda cue: replace(cue, text=texts.get(cue.id, cue.text)))
    done, _ = rendered(crowded, "ad:wav", film=lossless(), settings=settings)
    heard = hearing(crowded, None, *settings)
    heard._speaking.voice()
    foreseen = heard.foresee(track_of(crowded))
    heard.close()
    without_words = {cue.id for cue in done.unspoken if cue.text == "…"}
    lost = {one.cue_id for one in foreseen if one.level is Level.ERROR}
    assert lost == {cue.id for cue in done.unspoken} - without_words
    takers = {one.cue_id for one in foreseen if one.level is Level.WARNING}
    assert takers == {one.cue_id for one in done.findings if one.rule == "T4"}
