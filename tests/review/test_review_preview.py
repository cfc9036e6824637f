"""A line is heard on the page as a render of the whole film has it."""

from __future__ import annotations

import io
import json
import os
import shutil
import threading
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Interval, load_config
from shotad.core.runsettings import read_settings
from shotad.description import lint_track
from shotad.film import Samples
from shotad.review.english_sentences import reason_message
from shotad.review.messages import message
from shotad.script import Cue, CueStatus
from shotad.sound.outputs import summary
from shotad.sound.programme import RATE
from tests.rendering.described import (
    STEREO,
    change,
    fake_voice,
    film_with,
    rendered,
    retrack,
    track_of,
    write_folder,
)
from tests.review.asgi import WAIT, Listener
from tests.review.reviewed import Page, in_english, reviewed
from tests.review.voices import Counted, SlowToLoad, add_own_voices
from tests.sound.tones import decoded

LSB = 1 / 32768
CAT, DOOR = "s00001000", "s00009000"
FAKE = ("voice.name=fake", "lint.parse=words")


@contextmanager
def listening(place: Path, film: Path | None = None, *settings: str) -> Iterator[Page]:
    """The page of a described folder, with the fake voice unless the settings name another."""
    run = replace(read_settings(place), config=load_config(None, (*FAKE, *settings)))
    with reviewed(place, film=film or lossless(), run=run) as (_, page):
        yield page


def lossless() -> Path:
    """The test film with sound in which no decoder draws noise by chance."""
    return film_with(suffix=".mkv", sounds=(replace(STEREO, codec="flac"),))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "film.shotad", lossless())


@pytest.fixture
def page(place: Path) -> Iterator[Page]:
    """Of which the whole film was listened to."""
    with listening(place) as page:
        page.until_settled(CAT)
        yield page


def hear(page: Page, line: str, kind: str = "mix") -> Any:
    """Where a line is heard."""
    answer = page.get(f"/api/hear/{line}?kind={kind}")
    assert answer.status == 200, answer.text
    return in_english(answer.json)


def take(page: Page, line: str) -> Samples:
    """The voice of a line alone."""
    answer = page.get(hear(page, line, "voice")["url"])
    with wave.open(io.BytesIO(answer.body)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32)


def bytes_from(page: Page, kind: str = "mix", start: float = 0.0, seconds: float = 60.0) -> bytes:
    """The beginning of the file that is streamed from a film second."""
    last = 44 + 4 * round(seconds * RATE) - 1
    answer = page.get(f"/media/sound/{kind}.wav?from={start}", range=f"bytes=0-{last}")
    assert answer.status == 206, answer.text
    return answer.body


def sound_from(page: Page, kind: str = "mix", start: float = 0.0, seconds: float = 60.0) -> Samples:
    """``float32[n, 2]`` of what is streamed from a film second."""
    data = np.frombuffer(bytes_from(page, kind, start, seconds)[44:], "<i2")
    return data.reshape(-1, 2).astype(np.float32) * np.float32(LSB)


def is_part_of(sound: Samples, start: float, place: Path) -> bool:
    """Whether a sound is, from ``start`` on, that of the mix that a render made."""
    full, rate = decoded(next(place.glob("*.mix.wav")))
    first = round(start * RATE)
    return rate == RATE and bool(np.abs(sound - full[first : first + len(sound)]).max() < 0.51 * LSB + 1e-6)


FORCED = """1
00:00:06,000 --> 00:00:08,000
Where is the key?

2
00:00:10,100 --> 00:00:11,000
It is under the old stone.
"""


def test_spoken_subtitles_are_heard_as_a_render_has_them_and_lines_make_way(tmp_path: Path) -> None:
    film = Path(shutil.copy(lossless(), tmp_path / "film.mkv"))
    film.with_suffix(".forced.srt").write_text(FORCED, encoding="utf-8")
    place = write_folder(tmp_path / "film.shotad", film)
    second_voice = "voice.subtitle_voice=fake:deep"
    with listening(place, film, second_voice) as page:
        page.until_settled(CAT)
        plain = sound_from(page)
        version = page.get("/api/spoken?from=0&to=60").json["version"]
        assert page.film()["voice"]["subtitles"] is False
        with Listener(page) as tab:
            job = page.ended(page.post("/api/subtitles", {"on": True}).json["id"])
            (news,) = tab.until("subtitles")
        assert job["state"] == "done", job
        assert job["result"]["said"]["text"].startswith(
            "2 subtitles are spoken by fake:deep, from film.forced.srt"
        )
        assert (news, page.film()["voice"]["subtitles"]) == ({"on": True}, True)
        spoken = page.get("/api/spoken?from=0&to=60").json
        assert spoken["version"] != version
        subtitles = [line for line in spoken["lines"] if not line["id"]]
        assert [line["text"] for line in subtitles] == ["Where is the key?", "It is under the old stone."]
        lines = [line for line in spoken["lines"] if line["id"]]
        assert all(
            line["end"] <= other["start"] or line["start"] >= other["end"]
            for line in lines
            for other in subtitles
        )
        mixed = sound_from(page)
        rendered(place, "mix:wav", film=film, settings=(*FAKE, second_voice, "voice.subtitles=auto"))
        assert is_part_of(mixed, 0.0, place)
        assert np.abs(mixed - plain).max() > 0.05
        assert page.post("/api/subtitles", {"on": False}).status == 200
        assert page.get("/api/spoken?from=0&to=60").json["version"] == version
        assert np.array_equal(sound_from(page), plain)


def test_a_film_without_forced_subtitles_says_so(page: Page) -> None:
    job = page.ended(page.post("/api/subtitles", {"on": True}).json["id"])
    assert (job["state"], "No forced subtitles" in job["error"]["what"]) == ("failed", True)
    assert page.film()["voice"]["subtitles"] is False


def change_line(place: Path, line: str, **changes: Any) -> None:
    """Another program changes a line."""
    retrack(place, lambda cue: replace(cue, **changes) if cue.id == line else cue)


def test_the_stream_is_the_mix_of_a_render_and_nothing_is_spoken_again(place: Path, page: Page) -> None:
    track = track_of(place)
    line_sounds = {cue.id: hear(page, cue.id) for cue in track.cues}
    streamed = sound_from(page)
    done, voice = rendered(place, "mix:wav", film=lossless(), settings=FAKE)
    assert voice.calls == []
    assert len(streamed) == round(track.film.duration * RATE)
    assert is_part_of(streamed, 0.0, place)
    spoken = {line["id"]: line for line in page.get("/api/spoken?from=0&to=60").json["lines"]}
    assert list(spoken) == [cue.id for cue in done.track.cues]
    for cue in done.track.cues:
        line_sound = line_sounds[cue.id]
        assert cue.spoken is not None
        assert cue.spoken.interval is not None
        start, end = cue.spoken.interval.start, cue.spoken.interval.end
        assert line_sound["line"] == pytest.approx((start, end))
        assert (spoken[cue.id]["start"], spoken[cue.id]["end"]) == pytest.approx((start, end))
        assert spoken[cue.id]["text"] == line_sound["text"] == cue.text
        assert line_sound["start"] == pytest.approx(max(0.0, start - 2.0))
        assert line_sound["end"] == pytest.approx(min(end + 1.5, track.film.duration))
        assert line_sound["warnings"] == [
            str(message("note.reason", reason=reason_message(step))) for step in cue.spoken.steps
        ]


@pytest.mark.parametrize("kind", ["mix", "programme"])
def test_a_stream_from_anywhere_has_no_seams(page: Page, kind: str) -> None:
    whole = sound_from(page, kind)
    for start in (0.25, 1.4, 6.0, 9.3, 13.013, 19.6):  # within lines, in speech, near the end
        part = sound_from(page, kind, start)
        first = round(start * RATE)
        assert np.array_equal(part, whole[first:])


def test_lines_are_limited_and_ducked_across_blocks_as_in_one_excerpt(tmp_path: Path) -> None:
    """Loud enough for the limiter, with two lines between which the film stays low."""
    place = write_folder(
        tmp_path / "film.shotad", lossless(), {2.7: "A cat sleeps by the window.", 5.2: "It rains."}, ()
    )
    settings = ("mix.level=18", "mix.true_peak=-12")
    with listening(place, None, *settings) as page:
        page.until_settled("s00002700")
        streamed = sound_from(page)
        rendered(place, "mix:wav", film=lossless(), settings=(*FAKE, *settings))
        assert is_part_of(streamed, 0.0, place)
        assert np.array_equal(sound_from(page, start=4.5), streamed[round(4.5 * RATE) :])


@pytest.mark.parametrize(("layout", "channels"), [("mono", 1), ("5.1", 6)])
def test_a_stream_is_stereo_whatever_the_film_has(tmp_path: Path, layout: str, channels: int) -> None:
    film = film_with(suffix=".mkv", sounds=(replace(STEREO, codec="flac", layout=layout),))
    place = write_folder(tmp_path / "film.shotad", film)
    with listening(place, film) as page:
        page.until_settled(CAT)
        with wave.open(io.BytesIO(bytes_from(page))) as file:
            assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, RATE)
            assert file.getnframes() == round(track_of(place).film.duration * RATE)
        sound = sound_from(page)
    assert sound[round(1.0 * RATE) : round(2.6 * RATE)].any()
    if channels == 1:
        assert np.array_equal(sound[:, 0], sound[:, 1])


def test_a_line_that_finds_no_place_is_not_in_its_mix_and_says_why(place: Path, page: Page) -> None:
    # From 6 to 8 people speak.
    text = "Rain falls on the empty street of the old town by the sea"
    change_line(place, CAT, interval=Interval(6.2, 7.0), slot_id=None, text=text)
    page.film()
    mix = hear(page, CAT)
    assert mix["line"] is None
    assert any(text.startswith("Not spoken in the film: ") for text in mix["warnings"])
    silent = sound_from(page, "mix", mix["start"], mix["end"] - mix["start"])
    film = sound_from(page, "programme", mix["start"], mix["end"] - mix["start"])
    assert np.abs(silent - film).max() < 1.1 * LSB
    assert hear(page, CAT, "voice")["line"] is None
    assert take(page, CAT).any()


def test_a_dropped_line_is_the_film_without_it_and_has_a_voice_all_the_same(place, page):
    page.do("drop", DOOR)
    mix, film = hear(page, DOOR), hear(page, DOOR, "programme")
    assert (mix["line"], film["line"]) == (None, None)
    assert mix["warnings"] == ["Not spoken in the film: dropped by a person."]
    assert film["warnings"] == []
    assert take(page, DOOR).any()
    page.do("undo")
    page.do("write", DOOR, text="…")
    refused = page.get(f"/api/hear/{DOOR}?kind=voice")
    assert (refused.status, "no words" in refused.json["error"]["what"]) == (400, True)
    assert "no word" in hear(page, DOOR)["warnings"][0]
    change_line(place, DOOR, text="", status=CueStatus.SILENT, candidates=(), chosen=None)
    page.film()
    unwritten = hear(page, DOOR)
    assert (unwritten["line"], unwritten["text"], unwritten["warnings"]) == (None, "", [])
    assert (unwritten["start"], unwritten["end"]) == pytest.approx((7.0, 15.5)), "the film of the slot"


def test_a_film_without_sound_leaves_the_voice(tmp_path: Path) -> None:
    film = film_with(sounds=())
    place = write_folder(tmp_path / "film.shotad", film)
    with listening(place, film) as page:
        mix = hear(page, CAT)
        assert "no sound" in mix["warnings"][0]
        assert mix["settled"]
        rendered(place, "mix:wav", film=film, settings=FAKE)
        assert is_part_of(sound_from(page), 0.0, place)


def test_a_film_that_goes_leaves_the_voice_and_is_heard_again_when_it_is_back(tmp_path: Path) -> None:
    film = tmp_path / "film.mkv"
    shutil.copy(lossless(), film)
    place = write_folder(tmp_path / "film.shotad", film)
    with listening(place, film) as page:
        film.unlink()
        (warning,) = hear(page, CAT)["warnings"]
        assert "film.mkv" in warning
        assert warning.endswith("Only the voice is heard.")
        voice = sound_from(page, seconds=4.0)
        assert voice.any()
        assert not voice[:40000].any()
        shutil.copy(lossless(), film)
        assert hear(page, CAT)["warnings"] == []
        assert sound_from(page, "programme", seconds=1.0).any()
        film.unlink()
        shutil.copy(film_with(), film)
        (warning,) = hear(page, CAT, "programme")["warnings"]
        assert "is another film now" in warning


def test_loudness_is_kept_for_the_next_time_and_a_damaged_record_of_it_made_anew(place, page):
    wanted = bytes_from(page)
    record = place / "review" / "loudness.json"
    kept = record.read_text()
    for text in (kept, "", "[1]", '{"format": 1, "measures": [{"key": 3}, 7]}'):
        record.write_text(text)
        with listening(place) as again:
            assert hear(again, DOOR)["settled"] is (text == kept)
            again.until_settled(DOOR)
            assert bytes_from(again) == wanted
        assert json.loads(record.read_text())["measures"]


def test_many_may_hear_at_once_and_one_is_spoken_at_a_time(place, monkeypatch):
    add_own_voices(monkeypatch)
    monkeypatch.setattr(Counted, "spoken", [])
    with listening(place, None, "voice.name=counted") as page:
        kinds = ("mix", "voice", "programme")
        paths = [f"/api/hear/{cue.id}?kind={kind}" for cue in track_of(place).cues for kind in kinds]
        sounds = [answer.json for answer in page.get_all(paths * 2)]
        assert {page.get(sound["url"]).status for sound in sounds if "url" in sound} == {200}
    assert Counted.most_at_once == 1
    assert len(Counted.spoken) == len(set(Counted.spoken)) > 0


def test_the_language_is_that_of_the_track(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "film.shotad", lossless(), language="de")
    with listening(place, None, "language=de") as page:
        assert hear(page, CAT, "voice")["warnings"] == []
        change_line(place, CAT, language="fr")
        page.film()
        warning = hear(page, CAT, "voice")["warnings"][-1]
        assert warning == "The line is in 'fr'; the voice speaks 'de'."
        change(place / "track.json", '"language": "de"', '"language": "fr"')
        page.film()
        assert hear(page, CAT, "voice")["warnings"] == []


def test_sounds_are_bounded_the_newest_stay_and_none_of_anybody_else_is_removed(place, page):
    url = hear(page, CAT, "voice")["url"]
    folder = place / "review" / "heard"
    (folder / "song.wav").write_bytes(b"song")
    old = [folder / f"{number:016x}.wav" for number in range(205)]
    for number, file in enumerate(old):
        file.write_bytes(b"old")
        os.utime(file, ns=((number + 1) * 10**9,) * 2)
    hear(page, CAT, "voice")  # it is there, and the newest now
    assert len(list(folder.iterdir())) == 207
    new = hear(page, DOOR, "voice")["url"]
    left = {file.name for file in folder.iterdir()}
    assert left == {Path(url).name, Path(new).name, "song.wav", *(file.name for file in old[-198:])}


def test_a_voice_that_is_being_loaded_is_waited_for_at_the_end(place, monkeypatch):
    """A model that is loaded while Python ends brings the program down."""
    add_own_voices(monkeypatch)
    with listening(place, None, "voice.name=slow") as page:
        page.film()  # soon after it was shown, the voice is loaded
        assert SlowToLoad.is_loading.wait(WAIT)
    assert SlowToLoad.is_loaded.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name == "warming voice"]


def test_that_lines_leave_this_machine_is_told_before_one_is_spoken(place: Path) -> None:
    with listening(place, None, "voice.name=openai:alloy", "voice.base_url=http://speech.example/v1") as page:
        notice = in_english(page.film()["voice"]["notice"])
    assert "they are sent to speech.example to be spoken" in notice
    assert "not encrypted" in notice
    with listening(place) as page:
        assert page.film()["voice"]["notice"] == ""


def test_other_settings_are_other_sounds(place: Path, page: Page) -> None:
    # At 5.5 its gap is nearly over: it must begin earlier.
    change_line(place, CAT, interval=Interval(4.4, 6.0), slot_id=None)
    page.film()
    sounds = {bytes_from(page)}
    for setting in (
        "mix.duck=3",
        "mix.level=3",
        "fit.earlier=0.2",
        "voice.speed=1.2",
        "voice.name=fake:deep",
    ):
        with listening(place, None, setting) as other:
            other.until_settled(CAT)
            sounds.add(bytes_from(other))
    assert len(sounds) == 6


NEIGHBOURS = {1.0: "A cat sleeps.", 9.0: "She opens the door.", 12.0: "Rain falls on the empty street."}
MINE, NEXT = "s00009000", "s00012000"
TOO_LONG = "She opens the heavy old brown wooden door of the cold empty dark house of her grandmother"


def unspoken_findings(page: Page, line: str) -> list[str]:
    """What the page says of a line by rule T4, once all is known."""
    findings = [finding for finding in in_english(page.findings(line)) if finding["rule"] == "T4"]
    return [f"{finding['level']}: {finding['text']}" for finding in findings]


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
    with reviewed(crowded, film=lossless()) as (_, page):
        assert unspoken_findings(page, MINE) == unspoken_findings(page, NEXT) == []
        page.do("write", MINE, text=TOO_LONG)
        # Neither was spoken yet: it is told by their words.
        (finding,) = unspoken_findings(page, MINE)
        assert finding.startswith(f"{leaves}would not be spoken (by the number of words")
        (finding,) = unspoken_findings(page, NEXT)
        assert finding.startswith("error: would not be spoken: it takes ")
        assert "without the line at 00:00:09.000 it would fit" in finding
        # Heard, it says so too, and from then on it is known.
        warnings = hear(page, MINE)["warnings"]
        assert any("leaves no time for the line at 00:00:12.000" in text for text in warnings)
        assert unspoken_findings(page, MINE) == [f"{leaves}would not be spoken"]
        page.do("write", MINE, text="She opens the door.")
        assert unspoken_findings(page, MINE) == unspoken_findings(page, NEXT) == []
        page.do("write", MINE, text=TOO_LONG)
        lost = lines_found(page, "error")
    done, _ = rendered(crowded, "mix:wav", film=lossless(), settings=FAKE)
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


def lines_found(page: Page, level: str) -> set[str]:
    """The lines with a finding of rule T4 of this level."""
    return {
        line["id"]
        for line in page.checked()["lines"]
        if any(finding["rule"] == "T4" and finding["level"] == level for finding in line["findings"])
    }


@pytest.mark.parametrize("extended", [False, pytest.param(True, marks=pytest.mark.long)])
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

    def changed(cue: Cue) -> Cue:
        return replace(cue, text=texts.get(cue.id, cue.text))

    retrack(crowded, changed)
    done, _ = rendered(crowded, "ad:wav", film=lossless(), settings=settings)
    retrack(crowded, lambda cue: replace(cue, stored_take=None))
    with listening(crowded, None, *settings) as page:
        hear(page, "s00001000", "programme")
        page.get(f"/api/hear/{NEXT}?kind=voice")  # the voice is loaded, and its takes are known
        page.do("note", MINE, text="Check it again.")
        lost, takers = lines_found(page, "error"), lines_found(page, "warning")
    without_words = {cue.id for cue in done.unspoken if cue.text == "…"}
    assert lost == {cue.id for cue in done.unspoken} - without_words
    assert takers == {finding.cue_id for finding in done.findings if finding.rule == "T4"}


def test_words_that_the_voice_has_no_sound_for_are_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_own_voices(monkeypatch)
    change_line(place, CAT, text="A cat 在窗边 sleeps.")
    with listening(place, None, "voice.name=latin") as page:
        for kind in ("mix", "voice"):
            warnings = " ".join(hear(page, CAT, kind)["warnings"])
            assert (
                "The voice has no sound for “在窗边” and leaves it out: use “Say as”, or rewrite it."
                in warnings
            )
        assert "no sound" not in " ".join(hear(page, DOOR)["warnings"])
