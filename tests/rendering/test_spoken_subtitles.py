"""Subtitles of foreign dialogue, spoken by a second voice: found, cleaned, placed, and heard in what a render makes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.stream import Disposition

from shotad.core import Interval, Utterance, load_config
from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import SubtitleError
from shotad.core.types import SpeechKind
from shotad.film import open_film
from shotad.sound.mix import resampled
from shotad.sound.outputs import summary
from shotad.sound.own_voices import FakeVoice
from shotad.sound.programme import RATE
from shotad.sound.spoken_subtitles import (
    MAX_SUBTITLE_SPEED,
    MAX_WAIT,
    find_subtitles,
    place_subtitles,
    subtitle_voice,
)
from shotad.sound.takes import CachingStudio
from tests.rendering.described import film_with, rendered, sound_of, track_of
from tests.sound.tones import onset

FORCED = """1
00:00:06,000 --> 00:00:08,000
<i>- ANNA: Where is the key?</i> [sighs]

2
00:00:11,900 --> 00:00:13,000
It is under the old stone.

3
00:00:17,000 --> 00:00:18,000
♪ La la la ♪
"""
SECOND_VOICE = "voice.subtitle_voice=fake:deep"


@pytest.fixture
def subtitles(tmp_path: Path) -> Path:
    path = tmp_path / "foreign.srt"
    path.write_text(FORCED, encoding="utf-8")
    return path


def test_subtitles_are_heard_at_their_time_over_a_lowered_film_and_never_over_the_description(
    place: Path, subtitles: Path
) -> None:
    plain, _ = rendered(place, "mix:flac")
    before = sound_of(plain.made[0].output.path)
    done, voice = rendered(place, "mix", settings=(f"voice.subtitles={subtitles}", SECOND_VOICE))
    assert done.made[0].fresh
    made = done.subtitles
    assert made is not None
    assert [line.text for line in made.spoken] == ["Where is the key?", "It is under the old stone."]
    assert (made.voice, made.source) == ("fake:deep", "foreign.srt")
    heard = sound_of(done.made[0].output.path)
    for line in made.spoken:
        at = onset(heard, resampled(line.take), round(line.start * RATE), RATE // 2)
        assert at / RATE == pytest.approx(line.start, abs=0.01)
    # From 6 to 8 s people speak: the film is lowered all the same, and only under the subtitle.
    assert made.spoken[0].start == pytest.approx(6.0)
    levels = {row["id"]: row for row in done.sound.measures["lines"]} if done.sound else {}
    row = levels[made.spoken[0].id]
    assert row["voice"] - row["ducked"] >= 9.9
    assert row["ducked"] < row["programme"] - 5
    # No two are heard together.
    intervals = [cue.spoken.interval for cue in done.spoken if cue.spoken and cue.spoken.interval]
    intervals += made.intervals
    ordered = sorted(intervals)
    for first, following in itertools.pairwise(ordered):
        assert first.end < following.start
    assert np.abs(heard - before).max() > 0.01
    # The description keeps its words and its own voice.
    assert {text for text, _ in voice.calls} <= {cue.text for cue in track_of(place).cues}
    told = summary(done)
    assert "Subtitles: 2 of 2 spoken by fake:deep, from foreign.srt." in told
    assert "1 subtitle of songs in foreign.srt: not spoken." in told
    rows = done.as_json()["subtitles"]["lines"]
    assert next((one["text"], one["start"]) for one in rows) == ("Where is the key?", 6.0)
    again, _ = rendered(place, "mix", settings=(f"voice.subtitles={subtitles}", SECOND_VOICE))
    assert [one.fresh for one in again.made] == [False]


def test_a_description_makes_way_for_a_subtitle(place: Path, subtitles: Path) -> None:
    # The line at 9 s would be heard until about 12 s; the subtitle at 9.0 s takes its place.
    subtitles.write_text(
        FORCED.replace("00:00:11,900", "00:00:09,000").replace("00:00:13,000", "00:00:10,500")
    )
    done, _ = rendered(place, "ad", settings=(f"voice.subtitles={subtitles}", SECOND_VOICE))
    assert done.subtitles is not None
    second = done.subtitles.spoken[1]
    assert second.start == pytest.approx(9.0)
    line = next(cue for cue in done.track.cues if cue.id == "s00009000")
    assert line.spoken is not None
    if line.spoken.interval is not None:
        assert line.spoken.interval.start > second.interval.end
    else:
        assert "Not heard: 1." in summary(done)


def test_the_film_pauses_around_subtitles_too(place: Path, subtitles: Path) -> None:
    settings = (
        f"voice.subtitles={subtitles}",
        SECOND_VOICE,
        "extended.on=true",
        "fit.later=0",
        "fit.earlier=0",
    )
    done, _ = rendered(place, "mix", settings=settings)
    assert done.subtitles is not None
    assert len(done.subtitles.spoken) == 2


def forced_file(film: Path, name: str, text: str = FORCED) -> Path:
    path = film.with_name(f"{film.stem}.{name}")
    path.write_text(text, encoding="utf-8")
    return path


def test_auto_takes_what_lies_beside_the_film_in_the_language(tmp_path: Path) -> None:
    film = tmp_path / "movie.mkv"
    film.write_bytes(film_with().read_bytes())
    with open_film(film) as opened:
        info = opened.info
        with pytest.raises(SubtitleError, match="No forced subtitles in 'en' were found"):
            find_subtitles(info, "auto", "en")
        forced_file(film, "srt")
        forced_file(film, "de.forced.srt", FORCED.replace("Where is the key?", "Wo?"))
        with pytest.raises(SubtitleError):
            find_subtitles(info, "auto", "en")
        forced_file(film, "forced.srt")
        found = find_subtitles(info, "auto", "en")
        assert (found.source, found.language, found.sung) == ("movie.forced.srt", "en", 1)
        assert [one.text for one in found.utterances] == ["Where is the key?", "It is under the old stone."]
        forced_file(film, "en.forced.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nStop!\n")
        assert find_subtitles(info, "auto", "en").source == "movie.en.forced.vtt"
        assert find_subtitles(info, "auto", "de").source == "movie.de.forced.srt"
        lyrics = forced_file(film, "x.srt", "1\n00:00:01,000 --> 00:00:02,000\n♪ La la la ♪\n")
        with pytest.raises(SubtitleError, match="no subtitle that could be spoken"):
            find_subtitles(info, str(lyrics), "en")


def with_text_tracks(film: Path, target: Path, tracks: list[tuple[str, str, bool, str]]) -> Path:
    """A copy of a film with a track of one subtitle for each (language, title, forced, text)."""
    with av.open(str(film)) as source, av.open(str(target), "w") as output:
        picture: Any = output.add_stream_from_template(source.streams.video[0])
        streams: list[Any] = []
        for language, title, is_forced, _ in tracks:
            stream: Any = output.add_mux_stream("subrip")
            stream.time_base = Fraction(1, 1000)
            stream.metadata.update({"language": language, "title": title})
            stream.disposition = Disposition.forced if is_forced else Disposition.default
            streams.append(stream)
        for stream, (_, _, _, text) in zip(streams, tracks, strict=True):
            packet = av.Packet(text.encode())
            packet.stream, packet.time_base = stream, Fraction(1, 1000)
            packet.pts = packet.dts = 6000
            packet.duration = 2000
            output.mux(packet)
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = picture
                output.mux(packet)
    return target


def test_auto_takes_the_forced_track_of_the_film_in_the_language(tmp_path: Path) -> None:
    tracks = [
        ("eng", "", False, "All that is said."),
        ("ger", "Forced", True, "Wo?"),
        ("eng", "Forced", True, "Where is the <i>key</i>? (sighs)"),
        ("und", "Foreign parts", False, "Somebody."),
    ]
    film = with_text_tracks(film_with(), tmp_path / "movie.mkv", tracks)
    with open_film(film) as opened:
        found = find_subtitles(opened.info, "auto", "en-GB")
        assert [one.text for one in found.utterances] == ["Where is the key?"]
        assert found.source == "the forced subtitle track 2 of movie.mkv"
        assert [one.text for one in find_subtitles(opened.info, "auto", "de").utterances] == ["Wo?"]
        assert [one.text for one in find_subtitles(opened.info, "auto", "fr").utterances] == ["Somebody."]


def said(start: float, end: float, text: str) -> Utterance:
    return Utterance(Interval(start, end), text, SpeechKind.SPEECH, "")


def test_subtitles_wait_for_each_other_and_are_faster_where_they_press(tmp_path: Path) -> None:
    studio = CachingStudio(FakeVoice(), tmp_path, VoiceSettings(name="fake"), "en")
    text = "Nobody knows where the key to the old garden is."
    own = studio.say(text).seconds
    # Alone, with time enough: at its own time and pace.
    (alone,) = place_subtitles([said(5, 5 + own, text)], studio, 60).spoken
    assert (alone.start, alone.steps) == (5, ())
    # A little too little time is made up for by a little haste.
    (faster,) = place_subtitles([said(5, 5 + own - 0.7, text)], studio, 60).spoken
    assert 1 < own / faster.take.seconds <= 1.1501
    # The next presses: faster, up to the limit, and then the next waits.
    first, second = place_subtitles([said(5, 6, text), said(6, 7, text)], studio, 60).spoken
    assert own / first.take.seconds == pytest.approx(MAX_SUBTITLE_SPEED, rel=0.01)
    assert second.start == pytest.approx(first.interval.end + 0.15)
    assert any(step.startswith("moved ") for step in second.steps)
    many = place_subtitles([said(5 + i / 2, 5.5 + i / 2, text) for i in range(8)], studio, 60)
    assert all(line.start - int(line.id[1:9]) / 1000 <= MAX_WAIT for line in many.spoken)
    assert many.unspoken
    assert "s late, after the subtitles before it" in many.unspoken[0].reason
    last = place_subtitles([said(59, 60, text)], studio, 60)
    assert [line.reason for line in last.unspoken] == ["the film ends before it could be said"]


def test_the_second_voice_is_another_one_where_there_is_another() -> None:
    config = load_config(None, ())
    chosen = subtitle_voice(load_config(None, (SECOND_VOICE,)), "en", "fake")
    assert chosen.name == "fake:deep"
    try:
        assert subtitle_voice(config, "en", "espeak-ng:en-us").name != "espeak-ng:en-us"
    except Exception as error:  # noqa: BLE001
        pytest.skip(f"no voice is installed: {error}")
