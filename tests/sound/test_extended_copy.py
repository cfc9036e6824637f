"""The copy of the film that pauses: every picture and every sample where the time map says."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest

from shotad.core import AudioTrack, ExtendedSettings, SoundError
from shotad.film import Film, open_film, sound_blocks
from shotad.sound.containers import CONTAINERS
from shotad.sound.film_copy import FADE, coding_of, sound_with_pauses, write_copy
from shotad.sound.kinds import Pause
from shotad.sound.pauses import TimeMap
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
    assert notes.notes == ["The film with pauses goes without the subtitle track subrip."] * 2
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
    ("eac3", "7.1", "mp4", "eac3", "stereo"),
    ("mp2", "mono", "mpegts", "mp2", "mono"),
    ("aac", "22.2", "mp4", "aac", "stereo"),
])  # fmt: skip
def test_each_track_gets_a_codec_that_its_container_has(codec, layout, container, encoder, kept):
    channels = av.AudioLayout(layout).nb_channels
    track = AudioTrack(0, None, None, codec, channels, layout, 48000, True)
    coding = coding_of(track, next(one for one in CONTAINERS if one.muxer == container))
    assert (coding.encoder, coding.layout) == (encoder, kept)
