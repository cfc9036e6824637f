"""Story recall on made cases, where it is plain what a run of lines conveys."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from shotad.core import Request
from shotad.evaluation import Corpus, Result
from shotad.evaluation.metric import Item, make_metric, score
from shotad.evaluation.metrics import judged
from tests.evaluation.judges.judging import (
    HERE,
    WORDS,
    WordJudge,
    bench_of,
    corpus_of,
    item,
    lines_of,
    quotes,
    said_by,
)

STORY = (
    "Ada hides the letter under the floor.",
    "The guard kicks the door open.",
    "He searches the room.",
    "He finds nothing and leaves.",
    "Ada burns the letter.",
)


def film(name: str, human: tuple[str, ...], told: tuple[str | None, ...]) -> list[Item]:
    return [
        item(f"{name}{n}", one, other, film=name, start=10.0 * n)
        for n, (one, other) in enumerate(zip(human, told, strict=True))
    ]


@pytest.fixture(autouse=True, scope="module")
def _short_passages() -> Iterator[None]:
    """So that a story of five lines has two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judged, "STORY_LINES", 3)
        yield


def recalled(corpus: Corpus, judge: str = WORDS, places: list[int] | None = None) -> Result:
    bench = bench_of()
    return score(make_metric(f"story-recall@{judge}", bench), corpus, bench, places)


def test_lines_may_tell_it_at_another_place_of_the_passage() -> None:
    turned = (STORY[2], STORY[0], STORY[1], STORY[4], STORY[3])
    assert recalled(corpus_of(*film("a", STORY, turned))).value == pytest.approx(100.0)
    elsewhere = (STORY[3], STORY[4], STORY[2], STORY[0], STORY[1])
    moved = recalled(corpus_of(*film("a", STORY, elsewhere))).value
    assert moved is not None
    assert moved < 50, "what is told in another passage is told too late"


def test_each_event_weighs_the_same() -> None:
    result = recalled(corpus_of(*film("a", STORY, (STORY[0], STORY[0], STORY[0], STORY[3], STORY[4]))))
    assert result.value == pytest.approx(100 * 3 / 5)
    assert [row.value for row in result.rows] == pytest.approx([100 / 3] * 3 + [100.0] * 2)


def test_partly_is_half() -> None:
    result = recalled(corpus_of(*film("a", STORY[:1], ("Ada hides it under the bed.",))))
    assert result.rows[0].notes["events"] == [
        {"event": STORY[0], "conveyed": "partly", "reason": "By the words."}
    ]
    assert result.value == 50.0


def test_a_passage_is_asked_about_once_however_many_lines_it_has() -> None:
    WordJudge.asked.clear()
    result = recalled(corpus_of(*film("a", STORY, (STORY[0], None, "", "He leaves.", None))))
    asked = [list(request.schema["properties"]) for request in WordJudge.asked]  # type: ignore[index]
    assert asked.count(["events"]) == 2
    assert asked.count(["reason", "conveyed"]) == 5
    assert [row.failure for row in result.rows] == ["", "no prediction", "", "", "no prediction"]
    assert result.scored == 5


def test_missing_lines_say_nothing_and_a_silent_passage_is_not_asked_about() -> None:
    WordJudge.asked.clear()
    result = recalled(corpus_of(*film("a", STORY, (None, "", "...", STORY[3], STORY[4]))))
    verdicts = [r for r in WordJudge.asked if "conveyed" in r.schema["properties"]]  # type: ignore[index]
    assert len(verdicts) == 2
    assert all(lines_of(request) == list(STORY[3:]) for request in verdicts)
    assert result.value == pytest.approx(100 * 2 / 5)
    assert result.rows[0].notes["events"][0] == {"event": STORY[0], "conveyed": "no", "reason": ""}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def made(*answers: object) -> str:
        monkeypatch.setattr(sys.modules[HERE], "Anybody", said_by(*answers), raising=False)  # type: ignore[arg-type]
        return f"{HERE}:Anybody"

    return made


def test_events_that_cannot_be_read_count_0_of_a_line_each(judge) -> None:  # type: ignore[no-untyped-def]
    result = recalled(corpus_of(*film("a", STORY[:3], STORY[:3])), judge=judge("Ada hides a letter."))
    assert result.sums == pytest.approx([0.0, 3.0])
    assert [row.failure.partition(":")[0] for row in result.rows] == ["judge"] * 3


def test_a_verdict_that_cannot_be_read_counts_0(judge) -> None:  # type: ignore[no-untyped-def]
    name = judge(
        json.dumps({"events": ["Ada hides a letter.", "The guard comes."]}),
        '{"reason": "Said.", "conveyed": "yes"}',
        '{"reason": "Said.", "conveyed": "surely"}',
    )
    result = recalled(corpus_of(*film("a", STORY[:2], STORY[:2])), judge=name)
    assert result.value == pytest.approx(50.0)
    assert all(row.failure.startswith("judge: 1 of 2 answers: ") for row in result.rows)
    assert [one["conveyed"] for one in result.rows[0].notes["events"]] == ["yes", ""]


@pytest.mark.parametrize("events", [[], ["…"], "He sits.", [f"Event {n}." for n in range(7)]])
def test_lists_of_events_that_are_none(judge, events: object) -> None:  # type: ignore[no-untyped-def]
    result = recalled(
        corpus_of(*film("a", STORY[:3], STORY[:3])), judge=judge(json.dumps({"events": events}))
    )
    assert result.value == 0.0
    assert result.failed == 3


def test_what_the_judge_is_shown(judge) -> None:  # type: ignore[no-untyped-def]
    seen: list[Request] = []

    def events(request: Request) -> str:
        seen.append(request)
        return json.dumps({"events": ["Ada hides a letter."]})

    def verdict(request: Request) -> str:
        seen.append(request)
        return '{"reason": "Said.", "conveyed": "yes"}'

    told = ("She hides it.", None, "A “guard” looks.")
    recalled(corpus_of(*film("a", STORY[:3], told)), judge=judge(events, verdict))
    assert lines_of(seen[0]) == list(STORY[:3])
    assert "at most 6" in seen[0].messages[1].text
    assert lines_of(seen[1]) == ["She hides it.", "A “guard” looks."]
    assert quotes(seen[1], "The event") == ["Ada hides a letter."]
    assert seen[0].sampling.max_tokens >= 48 * 6
