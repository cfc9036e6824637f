"""Extended AD: the copy of the film that pauses, every picture and sample where the pauses put it; which lines the film
waits for, where it stands still, and what is told of that."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings, strategies as st

from shotad.core import Interval
from shotad.core.config.sound import ExtendedSettings, FitSettings
from shotad.core.errors import SoundError, VoiceError
from shotad.film import Film, open_film, sound_blocks
from shotad.script import Cue
from shotad.script.fit import ShortenedLine
from shotad.sound import Fitting, Pause
from tests.media import FilmSpec, SoundSpec, make_film, read_number, read_patches
from tests.runs import Heard
from tests.sound.copies import CopyTime, film_copy
from tests.sound.fitted import BY_PERSON, cue, fitted, speech_around, track_of
from tests.sound.tones import whole

RATE = 48000
ON = ExtendedSettings(on=True)
AS_IT_IS = "extended.picture=copy"
TIMES = CopyTime((Pause(0.8, 0.7, "a"), Pause(1.2, 1.234, "b"), Pause(2.01, 0.5, "c")))
FADE = 0.05
"""Seconds in which the sound goes before a pause and comes back after it."""
BEEPS = (0.5, 1.0, 1.5, 2.5)
BAND = FilmSpec(frames=75)


def band(codec: str = "aac", layout: str = "stereo", rate: int = 48000) -> SoundSpec:
    return SoundSpec(duration=3.0, beeps=BEEPS, codec=codec, layout=layout, rate=rate)


def sound(film: Film) -> npt.NDArray[np.float32]:
    return whole(sound_blocks(film, 0, RATE, "native")).mean(1)


def late_by(film: Film, copy: Film, times: CopyTime) -> float:
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


def wrong_pictures(film: Film, copy: Film, times: CopyTime, seconds: npt.NDArray[np.float64]) -> list[float]:
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
    (".mp4", band(), "mp4"),
    (".mp4", band(rate=44100), "mov"),
    (".mp4", band(), "webm"),
    (".mkv", band("ac3", "5.1"), "ts"),
    (".mkv", band("flac", "7.1"), "mkv"),
    (".ts", band("mp2"), "ts"),
    (".ts", band(), "mp4"),
])  # fmt: skip
def test_pictures_and_sound_stand_where_the_map_says(tmp_path, suffix, spec, target):
    shift = 3.0 if suffix == ".ts" else 0.0
    made = make_film(FilmSpec(suffix=suffix, frames=75, sounds=(spec,), shift=shift, b_frames=2))
    with open_film(made.path) as film, film_copy(film, TIMES.pauses, tmp_path, target) as copy:
        assert late_by(film, copy, TIMES) < 1.0
        assert wrong_pictures(film, copy, TIMES, np.arange(0.01, 2.9, 0.031)) == []
        assert copy.info.audio[0].channels == film.info.audio[0].channels
        assert copy.info.duration == pytest.approx(film.info.duration + TIMES.total, abs=0.05)
        assert copy.info.path is not None
        assert [file.name for file in copy.info.path.parent.iterdir()] == [f"copy.{target}"]
    assert not list(tmp_path.glob("**/copy*"))


@pytest.mark.parametrize(
    ("suffix", "target"), [(".mp4", "mp4"), (".mkv", "mkv"), (".ts", "ts"), (".ts", "mkv")]
)
def test_a_picture_that_is_not_encoded_stands_still_as_well(tmp_path: Path, suffix: str, target: str) -> None:
    spec = FilmSpec(
        suffix=suffix, frames=75, sounds=(band(),), b_frames=2, shift=2.0 if suffix == ".ts" else 0.0
    )
    with (
        open_film(make_film(spec).path) as film,
        film_copy(film, TIMES.pauses, tmp_path, target, AS_IT_IS) as copy,
    ):
        assert wrong_pictures(film, copy, TIMES, np.arange(0.0313, 2.9, 0.04)) == []
        assert late_by(film, copy, TIMES) < 1.0
        shown, shown_in_copy = next(film.pictures([2.5])), next(copy.pictures([TIMES.late(2.5)]))
        np.testing.assert_array_equal(shown.image, shown_in_copy.image)
        assert sum(1 for _ in copy.frames()) == 75


def test_silence_comes_and_goes_without_a_click_and_all_else_is_untouched(tmp_path: Path) -> None:
    made = make_film(FilmSpec(suffix=".mkv", frames=75, sounds=(band("flac"),)))
    pauses = [Pause(0.55, 0.3, "a")]
    with open_film(made.path) as film, film_copy(film, pauses, tmp_path, "mkv") as copy:
        before = whole(sound_blocks(film, 0, RATE, "native"))
        after = whole(sound_blocks(copy, 0, RATE, "native"))
    at, width, length = round(0.55 * RATE), round(FADE * RATE), round(0.3 * RATE)
    assert np.abs(before[at - 100 : at + 100]).max() > 0.05
    np.testing.assert_array_equal(after[: at - width], before[: at - width])
    np.testing.assert_array_equal(after[at + length + width :], before[at + width :])
    assert np.abs(after[at : at + length]).max() == 0
    assert np.abs(after[at - 20 : at]).max() < 0.02
    assert len(after) == len(before) + length


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
    times = CopyTime((Pause(0.2, 0.5, "a"),))
    with open_film(make_film(spec).path) as film, film_copy(film, times.pauses, tmp_path, "mp4") as copy:
        assert (film.info.interlaced, copy.info.interlaced, copy.info.rotation) == (spec.interlaced, False, 0)
        assert wrong_pictures(film, copy, times, np.arange(0.02, 0.7, 0.04)) == []
        shape, there = film.info.width / film.info.height, copy.info.width / copy.info.height
        assert there == pytest.approx(shape, rel=0.01)
        shown, shown_in_copy = next(film.pictures([0.5])), next(copy.pictures([1.0]))
        np.testing.assert_allclose(read_patches(shown.image), read_patches(shown_in_copy.image), atol=6)
        if spec is UPRIGHT:
            with av.open(str(copy.info.path)) as container:
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
        with film_copy(film, pauses, tmp_path / "w", "mkv") as copied, av.open(str(copied.info.path)) as copy:
            assert copy.streams.subtitles[0].metadata["language"] == "fre"
            assert copy.streams.audio[0].metadata["title"] == "The audio"
            assert copy.metadata["title"] == "A film"
            ends = [
                [float(chapter[key] * chapter["time_base"]) for key in ("start", "end")]
                for chapter in copy.chapters()
            ]
            assert ends == [[0.0, 3.2], [3.2, 5.0]]
            assert [cues_of(copied.info.path, number) for number in range(2)] == [LATER] * 2
        with film_copy(film, pauses, tmp_path / "w", "mp4", progress=none) as copied:
            with av.open(str(copied.info.path)) as copy:
                kinds = [(s.codec_context.name, s.metadata["language"]) for s in copy.streams.subtitles]
            assert kinds == [("mov_text", "fra")] * 2
            for number in range(2):
                in_mp4 = cues_of(copied.info.path, number)
                assert [(start, length, text[2:]) for start, length, text in in_mp4] == LATER
        with film_copy(film, pauses, tmp_path / "w", "ts", progress=notes):
            pass
    without = "The film with pauses goes without"
    assert notes.notes == [*[f"{without} the subtitle track subrip."] * 2, f"{without} its 2 chapters."]
    assert none.notes == []


def test_what_cannot_pause_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    bright = FilmSpec(frames=5, pixels="yuv420p10le", transfer=16, primaries=9, matrix=9)
    for spec, ending, reason in ((BAND, "avi", r"\.avi"), (bright, "mp4", "HDR")):
        with (
            open_film(make_film(spec).path) as film,
            pytest.raises(SoundError, match=reason),
            film_copy(film, [Pause(0.1, 1.0, "a")], tmp_path, ending),
        ):
            pass
    assert not list(tmp_path.glob("**/copy*"))


@pytest.mark.parametrize(("codec", "layout", "ending", "copied_codec", "copied_layout"), [
    ("aac", "5.1", "mp4", "aac", "5.1"),
    ("ac3", "5.1(side)", "mp4", "ac3", "5.1"),
    ("pcm_s16le", "stereo", "mkv", "flac", "stereo"),
    ("libopus", "stereo", "mkv", "opus", "stereo"),
    ("flac", "7.1", "mp4", "aac", "5.1"),
    ("flac", "quad", "mp4", "aac", "5.0"),
    ("mp2", "mono", "ts", "mp2", "mono"),
    ("pcm_s16le", "22.2", "mov", "aac", "stereo"),
])  # fmt: skip
def test_each_track_gets_a_codec_that_its_container_has(
    codec, layout, ending, copied_codec, copied_layout, tmp_path
):
    source = FilmSpec(suffix=".mkv", frames=10, sounds=(SoundSpec(duration=0.4, codec=codec, layout=layout),))
    with (
        open_film(make_film(source).path) as film,
        film_copy(film, [Pause(0.2, 0.5, "a")], tmp_path, ending) as copy,
    ):
        (track,) = copy.info.audio
        assert (track.codec, track.layout.partition("(")[0]) == (copied_codec, copied_layout)


def test_pauses_out_of_order_are_refused(tmp_path: Path) -> None:
    with (
        open_film(make_film(BAND).path) as film,
        pytest.raises(ValueError, match="must ascend"),
        film_copy(film, TIMES.pauses[::-1], tmp_path, "mp4"),
    ):
        pass
    with pytest.raises(ValueError, match="lasts"):
        Pause(1.0, 0.0, "a")


AT_OWN_PACE = FitSettings(fastest=1.0)
MARGIN, CLEAR, BETWEEN = 0.25, 0.1, 0.3
"""Seconds: kept from speech at both sides, more before it, and between two lines."""


def half_a_second_a_word(text: str) -> float:
    return 0.5 * len(text.split())


def words(count: int) -> str:
    """A line that matters little."""
    return " ".join(["word"] * count).capitalize() + "."


def sign(count: int) -> str:
    """A line of so many words that reads out text, which matters much."""
    return f'"{words(count)}"'


def plan(
    gap: tuple[float, float],
    *cues: Cue,
    extended: ExtendedSettings = ON,
    duration: float = 200.0,
    seconds: Any = half_a_second_a_word,
    **more: Any,
) -> Fitting:
    """Lines in one gap between speech, in a film that may pause for them."""
    speech = speech_around(*gap, duration)
    return fitted(track_of(*cues, duration=duration), speech, seconds, AT_OWN_PACE, extended=extended, **more)


def refused(fitting: Fitting) -> dict[str, str]:
    """The lines that might have had a pause and got none, with the reason."""
    reasons = {line.id: line.reason for line in fitting.unspoken}
    return {line_id: reason for line_id, reason in reasons.items() if "; no pause: " in reason}


def test_a_pause_is_never_too_short_to_be_understood_as_one_nor_at_a_cut() -> None:
    (spoken,), (pause,) = (fitting := plan((10, 13.9), cue(10, 13.9, sign(8)))).spoken, fitting.pauses
    assert (pause.length, pause.at) == (0.5, pytest.approx(13.9))
    assert CopyTime([pause]).spoken(spoken) == Interval(10.4, 14.4)
    (spoken,), (pause,) = (
        (fitting := plan((10, 12), cue(10, 12, sign(8)), cuts=[11.95])).spoken,
        fitting.pauses,
    )
    assert pause.at == pytest.approx(11.55), "a part of a second from the cut"
    assert CopyTime([pause]).spoken(spoken) == Interval(10.0, 14.0)


def test_a_line_that_would_stop_the_film_too_long_loses_its_last_sentences() -> None:
    sentence = sign(6)
    four = ON.model_copy(update={"longest": 4.0})
    fitting = plan((10, 12), cue(10, 12, f"{sentence} {sentence} {sentence}"), extended=four)
    assert fitting.spoken[0].text == f"{sentence} {sentence}"
    assert "last sentences dropped for the pause" in fitting.spoken[0].steps
    fitting = plan((10, 12), cue(10, 12, sign(30)), extended=four)
    assert fitting.pauses == ()
    assert "longer than 4 s" in refused(fitting)["s00010000"]


def test_a_line_that_is_heard_in_fewer_words_may_be_waited_for_whole() -> None:
    line = cue(10, 12, f"{sign(4)} {words(6)}")
    fitting = plan((10, 12), line)
    assert [spoken.text for spoken in fitting.spoken] == [line.text]
    assert fitting.pauses[0].length == pytest.approx(3.0)
    assert "60% of it not heard" in fitting.spoken[0].steps[-1]
    # One that matters too little stays as it is.
    fitting = plan((10, 12), cue(10, 12, f"{words(4)} {words(6)}"))
    assert [spoken.text for spoken in fitting.spoken] == [words(4)]
    assert (fitting.pauses, fitting.unspoken) == ((), ())


def test_a_name_that_only_fewer_words_would_lose_counts_as_new() -> None:
    line = cue(10, 12, "The man Proog walks on and looks for his bag.")
    fitting = plan((10, 12), line, shorten=lambda wishes: [ShortenedLine("The man walks on.")])
    assert [spoken.text for spoken in fitting.spoken] == [line.text]
    assert "introduces Proog" in fitting.spoken[0].steps[-1]


def test_lines_that_matter_little_and_lines_lost_for_other_reasons_get_none() -> None:
    fitting = plan((10, 11), cue(10, 11, words(8)))
    assert "matters too little" in refused(fitting)["s00010000"]
    fitting = plan((10, 11), cue(10, 11, '"?!"'))
    assert (fitting.pauses, refused(fitting)) == ((), {})
    assert [line.reason for line in fitting.unspoken] == ["there is no word in it"]


def test_a_persons_line_always_earns_its_pause_and_stays_whole() -> None:
    tight = ON.model_copy(update={"most": 1, "longest": 4.0})
    long, short = f"{words(20)} {words(20)}", "He nods."
    lines = [
        cue(10, 10.5, long, edited=BY_PERSON),
        cue(20, 20.5, short, edited=BY_PERSON),
        cue(30, 32, sign(8)),
    ]
    speech = [Interval(0, 10), Interval(10.6, 20), Interval(20.6, 30), Interval(32.1, 60)]
    track = track_of(*lines, duration=60.0)
    fitting = fitted(track, speech, half_a_second_a_word, AT_OWN_PACE, extended=tight)
    assert [pause.cue_id for pause in fitting.pauses] == [line.id for line in lines[:2]]
    assert [line.text for line in fitting.spoken] == [long, short]
    assert [*refused(fitting)] == [lines[2].id]


def test_a_voice_that_fails_costs_its_own_line_only_and_nobody_is_talked_over() -> None:
    sentence = sign(9)
    two_sentences = f"{sentence} {sentence}"

    def breaks_off(text: str) -> float:
        if text == two_sentences:
            raise VoiceError(f"The voice fell silent at {text!r}.")
        return half_a_second_a_word(text)

    lines = [cue(10, 12, f"{two_sentences} {sentence}"), cue(30, 32, sign(8))]
    speech = [Interval(0, 10), Interval(12.1, 30), Interval(32.1, 200)]
    fitting = fitted(track_of(*lines), speech, breaks_off, AT_OWN_PACE, extended=ON)
    assert [pause.cue_id for pause in fitting.pauses] == [lines[1].id]
    assert "fell silent" in refused(fitting)[lines[0].id]
    amid_speech = cue(11, 11.5, sign(8))
    fitting = fitted(track_of(amid_speech), [Interval(5, 20)], half_a_second_a_word, AT_OWN_PACE, extended=ON)
    assert fitting.pauses == ()
    assert "somebody speaks there" in refused(fitting)[amid_speech.id]


Scene = tuple[list[Cue], list[Interval], float]


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Speech with gaps between, one to three lines in each gap, and how long the film is."""
    clock, speech = 0.0, list[Interval]()
    for _ in range(draw(st.integers(1, 4))):
        start = clock + draw(st.integers(1, 90)) / 10
        clock = start + draw(st.integers(5, 60)) / 10
        speech.append(Interval(start, clock))
    free = zip([0.1, *(talk.end + MARGIN for talk in speech)],
               [*(talk.start - MARGIN - CLEAR for talk in speech), clock + 1.0], strict=True)  # fmt: skip
    lines = []
    for begin, end in free:
        for number in range(draw(st.integers(1, 3)) if end > begin else 0):
            start = begin + number * (end - begin) / 3
            text = sign(draw(st.integers(1, 17)))
            lines.append(cue(start, end, text, f"h{len(lines):08d}"))
    return lines, speech, clock + draw(st.integers(1, 600))


def _by_a_rounding() -> Scene:
    """The second line is heard from its gap's start, less a rounding; the first waits at that very moment."""
    lines = [
        cue(8.55, 10.25, sign(1), "h00000000"),
        cue(11.350000000000001, 12.85, sign(1), "h00000001"),
        cue(11.850000000000001, 12.85, sign(5), "h00000002"),
    ]
    speech = [Interval(7.7, 8.3), Interval(10.600000000000001, 11.100000000000001), Interval(13.2, 14.3)]
    return lines, speech, 150.0


@settings(max_examples=100)
@example(_by_a_rounding(), 100, 30.0)
@given(scenes(), st.sampled_from([0, 1, 3, 100]), st.sampled_from([3.0, 30.0]))
def test_every_line_is_heard_whole_or_fitted_and_none_over_speech_or_another(scene, most, longest):
    lines, speech, duration = scene
    limits = ON.model_copy(update={"most": most, "longest": longest})
    track = track_of(*lines, duration=duration)
    cuts = [float(second) for second in range(1, min(int(duration), 40))]
    fitting = fitted(
        track, speech, half_a_second_a_word, FitSettings(), margin=MARGIN, extended=limits, cuts=cuts
    )
    assert len(fitting.pauses) <= most
    assert sum(pause.length for pause in fitting.pauses) <= 0.1 * duration
    times = CopyTime(fitting.pauses)
    heard = sorted(times.spoken(line) for line in fitting.spoken)
    for interval, following in pairwise(heard):
        assert interval.end <= following.start + 1e-6
    for interval in heard:
        assert interval.start >= 0
        for talk in map(times.interval, speech):
            assert min(interval.end, talk.end) - max(interval.start, talk.start) <= 1e-6
    whole_texts = {line.id: line.text for line in lines}
    spoken = {line.id: line for line in fitting.spoken}
    for pause in fitting.pauses:
        assert pause.length <= longest
        assert whole_texts[pause.cue_id].startswith(spoken[pause.cue_id].text)
        assert spoken[pause.cue_id].pause == pause.length
        assert not any(talk.start < pause.at < talk.end for talk in speech)
    everything = [*fitting.spoken, *fitting.unspoken]
    assert sorted(line.id for line in everything) == sorted(whole_texts)


def points(step: str) -> float:
    """How much the film's pause says that its line matters."""
    (value,) = re.findall(r"\((-?[\d.]+) points", step)
    return float(value)


def test_a_name_counts_the_first_time_only_and_text_that_is_read_out_most() -> None:
    def reason(*texts: str) -> str:
        """Why the film waits for the last of these lines; the others are heard."""
        lines = [cue(2.0 + 5 * number, 6.0 + 5 * number, text) for number, text in enumerate(texts[:-1])]
        last = cue(40, 40.5, texts[-1])
        speech = [Interval(30, 40), Interval(40.6, 100)]
        fitting = fitted(track_of(*lines, last), speech, half_a_second_a_word, AT_OWN_PACE, extended=ON)
        return fitting.spoken[-1].steps[-1]

    # No names: at the start of a sentence, with a small letter elsewhere, in what is quoted.
    plain = reason("Then he runs. Snow falls: Dark clouds.", 'He says, "Go".', "Then dark snow comes.")
    new = reason("Snow falls on us.", "Snow falls on us.", "Then runs Emo away.")
    again = reason("Snow falls on Emo's arm.", "Snow falls on us.", "Then runs Emo away.")
    assert "introduces Emo" in new
    assert "introduces" not in again + plain
    assert points(new) - points(again) == pytest.approx(2.0, abs=0.11)
    read_out = reason("Snow falls on us.", 'Then comes "No way".')
    assert "reads out text" in read_out
    assert points(read_out) > points(new)
