"""The narrator: texts it reads out, people it names, the words and the seconds that a line may take."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import (
    Character,
    Config,
    ContextShot,
    Engine,
    Interval,
    Reply,
    Request,
    Shot,
    load_config,
)
from shotad.core.cast import Presence
from shotad.core.engine import (
    EntranceFact,
    Facts,
    NamedFace,
    Scene,
    TextFact,
)
from shotad.core.errors import EngineError
from shotad.core.types import Role
from shotad.description.english_words import language_fault
from shotad.engines import make_engine
from shotad.script.cue import MAX_LEAD
from shotad.script.rules import check_line

PACE = Config().slots.seconds_per_word
THOM, CELIA = NamedFace("thom", "Thom", "he"), NamedFace("celia", "Celia", "she")
RED = NamedFace("red", "the woman in red", "she", named=False)
CAST = (
    Character("thom", "Thom", "Thom Hoffman", pronoun="he"),
    Character("celia", "Celia", "Celia Brand", pronoun="she"),
)


@cache
def narrator(language: str = "en") -> Engine:
    return make_engine("narrator", load_config((), [f"language={language}"]), "stage2")


def text(words: str, kind: Any = "title", *, shot: int = 0, at: float = 10.0, **more: Any) -> TextFact:
    fields = {"shot": shot, "text": words, "kind": kind, "first": at, "last": at + 4, "sure": 0.99}
    return TextFact(**{**fields, **more})


def entrance(*names: NamedFace, shot: int = 0, at: float = 10.0) -> EntranceFact:
    return EntranceFact(shot, names, at, at + 3)


def ask(facts: Facts, slot: Interval = Interval(10, 20), language: str = "en", **more: Any) -> Reply:  # noqa: B008
    """The answer about a slot of as many words as can be said in it, with shots of three seconds from 10 on."""
    spans = [Interval(10.0 + 3 * number, 13.0 + 3 * number) for number in range(max(facts.current) + 1)]
    context = tuple(ContextShot(Shot(number, span), Role.CURRENT, span) for number, span in enumerate(spans))
    scene = Scene(slot, context, presence=Presence(cast=CAST))
    notes = json.loads(json.dumps(facts.to_json()))
    request = {"budget": int(slot.duration / PACE), "seed": 0, "scene": scene, **more}
    return narrator(language).generate([Request("s1", (), notes=notes, **request)])[0]


def line(facts: Facts, **more: Any) -> str:
    reply = ask(facts, **more)
    assert reply.error is None
    return reply.text


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (Facts((0,), texts=(text("SINTEL"),)), 'Words appear: "SINTEL."'),
        (Facts((0,), texts=(text("Bergen, 1994", "caption"),)), 'Text reads: "Bergen, 1994."'),
        (Facts((0,), texts=(text("NO ENTRY", "scene", fills=True),)), 'Text reads: "NO ENTRY."'),
        (Facts((0,), entrances=(entrance(THOM),)), "Thom appears."),
        (Facts((0,), entrances=(entrance(RED),)), "The woman in red appears."),
        (Facts((0,), entrances=(entrance(THOM, CELIA),)), "Thom and Celia appear."),
        (
            Facts((0, 1), entrances=(entrance(THOM), entrance(CELIA, shot=1, at=12.0))),
            "Thom appears, then Celia.",
        ),
        (
            Facts((0,), texts=(text("ONE DAY"), text("THE END", at=11.0))),
            'Words appear: "ONE DAY," then "THE END."',
        ),
        (
            Facts((0,), texts=(text("Who are you?"), text("THE END", at=11.0))),
            'Words appear: "Who are you?" then "THE END."',
        ),
        (
            Facts((0, 1), texts=(text("PARIS", "caption"),), entrances=(entrance(THOM, shot=1, at=12.0),)),
            'Text reads: "PARIS." Thom appears.',
        ),
    ],
)  # fmt: skip
def test_what_is_said(facts: Facts, wanted: str) -> None:
    assert line(facts) == wanted
    assert not check_line(wanted)


TWO_TEXTS = Facts((0,), texts=(text("ONE DAY"), text("Who are you?", at=11.0), text("THE END", at=12.0)))
SIGN = Facts((0,), texts=(text("Bergen, 1994", "caption"),))
ALONE = Facts((0,), entrances=(entrance(THOM),))
TOGETHER = Facts((0,), entrances=(entrance(THOM, CELIA),))
IN_TURN = Facts((0, 1), entrances=(entrance(THOM), entrance(CELIA, shot=1, at=12.0)))


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        (
            "de-CH",
            [
                "Schriftzug: „ONE DAY“, dann „Who are you?“, dann „THE END“.",
                "Zu lesen ist: „Bergen, 1994“.",
                "Thom erscheint.",
                "Thom und Celia erscheinen.",
                "Thom erscheint, dann Celia.",
            ],
        ),
        (
            "fr",
            [
                "Texte : « ONE DAY », puis « Who are you? », puis « THE END ».",
                "Il est écrit : « Bergen, 1994 ».",
                "Thom apparaît.",
                "Thom et Celia apparaissent.",
                "Thom apparaît, puis Celia.",
            ],
        ),
        (
            "es",
            [
                "Texto: «ONE DAY», luego «Who are you?», luego «THE END».",
                "Se lee: «Bergen, 1994».",
                "Aparece Thom.",
                "Aparecen Thom y Celia.",
                "Aparece Thom, luego Celia.",
            ],
        ),
        (
            "it",
            [
                "Scritta: «ONE DAY», poi «Who are you?», poi «THE END».",
                "Si legge: «Bergen, 1994».",
                "Appare Thom.",
                "Appaiono Thom e Celia.",
                "Appare Thom, poi Celia.",
            ],
        ),
        (
            "pt-BR",
            [
                "Texto: “ONE DAY”, depois “Who are you?”, depois “THE END”.",
                "Lê-se: “Bergen, 1994”.",
                "Thom aparece.",
                "Thom e Celia aparecem.",
                "Thom aparece, depois Celia.",
            ],
        ),
    ],
)
def test_what_is_said_in_other_languages(language: str, wanted: list[str]) -> None:
    said = [line(facts, language=language) for facts in (TWO_TEXTS, SIGN, ALONE, TOGETHER, IN_TURN)]
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in said] == wanted
    for told in said:
        assert language_fault(told, language, ("Thom", "Celia")) is None
        assert not check_line(told, language=language)


@pytest.mark.parametrize("language", ["de", "fr", "es", "it", "pt"])
def test_what_was_said_in_another_language_is_not_said_again(language: str) -> None:
    for facts in (SIGN, ALONE):
        assert ask(facts, language=language, history=(line(facts, language=language),)).text == ""


@pytest.mark.parametrize("language", ["de", "fr", "es", "it", "pt"])
def test_words_of_other_languages_take_their_own_time(language: str) -> None:
    long_title = Facts((0,), texts=(text("DONAUDAMPFSCHIFFFAHRTSGESELLSCHAFT"),))
    assert line(long_title, language=language, slot=Interval(10, 20))
    reply = ask(long_title, language=language, slot=Interval(10, 11.5))
    assert not reply.text
    assert reply.notes is not None
    assert language_fault(reply.notes["reason"], language) is None


LETTERING = "is lettering in the scene, such as a sign or a mark, which is not read out"


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (Facts((0,)), "no text to read out"),
        (Facts((0,), texts=(text("EXIT", "scene"),)), f'the text "EXIT" {LETTERING}'),
        (
            Facts((0,), texts=(text("Come with me", "subtitle"),)),
            'the text "Come with me" is a subtitle, which is not read out',
        ),
        (
            Facts((0,), credits=True, texts=(text("Directed by Ada Holm", "credit"),)),
            'the text "Directed by Ada Holm" is part of the credits, which is not read out',
        ),
        (Facts((0,), texts=(text("RUZYN", sure=0.96),)), 'the text "RUZYN" cannot be read for certain'),
        (
            Facts((0,), texts=(text("伸出手来"),)),
            'the text "伸出手来" has no words that an English voice can say',
        ),
        (
            Facts((0,), texts=(text("大英语 com", "caption"),)),
            'the text "大英语 com" has no words that an English voice can say',
        ),
        (
            Facts((0,), texts=(text("Meet me at six", spoken=True),)),
            'the text "Meet me at six" is read out in the film',
        ),
        # What is for viewers goes before what is not; a long text is cut.
        (
            Facts((0,), texts=(text("EXIT", "scene"), text("MEET ME " * 10, at=12.0, spoken=True))),
            f'the text "{"MEET ME " * 7}…" is read out in the film',
        ),
        (
            Facts((1,), texts=(text("SINTEL", shot=0),)),
            "no text to read out",
        ),  # of a shot that is not the slot's
        (Facts((1,), entrances=(entrance(THOM, shot=0),)), "no text to read out"),
    ],
)
def test_what_is_not_said(facts: Facts, reason: str) -> None:
    reply = ask(facts)
    assert (reply.text, reply.finish) == ("", "silent")
    assert reply.notes["reason"] == f"{reason}, and nobody of the cast appears anew"


def test_nothing_is_said_twice() -> None:
    title = Facts((0,), texts=(text("SINTEL"),))
    for said in ('Words appear: "SINTEL."', 'Words appear: "SINTEI."', "Sintel"):
        reply = ask(title, history=(said,))
        assert reply.finish == "silent"
        assert reply.notes["reason"].startswith('the text "SINTEL" was read out before, ')
    assert line(title, history=('Words appear: "SINTRA."',)) == 'Words appear: "SINTEL."'
    # Somebody's name in a line is not a text of the same word that is read out.
    assert line(Facts((0,), texts=(text("CELIA"),)), history=("Celia appears.",)) == 'Words appear: "CELIA."'
    entrances = Facts((0,), entrances=(entrance(THOM, CELIA),))
    assert line(entrances, history=("Thom opens the door.",)) == "Celia appears."
    assert line(entrances, history=('Text reads: "Thom."',)) == "Thom and Celia appear."


def test_what_comes_late_has_the_time_that_is_left() -> None:
    words = "The war is over. Nobody came home to the old town by the river"
    slot = Interval(10, 18)
    assert "river" in line(Facts((0,), texts=(text(words, last=18.0),)), slot=slot)
    late = Facts((0,), texts=(text(words, at=15.0, last=18.0),))
    assert line(late, slot=slot) == 'A text begins: "The war is over."'
    reply = ask(Facts((0,), texts=(text("SEVEN LONG YEARS AGO IN SPAIN", at=17.5, last=18.0),)), slot=slot)
    assert reply.finish == "silent"
    (unread,) = reply.notes["unread"]
    assert unread["reason"].startswith("it comes too late: it takes 8 words, and")
    long = text("ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT")
    reply = ask(Facts((0,), texts=(long,)), slot=Interval(10, 13))
    assert reply.notes["unread"][0]["reason"] == "it takes 10 words, and 8 fit into the slot"


def test_joining_two_texts_delays_neither() -> None:
    """Two cards, the first gone before the line could be told from the second on: each would fit alone."""
    cards = (text("ONE DAY", at=10.0, last=11.0), text("THE END", at=17.0, last=19.0))
    reply = ask(Facts((0,), texts=cards))
    (said,) = reply.notes["said"][0]
    assert (said["since"], said["until"], said["after"]) == (10.0, 11.0, 2)
    assert reply.text == 'Words appear: "ONE DAY."'


def test_a_slot_of_few_words_takes_the_most_telling() -> None:
    facts = Facts((0,), texts=(text("PARIS"),), entrances=(entrance(THOM, CELIA),))
    assert line(facts, budget=3) == 'Words appear: "PARIS."'
    assert line(facts, budget=2) == ""
    assert ask(facts, budget=2).notes["unread"]


def test_candidates_are_answered_as_json_and_differ() -> None:
    facts = Facts((0,), texts=(text("PARIS"),), entrances=(entrance(THOM),))
    schema = {"properties": {f"AD_{number}": {"type": "string"} for number in range(5)}}
    reply = ask(facts, schema=schema)
    lines = list(json.loads(reply.text).values())
    assert lines == [
        'Words appear: "PARIS." Thom appears.',
        'Words appear: "PARIS."',
        "Thom appears.",
        "",
        "",
    ]
    assert [[row["what"] for row in rows] for rows in reply.notes["said"]] == [
        ["title", "people"],
        ["title"],
        ["people"],
    ]
    assert reply.notes["said"][0][1] == {
        "what": "people", "shot": 0, "sure": 1.0, "since": 10.0, "until": 13.0, "after": 3, "who": ["thom"],
    }  # fmt: skip


def test_what_it_cannot_read_is_told() -> None:
    (reply,) = narrator().generate([Request("s1", (), notes={"current": "none"})])
    assert "The facts cannot be read" in str(reply.error)
    with pytest.raises(EngineError, match="writes German, English.*, not language = 'sv'"):
        make_engine("narrator", load_config((), ["language=sv"]), "stage2")
    with pytest.raises(EngineError, match="not of the words of openai"):
        make_engine("narrator", load_config((), ["stage1.engine=openai"]), "stage2")


MOMENTS = st.integers(0, 40).map(lambda quarters: 10 + quarters / 4)
WORDS = st.lists(
    st.sampled_from(["THE", "OLD", "RIVER", "HOUSE", "BURNS", "TONIGHT", "IN", "1943"]),
    min_size=1,
    max_size=6,
)


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(st.tuples(WORDS, MOMENTS, st.integers(1, 12)), max_size=3),
    people=st.lists(st.tuples(st.sampled_from([THOM, CELIA, RED]), MOMENTS), max_size=2),
    end=st.integers(8, 48),
)
def test_every_line_fits_and_is_told_while_it_is_seen(
    texts: list[tuple[list[str], float, int]], people: list[tuple[NamedFace, float]], end: int
) -> None:
    slot = Interval(10, 10 + end / 4)
    facts = Facts(
        (0,),
        texts=tuple(text(" ".join(w), at=a, last=a + n / 4) for w, a, n in texts if a < slot.end),
        entrances=tuple(entrance(name, at=at) for name, at in people if at < slot.end),
    )
    reply = ask(facts, slot=slot)
    assert reply.text or reply.notes["reason"]
    if not reply.text:
        return
    words = len(reply.text.split()) + 2 * reply.text.count("1943")
    assert words <= int(slot.duration / PACE)
    assert reply.text[0].isupper()
    assert reply.text.endswith((".", '."'))
    for said in reply.notes["said"][0]:
        # The latest second at which its words can be begun, the line ending with its slot
        begun = slot.end - words * PACE + said["after"] * PACE
        assert begun >= min(said["since"], slot.end) - MAX_LEAD - 1e-6
        assert 0 <= said["after"] < words


# Words: how long a text is when spoken, and what of it is read out
@pytest.mark.parametrize(
    ("words", "spoken"),
    [
        ("COMING SOON", 2), ("www.sintel.org", 7), ("London, 1940", 3), ("2010", 2), ("2001", 3), ("12345", 5),
        ("21", 2), ("40", 1), ("BBC", 2), ("sci-fi", 2), ("Salt & Pepper", 3), ("don't", 1),
    ],
)  # fmt: skip
def test_words_are_counted_as_a_voice_says_them(words: str, spoken: int) -> None:
    """Two words come before them: "Words appear"."""
    facts = Facts((0,), texts=(text(words),))
    assert line(facts, budget=2 + spoken) == f'Words appear: "{words}."'
    reply = ask(facts, budget=1 + spoken)
    assert reply.notes["unread"][0]["reason"].startswith(f"it takes {2 + spoken} words")


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("  THE BLENDER\n FOUNDATION ", "THE BLENDER FOUNDATION."), ("“Exit”", "Exit."), ("The End.", "The End."),
        ("- London -", "London."), ("Who are you ?", "Who are you?"), ("To be continued...", "To be continued..."),
        ('He said "no"', "He said 'no'."), ("7", "7."), ("|", ""), ("I", ""), ("--- ***", ""),
    ],
)  # fmt: skip
def test_a_text_is_read_out_without_what_hangs_at_it(words: str, quote: str) -> None:
    assert line(Facts((0,), texts=(text(words),))) == (f'Words appear: "{quote}"' if quote else "")


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("SINTEL", "SINTEI", True), ("COMING SOON", "COMINGSOON", True), ("CHAPTER ONE", "CHAPTER TWO", False),
        ("PART 1", "PART 2", False), ("--", "THE END", False),
    ],
)  # fmt: skip
def test_two_readings_of_one_text_are_told_from_two_texts(before: str, now: str, same: bool) -> None:
    facts = Facts((0,), texts=(text(now),))
    assert line(facts, history=(f'Words appear: "{before}."',)) == ("" if same else f'Words appear: "{now}."')
    both = Facts((0,), texts=(text(before), text(now, at=11.0)))
    assert line(both).count('"') == (2 if same or before == "--" else 4)


def test_of_a_long_text_the_beginning_is_read_out() -> None:
    words = "In the year 2045, the world is ruled by machines. Nobody remembers how it began."
    facts = Facts((0,), texts=(text(words),))
    beginning = 'A text begins: "In the year 2045, the world is ruled by machines."'
    assert line(facts, budget=15) == beginning


@given(st.text(max_size=200), st.integers(0, 30))
def test_what_is_read_fits_and_stands_in_the_text(words: str, budget: int) -> None:
    quoted = line(Facts((0,), texts=(text(words, last=20.0),)), budget=budget)
    if quoted:
        introduction, quote = re.fullmatch(r'([\w ]+: )"([^"]+)"', quoted).groups()  # type: ignore[union-attr]
        assert introduction in ("Words appear: ", "A text begins: ")
        assert len(quoted.split()) <= budget
        assert letters(quote) in letters(words)
        assert quote == " ".join(quote.split())


def letters(words: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", words.lower()))
