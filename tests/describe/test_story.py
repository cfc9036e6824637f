"""The story around a slot: labelled, within its budgets, the nearest kept first, no name told too early."""

from __future__ import annotations

from typing import Any

import pytest

from shotad.core import Identity, Interval, Reply, Request, Slot, SpeechKind, Utterance, load_config
from shotad.description.story import Telling, parse_renewal, renewal_messages, story_text
from shotad.script import Cue, CueStatus
from tests.describe.prompting import bare, people

SLOT = Slot("s00100000", Interval(100, 104), 9)
LINES = ("Ann hides.", "Bo runs.", "The door opens.")
STORY = "shotad.description.story"


def said(start: float, end: float, text: str, kind: SpeechKind = SpeechKind.SPEECH) -> Utterance:
    return Utterance(Interval(start, end), text, kind)


SPEECH = (said(70, 71, "Far."), said(90, 92, "Near."), said(98, 99, "Next!"), said(105, 106, "Then?"))


def text_of(
    lines: tuple[str, ...] = LINES,
    speech: tuple[Utterance, ...] = SPEECH,
    names: tuple[str, ...] = ("Ann", "Bo"),
    so_far: str = "Ann is a thief. She flees.",
) -> str:
    return bare(story_text(lines, SLOT, speech, names, so_far))


def dialogue_of(*speech: Utterance) -> list[str]:
    return [row for row in text_of((), speech, (), "").splitlines() if row.startswith("- ")]


def test_every_part_is_labelled_and_in_order() -> None:
    text = text_of()
    landmarks = [
        "for understanding only", "do not repeat it", "The story so far: Ann is a thief. She flees.",
        "The last AD sentences, oldest first:\n- Ann hides.\n- Bo runs.\n- The door opens.",
        "Dialogue around the clip", "do not describe it:\n", '- before: "Near."\n- before: "Next!"\n- after: "Then?"',
        "Names in use: Ann, Bo.", "only where the description leaves no doubt",
    ]  # fmt: skip
    places = [text.find(mark) for mark in landmarks]
    assert -1 not in places, landmarks[places.index(-1)]
    assert places == sorted(places)
    assert "$" not in text
    assert "\n\n" not in text


def test_a_part_that_is_missing_leaves_no_label() -> None:
    assert text_of((), (said(99, 100, ""),), (), "  ") == ""
    gone: dict[str, dict[str, Any]] = {
        "The story so far": {"so_far": ""},
        "The last AD sentences": {"lines": ()},
        "Dialogue": {"speech": ()},
        "Names in use": {"names": ()},
    }
    for label, without in gone.items():
        assert label not in text_of(**without)


@pytest.mark.parametrize(
    ("constant", "tokens", "kept"),
    [
        ("LINE_TOKENS", 5, "oldest first:\n- The door opens.\n"),
        ("LINE_TOKENS", 8, "oldest first:\n- Bo runs.\n- The door opens.\n"),
        ("NAME_TOKENS", 1, "Names in use: Ann."),
        ("NOTE_TOKENS", 3, "The story so far: She flees.\n"),
        ("DIALOGUE_TOKENS", 5, 'describe it:\n- before: "Next!"\n'),
    ],
)
def test_each_part_keeps_to_its_budget_and_holds_what_is_nearest(
    monkeypatch: pytest.MonkeyPatch, constant: str, tokens: int, kept: str
) -> None:
    monkeypatch.setattr(f"{STORY}.{constant}", tokens)
    assert kept in text_of()


def test_dialogue_says_where_it_is_spoken() -> None:
    rows = dialogue_of(said(95, 100, "A"), said(103, 108, 'He said\n"go"  now'), said(104, 105, "C"))
    assert rows == ['- before: "A"', "- during: \"He said 'go' now\"", '- after: "C"']
    assert dialogue_of(said(98, 99, "la la", SpeechKind.LYRICS), said(98, 99, " ")) == []


@pytest.mark.parametrize(
    ("start", "end", "heard"), [(70, 74.9, False), (70, 75, True), (129, 130, True), (129.1, 130, False)]
)
def test_dialogue_reaches_as_far_as_set(start: float, end: float, heard: bool) -> None:
    assert bool(dialogue_of(said(start, end, "A"))) == heard


# The note on the story so far


def test_renewal_gives_the_old_note_the_lines_and_the_dialogue() -> None:
    system, user = renewal_messages(" Ann flees. ", LINES, SPEECH)
    assert (system.role, user.role, user.with_clip) == ("system", "user", False)
    text = bare(user.text)
    assert "The note up to now:\nAnn flees.\n\n" in text
    assert '- Ann hides.\n- Bo runs.\n- The door opens.\n\nThe characters said:\n- "Far."\n' in text
    assert "At most 112 words." in text
    assert "$" not in system.text + user.text
    first = bare(renewal_messages("", LINES, ())[1].text)
    assert "There is none yet" in first
    assert "characters said" not in first


@pytest.mark.parametrize(
    "answer",
    [
        "  Ann flees.\n\nBo follows.\n",
        "```\nAnn flees. Bo follows.\n```",
        "Here is the updated note:\n\nAnn flees. Bo follows.",
        "**Note:** Ann flees. Bo follows.",
        '{"note": "Ann flees. Bo follows."}',
        '{"note": "Ann flees. Bo follows.',
        "- Ann flees.\n- Bo follows.",
        "Ann flees. Bo follows.\n\n(Word count: 4)",
        "<think>Who is Ann?</think>Ann flees. Bo follows.",
    ],
)
def test_renewed_note_is_found_in_what_models_write(answer: str) -> None:
    assert parse_renewal(answer) == "Ann flees. Bo follows."


@pytest.mark.parametrize("answer", ["", "...", "None", "{}", "I'm sorry, but I can't help with that."])
def test_answer_without_a_note_keeps_the_old_one(answer: str) -> None:
    assert parse_renewal(answer) == ""


class Teller:
    """The story told with these notes; keeps what was asked for them."""

    def __init__(self, *replies: Reply, speech: tuple[Utterance, ...] = ()) -> None:
        self.waiting, self.asked = list(replies), list[str]()
        config = load_config(None, ("story.on=true",))
        self.telling = Telling(speech, config, Identity("model"), self.ask, lambda _: None, lambda *_: None)

    def ask(self, request: Request) -> Reply:
        self.asked.append(request.messages[-1].text)
        return self.waiting.pop(0)

    def hear(self, text: str, times: int = 1) -> None:
        for number in range(times):
            name, interval = f"s{1000 * number:08d}", Interval(90.0 + number, 91.0 + number)
            self.telling.heard(Cue(name, name, interval, text, language="en", status=CueStatus.PLACED))

    def told(self, who: str = "") -> str:
        return bare(self.telling.text(SLOT, people(who)))


@pytest.mark.parametrize(
    "bad",
    [
        Reply("", "error", error="timed out"),
        Reply("I'm sorry, I can't help with that."),
        Reply("The response was filtered by the content policy.", "refused"),
    ],
)
def test_where_there_is_no_note_the_old_one_stays(bad: Reply) -> None:
    teller = Teller(Reply("Ann waits for Bob."), bad)
    teller.hear("Ann sits.", 16)
    assert len(teller.asked) == 2
    assert "Ann waits for Bob." in teller.told()
    assert "filtered" not in teller.told()
    assert "sorry" not in teller.told()


def test_names_that_the_film_has_not_told_are_told_nowhere() -> None:
    teller = Teller(
        Reply("Somebody runs."), speech=(said(98, 99, "COME HERE NORA NOW"), said(91.2, 91.8, "Nora, run!"))
    )
    teller.hear("He sees Max and Nora.")
    assert "Names in use: Bo, Max. " in teller.told("bo nora")
    assert "come here the woman in red now" in teller.told("nora")
    assert "nora" not in teller.told("nora").lower()
    assert "Nora" in bare(teller.telling.text(SLOT))
    teller.told("nora")
    teller.hear("She waits.", 7)
    assert "The woman in red, run!" in teller.asked[0]
