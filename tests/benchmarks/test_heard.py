"""What a finished film says, with a recogniser that is told what it hears, and the words of a script in it."""

from pathlib import Path

import numpy as np
import pytest
from heard import Said, judge, listen, pieces, shift_of, totals, window_of
from heardwords import Match, plain_words, side_by_side
from recogniser import RATE, Whisper, Word

from shotad.core import Interval
from shotad.film import SoundBlock, open_film

RABBIT = Path(__file__).resolve().parents[3] / "shared" / "data" / "films" / "rabbit"
LINE = Said("s00002000", "He opens the old door.", Interval(2.0, 4.0))


def spoken(*words: str, start: float = 0.5, each: float = 0.4) -> list[Word]:
    return [Word(word, start + i * each, start + (i + 1) * each) for i, word in enumerate(words)]


def test_lines_are_found_in_their_place() -> None:
    result = judge(LINE, spoken("He", "opens", "the", "old", "door."), ())
    assert (result.words, result.found, result.near, result.placed) == (5, 5, 0, 5)
    # Words that are heard elsewhere are found but not in place.
    late = judge(LINE, spoken("He", "opens", "the", "old", "door.", start=2.0), ())
    assert (late.found, late.placed) == (5, 0)
    part = judge(LINE, spoken("opens", "a", "cold", "door"), ())
    assert part.found == 2
    # Windows come out of a stream even where they overlap or outlast it.
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


@pytest.mark.long
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


def test_texts_are_brought_to_one_spelling() -> None:
    for text, words in (
        ("Grey-eyed Tom’s 21.", "gray eyed toms twenty one"),
        ("In 1999, 2,500 men & 1 dog.", "in nineteen ninety nine two thousand five hundred men and one dog"),
        ("The 21st, 3rd and 20th door.", "the twenty first third and twentieth door"),
        ("Colour: travelling, realise, theatre, Mr. Hour", "color traveling realize theater mister hour"),
        ("— “…” ! naïve café", "naïve café"),
    ):
        assert plain_words(text) == words.split()


def matches(wanted: str, heard: str, names: tuple[str, ...] = ()) -> list[tuple[int, bool]]:
    found = side_by_side(plain_words(wanted), plain_words(heard), names)
    return [(match.wanted, match.near) for match in found]


def test_words_count_where_they_are_found_or_sound_alike() -> None:
    assert matches("a big red dog", "the big brown dog") == [(1, False), (3, False)]
    assert len(matches("a big red dog", "dog red big")) == 1
    assert matches("he runs", "") == []
    # Joined and parted words count where their letters agree.
    assert side_by_side(["the", "door", "way"], ["the", "doorway"]) == [
        Match(0, 0, 0), Match(1, 1, 1), Match(2, 1, 1),
    ]  # fmt: skip
    assert side_by_side(["the", "doorway"], ["the", "door", "way"]) == [Match(0, 0, 0), Match(1, 1, 2)]
    # Only names may sound alike.
    assert matches("Proog pulls Emo", "prug pulls emmo", ("Proog", "Emo")) == [
        (0, True), (1, False), (2, True),
    ]  # fmt: skip
    assert matches("Proog pulls Emo", "prug pulls emmo") == [(1, False)]
    assert matches("Proog pulls", "gold pulls", ("Proog",)) == [(1, False)]
