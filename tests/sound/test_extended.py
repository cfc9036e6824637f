"""Extended AD: the copy of the film that pauses, every picture and sample where the time map says; which lines the film
waits for, where it stands still, and what is told of that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings, strategies as st

from shotad.core import (
    FilmInfo,
    Interval,
    Shot,
)
from shotad.core.config.sound import ExtendedSettings, FitSettings
from shotad.core.errors import SoundError, VoiceError
from shotad.core.types import AudioTrack
from shotad.film import (
    Film,
    open_film,
    sound_blocks,
)
from shotad.film.slots import subtract
from shotad.script.subtitle_formats import read_vtt
from shotad.sound import (
    Fitting,
    Spoken,
    Take,
    pauses,
)
from shotad.sound.containers import CONTAINERS
from shotad.sound.film_copy import FADE, copy_coding, sound_with_pauses, write_copy
from shotad.sound.fitting import fit
from shotad.sound.kinds import LineToSpeak, Pause, Unspoken
from shotad.sound.pauses import (
    AROUND_CUT,
    MIN_PAUSE,
    NEWCOMER,
    PausePlanner,
    TimeMap,
    Worth,
    names_of,
    pauses_record,
    pauses_vtt,
    worth,
)
from shotad.sound.placing import CLEAR
from tests.media import FilmSpec, SoundSpec, make_film, read_number, read_patches
from tests.runs import Heard
from tests.sound.tones import whole

RATE = 48000
ON = ExtendedSettings(on=True)
AS_IT_IS = ExtendedSettings(on=True, picture="copy")
TIMES = TimeMap((Pause(0.8, 0.7, "a"), Pause(1.2, 1.234, "b"), Pause(2.01, 0.5, "c")))
BEEPS = (0.5, 1.0, 1.5, 2.5)
BAND = FilmSpec(frames=75)


def band(codec: str = "aac", layout: str = "stereo", rate: int = 48000) -> SoundSpec:
    return SoundSpec(duration=3.0, beeps=BEEPS, codec=codec, layout=layout, rate=rate)


def sound(film: Film) -> npt.NDArray[np.float32]:
    return whole(sound_blocks(film, 0, RATE, "native")).mean(1)


def late_by(film: Film, copy: Film, times: TimeMap) -> float:
    """The greatest shift of a beep from its place in the copy, in ms, by cross-correlation."""
    before, after = sound(film), sound(copy)
    shifts = []
    for beep in BEEPS:
        here, there = round(beep * RATE), round(times.late(beep) * RATE)
        tone = before[here - 960 : here + 6720]
        assert np.abs(tone).max() > 0.05
        found = np.correlate(after[there - 3360 : there + 9120], tone, "valid").argmax()
        shifts.append(abs(int(found) - 2400) / RATE * 1000)
    return max(shifts)


def wrong_pictures(film: Film, copy: Film, times: TimeMap, seconds: npt.NDArray[np.float64]) -> list[float]:
    """Moments at which the copy shows another frame, in the film's seconds; pauses are looked into too."""
    before = [read_number(picture.image) for picture in film.pictures(list(seconds))]
    late = [times.late(second) for second in seconds]
    after = [read_number(picture.image) for picture in copy.pictures(late)]
    wrong = [second for second, one, other in zip(seconds, before, after, strict=True) if one != other]
    for number, pause in enumerate(times.pauses):
        waits = times.pause(number)
        stands = next(iter(film.pictures([pause.at - 0.001])))
        inside = copy.pictures([waits.start + 0.001, waits.middle, waits.end - 0.03])
        wrong += [pause.at for picture in inside if read_number(picture.image) != read_number(stands.image)]
    return wrong


@pytest.mark.parametrize(("suffix", "spec", "target"), [
    (".mp4", band(), ".mp4"),
    (".mp4", band(rate=44100), ".mov"),
    (".mp4", band(), ".webm"),
    (".mkv", band("ac3", "5.1"), ".ts"),
    (".mkv", band("flac", "7.1"), ".mkv"),
    (".ts", band("mp2"), ".ts"),
    (".ts", band(), ".mp4"),
])  # fmt: skip
def test_pictures_and_sound_stand_where_the_map_says(tmp_path, suffix, spec, target):
    shift = 3.0 if suffix == ".ts" else 0.0
    made = make_film(FilmSpec(suffix=suffix, frames=75, sounds=(spec,), shift=shift, b_frames=2))
    with open_film(made.path) as film:
        path = write_copy(film, TIMES.pauses, tmp_path / f"copy{target}", ON)
        with open_film(path) as copy:
            assert late_by(film, copy, TIMES) < 1.0
            assert wrong_pictures(film, copy, TIMES, np.arange(0.01, 2.9, 0.031)) == []
            assert copy.info.audio[0].channels == film.info.audio[0].channels
            assert copy.info.duration == pytest.approx(film.info.duration + TIMES.total, abs=0.05)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("suffix", "target"), [(".mp4", ".mp4"), (".mkv", ".mkv"), (".ts", ".ts"), (".ts", ".mkv")]
)
def test_a_picture_that_is_not_encoded_stands_still_as_well(tmp_path: Path, suffix: str, target: str) -> None:
    spec = FilmSpec(
        suffix=suffix, frames=75, sounds=(band(),), b_frames=2, shift=2.0 if suffix == ".ts" else 0.0
    )
    with open_film(make_film(spec).path) as film:
        path = write_copy(film, TIMES.pauses, tmp_path / f"copy{target}", AS_IT_IS)
        with open_film(path) as copy:
            assert wrong_pictures(film, copy, TIMES, np.arange(0.0313, 2.9, 0.04)) == []
            assert late_by(film, copy, TIMES) < 1.0
            one, other = next(film.pictures([2.5])), next(copy.pictures([TIMES.late(2.5)]))
            np.testing.assert_array_equal(one.image, other.image)
            assert sum(1 for _ in copy.frames()) == 75


def test_silence_comes_and_goes_without_a_click_and_all_else_is_untouched(tmp_path: Path) -> None:
    made = make_film(FilmSpec(suffix=".mkv", frames=75, sounds=(band("flac"),)))
    with open_film(made.path) as film:
        before = whole(sound_blocks(film, 0, RATE, "native"))
        blocks = list(sound_with_pauses(film, [Pause(0.55, 0.3, "a")], 0, RATE))
    after = whole(blocks)
    at, width = round(0.55 * RATE), round(FADE * RATE)
    assert np.abs(before[at - 100 : at + 100]).max() > 0.05
    np.testing.assert_array_equal(after[: at - width], before[: at - width])
    np.testing.assert_array_equal(after[at + round(0.3 * RATE) + width :], before[at + width :])
    assert np.abs(after[at : at + round(0.3 * RATE)]).max() == 0
    assert np.abs(after[at - 20 : at]).max() < 0.02
    assert len(after) == len(before) + round(0.3 * RATE)
    begins = np.cumsum([0, *(len(block.samples) for block in blocks)])[:-1]
    assert [round(block.seconds * RATE) for block in blocks] == begins.tolist()


UPRIGHT = FilmSpec(
    frames=30, turn=90, matrix=1, transfer=1, primaries=1, pixel_aspect=Fraction(4, 3), size=(192, 108)
)


@pytest.mark.parametrize("spec", [
    UPRIGHT,
    FilmSpec(frames=20, full_range=True, matrix=1),
    FilmSpec(frames=20, pixels="yuv420p10le", matrix=1, codec="libx264"),
    FilmSpec(frames=20, matrix=None),
    FilmSpec(frames=20, interlaced=True),
], ids=["turned", "full range", "10 bits", "no matrix", "fields"])  # fmt: skip
def test_colours_and_shape_stay_as_they_are_upright_and_in_whole_frames(tmp_path, spec):
    times, target = TimeMap((Pause(0.2, 0.5, "a"),)), tmp_path / "c.mp4"
    with (
        open_film(make_film(spec).path) as film,
        open_film(write_copy(film, times.pauses, target, ON)) as copy,
    ):
        assert (film.info.interlaced, copy.info.interlaced, copy.info.rotation) == (spec.interlaced, False, 0)
        assert wrong_pictures(film, copy, times, np.arange(0.02, 0.7, 0.04)) == []
        shape, there = film.info.width / film.info.height, copy.info.width / copy.info.height
        assert there == pytest.approx(shape, rel=0.01)
        one, other = next(film.pictures([0.5])), next(copy.pictures([1.0]))
        np.testing.assert_allclose(read_patches(one.image), read_patches(other.image), atol=6)
    if spec is UPRIGHT:
        with av.open(str(target)) as container:
            context: Any = container.streams.video[0].codec_context
            assert (context.colorspace, context.color_trc, context.color_primaries) == (1, 1, 1)


CUES = ((0.3, 0.7, "before"), (1.0, 1.5, "over"), (1.6, 2.0, "after"))
CHAPTERS = ((0, 1200), (1200, 3000))


def with_extras(path: Path) -> Path:
    """A film with twice the subtitles over the pause, chapters, a language and a title."""
    made = make_film(FilmSpec(frames=75, suffix=".mkv", sounds=(band("flac"),)))
    cues = [f"{i}\n00:00:0{a:.3f} --> 00:00:0{b:.3f}\n{words}\n" for i, (a, b, words) in enumerate(CUES, 1)]
    srt = path.with_suffix(".srt")
    srt.write_text("\n".join(cues).replace(".", ","))
    with av.open(str(made.path)) as film, av.open(str(srt)) as text, av.open(str(path), "w") as out:
        packets = []
        for source, stream in [*((film, stream) for stream in film.streams), *[(text, text.streams[0])] * 2]:
            copy: Any = out.add_stream_from_template(stream)
            copy.metadata.update(language="fra", title=f"The {stream.type}")
            with av.open(source.name) as again:
                for packet in again.demux(again.streams[stream.index]):
                    if packet.size:
                        packet.stream = copy
                        packets.append(packet)
        out.metadata["title"] = "A film"
        same: dict[str, Any] = {"time_base": Fraction(1, 1000), "metadata": {"title": "A part"}}
        out.set_chapters([{"id": i, "start": a, "end": b, **same} for i, (a, b) in enumerate(CHAPTERS)])
        for packet in sorted(packets, key=lambda p: float(p.dts * p.time_base)):
            out.mux(packet)
    srt.unlink()
    return path


def cues_of(path: Path, number: int = 0) -> list[tuple[float, float, bytes]]:
    with av.open(str(path)) as copy:
        return [
            (round(float(p.pts * p.time_base), 2), round(float(p.duration * p.time_base), 2), bytes(p))
            for p in copy.demux(copy.streams.subtitles[number])
            if p.size > 2
        ]


LATER = [(0.3, 0.4, b"before"), (1.0, 2.5, b"over"), (3.6, 0.4, b"after")]


def test_subtitles_chapters_and_names_come_along_and_what_cannot_is_named(tmp_path: Path) -> None:
    pauses, notes, none = [Pause(1.2, 2.0, "a")], Heard(), Heard()
    with open_film(with_extras(tmp_path / "film.mkv")) as film:
        write_copy(film, pauses, tmp_path / "copy.mkv", ON)
        write_copy(film, pauses, tmp_path / "copy.mp4", ON, none)
        write_copy(film, pauses, tmp_path / "copy.ts", ON, notes)
    without = "The film with pauses goes without"
    assert notes.notes == [*[f"{without} the subtitle track subrip."] * 2, f"{without} its 2 chapters."]
    assert none.notes == []
    with av.open(str(tmp_path / "copy.mkv")) as copy:
        assert copy.streams.subtitles[0].metadata["language"] == "fre"
        assert copy.streams.audio[0].metadata["title"] == "The audio"
        assert copy.metadata["title"] == "A film"
        ends = [[float(one[key] * one["time_base"]) for key in ("start", "end")] for one in copy.chapters()]
    assert ends == [[0.0, 3.2], [3.2, 5.0]]
    with av.open(str(tmp_path / "copy.mp4")) as copy:
        kinds = [(s.codec_context.name, s.metadata["language"]) for s in copy.streams.subtitles]
    assert kinds == [("mov_text", "fra")] * 2
    for number in range(2):
        assert cues_of(tmp_path / "copy.mkv", number) == LATER
        in_mp4 = cues_of(tmp_path / "copy.mp4", number)
        assert [(start, length, text[2:]) for start, length, text in in_mp4] == LATER


def test_what_cannot_pause_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with open_film(make_film(BAND).path) as film, pytest.raises(SoundError, match=r"\.avi"):
        write_copy(film, [], tmp_path / "c.avi", ON)
    bright = FilmSpec(frames=5, pixels="yuv420p10le", transfer=16, primaries=9, matrix=9)
    with open_film(make_film(bright).path) as film, pytest.raises(SoundError, match="HDR"):
        write_copy(film, [], tmp_path / "c.mp4", ON)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("codec", "layout", "container", "encoder", "kept"), [
    ("aac", "5.1(side)", "mp4", "aac", "5.1"),
    ("dts", "5.1(side)", "matroska", "eac3", "5.1"),
    ("pcm_s24le", "stereo", "matroska", "flac", "stereo"),
    ("truehd", "7.1", "matroska", "flac", "7.1"),
    ("eac3", "7.1", "mp4", "eac3", "5.1"),
    ("aac", "7.1", "mp4", "aac", "5.1"),
    ("aac", "quad", "mp4", "aac", "5.0"),
    ("mp2", "mono", "mpegts", "mp2", "mono"),
    ("aac", "22.2", "mp4", "aac", "stereo"),
])  # fmt: skip
def test_each_track_gets_a_codec_that_its_container_has(codec, layout, container, encoder, kept):
    channels = av.AudioLayout(layout).nb_channels
    track = AudioTrack(0, None, None, codec, channels, layout, 48000, True)
    coding = copy_coding(track, next(one for one in CONTAINERS if one.muxer == container))
    assert (coding.encoder, coding.layout) == (encoder, kept)


FIT = FitSettings()
MARGIN = 0.25


@pytest.fixture(autouse=True, scope="module")
def _no_limits() -> Iterator[None]:
    """Lines are waited for however little they matter, and for as long as they take together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pauses, "SHARE", 1.0)
        patch.setattr(pauses, "MIN_POINTS", 0.0)
        yield


class Half:
    """A studio in which every word takes half a second."""

    def __init__(self, mute: str = "") -> None:
        self._mute = mute

    def say(self, text: str) -> Take:
        if self._mute and self._mute in text:
            raise VoiceError(f"The voice fell silent at {text!r}.")
        return Take(np.zeros(500 * len(text.split()), np.float32), 1000)


def words(count: int) -> str:
    return " ".join(["word"] * count) + "."


def line(name: str, start: float, room: tuple[float, float], text: str = "") -> LineToSpeak:
    return LineToSpeak(name, text or words(8), start, Interval(*room), Interval(*room))


def lost(of: LineToSpeak, missing: float = 1.0) -> Unspoken:
    return Unspoken(of.id, "it does not fit", ("dropped",), missing)


def refused(found: Fitting) -> list[Unspoken]:
    """The lines that might have had a pause and got none."""
    return [line for line in found.unspoken if "; no pause: " in line.reason]


def said(of: LineToSpeak, start: float, seconds: float) -> Spoken:
    silence = np.zeros(round(seconds * 1000), np.float32)
    return Spoken(of.id, of.text, start, Take(silence, 1000))


def plan(
    lines: Sequence[LineToSpeak],
    spoken: Sequence[Spoken] = (),
    *,
    settings: ExtendedSettings = ON,
    cuts: Sequence[float] = (),
    speech: Sequence[Interval] = (),
    studio: Half | None = None,
    duration: float = 100.0,
) -> Fitting:
    there = {one.id for one in spoken}
    fitting = Fitting(tuple(spoken), tuple(lost(one) for one in lines if one.id not in there))
    edges = [0.0, *cuts, duration]
    shots = [Shot(i, Interval(a, b)) for i, (a, b) in enumerate(pairwise(edges))]
    planner = PausePlanner(lines, fitting, studio or Half(), shots, settings, FIT, duration, speech)
    return planner.fitting()


def test_a_pause_is_never_too_short_to_be_understood_as_one_nor_at_a_cut() -> None:
    found = plan([line("a", 10.0, (10.0, 13.9))])
    assert found.pauses[0].length == MIN_PAUSE
    assert TimeMap(found.pauses).line(found.spoken[0]).interval == Interval(10.4, 14.4)
    found = plan([line("a", 10.0, (10.0, 12.0))], cuts=[11.95])
    assert found.pauses[0].at == pytest.approx(11.95 - AROUND_CUT)
    assert TimeMap(found.pauses).line(found.spoken[0]).interval == Interval(10.0, 14.0)


def test_a_line_that_would_stop_the_film_too_long_loses_its_last_sentences() -> None:
    sentence = words(6).capitalize()
    text = f"{sentence} {sentence} {sentence}"
    four = ON.model_copy(update={"longest": 4.0})
    found = plan([line("a", 10.0, (10.0, 12.0), text)], settings=four)
    assert found.spoken[0].text == f"{sentence} {sentence}"
    assert "last sentences dropped for the pause" in found.spoken[0].steps
    none = plan([line("a", 10.0, (10.0, 12.0), words(30))], settings=four)
    assert none.pauses == ()
    assert "longer than 4 s" in refused(none)[0].reason


def test_a_line_that_is_heard_in_fewer_words_may_be_waited_for_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "MIN_POINTS", 0.3)
    one = line("a", 10.0, (10.0, 12.0), f"{words(4)} {words(6)}")
    short = replace(said(one, 10.0, 2.0), text=words(4))
    found = plan([one], [short], settings=ON)
    assert [spoken.text for spoken in found.spoken] == [one.text]
    assert found.pauses[0].length == pytest.approx(3.0)
    assert "60% of it not heard" in found.spoken[0].steps[-1]
    monkeypatch.setattr(pauses, "MIN_POINTS", 3.0)
    same = plan([one], [short], settings=ON)
    assert (same.spoken, same.pauses, refused(same)) == ((short,), (), [])


def test_a_name_that_only_fewer_words_would_lose_counts_as_new() -> None:
    line_with_name = line("a", 10.0, (10.0, 12.0), "The man Proog walks on and looks for his bag.")
    shortened = replace(said(line_with_name, 10.0, 1.0), text="The man walks on.")
    fitting = plan([line_with_name], [shortened])
    assert [spoken.text for spoken in fitting.spoken] == [line_with_name.text]
    assert "introduces Proog" in fitting.spoken[0].steps[-1]


def test_lines_that_matter_little_and_lines_lost_for_other_reasons_get_none(monkeypatch):
    monkeypatch.setattr(pauses, "MIN_POINTS", 3.5)
    little = plan([line("a", 10.0, (10.0, 11.0))], settings=ON)
    assert "matters too little" in refused(little)[0].reason
    one = line("a", 10.0, (10.0, 11.0))
    other = Fitting((), (Unspoken("a", "The voice has no such sound."),))
    found = PausePlanner([one], other, Half(), [], ON, FIT, 100.0, ()).fitting()
    assert (found.pauses, refused(found), found) == ((), [], other)


def test_a_persons_line_always_earns_its_pause_and_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "MIN_POINTS", 50.0)
    monkeypatch.setattr(pauses, "SHARE", 0.01)
    tight = ON.model_copy(update={"most": 1, "longest": 4.0})
    mine = [
        replace(line("a", 10.0, (10.0, 10.5), f"{words(20)} {words(20)}"), by_person=True),
        replace(line("b", 30.0, (30.0, 30.5), "He nods."), by_person=True),
    ]
    other = line("c", 50.0, (50.0, 52.0), 'A sign: "No way".')
    found = plan([other, *mine], settings=tight)
    assert [pause.cue_id for pause in found.pauses] == ["a", "b"]
    assert [one.text for one in found.spoken] == [one.text for one in mine]
    assert [one.id for one in refused(found)] == ["c"]


def test_a_voice_that_fails_costs_its_own_line_only_and_nobody_is_talked_over() -> None:
    lines = [line("a", 10.0, (10.0, 12.0), "Oh no no no no."), line("b", 30.0, (30.0, 32.0))]
    found = plan(lines, studio=Half(mute="Oh"))
    assert [pause.cue_id for pause in found.pauses] == ["b"]
    assert "fell silent" in refused(found)[0].reason
    found = plan([line("a", 11.0, (11.0, 11.001))], speech=[Interval(5.0, 20.0)])
    assert found.pauses == ()
    assert "somebody speaks there" in refused(found)[0].reason


STUDIO = Half()


@st.composite
def films(draw: st.DrawFn) -> tuple[list[LineToSpeak], list[Interval], float]:
    """Speech with gaps between, and one to three lines in each gap, each with its room as fitting sees it."""
    clock, speech = 0.0, list[Interval]()
    for _ in range(draw(st.integers(1, 4))):
        start = clock + draw(st.integers(1, 90)) / 10
        clock = start + draw(st.integers(5, 60)) / 10
        speech.append(Interval(start, clock))
    duration = clock + 1.0
    taken = [Interval(one.start - MARGIN - CLEAR, one.end + MARGIN) for one in speech]
    lines = []
    for room in subtract(Interval(0.1, duration), taken):
        for i in range(draw(st.integers(1, 3))):
            start = room.start + i * room.duration / 3
            lines.append(LineToSpeak(f"l{len(lines)}", words(draw(st.integers(1, 17))), start, room, room))
    return lines, speech, duration


def _by_a_rounding() -> tuple[list[LineToSpeak], list[Interval], float]:
    """The second line is heard from its room's start, less a rounding; the first waits at that very moment."""
    first, second = Interval(8.55, 10.250000000000002), Interval(11.350000000000001, 12.850000000000001)
    lines = [
        LineToSpeak(f"l{number}", words(count), at, room, room)
        for number, (count, at, room) in enumerate(
            ((1, first.start, first), (1, second.start, second), (5, 11.850000000000001, second))
        )
    ]
    return lines, [Interval(7.7, 8.3), Interval(10.600000000000001, 11.100000000000001)], 15.3


@settings(max_examples=100)
@example(_by_a_rounding(), 100, 30.0, 1.0)
@given(films(), st.sampled_from([0, 1, 3, 100]), st.sampled_from([3.0, 30.0]), st.sampled_from([0.2, 1.0]))
def test_every_line_is_heard_whole_or_fitted_and_none_over_speech_or_another(film, most, longest, share):
    lines, speech, duration = film
    fitting = fit(lines, STUDIO, FIT)
    shots = [Shot(i, Interval(float(i), float(i + 1))) for i in range(int(duration))]
    limits = ON.model_copy(update={"most": most, "longest": longest})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pauses, "SHARE", share)
        found = PausePlanner(lines, fitting, STUDIO, shots, limits, FIT, duration, speech).fitting()
    assert len(found.pauses) <= most
    assert sum(pause.length for pause in found.pauses) <= share * duration
    times = TimeMap(found.pauses)
    copy = times.fitting(found).spoken
    for one, other in pairwise(copy):
        assert one.interval.end <= other.start + 1e-6
    for spoken in copy:
        assert spoken.start >= 0
        for heard in speech:
            there = times.interval(heard)
            assert min(spoken.interval.end, there.end) - max(spoken.start, there.start) <= 1e-6
    whole = {one.id: one.text for one in lines}
    for pause in found.pauses:
        assert pause.length <= longest
        waiting = next(one for one in found.spoken if one.id == pause.cue_id)
        assert whole[pause.cue_id].startswith(waiting.text)
        assert waiting.pause == pause.length
        assert not any(heard.start < pause.at < heard.end for heard in speech)
    assert {one.id for one in refused(found)} <= {one.id for one in found.unspoken}
    everything = [*found.spoken, *found.unspoken]
    assert sorted(one.id for one in everything) == sorted(whole)


def test_pauses_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="must ascend"):
        TimeMap((Pause(20.0, 1.0, "a"), Pause(10.0, 1.0, "b")))
    with pytest.raises(ValueError, match="lasts"):
        Pause(1.0, 0.0, "a")


def of(text: str, **given: object) -> Worth:
    values = {"start": 10.0, "last_end": 10.0, "names": (), "heard_texts": (), "shots": ()} | given
    return worth(text, **values)  # type: ignore[arg-type]


def test_a_name_counts_the_first_time_only() -> None:
    names = names_of(["Proog pulls Emo away.", "Then Emo falls. He stares at Proog."], "en")
    assert names == {"Proog", "Emo"}
    assert names_of(["Then he runs. Snow falls: Dark clouds.", 'He says, "Go".'], "en") == frozenset()
    first = of("Emo runs.", names=names)
    again = of("Emo runs.", names=names, heard_texts=["Proog pulls Emo's arm."])
    assert first.points - again.points == pytest.approx(NEWCOMER)
    assert "introduces Emo" in first.reasons


def test_the_metadata_track_stands_on_the_films_own_time() -> None:
    info = FilmInfo("film.mp4", None, "ab" * 16, 60.0, 320, 240, Fraction(25), None, "h264", Fraction(0))
    starts = (("s00010000", 9.0), ("s00015000", 15.0), ("h00020000", 20.5))
    spoken = [said(line(name, at, (at, 60.0)), at, 3.0) for name, at in starts]
    pauses = (Pause(10.0, 2.0, "s00010000"), Pause(20.0, 3.6, "h00020000"))
    text = pauses_vtt(pauses_record(info, Fitting(tuple(spoken), pauses=pauses), "de", "fake"))
    cues = read_vtt(text, "pauses.vtt").cues
    assert [(cue.id, cue.interval.start) for cue in cues] == [("s00010000", 10.0), ("h00020000", 20.0)]
    assert json.loads(cues[0].text) == {"pause": 2.0, "line": "s00010000", "starts": 9.0}
    assert json.loads(cues[1].text) == {"pause": 3.6, "line": "h00020000", "starts": 20.5}
