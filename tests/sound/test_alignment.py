"""`shotad align`: a recording that is cut, faster, narrated or coded is fitted to its film, and another is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from shotad import align
from shotad.core import Interval
from shotad.core.errors import FilmError, SoundError, UsageError
from shotad.film import SoundBlock
from shotad.sound.alignment import AlignedPiece, Alignment, alignment_text, fit
from shotad.sound.files import write_sound
from tests.cli.program import Shotad
from tests.sound.tones import Samples, SoundFilm, noise

RATE = 48000
SECONDS = 40.0


@cache
def scenes(seed: int, seconds: float = SECONDS) -> Samples:
    """``float32[n]``: noise in changing bands, loud and soft by turns several times a second, as films are."""
    random = np.random.default_rng(seed)
    sound = np.zeros(round(seconds * RATE), np.float32)
    for low, share in ((100.0, 0.04), (400.0, 0.03), (900.0, 0.03), (1800.0, 0.02), (3500.0, 0.02)):
        knots = np.exp(random.normal(0, 1.4, round(seconds * 7)))
        course = np.interp(np.linspace(0, len(knots) - 1, len(sound)), np.arange(len(knots)), knots)
        sound += noise(seconds, seed * 10 + int(low), low=low)[:, 0] * course.astype(np.float32) * share
    return np.asarray(np.clip(sound, -1, 1), np.float32)


def film_of(folder: Path, sound: Samples) -> Path:
    return SoundFilm(sound[:, None], "mono", codec="flac", seconds=len(sound) / RATE).make(
        folder / "film.mkv"
    )


def fitted(folder: Path, sound: Samples, recording: Samples, name: str = "heard.flac") -> Alignment:
    """The alignment of a recording to a film with this sound."""
    film = film_of(folder, sound)
    file = write_sound(folder / name, [SoundBlock(0.0, recording)], layout="mono")
    return align(film, file)


def part(sound: Samples, start: float, end: float) -> Samples:
    return sound[round(start * RATE) : round(end * RATE)]


def faster(sound: Samples, speed: float) -> Samples:
    """The sound played faster, at a higher pitch."""
    moments = np.arange(int(len(sound) / speed)) * speed
    return np.interp(moments, np.arange(len(sound)), sound).astype(np.float32)


def check(alignment: Alignment, truth: dict[float, float | None], *, within: float = 0.01) -> None:
    """``truth`` is the recording's second for seconds of the film; None: the recording lacks it."""
    for second, expected in truth.items():
        piece = alignment.piece_at(second)
        if expected is None:
            assert piece is None, f"second {second} is not in the recording"
        else:
            assert piece is not None, f"second {second} is in the recording"
            assert piece.recording_second(second) == pytest.approx(expected, abs=within)


def test_a_recording_that_begins_elsewhere(tmp_path: Path) -> None:
    before = scenes(2, 6.5)
    alignment = fitted(tmp_path, scenes(1), np.concatenate([before, scenes(1)]))
    check(alignment, {1.0: 7.5, 20.0: 26.5, 39.0: 45.5})
    (piece,) = alignment.pieces
    assert piece.confidence > 0.9
    # The film is all there, from its first sample on.
    assert piece.film.start == 0
    assert piece.film.end == pytest.approx(SECONDS, abs=0.001)
    assert alignment.coverage > 0.99


@pytest.mark.parametrize("speed", [25 / 24, 24 / 25, 1001 / 1000, 1.0007])
def test_a_recording_of_another_speed(speed: float, tmp_path: Path) -> None:
    alignment = fitted(tmp_path, scenes(1), faster(scenes(1), speed))
    assert alignment.speed == pytest.approx(speed, abs=0.0003)
    check(alignment, {second: second / speed for second in (1.0, 13.0, 39.0)})


def test_scenes_that_are_cut_and_an_advert_that_is_put_in(tmp_path: Path) -> None:
    sound, advert = scenes(1), scenes(3, 5.0)
    recording = np.concatenate([part(sound, 0, 12), part(sound, 15, 26), advert, part(sound, 26, 40)])
    alignment = fitted(tmp_path, sound, recording)
    truth = {11.9: 11.9, 12.1: None, 14.9: None, 15.1: 12.1, 25.9: 22.9, 26.1: 28.1, 39.9: 41.9}
    check(alignment, truth)
    assert [gap.duration for gap in alignment.missing] == [pytest.approx(3, abs=0.05)]
    assert [gap.duration for gap in alignment.added] == [pytest.approx(5, abs=0.05)]


def test_an_advert_where_the_windows_of_a_long_film_reach_far_beyond_the_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A window that is still found lies up to 7 s beyond the cut.
    cut = 25.0
    monkeypatch.setattr(fit, "_LONG_FILM", 20.0)
    sound, advert = scenes(1, 60.0), scenes(3, 19.2)
    alignment = fitted(tmp_path, sound, np.concatenate([part(sound, 0, cut), advert, part(sound, cut, 60)]))
    check(alignment, {cut - 0.2: cut - 0.2, cut + 0.2: cut + 19.4, 59.0: 78.2})


def test_a_narrator_over_a_lowered_film_also_at_a_cut(tmp_path: Path) -> None:
    sound = scenes(1)
    cut = np.concatenate([part(sound, 0, 18), part(sound, 22, 40)])
    narrator = scenes(4, 6.0)
    begin, end = round(15 * RATE), round(21 * RATE)
    cut[begin:end] = 0.15 * cut[begin:end] + narrator
    alignment = fitted(tmp_path, sound, cut)
    check(alignment, {17.9: 17.9, 18.2: None, 21.8: None, 22.1: 18.1, 30.0: 26.0})


def stretched(sound: Samples, speed: float) -> Samples:
    """The sound faster at the same pitch, by ffmpeg's atempo."""
    from av import AudioFrame
    from av.error import BlockingIOError as NothingYet, EOFError as AtEnd
    from av.filter import Graph

    graph = Graph()
    source = graph.add_abuffer(sample_rate=RATE, format="flt", layout="mono", time_base=Fraction(1, RATE))
    tempo, sink = graph.add("atempo", f"{speed:.8f}"), graph.add("abuffersink")
    source.link_to(tempo)
    tempo.link_to(sink)
    graph.configure()
    frame = AudioFrame.from_ndarray(sound[None], format="flt", layout="mono")
    frame.sample_rate, frame.pts, frame.time_base = RATE, 0, Fraction(1, RATE)
    source.push(frame)
    source.push(None)
    parts: list[Samples] = []
    while True:
        try:
            parts.append(sink.pull().to_ndarray()[0])
        except (NothingYet, AtEnd):
            return np.concatenate(parts)


def test_a_cut_under_the_narrator_where_the_pitch_was_kept(tmp_path: Path) -> None:
    sound, speed = scenes(1), 25 / 24
    cut = np.concatenate([part(sound, 0, 18), part(sound, 22, 40)])
    narrator = scenes(4, 6.0)
    begin, end = round(15 * RATE), round(21 * RATE)
    cut[begin:end] = 0.15 * cut[begin:end] + narrator
    alignment = fitted(tmp_path, sound, stretched(cut, speed))
    earlier, later = alignment.pieces
    check(alignment, {17.0: 17 / speed, 23.0: 19 / speed, 39.0: 35 / speed}, within=0.05)
    # It says by how much the cut may be off, and is not off by more.
    assert abs(earlier.film.end - 18) <= min(0.3, earlier.end_error)
    assert abs(later.film.start - 22) <= min(0.3, later.start_error)


def test_a_scene_that_is_cut_from_a_recording_of_a_few_seconds(tmp_path: Path) -> None:
    sound, speed = scenes(1, 24.0), 25 / 24
    cut = np.concatenate([part(sound, 0, 10), part(sound, 14, 24)])
    begin, end = round(2 * RATE), round(5 * RATE)
    cut[begin:end] = 0.3 * cut[begin:end] + 0.4 * scenes(4, 3.0)
    alignment = fitted(tmp_path, sound, faster(cut, speed))
    truth = {1.0: 1 / speed, 9.8: 9.8 / speed, 12.0: None, 14.2: 10.2 / speed, 23.0: 19 / speed}
    check(alignment, truth)


def with_music(*others: Samples) -> Samples:
    """Sounds one after the other, the same eight seconds of music between them."""
    sound = [others[0]]
    for other in others[1:]:
        sound += [scenes(7, 8.0), other]
    return np.concatenate(sound)


def test_music_that_comes_back_belongs_to_what_goes_on_beside_it(tmp_path: Path) -> None:
    # Film: 12 s, music, 5 s, music, 12 s. The recording lacks the 5 s and one of the two musics.
    film = with_music(scenes(1, 12.0), scenes(2, 5.0), scenes(3, 12.0))
    recording = with_music(scenes(1, 12.0), scenes(3, 12.0))
    alignment = fitted(tmp_path, film, recording)
    check(alignment, {6.0: 6.0, 22.0: None, 40.0: 27.0})
    assert [gap.duration for gap in alignment.missing] == [pytest.approx(13, abs=0.05)]
    # Either music is right, so the cut may be anywhere in its eight seconds.
    assert max(piece.end_error for piece in alignment.pieces) >= 4


def test_music_that_fits_several_places_is_not_guessed(tmp_path: Path) -> None:
    film = with_music(scenes(1, 12.0), scenes(2, 5.0), scenes(3, 12.0))
    with pytest.raises(SoundError, match="fits several places of the film") as refused:
        fitted(tmp_path, film, scenes(7, 8.0))
    assert "Take a longer part" in refused.value.hint
    # Eight seconds of music between two adverts, of which one is as long as what it stands for.
    recording = np.concatenate(
        [scenes(1, 12.0), scenes(8, 3.0), scenes(7, 8.0), scenes(9, 4.0), scenes(3, 12.0)]
    )
    alignment = fitted(tmp_path, film, recording)
    check(alignment, {6.0: 6.0, 40.0: 34.0})
    (music,) = alignment.ambiguous
    assert music.overlaps(Interval(15, 23))
    assert not any(piece.recording.overlaps(Interval(16, 22)) for piece in alignment.pieces)
    assert "fits several places of it. It was left out." in alignment_text(alignment)


def test_a_film_that_repeats_itself_from_end_to_end_is_fitted_where_it_holds_all(tmp_path: Path) -> None:
    film = np.concatenate([scenes(1, 5.0)] * 4)
    check(fitted(tmp_path, film, film), {1.0: 1.0, 10.0: 10.0, 19.0: 19.0})
    with pytest.raises(SoundError, match="fits several places of the film"):
        fitted(tmp_path, film, part(film, 4, 14))


def test_the_error_of_a_cut_that_hardly_a_sound_shows_is_said(tmp_path: Path) -> None:
    # The film is all but silent before the advert, and the narrator speaks there.
    sound, advert = scenes(1), scenes(3, 9.0)
    sound = np.concatenate([part(sound, 0, 19), part(sound, 19, 20) * 0.004, part(sound, 20, 40)])
    recording = np.concatenate([part(sound, 0, 20), advert, part(sound, 20, 40)])
    begin, end = round(18.5 * RATE), round(20.5 * RATE)
    recording[begin:end] = 0.1 * recording[begin:end] + scenes(4, 2.0)
    alignment = fitted(tmp_path, sound, recording)
    earlier, later = alignment.pieces
    assert abs(earlier.film.end - 20) <= earlier.end_error + 0.02
    assert abs(later.film.start - 20) <= later.start_error + 0.02
    check(alignment, {10.0: 10.0, 30.0: 39.0})


def test_a_recording_in_another_language_is_fitted_by_music_and_noises(tmp_path: Path) -> None:
    common = 0.5 * scenes(1)
    film, recording = common.copy(), common.copy()
    for second in range(2, 38, 6):
        film[second * RATE : (second + 3) * RATE] += scenes(second + 50, 3.0)
        recording[second * RATE : (second + 3) * RATE] += scenes(second + 150, 3.0)
    check(fitted(tmp_path, film, recording), {second: second for second in (1.0, 13.0, 39.0)})


def test_what_is_unsure_is_said() -> None:
    pieces = (
        AlignedPiece(Interval(0, 10), Interval(0, 10), 0.9, end_error=0.4),
        AlignedPiece(Interval(15, 20), Interval(14, 19), 0.9),
    )
    text = alignment_text(Alignment(pieces, 20.0, 19.0))
    assert "Check by ear: the cut at 0:10.00 and 0:15.00 of the film may be up to 0.4 s off." in text
    assert "film 0:10.00-0:15.00 and recording 0:10.00-0:14.00 do not sound alike" in text
    sure = replace(pieces[0], end_error=0.05)
    text = alignment_text(Alignment((sure, replace(pieces[1], recording=Interval(10, 15))), 20.0, 15.0))
    assert "Check by ear" not in text


def test_a_recording_by_a_coder_for_low_rates_is_fitted(tmp_path: Path) -> None:
    alignment = fitted(tmp_path, scenes(1), np.asarray(scenes(1)[RATE:] * 0.2, np.float32), "heard.mp3")
    check(alignment, {2.0: 1.0, 20.0: 19.0, 39.5: 38.5})


def test_the_command_prints_a_table_draws_and_reads_its_record_again(shotad: Shotad, tmp_path: Path) -> None:
    film = film_of(tmp_path, scenes(1))
    recording = np.concatenate([part(scenes(1), 0, 12), part(scenes(1), 20, 40)])
    file = write_sound(tmp_path / "heard.flac", [SoundBlock(0.0, recording)], layout="mono")
    said = shotad("align", film, file, "--plot", tmp_path / "fit.png")
    assert "Not in the recording: film 0:12" in said.out
    assert "The recording holds 80% of the film, in 2 pieces, as fast as the film." in said.out
    with Image.open(tmp_path / "fit.png") as picture:
        assert picture.format == "PNG"
    again = shotad("align", film, file, "--json")
    assert "Listening" not in again.err
    value = json.loads(again.out)
    assert [round(start) for start, _ in (piece["film"] for piece in value["pieces"])] == [0, 20]
    record = json.loads((tmp_path / "film.shotad" / "alignment.json").read_text(encoding="utf-8"))
    assert [row["film"] for row in record["pieces"]] == [piece["film"] for piece in value["pieces"]]


def test_what_is_no_recording_of_the_film_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SoundError, match="of the recording's sound is found in the film"):
        fitted(tmp_path, scenes(1), scenes(5))
    with pytest.raises(SoundError, match="recording is silent"):
        fitted(tmp_path, scenes(1), np.zeros(20 * RATE, np.float32))
    with pytest.raises(SoundError, match="The sound of the recording lasts 2.0 s"):
        fitted(tmp_path, scenes(1), part(scenes(1), 0, 2))


def test_why_a_recording_is_not_found_is_said_as_far_as_it_can_be(tmp_path: Path) -> None:
    with pytest.raises(SoundError, match=r"recording lasts 6\.0 s: too short to be sure"):
        fitted(tmp_path, scenes(1), scenes(5, 6.0))
    with pytest.raises(SoundError, match="is found in the film") as refused:
        fitted(tmp_path, scenes(1), scenes(5))
    assert "6 % faster or slower" in refused.value.hint
    assert "--alone" in refused.value.hint
    with pytest.raises(SoundError, match="is found in the film") as refused:
        fitted(tmp_path, scenes(1), scenes(5, 30.0))
    assert "--alone" not in refused.value.hint
    with pytest.raises(SoundError, match="is found in the film") as refused:
        fitted(tmp_path, scenes(1), scenes(5, 15.0))
    assert "In 15 s of sound" in refused.value.hint


def test_parts_in_another_order_are_refused(tmp_path: Path) -> None:
    sound = scenes(1)
    with pytest.raises(SoundError, match="in another order"):
        fitted(tmp_path, sound, np.concatenate([part(sound, 22, 40), part(sound, 0, 22)]))


def test_files_that_cannot_be_fitted_are_refused(tmp_path: Path, shotad: Shotad) -> None:
    film = film_of(tmp_path, scenes(1))
    with pytest.raises(UsageError, match="are the same sound"):
        align(film, film)
    with pytest.raises(FilmError, match="There is no sound file"):
        align(film, tmp_path / "nothing.mp3")
    silent = SoundFilm(None, seconds=5.0).make(tmp_path / "silent.mkv")
    with pytest.raises(FilmError, match="silent.mkv has no sound"):
        align(film, silent)
    with pytest.raises(SoundError, match="silent.mkv has no sound to compare with"):
        align(silent, film)
    (tmp_path / "text.mp3").write_text("This is no sound. " * 50, encoding="utf-8")
    said = shotad("align", film, tmp_path / "text.mp3")
    assert said.code == 1
    assert "text.mp3 cannot be read as sound." in said.err
    assert shotad("align", film, film, "--plot", "fit.jpg").code == 2
    said = shotad("align", film, film, "--plot", tmp_path / "nowhere" / "fit.png")
    assert said.code == 2
    assert "there is no folder" in said.err
    assert not (tmp_path / "nowhere").exists()
