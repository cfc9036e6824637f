"""What a finished film says, with a recogniser that is told what it hears."""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from heard import Said, judge, lines_said, listen, pieces, shift_of, totals, window_of, word_times
from recogniser import RATE, Whisper, Word, theirs, words_of

from shotad.core import Interval
from shotad.film import SoundBlock, open_film
from shotad.script import Cue, FilmId, Track, Voiced, line_stamp
from tests.media import FilmSpec, SoundSpec, make_film

RABBIT = Path(__file__).resolve().parents[3] / "shared" / "data" / "films" / "rabbit"
LINE = Said("s00002000", "He opens the old door.", Interval(2.0, 4.0))


class Told:
    """Hears the same words whatever it is given, and remembers how long that was."""

    def __init__(self, *words: Word) -> None:
        self._words, self.lengths = list(words), list[int]()

    def hear(self, samples: npt.NDArray[np.float32]) -> list[Word]:
        self.lengths.append(len(samples))
        return self._words


def spoken(*words: str, start: float = 0.5, each: float = 0.4) -> list[Word]:
    return [Word(word, start + i * each, start + (i + 1) * each) for i, word in enumerate(words)]


def test_a_line_that_is_heard_whole_is_found_in_its_place() -> None:
    result = judge(LINE, spoken("He", "opens", "the", "old", "door."), ())
    assert (result.words, result.found, result.near, result.placed) == (5, 5, 0, 5)


def test_words_that_are_heard_elsewhere_are_found_but_not_in_place() -> None:
    late = judge(LINE, spoken("He", "opens", "the", "old", "door.", start=2.0), ())
    assert (late.found, late.placed) == (5, 0)
    part = judge(LINE, spoken("opens", "a", "cold", "door"), ())
    assert part.found == 2


def test_words_spread_over_a_line_by_their_letters() -> None:
    assert word_times(["aaa", "a"], Interval(10.0, 16.0)) == [12.0, 15.0]
    assert word_times([], Interval(10.0, 16.0)) == []


def test_windows_come_out_of_a_stream_even_where_they_overlap_or_outlast_it() -> None:
    sound = np.arange(RATE * 5, dtype=np.float32)
    blocks = [SoundBlock(i, sound[i * RATE : (i + 1) * RATE]) for i in range(5)]
    windows = [Interval(0.0, 1.5), Interval(1.0, 2.0), Interval(3.9, 7.0), Interval(8.0, 9.0)]
    found = list(pieces(blocks, windows))
    for window, piece in zip(windows, found, strict=True):
        np.testing.assert_array_equal(piece, sound[round(window.start * RATE) : round(window.end * RATE)])


def test_the_take_that_is_heard_tells_how_far_it_is_off() -> None:
    rng = np.random.default_rng(7)
    right, other = (rng.normal(size=RATE * 2).astype(np.float32) * 0.1 for _ in range(2))
    sound = rng.normal(size=RATE * 3).astype(np.float32) * 0.02
    place = round((LINE.interval.start - window_of(LINE).start) * RATE)
    sound[place + 80 : place + 80 + len(right)] += right
    assert shift_of(sound, LINE, [other, right, right[: RATE // 2]]) == pytest.approx(5.0)
    assert shift_of(sound, LINE, [right[:RATE]]) is None


def track() -> Track:
    def cue(name: str, start: float, voiced: bool) -> Cue:
        interval = Interval(start, start + 2)
        made = Voiced("fake", f"Line {name}.", Interval(start, start + 1.5), line_stamp(interval, "Text."))
        return Cue(name, None, interval, "Text.", voiced=made if voiced else None)

    film = FilmId("film.mp4", "0" * 32, 60.0)
    cues = (cue("h00002000", 2.0, True), cue("h00010000", 10.0, False), cue("h00020000", 20.0, True))
    return Track(film, "en", (), "1", cues)


def test_lines_are_those_that_were_spoken() -> None:
    assert [(line.id, line.text, line.interval.start) for line in lines_said(track())] == [
        ("h00002000", "Line h00002000.", 2.0),
        ("h00020000", "Line h00020000.", 20.0),
    ]


def test_a_film_is_listened_to_line_by_line_beside_its_original() -> None:
    made = make_film(FilmSpec(frames=125, sounds=(SoundSpec(duration=5.0),)))
    hears = Told(*spoken("He", "opens", "the", "old", "door."))
    with open_film(made.path) as film, open_film(made.path) as original:
        (result,) = listen(hears, film, 0, [LINE], (), control=(original, 0))
    assert hears.lengths == [RATE * 3, RATE * 3]
    assert (result.found, result.control, result.shift) == (5, 5, None)


def test_totals_add_up_words_not_lines() -> None:
    long = judge(LINE, spoken("He", "opens", "the", "old", "door."), ())
    short = judge(Said("s2", "Night.", Interval(9.0, 10.0)), (), ())
    counted = totals([long, short])
    assert (counted["lines"], counted["words"], counted["found"]) == (2, 6, 5)
    assert counted["found %"] == 83.3


def test_pieces_of_words_are_joined_and_marks_are_none() -> None:
    vocabulary = [b" He", b" op", b"ens", b"."]
    tokens, times = [50257, 50362, 0, 1, 2, 3, 50256], [0.0, 0.0, 0.5, 0.9, 1.1, 1.4, 1.6]
    assert words_of(tokens, times, vocabulary, 3.0) == [Word("He", 0.5, 0.9), Word("opens.", 0.9, 1.6)]
    assert words_of([50257, 50256], [0.0, 0.0], vocabulary, 3.0) == []


def test_names_of_the_release_become_those_of_the_model() -> None:
    assert theirs("encoder.blocks.0.attn.query.weight") == "model.encoder.layers.0.self_attn.q_proj.weight"
    assert (
        theirs("decoder.blocks.3.cross_attn_ln.bias") == "model.decoder.layers.3.encoder_attn_layer_norm.bias"
    )
    assert theirs("decoder.blocks.1.mlp.2.weight") == "model.decoder.layers.1.fc2.weight"
    assert theirs("encoder.positional_embedding") == "model.encoder.embed_positions.weight"


@pytest.mark.slow
@pytest.mark.skipif(not RABBIT.is_dir(), reason="the rabbit clip is not here")
def test_the_real_recogniser_finds_a_describers_words() -> None:
    lines = [
        Said("1", "A giant fat rabbit climbs out of a hole in the ground.", Interval(0.4, 4.5)),
        Said("2", "He stretches, yawns, and then starts walking.", Interval(4.5, 7.2)),
        Said("3", "Then he stops to scratch his bottom.", Interval(10.6, 12.8)),
    ]
    with open_film(RABBIT / "video-with-voiceover.mp4") as film, open_film(RABBIT / "video.mp4") as original:
        counted = totals(list(listen(Whisper(), film, None, lines, (), control=(original, None))))
    assert counted["found %"] >= 75
    assert counted["placed %"] >= 70
    assert counted["control %"] <= 10
