"""From records to cues: the choice, the status, the reason; a line is never silently missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from shotad.core import Config, Interval, Slot, load_config
from shotad.description.choice import ByRules, Line, Situation
from shotad.description.slot_writer import SILENT, Around, cue_of
from shotad.script import Cue, CueStatus

SLOT = Slot("s00010000", Interval(10, 14), 8)
CONFIG = load_config()
MAKER = {"engine": "fake", "model": "m", "revision": "1"}
NOTHING = Around()
ONE, TWO = "Ann opens a drawer.", "She takes out a gun."


def look(**changes: Any) -> dict[str, Any]:
    return {
        "steps": {"Main characters": "Ann.", "Actions": "Ann opens a drawer. She takes out a gun."},
        "explanation": "", "raw": "", "engine": "fake", "notes": {}, "maker": MAKER, "prompt": [], "seed": 7,
        "error": None, **changes,
    }  # fmt: skip


def record(*candidates: str, **changes: Any) -> dict[str, Any]:
    return {
        "candidates": list(candidates), "error": None, "finish": "stop", "notes": {}, "maker": MAKER,
        "prompt": [], "seed": 7, "complaints": {}, "unseen": {}, **changes,
    }  # fmt: skip


def cue(
    stage2: Mapping[str, Any] | None, *, stage1: Mapping[str, Any] | None = None, config: Config = CONFIG,
    around: Around = NOTHING, **more: Any,
) -> Cue:  # fmt: skip
    return cue_of(SLOT, stage1 or look(), stage2, config, around, **more)


class Last:
    """Takes the last line and remembers what it was told."""

    def __init__(self) -> None:
        self.seen: list[tuple[Sequence[Line], Situation]] = []

    def choose(self, lines: Sequence[Line], situation: Situation) -> int:
        self.seen.append((lines, situation))
        return len(lines) - 1


def test_all_candidates_stay_in_order_and_the_chosen_one_is_marked() -> None:
    made = cue(record("Bob waits.", ONE, TWO))
    assert made.candidates == ("Bob waits.", ONE, TWO)
    assert (made.chosen, made.text, made.status) == (1, ONE, CueStatus.PLACED)
    assert made.reason == ""
    assert made.spoken_length == pytest.approx(4 * CONFIG.slots.seconds_per_word)


def test_the_chooser_decides_and_is_told_the_situation() -> None:
    chooser = Last()
    made = cue(record(TWO, ONE), chooser=chooser, said=("It rains.", "Bob sits."))
    assert (made.chosen, made.text) == (1, ONE)
    ((lines, told),) = chooser.seen
    assert [line.text for line in lines] == [TWO, ONE]
    assert told.said == ("It rains.", "Bob sits.")
    assert (
        told.description == "1. Main characters: Ann.\n2. Actions: Ann opens a drawer. She takes out a gun."
    )
    assert told.slot == SLOT


def test_without_a_longer_memory_the_lines_around_are_what_was_said() -> None:
    chooser = Last()
    cue(record(ONE), around=Around(before=("It rains.",)), chooser=chooser)
    assert chooser.seen[0][1].said == ("It rains.",)


def test_only_candidates_that_fit_are_offered_by_their_own_number() -> None:
    chooser = Last()
    long = "Ann opens a very old and heavy wooden drawer in the kitchen"
    made = cue(record(long, "", ONE), chooser=chooser)
    assert [line.number for line in chooser.seen[0][0]] == [1]
    assert made.candidates == (long, ONE)
    assert made.chosen == 1


def test_a_shortened_line_says_how() -> None:
    made = cue(record("Ann opens a drawer. She takes out a gun and looks at it."))
    assert (made.text, made.status, made.fit_steps) == (ONE, CueStatus.SHORTENED, ("dropped sentences",))
    assert made.reason.startswith("dropped sentences")


def test_where_none_fits_the_slot_is_dropped_with_the_reason() -> None:
    longer = "Ann opens a very old and heavy wooden drawer in the big kitchen"
    long = "Ann opens a very old and heavy wooden drawer"
    made = cue(record(longer, long))
    assert (made.status, made.text, made.chosen) == (CueStatus.DROPPED, "", None)
    assert "9 words where 8 fit" in made.reason
    assert made.candidates == (longer, long)
    assert cue(record(long), config=load_config(None, ["stage2.fit=none"])).status is CueStatus.PLACED


@pytest.mark.parametrize(
    ("stage1", "stage2", "reason"),
    [
        (look(error="no frame"), None, "Stage I failed: no frame"),
        (look(), record(error="it refused", finish="error"), "Stage II failed: it refused"),
        (look(), None, "Stage II failed: no record"),
        (look(), record(), "Stage II failed: its answer holds no line that can be spoken"),
        (look(), record("\u200b\x07", "…"), "Stage II failed: its answer holds no line that can be spoken"),
    ],
)
def test_a_failure_keeps_its_reason(
    stage1: dict[str, Any], stage2: dict[str, Any] | None, reason: str
) -> None:
    made = cue(stage2, stage1=stage1)
    assert (made.status, made.text) == (CueStatus.FAILED, "")
    assert made.reason == reason


def test_silence_is_no_failure() -> None:
    assert cue(record(finish="silent")).reason == SILENT
    told = cue(record(finish="silent", notes={"reason": "credits"}))
    assert (told.status, told.reason) == (CueStatus.SILENT, "credits")


RESIDUE = "The image shows Ann."


def test_a_line_with_chatter_gives_way_to_any_other() -> None:
    made = cue(record(RESIDUE, "A close-up of Bob."))
    assert (made.chosen, made.status) == (1, CueStatus.PLACED)
    assert "L3" in made.reason


def test_a_line_with_chatter_alone_is_not_spoken() -> None:
    made = cue(record(RESIDUE))
    assert (made.status, made.text) == (CueStatus.FAILED, "")
    assert made.reason.startswith("no clean line: ")
    assert made.candidates == (RESIDUE,)


def test_a_line_with_something_unseen_comes_after_all_others() -> None:
    unseen = {"0": ["She takes out a gun."]}
    made = cue(record(TWO, "Bob waits.", unseen=unseen))
    assert (made.text, made.reason) == ("Bob waits.", "")


def test_alone_it_is_kept_and_says_so() -> None:
    made = cue(record(TWO, unseen={"0": ["She has a gun.", "The gun\nis out."]}))
    assert (made.text, made.status) == (TWO, CueStatus.PLACED)
    assert made.reason == "not seen in the frames: She has a gun.; The gun is out."


def test_a_second_look_that_failed_is_told() -> None:
    made = cue(record(TWO, unlooked="the server\nis gone"))
    assert (made.text, made.status) == (TWO, CueStatus.PLACED)
    assert made.reason == "the second look at the frames failed: the server is gone"


def test_a_name_that_the_model_alone_gave_is_told() -> None:
    stage1 = look(invented=["Boris Finch", "Eve"])
    assert cue(record("Finch sits."), stage1=stage1).reason == "named by the model alone: Boris Finch"
    assert cue(record("He sits."), stage1=stage1).reason == ""


def test_unseen_statements_go_by_the_records_own_numbers() -> None:
    made = cue(record("", "Bob waits.", TWO, unseen={"2": ["a gun"]}))
    assert made.text == "Bob waits."
    assert made.candidates == ("Bob waits.", TWO)


def test_an_older_record_without_a_second_look_is_read() -> None:
    old = {key: value for key, value in record(ONE).items() if key not in ("unseen", "complaints")}
    assert cue(old).text == ONE


def test_findings_of_the_chosen_line_stand_in_its_reason() -> None:
    made = cue(record(ONE), around=Around(before=("A drawer Ann opens.",)))
    assert made.reason.startswith("warning L9: is near to an earlier line")


def test_candidates_are_single_lines() -> None:
    made = cue(record("Ann opens\na drawer."))
    assert (made.text, made.candidates) == (ONE, (ONE,))


def test_the_cue_names_who_made_it() -> None:
    made = cue(record(ONE))
    assert made.provenance is not None
    assert [maker.stage for maker in made.provenance.makers] == ["Stage I", "Stage II"]
    assert made.provenance.seed == 7


def test_the_same_records_give_the_same_cue() -> None:
    assert cue(record(TWO, ONE)) == cue(record(TWO, ONE), chooser=ByRules())
