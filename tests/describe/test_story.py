"""The story around a slot: labelled, within its budgets, the nearest kept first."""

from __future__ import annotations

import pytest

from shotad.core import Interval, Slot, SpeechKind, Utterance
from shotad.description.story import Budgets, due, parse_renewal, renewal_messages, story_text, tokens_in
from tests.describe.prompting import bare

SLOT = Slot("s00100000", Interval(100, 104), 9)
LINES = ("Ann hides.", "Bo runs.", "The door opens.")


def said(start: float, end: float, text: str, kind: SpeechKind = SpeechKind.SPEECH) -> Utterance:
    return Utterance(Interval(start, end), text, kind)


SPEECH = (said(70, 71, "Far."), said(90, 92, "Near."), said(98, 99, "Next!"), said(105, 106, "Then?"))


def text_of(
    lines: tuple[str, ...] = LINES,
    speech: tuple[Utterance, ...] = SPEECH,
    names: tuple[str, ...] = ("Ann", "Bo"),
    so_far: str = "Ann is a thief. She flees.",
    **budgets: float,
) -> str:
    return bare(story_text(lines, SLOT, speech, names, so_far, Budgets(**budgets)))


def dialogue_of(*speech: Utterance, **budgets: float) -> list[str]:
    text = text_of((), speech, (), "", **budgets)
    return [row for row in text.splitlines() if row.startswith("- ")]


# The text


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


def test_nothing_known_is_nothing_said() -> None:
    assert text_of((), (), (), "") == ""
    assert text_of((), (said(99, 100, ""),), (), "  ") == ""
    assert (
        story_text(LINES, SLOT, SPEECH, ("Ann",), "So.", Budgets(lines=0, dialogue=0, names=0, note=0)) == ""
    )


@pytest.mark.parametrize(
    ("part", "label"),
    [
        ("so_far", "The story so far"),
        ("lines", "The last AD sentences"),
        ("speech", "Dialogue"),
        ("names", "Names in use"),
    ],
)
def test_part_that_is_missing_leaves_no_label(part: str, label: str) -> None:
    assert label in text_of()
    text = text_of(**{part: "" if part == "so_far" else ()})  # type: ignore[arg-type]
    assert label not in text
    assert text.startswith("What comes before and around this clip.")


def test_last_lines_are_as_many_as_set_and_fit_their_budget() -> None:
    text = bare(story_text(LINES, SLOT, (), (), "", Budgets(last_lines=2)))
    assert text.endswith("oldest first:\n- Bo runs.\n- The door opens.")
    assert story_text(LINES, SLOT, (), (), "", Budgets(last_lines=0)) == ""


@pytest.mark.parametrize(("more", "kept"), [(0, 1), (1, 2), (100, 3)])
def test_last_lines_are_kept_whole_and_from_the_end(more: int, kept: int) -> None:
    budget = tokens_in("- The door opens.") + (tokens_in("- Bo runs.") if more else 0) + (more > 1) * more
    settings = Budgets(lines=budget)
    text = story_text(LINES, SLOT, (), (), "", settings)
    assert [line for line in LINES if line in text] == list(LINES[-kept:])


def test_names_that_do_not_fit_are_left_out_from_the_end() -> None:
    names = tuple(f"Name{letter}" for letter in "ABCDEFGH")
    text = bare(story_text((), SLOT, (), names, "", Budgets(names=tokens_in("NameA") * 3)))
    assert "Names in use: NameA, NameB, NameC." in text


def test_of_the_story_so_far_the_last_sentences_are_kept() -> None:
    budget = tokens_in("She flees to Rome!") + tokens_in("Bo follows.")
    text = text_of(so_far="Ann is a thief. She flees to Rome! Bo follows.", note=budget)
    assert "The story so far: She flees to Rome! Bo follows.\n" in text


# Dialogue


def test_dialogue_says_where_it_is_spoken() -> None:
    rows = dialogue_of(said(95, 100, "A"), said(103, 108, "B"), said(104, 105, "C"))
    assert rows == ['- before: "A"', '- during: "B"', '- after: "C"']


@pytest.mark.parametrize(
    ("start", "end", "heard"), [(70, 74.9, False), (70, 75, True), (129, 130, True), (129.1, 130, False)]
)
def test_dialogue_reaches_as_far_as_set(start: float, end: float, heard: bool) -> None:
    assert bool(dialogue_of(said(start, end, "A"))) == heard


def test_dialogue_is_cut_from_the_farthest() -> None:
    speech = [
        said(80, 81, "one one"),
        said(99, 100, "two two"),
        said(110, 111, "six six"),
        said(96, 97, "ten ten"),
    ]
    budget = 2 * tokens_in('- before: "two two"')
    assert dialogue_of(*speech, dialogue=budget) == ['- before: "ten ten"', '- before: "two two"']


def test_same_words_twice_are_counted_twice() -> None:
    speech = [said(98, 99, "No."), said(95, 96, "No."), said(90, 91, "No.")]
    budget = 2 * tokens_in('- before: "No."')
    assert len(dialogue_of(*speech, dialogue=budget)) == 2


def test_songs_and_sounds_without_words_are_left_out() -> None:
    assert dialogue_of(said(98, 99, "la la", SpeechKind.LYRICS), said(98, 99, " ")) == []


def test_dialogue_stays_on_its_line() -> None:
    assert dialogue_of(said(98, 99, 'He said\n"go"  now')) == ["- before: \"He said 'go' now\""]


# The note on the story so far


@pytest.mark.parametrize(("every", "counts"), [(3, [3, 6, 9]), (1, list(range(1, 10)))])
def test_note_is_due_every_so_many_lines(every: int, counts: list[int]) -> None:
    assert [count for count in range(10) if due(count, every)] == counts


def test_renewal_gives_the_old_note_the_lines_and_the_dialogue() -> None:
    system, user = renewal_messages(" Ann flees. ", LINES, SPEECH, Budgets(note=150))
    assert (system.role, user.role) == ("system", "user")
    assert not user.with_clip
    assert "The note up to now:\nAnn flees.\n\n" in bare(user.text)
    assert '- Ann hides.\n- Bo runs.\n- The door opens.\n\nThe characters said:\n- "Far."\n' in bare(
        user.text
    )
    assert "At most 112 words." in bare(user.text)
    assert "$" not in system.text + user.text


def test_first_renewal_has_no_note_and_needs_no_dialogue() -> None:
    _, user = renewal_messages("", LINES, ())
    assert "There is none yet" in bare(user.text)
    assert "characters said" not in bare(user.text)
    assert "- The door opens.\n\nWrite the note anew" in bare(user.text)


def test_dialogue_of_a_renewal_keeps_the_latest() -> None:
    settings = Budgets(dialogue=tokens_in('- "Then?"'))
    _, user = renewal_messages("", LINES, SPEECH, settings)
    assert '- "Then?"' in user.text
    assert "Next!" not in user.text


@pytest.mark.parametrize(
    "answer",
    [
        "Ann flees. Bo follows.",
        "  Ann flees.\n\nBo follows.\n",
        '"Ann flees. Bo follows."',
        "```\nAnn flees. Bo follows.\n```",
        "Here is the updated note:\n\nAnn flees. Bo follows.",
        "The story so far: Ann flees. Bo follows.",
        "**Note:** Ann flees. Bo follows.",
        '{"note": "Ann flees. Bo follows."}',
        '{"note": "Ann flees. Bo follows.',
        "- Ann flees.\n- Bo follows.",
        "Ann flees. Bo follows.\n\n(Word count: 4)",
        "Ann flees. Bo follows.\n\nLet me know if you need more!",
        "<think>Who is Ann?</think>Ann flees. Bo follows.",
    ],
)
def test_renewed_note_is_found_in_what_models_write(answer: str) -> None:
    assert parse_renewal(answer) == "Ann flees. Bo follows."


@pytest.mark.parametrize(
    "answer", ["", " \n", "...", "None", '""', "{}", "I'm sorry, but I can't help with that."]
)
def test_answer_without_a_note_keeps_the_old_one(answer: str) -> None:
    assert parse_renewal(answer) == ""
