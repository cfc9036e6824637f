"""Lines followed from frame to frame, and facts about text on the screen: made-up readings and supplied films."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import pytest

from shotad.core import Box, Image, Interval
from shotad.sight import (
    FrameText,
    TextReader,
    texts_of_shots,
)
from shotad.sight.inscriptions import best_spelling, follow, joined_rows, likeness, looks_like_credits
from shotad.sight.text import TextLine, plain_fraction

FILMS = Path(__file__).resolve().parents[3] / "shared/data/films"
SAMPLE = Path(__file__).resolve().parents[1] / "sample"
LABELS = Path(__file__).resolve().parents[1] / "labels/texts.json"
READER = TextReader()


def line(
    text: str,
    x: float = 0.5,
    y: float = 0.5,
    height: float = 0.08,
    score: float = 0.99,
    tilt: float = 0.0,
    ground: float = 0.0,
    around: tuple[float, ...] = (),
) -> TextLine:
    half = 0.5 * height * 0.3 * len(text)
    box = Box(max(x - half, 0), max(y - height / 2, 0), min(x + half, 1), min(y + height / 2, 1))
    return TextLine(text, box, score, tilt, ground, around)


def seen(
    *lines: Sequence[TextLine], shots: Sequence[int] = (), plain: float | None = None
) -> list[FrameText]:
    """Two frames a second; where all ground is plain, the whole picture is (``plain`` None)."""
    return [
        FrameText(
            shots[i] if shots else 0,
            0.5 * i,
            tuple(each),
            float(all(one.ground <= 12 for one in each)) if plain is None else plain,
        )
        for i, each in enumerate(lines)
    ]


def thin(text: str, x: float = 0.5, y: float = 0.5, **more: Any) -> TextLine:
    return line(text, x, y, **{"height": 0.06, "score": 0.98, **more})


def said(observations: Sequence[FrameText], speech: Sequence[Interval] = ()) -> list[tuple[str, str]]:
    return [(fact.text, fact.kind) for fact in texts_of_shots(observations, speech=speech)]


# Lines followed from frame to frame
def test_spelling_and_the_detectors_cuts_are_mended() -> None:
    assert likeness("SINTEL", "SINTEL") == 1.0
    assert likeness("abc", "xyz") == 0.0
    assert likeness("NO ENTRY", "NOENTRY") == pytest.approx((1 - 1 / 8 + 1) / 2)
    # The detector's cut in a line is mended.
    left = TextLine("THE", Box(0.33, 0.40, 0.40, 0.46), 1.0)
    right = TextLine("BLENDER FOUNDATION", Box(0.41, 0.40, 0.66, 0.46), 0.9)
    (row,) = joined_rows([right, left])
    assert row.text == "THE BLENDER FOUNDATION"
    assert (row.box.left, row.box.right) == (0.33, 0.66)
    assert row.score == pytest.approx((3 * 1.0 + 17 * 0.9) / 20)
    # Columns other sizes and other levels stay apart.
    role, name = thin("Director", 0.3), thin("Anna Kovacs", 0.7)
    assert len(joined_rows([role, name])) == 2
    big = TextLine("BIG", Box(0.10, 0.40, 0.30, 0.60), 1.0)
    small = TextLine("small print", Box(0.31, 0.48, 0.50, 0.52), 1.0)
    assert len(joined_rows([big, small])) == 2


def test_a_line_is_followed_over_misreadings_and_gaps_and_no_further() -> None:
    found = follow(seen([thin("peesents")], [thin("presents")], [], [], [thin("presents")]))
    assert [(one.text, len(one.frames), one.first, one.last) for one in found] == [("presents", 3, 0.0, 2.0)]
    assert len(follow(seen([thin("presents")], [], [], [], [thin("presents")]))) == 2
    # Another text in the same place is another line.
    found = follow(seen([thin("Directed by")], [thin("Produced by")]))
    assert [one.text for one in found] == ["Directed by", "Produced by"]
    # The same word elsewhere after a gap or in another size is another line.
    assert len(follow(seen([thin("SINTEL")], [], [thin("SINTEL", y=0.2)]))) == 2
    assert len(follow(seen([thin("SINTEL", height=0.14)], [thin("SINTEL", y=0.2, height=0.1)]))) == 2
    # Two lines never become one in a frame.
    pair = [thin("HA HA", y=0.48), thin("HA HA", y=0.54)]
    found = follow(seen(pair, pair))
    assert [len(one.frames) for one in found] == [2, 2]
    # A rolling line is one and its drift is known.
    (one,) = follow(seen(*([thin("Anna Kovacs", y=0.9 - 0.1 * i)] for i in range(8))))
    assert len(one.frames) == 8
    assert one.drift[1] == pytest.approx(-0.7)
    assert one.drift[0] == pytest.approx(0)


def test_the_best_spelling_is_what_most_say() -> None:
    for readings, best in (
        ([("presents", 0.9), ("peesents", 0.8), ("prezents", 0.8)], "presents"),
        ([("SINTEL", 0.99)] * 5 + [("SINTE L", 0.99)], "SINTEL"),
        ([("They", 1.0), ("They never", 1.0), ("They never came back", 1.0)], "They never came back"),
        ([("THE LAS", 0.95), ("THE LAST HARBOUR", 0.97)], "THE LAST HARBOUR"),
    ):
        assert best_spelling([thin(text, score=score) for text, score in readings]) == best


def test_unrest_is_seen_around_a_line_that_stays() -> None:
    lit = [thin("AMSTERDAM", around=around) for around in ((10.0, 10.0), (10.0, 10.0), (60.0, 90.0))]
    still, busy = (follow(seen([lit[0]], [then]))[0].unrest for then in lit[1:])
    assert still == 0
    assert busy > 20


# Facts
def test_letters_on_things_of_the_scene() -> None:
    """Rivets and buttons are read for digits; a year on a card is one."""
    moving = [[line(text, x=0.2 + 0.02 * i, y=0.4) for text in ("5000",)] for i in range(6)]
    assert said(seen(*moving, plain=0.1)) == []
    assert said(seen(*[[line("1943")]] * 6)) == [("1943", "title")]
    worded = [[line("HARBOUR", x=0.3 + 0.02 * i, y=0.4)] for i in range(6)]
    assert said(seen(*worded, plain=0.1)) == [("HARBOUR", "scene")]

    # Letters on a thing are told where they are read alike.
    def bottle(*readings: str) -> list[FrameText]:
        return seen(*([line(text, x=0.3 + 0.02 * i, y=0.4)] for i, text in enumerate(readings)), plain=0.1)

    assert said(bottle(*["GLENDRONACH"] * 6)) == [("GLENDRONACH", "scene")]
    assert said(bottle(*["GLENDRONIO", "GLENDRONO"] * 3)) == []
    # Writing that leans, or moves as the picture does, belongs to the scene.
    leaning = line("BAKERY", x=0.3, y=0.3, tilt=8, ground=40)
    assert said(seen([leaning], [leaning])) == [("BAKERY", "scene")]
    moving = [[line("BAKERY", x=0.3 + 0.03 * i, y=0.3, ground=40)] for i in range(4)]
    assert said(seen(*moving)) == [("BAKERY", "scene")]
    # So does writing of which nothing shows that it is laid over the picture.
    still = line("BAKERY", x=0.3, y=0.3, ground=40, around=(10, 80))
    assert said(seen([still], [still])) == [("BAKERY", "scene")]
    page = [line(f"Line number {i}", y=0.2 + 0.1 * i) for i in range(5)]
    assert [kind for _, kind in said(seen(page, page))] == ["scene"]
    assert [kind for _, kind in said(seen(page[:4], page[:4]))] == ["title"]


def test_a_title_over_a_picture_comes_or_goes_or_stays_while_all_around_it_moves() -> None:
    shown = [line("SAMANTHA", height=0.16, ground=58)]
    # There from the first frame to the last over a picture that stays: a sign looks the same.
    assert said(seen(*[shown] * 9)) == [("SAMANTHA", "scene")]
    assert said(seen([], [], *[shown] * 6)) == [("SAMANTHA", "title")]
    assert said(seen(*[shown] * 6, [], [])) == [("SAMANTHA", "title")]
    # What is hidden for a while stands behind somebody.
    assert said(seen(*[shown] * 4, [], [], *[shown] * 4, [], [])) == [("SAMANTHA", "scene")]

    # The name of a shop over a street is as level and as still as a title.
    def over(change: float, x: float = 0.42, before: int = 0) -> list[FrameText]:
        arounds = [(60.0, 90.0), (60.0 + change, 90.0 - change)] * 4
        shown = ([line("FUTURE SHOP", x, 0.3, ground=46, around=a)] for a in arounds)
        return seen(*[[]] * before, *shown)

    assert said(over(10)) == [("FUTURE SHOP", "scene")]
    assert said(over(60)) == said(over(10, before=2)) == [("FUTURE SHOP", "caption")]
    assert said(over(60, x=0.5)) == [("FUTURE SHOP", "title")]
    # A place name at a lower side is a caption.
    caption = [line("Amsterdam, in 1982", x=0.3, y=0.88, height=0.06, ground=40)]
    assert said(seen([], [], *[caption] * 3)) == [("Amsterdam, in 1982", "caption")]


def test_lettering_that_fills_the_picture_is_told_of_and_what_is_cut_off_is_not() -> None:
    def fills(x: float, height: float) -> list[bool]:
        letter = [
            line("MEET ME", x, 0.45, height=height, ground=40),
            line("AT SIX", x, 0.45 + 1.2 * height, height=height, ground=40),
        ]
        return [fact.fills for fact in texts_of_shots(seen(*[letter] * 4))]

    assert fills(0.5, 0.2) == [True]
    assert fills(0.5, 0.05) == [False]
    assert fills(0.2, 0.2) == [False]


@pytest.mark.parametrize(
    "lines",
    [["H ADAM LUXTON"], ["monica", "TURMA DA"], ["BREAKING NEWS", "BREAKING NEWS", "NEWS"]],
)
def test_a_card_that_is_not_read_as_it_stands_is_no_title(lines: list[str]) -> None:
    card = [line(text, y=0.4 + 0.08 * at, height=0.06) for at, text in enumerate(lines)]
    assert {kind for _, kind in said(seen(*[card] * 4))} <= {"scene"}
    assert not any(fact.fills for fact in texts_of_shots(seen(*[card] * 4)))


@pytest.mark.parametrize("words", ["RATED PG-13", "All rights reserved", "Viewer discretion is advised"])
def test_notices_of_law_and_rating_are_left_out(words: str) -> None:
    assert said(seen(*[[line(words, height=0.05)]] * 6)) == []


def test_one_word_over_a_picture_that_begins_small_is_part_of_another() -> None:
    """A hand is before the rest of it."""

    def word(text: str, ground: float = 43) -> list[tuple[str, str]]:
        return said(seen(*[[line(text, x=0.67, y=0.6, height=0.2, ground=ground)]] * 4))

    assert word("steck") == []
    assert word("Birkensteck") == [("Birkensteck", "scene")]
    assert word("steck here") == [("steck here", "scene")]
    assert word("echo", ground=3) == [("echo", "title")]


def test_a_mark_over_a_picture_is_left_out() -> None:
    def frames(number: int, *lights: float) -> list[FrameText]:
        each = [
            line("SAMPLER", y=0.9, height=0.2, ground=25, around=(lights[i % len(lights)],))
            for i in range(number)
        ]
        return seen(*([one] for one in each))

    assert said(frames(14, 10.0, 80.0)) == []
    assert [text for text, _ in said(frames(14, 10.0))] == ["SAMPLER"]
    assert [text for text, _ in said(frames(8, 10.0, 80.0))] == ["SAMPLER"]
    corner = [line("NINE", x=0.92, y=0.08, height=0.05, around=(10.0,))]
    assert said(seen(*[corner] * 14)) == []
    # A mark in a corner over three shots is left out.
    mark = [line("FILMCHANNEL", x=0.86, y=0.08, height=0.05)]
    assert said(seen(*[mark] * 12, [], [], shots=[0] * 4 + [1] * 4 + [2] * 4 + [3] * 2)) == []
    name = [line("This is FILMCHANNEL", x=0.86, y=0.08, height=0.05)]
    assert said(seen(*[name] * 8, [], [], [], [], shots=[0] * 4 + [1] * 4 + [2] * 4)) != []
    # What stays while the picture moves is laid over it.
    around = [(10.0, 80.0), (60.0, 20.0), (30.0, 120.0)]
    stays = [[line("AMSTERDAM", x=0.3, y=0.3, ground=40, around=a)] for a in around]
    assert said(seen(*stays)) == [("AMSTERDAM", "caption")]
    across = [
        [line("AMSTERDAM", x=0.3, y=0.3, ground=40, around=around)] for around in ((10.0, 80.0), (25.0, 60.0))
    ]
    assert said(seen(*across, shots=[0, 1])) == [("AMSTERDAM", "caption")]
    assert said(seen(*across, shots=[0, 0])) == [("AMSTERDAM", "scene")]


@pytest.mark.parametrize("name", ["clideo.com", "Getty Images"])
def test_a_sellers_name_over_a_picture_is_a_mark_and_on_a_card_a_title(name: str) -> None:
    over, card = ([line(name, y=0.6, height=0.12, ground=ground)] for ground in (40, 2))
    assert said(seen(*[over] * 4, *[[]] * 4)) == []
    assert said(seen(*[card] * 4, *[[]] * 4)) == [(name, "title")]
    longer = [line(f"Ask for it at {name} today", y=0.6, height=0.06, ground=2)]
    assert said(seen(*[longer] * 4)) == [(f"Ask for it at {name} today", "title")]


def test_a_single_frame_counts_only_if_large_and_sure_and_short_text_needs_three_or_a_neighbour() -> None:
    for text, height, score, counts in (
        ("THE END", 0.1, 0.99, True), ("THE END", 0.1, 0.95, False), ("THE END", 0.05, 0.99, False),
        ("END", 0.1, 0.99, False),
    ):  # fmt: skip
        assert bool(said(seen([], [line(text, height=height, score=score)], []))) is counts
    assert said(seen(*[[line("END")]] * 2)) == []
    assert said(seen(*[[line("END")]] * 3)) == [("END", "title")]
    pair = [line("The", y=0.42), line("Last Harbour", y=0.5)]
    assert said(seen(pair, pair)) == [("The Last Harbour", "title")]


def test_a_logo_in_a_corner_is_no_title() -> None:
    """Within one shot: small, in a corner, and there from the first frame to the last."""
    for x, y, height, first, told in (
        (0.86, 0.08, 0.05, 0, False), (0.14, 0.92, 0.05, 1, False), (0.86, 0.08, 0.05, 5, True),
        (0.86, 0.08, 0.14, 0, True), (0.50, 0.50, 0.05, 0, True),
    ):  # fmt: skip
        logo = [line("NASA TV live", x=x, y=y, height=height)]
        assert bool(said(seen(*[[]] * first, *[logo] * (12 - first)))) is told


def low(text: str, y: float = 0.92) -> TextLine:
    return line(text, y=y, height=0.06, ground=30)


def test_subtitles_by_place_and_speech() -> None:
    two = [low("He went", 0.85), low("to the harbour.")]
    assert said(seen(two, two)) == [("He went to the harbour.", "subtitle")]
    dash = [low("- Where to")]
    assert said(seen(dash, dash)) == [("- Where to", "subtitle")]
    caption = [low("London Bridge")]
    shown = seen(caption, caption, caption)
    assert said(shown) == [("London Bridge", "scene")]
    assert said(shown, [Interval(0.2, 0.9)]) == [("London Bridge", "subtitle")]
    assert said(shown, [Interval(5.0, 9.0)]) == [("London Bridge", "scene")]


ROLL = ("Anna Kovacs", "Li Wei", "John Smith", "Marie Dupont", "Piotr Nowak", "Elena Rossi", "Tom Baker")


def rolling(step: float = 0.08, names: Sequence[str] = ROLL) -> list[FrameText]:
    def at(frame: int) -> list[TextLine]:
        places = [(name, 0.9 + 0.12 * i - step * frame) for i, name in enumerate(names)]
        return [line(name, y=y, height=0.05) for name, y in places if 0.05 < y < 0.95]

    return seen(*(at(frame) for frame in range(14)))


def test_what_rises_is_credits_or_a_page() -> None:
    assert said(rolling()) == [(" ".join(ROLL), "credit")]
    assert looks_like_credits(rolling()[4:10])
    # A sign that the camera passes is no roll of credits.
    kinds = {kind for _, kind in said(rolling()[5:10])}
    assert kinds
    assert "credit" not in kinds
    assert {kind for _, kind in said(rolling())} == {"credit"}
    # Prose that rises is a page and no credits.
    page = [
        f"and so the {word} went on for many long years"
        for word in ["king", "fox", "moon", "sea", "boy", "ship", "bell"]
    ]
    assert "credit" not in [kind for _, kind in said(rolling(names=page))]
    assert not looks_like_credits(rolling(names=page)[4:10])
    # Names that sink or stay are not known as a roll.
    assert not looks_like_credits(rolling(step=-0.05)[:6])
    names = [line(name, y=0.3 + 0.1 * i, height=0.05) for i, name in enumerate(ROLL[:4])]
    assert not looks_like_credits(seen(names, names, names))
    # A card with roles is of credits and a full one may be a page.
    full = [line(name, y=0.1 + 0.11 * i, height=0.05) for i, name in enumerate(ROLL)]
    assert said(seen(*[full] * 4)) == [(" ".join(ROLL), "scene")]
    assert not looks_like_credits(seen(full, full))
    role = [line("Directed by", y=0.45, height=0.05), line("Anna Kovacs", y=0.52)]
    assert said(seen(role, role)) == [("Directed by Anna Kovacs", "credit")]
    one = [line("Music by Elena Rossi", y=0.9, height=0.05, ground=30)]
    assert said(seen([], [], one, one)) == [("Music by Elena Rossi", "credit")]
    # Posters name roles too.
    assert said(seen(*[one] * 4)) == [("Music by Elena Rossi", "scene")]
    assert not looks_like_credits(seen(*[[*role, *names]] * 4, plain=0.2))


@pytest.mark.parametrize(("others", "kind"), [(0, "title"), (7, "title"), (8, "scene")])
def test_one_word_among_many_lines_is_of_a_screen_and_no_title(others: int, kind: str) -> None:
    beside = [line(f"Setting {i} of the list", x=0.85, y=0.06 + 0.1 * i, height=0.04) for i in range(others)]
    shown = [line("Spring", x=0.3, y=0.3, height=0.1), *beside]
    assert [found for text, found in said(seen(*[shown] * 6)) if text == "Spring"] == [kind]


def test_a_list_on_even_stripes_that_rises_is_a_screen_and_no_credits() -> None:
    def striped(light: Callable[[int], float], uneven: float = 0) -> list[FrameText]:
        around = {name: (light(i), light(i) + uneven) * 6 for i, name in enumerate(ROLL)}
        return [
            replace(frame, lines=tuple(replace(one, around=around[one.text]) for one in frame.lines))
            for frame in rolling()
        ]

    list_of_screen = striped(lambda i: 250 - 20 * i)
    assert "credit" not in [kind for _, kind in said(list_of_screen)]
    assert not looks_like_credits(list_of_screen[4:10])
    for roll in (striped(lambda i: 8), striped(lambda i: 250 - 20 * i, uneven=30)):
        assert said(roll) == [(" ".join(ROLL), "credit")]
        assert looks_like_credits(roll[4:10])


def pictures(path: Path, step: float) -> Iterator[tuple[float, Image]]:
    with av.open(str(path)) as container:
        due = 0.0
        for frame in container.decode(video=0):
            if frame.time + 1e-6 >= due:
                due += step
                yield frame.time, frame.to_ndarray(format="rgb24")


def observed(path: Path) -> list[FrameText]:
    seconds, images = zip(*pictures(path, 0.5), strict=True)
    return [
        FrameText(0, at, lines, plain_fraction(image, lines))
        for at, image, lines in zip(seconds, images, READER.read_all(images), strict=True)
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "entry", json.loads(LABELS.read_text(encoding="utf-8")), ids=lambda entry: entry["film"]
)
def test_our_films_read_as_labelled(entry: dict[str, Any]) -> None:
    if not (FILMS / entry["film"]).exists():
        pytest.skip(f"the supplied film {entry['film']} is not at {FILMS}")
    facts, labels = texts_of_shots(observed(FILMS / entry["film"])), entry["texts"]
    got = [(fact.text.replace("OF:", "OF"), fact.kind) for fact in facts]
    assert got == [(label["text"].replace("OF:", "OF"), label["kind"]) for label in labels]
    for fact, label in zip(facts, labels, strict=True):
        assert label["first"] - 0.05 <= fact.first <= label["first"] + 0.6
        assert label["last"] - 0.7 <= fact.last <= label["last"] + 0.05


@pytest.mark.long
def test_the_sample_film_is_read_as_its_truths_say() -> None:
    truths = json.loads((SAMPLE / "sample.truths.json").read_text(encoding="utf-8"))["texts"]
    shown = observed(SAMPLE / "sample.mp4")
    expected = [(truth["text"].replace(" / ", " "), truth["kind"].removesuffix("s")) for truth in truths]
    assert said(shown) == expected
    roll = truths[-1]["seconds"][0]
    assert looks_like_credits([frame for frame in shown if frame.seconds >= roll + 1])
    assert not looks_like_credits([frame for frame in shown if frame.seconds < roll])


def test_a_card_is_whole_with_its_last_line() -> None:
    first, second = line("A FILM", y=0.4), line("BY NOBODY", y=0.5)
    (fact,) = texts_of_shots(seen([first], [first], [first, second], [first, second]))
    assert (fact.text, fact.first, fact.since) == ("A FILM BY NOBODY", 0.0, 1.0)
    # Role and name in two columns are read row by row.
    card = [
        line("Director", x=0.37, y=0.45, height=0.05), line("Anna Kovacs", x=0.6, y=0.45, height=0.05),
        line("Producer", x=0.37, y=0.53, height=0.05), line("Li Wei Chang", x=0.6, y=0.53, height=0.05),
    ]  # fmt: skip
    assert said(seen(card, card)) == [("Director Anna Kovacs Producer Li Wei Chang", "credit")]
    # Text that is still being written at the end is not told.
    parts = ["THE", "THE PEACH", "THE PEACH OPE", "THE PEACH OPEN MOVIE"]
    for height in (0.05, 0.08):
        growing = [[line(part, x=0.3 + 0.01 * len(part), height=height)] for part in parts]
        assert said(seen(*growing)) == []
    assert [text for text, _ in said(seen(*growing, *[growing[-1]] * 3))] == ["THE PEACH OPEN MOVIE"]
    # A line that is lost and found elsewhere stands once in its text.
    name = line("Chamber", y=0.54, height=0.08)
    before, after = (line("Le", y=y, height=0.07) for y in (0.46, 0.44))
    moved = [[name, before]] * 4 + [[name]] * 5 + [[name, after]] * 4
    assert [text for text, _ in said(seen(*moved))] == ["Le Chamber"]
    head, part, whole = line("THE WORK", y=0.4), line("of our", x=0.4, y=0.5), line("of our hands", y=0.5)
    assert [text for text, _ in said(seen(*[[head, part]] * 3, *[[head]] * 4, *[[head, whole]] * 4))] == [
        "THE WORK of our hands"
    ]
    # One that was read in two pieces while it faded in stands there once; a word that stands there twice, twice.
    pieces = [line("an orchard", x=0.33, height=0.06), line("production", x=0.66, height=0.06)]
    made = line("an orchard production", height=0.06)
    assert [text for text, _ in said(seen(pieces, pieces, *[[made]] * 6))] == ["an orchard production"]
    again = line("production", y=0.57, height=0.06)
    assert [text for text, _ in said(seen(*[[made, again]] * 6))] == ["an orchard production production"]
