"""Judges: how they are named, what is asked, what of an answer is read and kept, and what becomes of failures; and
LLM-AD-Eval, the LLM action metric and story recall by a judge that counts words."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import pytest
from hypothesis import given, strategies as st

from shotad.core import (
    Abilities,
    Identity,
    Reply,
    Request,
)
from shotad.core.errors import EngineError, EvaluationError
from shotad.evaluation import Corpus, Item, Result, Store, make_metric, making_actions as making, score
from shotad.evaluation.metrics import judge, judged
from shotad.evaluation.metrics.judge import (
    Judge,
    JudgeName,
    Question,
    Unreadable,
    judge_of,
    listing,
    map_items,
    record_in,
    sentence,
)
from tests.bad_server import BadServer
from tests.evaluation.judges.judging import (
    HERE,
    WORDS,
    ScriptedEngine,
    WordJudge,
    bench_of,
    corpus_of,
    item,
    lines_of,
    quotes,
    said_by,
)


def named(monkeypatch: pytest.MonkeyPatch, engine: type[ScriptedEngine]) -> str:
    """The name of a class of engines."""
    monkeypatch.setattr(sys.modules[HERE], "Anybody", engine, raising=False)
    return f"{HERE}:Anybody"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("openai:llama3:8b", JudgeName("openai", "llama3:8b")),
        ("openai:m@http://localhost:8000/v1", JudgeName("openai", "m", base_url="http://localhost:8000/v1")),
        ("openai:@https://a.b/v1", JudgeName("openai", base_url="https://a.b/v1")),
        ("llama3:/models/a@b c/x", JudgeName("llama3", "/models/a@b c/x")),
        ("llama3:org/name@main", JudgeName("llama3", "org/name", "main")),
        (" llama3 ", JudgeName("llama3")),
        ("a.b:Judge:big", JudgeName("a.b:Judge", "big")),
    ],
)
def test_names_taken_apart(text: str, name: JudgeName) -> None:
    assert JudgeName.of(text) == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("llm-ad-eval@:model", "names no engine"),
        ("llm-ad-eval@openai:m@https://me:geheim@a.b/v1", "reports"),
        ("cider@openai:m", "cider asks no engine"),
        ("llm-acton@openai:m", "Did you mean llm-action"),
        ("llm-ad-eval@narrator", "cannot judge"),
    ],
)
def test_what_names_no_judge_is_refused(name: str, why: str) -> None:
    with pytest.raises(EvaluationError, match=why) as stop:
        make_metric(name, bench_of())
    assert "geheim" not in str(stop.value)
    with pytest.raises(EvaluationError, match="names no engine"):
        JudgeName.of("")


@pytest.mark.parametrize(
    ("metric", "judge", "may"),
    [
        ("llm-ad-eval", "meta-llama/Meta-Llama-3-8B-Instruct", True),
        ("llm-ad-eval", "llama3:8b", True),
        ("llm-ad-eval", "meta-llama/Llama-3.1-8B-Instruct", False),
        ("llm-action", "gpt-4o-2024-08-06", True),
        ("llm-action", "meta-llama/Llama-3.1-70B-Instruct", True),
        ("llm-action", "gpt-4o-mini", False),
        ("story-recall", "gpt-4o", False),
    ],
)
def test_whose_numbers_may_stand_beside_the_papers(metric: str, judge: str, may: bool) -> None:
    made = make_metric(f"{metric}@openai:{judge}", bench_of("openai.base_url=http://localhost:1/v1"))
    assert made.comparable is may


def test_what_is_read() -> None:
    for answer in (
        '  {"score": 3}\n', '{\n  "score": 3\n}', '```json\n{"score": 3}\n```', '```\n{"score": 3}```',
        '<think>Is it {"score": 1}? No.</think>\n{"score": 3}',
    ):  # fmt: skip
        assert record_in(answer, ["score"]) == {"score": 3}, answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty"),
        ('Sure! {"score": 3}', "does not begin"),
        ('{"score": 3} because both open a door', "after the JSON object"),
        ('{"score": 3', "not valid JSON"),
        ('{"score": NaN}', "NaN is no number"),
        ('{"score": 3, "score": 4}', '"score" stands in the answer twice'),
        ('{"Score": 3}', 'has no "score"'),
        ('{"score": 3, "1": "no", "2": "yes"}', 'has "1" and "2", which was not asked for'),
        ("<think>I go on thinking", "empty"),
        ('{"a":' * 5000, "not valid JSON"),
        ('{"score": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_what_is_refused(answer: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        record_in(answer, ["score"])


def test_sentences() -> None:
    assert sentence("  Both \n open a door. ", "reason") == "Both open a door."
    twice = ["He sits.", "She stands.", "he  sits."]
    assert listing(2).read(twice, "events") == ("He sits.", "She stands.")
    assert sentence("Ann &amp; <b>Bo</b>\u200b sit.", "reason") == "Ann & Bo sit."
    assert sentence("Nothing.", "answer") == "Nothing."
    for value in (
        "",
        "…",
        None,
        3,
        ["He sits."],
        True,
        "NaN",
        "undefined",
        "string",
        "[object Object]",
        "&nbsp;",
    ):
        with pytest.raises(Unreadable, match="reason must be a sentence"):
            sentence(value, "reason")


@given(st.text() | st.text(alphabet='{}[]":,0123456789 \nscoretrue`\\'))
def test_whatever_is_said_is_read_or_refused(answer: str) -> None:
    with contextlib.suppress(Unreadable):
        assert list(record_in(answer, ["score"])) == ["score"]


GOOD = json.dumps({"score": 4})
REFUSAL = "I'm sorry, but I can't assist with that."


def questions(count: int = 1) -> list[Question[int]]:
    return [judged.ad_question(f"He opens door {n}.", f"Door {n} opens.", 1) for n in range(count)]


@pytest.fixture
def judge_who(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Judge]:
    """Makes a judge of a class of engines."""

    def made(engine: type[ScriptedEngine], *assignments: str, store: Store | None = None) -> Judge:
        return Judge(named(monkeypatch, engine), bench_of(*assignments, store=store))

    return made


def test_attempts_are_counted_and_a_refusal_is_asked_anew_and_not_argued_with(judge_who, monkeypatch):
    monkeypatch.setattr(judge, "ATTEMPTS", 3)
    engine = said_by('{"score": 7}', '{"score": 8}', '{"score": 9}')
    answer = judge_who(engine).ask(*questions())
    assert answer.value is None
    assert "whole number from 1 to 5, and is 9" in answer.failure
    assert len(engine.asked) == 3
    assert [len(request.messages) for request in engine.asked] == [2, 4, 4], "questions do not grow"
    # An engine's own error is not asked about again.
    engine = said_by(Reply("", "error", error="HTTP 500"))
    answer = judge_who(engine).ask(*questions())
    assert (answer.failure, len(engine.asked)) == ("HTTP 500", 1)
    # A refusal, by the model or by its server.
    for refusal in (REFUSAL, Reply("", "refused")):
        engine = said_by(refusal, GOOD)
        assert judge_who(engine).ask(*questions()).value == 4
        _, again = engine.asked
        assert [message.role for message in again.messages] == ["system", "user"]
        assert "published film" in again.messages[-1].text


def test_answers_are_kept_and_failures_are_not(judge_who, tmp_path):
    path = tmp_path / "cache.sqlite"
    with Store(path) as store:
        engine = said_by(lambda request: "?" if "door 1." in request.messages[1].text else GOOD)
        answers = judge_who(engine, store=store).ask_all(questions(3))
        assert [answer.value for answer in answers] == [4, None, 4]
    with Store(path) as store:
        engine = said_by(json.dumps({"score": 5}))
        answers = judge_who(engine, store=store).ask_all(questions(3))
        assert [answer.value for answer in answers] == [4, 5, 4]
        assert len(engine.asked) == 1
    with Store(path) as store:
        engine = said_by(json.dumps({"score": 2}))
        longer = judge_who(engine, "stage2.sampling.max_tokens=300", store=store)
        assert [answer.value for answer in longer.ask_all(questions(3))] == [2, 2, 2]


def test_what_was_answered_before_an_engine_stopped_is_kept(judge_who, tmp_path):
    def gone(request: Request) -> str:
        raise EngineError("The server is gone.")

    with Store(tmp_path / "cache.sqlite") as store:
        with pytest.raises(EngineError, match="gone"):
            judge_who(said_by(GOOD, GOOD, gone), store=store).ask_all(questions(5))
        engine = said_by(GOOD)
        assert [answer.value for answer in judge_who(engine, store=store).ask_all(questions(5))] == [4] * 5
        assert len(engine.asked) == 3


def test_an_engine_that_fails_on_the_second_attempt_is_asked_for_that_alone(judge_who, tmp_path):
    with Store(tmp_path / "cache.sqlite") as store:
        failing = said_by("?", Reply("", "error", error="HTTP 500"))
        assert judge_who(failing, store=store).ask(*questions()).failure == "HTTP 500"
        engine = said_by(GOOD)
        assert judge_who(engine, store=store).ask(*questions()).value == 4
        (again,) = engine.asked
        assert [message.role for message in again.messages] == ["system", "user", "assistant", "user"]


def test_a_full_disk_stops_the_run_and_leaves_no_thread(judge_who):
    class Full(Store):
        def put(self, space: str, values: Any) -> None:
            raise EvaluationError("There is no space left.")

    before = set(threading.enumerate())
    engine = said_by(GOOD)
    with pytest.raises(EvaluationError, match="no space"):
        judge_who(engine, store=Full()).ask_all(questions(500))
    assert len(engine.asked) == 1
    assert set(threading.enumerate()) <= before


def test_servers_that_call_different_models_by_one_name_are_not_mixed_up(monkeypatch):
    class Placed(said_by("")):  # type: ignore[misc]
        def answer(self, request: Request) -> str:
            return json.dumps({"score": 1 if "//one" in self.config.stage2.base_url else 2})

        reply = ScriptedEngine.reply

    context = bench_of()
    name = named(monkeypatch, Placed)
    judges = [Judge(f"{name}:default@http://{host}/v1", context) for host in ("one", "other")]

    def ask_both(question: Question[int]) -> list[int | None]:
        return [judge.ask(question).value for judge in judges]

    assert list(map_items(ask_both, questions(3), judges)) == [[1, 2]] * 3
    assert ask_both(*questions()) == [1, 2], "nor what is kept of them"


# Many items at once
class Counting(ScriptedEngine):
    """A local model; ``calls`` are those of all such models, each as the model's name and how many it was asked."""

    calls: ClassVar[list[tuple[str, int]]] = []

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        self.calls.append((self.identity.model, len(requests)))
        return [Reply(GOOD) for _ in requests]


@pytest.fixture
def two_models(monkeypatch: pytest.MonkeyPatch) -> tuple[Judge, Judge]:
    """Two local models that take four questions in one call."""
    monkeypatch.setattr(Counting, "calls", [])
    context = bench_of()
    for model in ("First", "Second"):
        kind = type(model, (Counting,), {"identity": Identity("local", model)})
        monkeypatch.setattr(sys.modules[HERE], model, kind, raising=False)
    first, second = (Judge(f"{HERE}:{model}", context) for model in ("First", "Second"))
    return first, second


def test_questions_of_many_items_fill_the_batches_of_a_local_model(two_models):
    first, _ = two_models

    def ask_twice(numbers: tuple[int, int]) -> int:
        one, other = (judged.ad_question(f"Line {number}.", "It opens.", 1) for number in numbers)
        return (first.ask(one).value or 0) + (first.ask(other).value or 0)

    items = [(2 * number, 2 * number + 1) for number in range(8)]
    assert list(map_items(ask_twice, items, [first])) == [8] * 8
    assert Counting.calls == [("First", 4)] * 4


def test_local_models_are_changed_once_for_many_items(two_models):
    def ask_both(number: int) -> int:
        question = judged.ad_question(f"Line {number}.", "It opens.", 1)
        return sum(judge.ask(question).value or 0 for judge in two_models)

    assert list(map_items(ask_both, range(40), two_models)) == [8] * 40
    assert Counting.calls == [("First", 4)] * 10 + [("Second", 4)] * 10


def test_asking_ends_with_whoever_draws_the_results(judge_who):
    before = set(threading.enumerate())
    engine = said_by(GOOD)
    judge = judge_who(engine)
    results = map_items(judge.ask, questions(500), [judge])
    assert next(results).value == 4
    results.close()
    assert len(engine.asked) < 100
    assert set(threading.enumerate()) <= before


def test_rows_that_cannot_be_kept_stop_the_judge(judge_who):
    class Full(Store):
        def put(self, space: str, values: Any) -> None:
            if space.startswith("rows/"):
                raise EvaluationError("There is no space left.")
            super().put(space, values)

    lines = [item(str(number), f"He opens door {number}.", "It opens.") for number in range(500)]
    before = set(threading.enumerate())
    with pytest.raises(EvaluationError, match="no space") as caught:
        measured("llm-ad-eval", corpus_of(*lines), store=Full())
    assert caught.tb, "the error is still looked at: its frames are there"
    assert set(threading.enumerate()) <= before


def test_the_host_that_is_sent_texts_is_told_once(judge_who):
    class Far(said_by(GOOD)):  # type: ignore[misc]
        abilities = Abilities(sends_to="far.example")

    notes: list[str] = []
    judge = judge_who(Far)
    judge.context.progress.note = notes.append
    judge.ask_all(questions(2))
    judge.ask_all(questions(3))
    assert notes == ["Texts leave this machine: they are sent to far.example."]
    assert judge.sends_to == "far.example"


def test_which_judge_is_meant_and_no_server_is_an_error() -> None:
    assert judge_of("llm-action@openai:m@http://a/v1", ["b"]) == "openai:m@http://a/v1"
    assert judge_of("llm-action", ["b", "b"]) == "b"
    for engines in ((), ("a", "b")):
        with pytest.raises(EvaluationError, match="not said which"):
            judge_of("llm-action", engines)
    with BadServer() as server:
        url = server.url
    pair = corpus_of(item("0", "He opens it.", "It opens."))
    with pytest.raises(EngineError):
        measured(f"llm-ad-eval@openai:tiny@{url}", pair, "openai.retries=0", "openai.timeout=2")


# --- metrics
LINES = (
    "A giant fat rabbit climbs out of a hole in the ground.", "He stretches, yawns, and then starts walking.",
    "Then he stops to scratch his bottom.", "Hanna leaps up from the table.", "The kettle boils over.",
)  # fmt: skip
ACTIONS = (
    ("A rabbit climbs out of a hole.",), ("He stretches.", "He yawns.", "He starts walking."),
    ("He stops.", "He scratches his bottom."), ("She leaps up from the table.",), ("The kettle boils over.",),
)  # fmt: skip


def items(predictions: tuple[str | None, ...] = LINES) -> list[Item]:
    return [
        item(str(n), human, predicted, start=float(n), actions=actions)
        for n, (human, predicted, actions) in enumerate(zip(LINES, predictions, ACTIONS, strict=True))
    ]


def measured(name: str, corpus: Corpus, *assignments: str, store: Store | None = None) -> Result:
    bench = bench_of(f"measures.judge.engines=[{WORDS}]", *assignments, store=store)
    return score(make_metric(name, bench), corpus, bench)


def test_the_published_codes_scale_begins_at_0() -> None:
    corpus = corpus_of(item("1", "He opens the door.", "Snow falls on a field."))
    assert measured("llm-ad-eval", corpus).value == 1.0
    zero = measured("llm-ad-eval", corpus, "measures.rules=code")
    assert zero.value == 0.0
    assert zero.identity["lowest"] == 0
    scale = WordJudge.asked[-1].messages[1].text
    assert "0 - they have nothing in common" in scale
    assert WordJudge.asked[-1].schema["properties"]["score"]["minimum"] == 0  # type: ignore[index]


def test_the_mean_is_over_an_ads_actions_first_and_one_without_known_actions_says_nothing() -> None:
    corpus = corpus_of(
        item("1", "…", "He sits.", actions=("He sits.", "Snow falls.", "Rain falls.")),
        item("2", "…", "Snow falls.", actions=("Snow falls.",)),
        item("3", "A sign.", "He sits."),
        item("4", "A sign.", None),
        item("5", "A sign.", "He sits.", actions=()),
    )
    result = measured("llm-action", corpus)
    assert [row.sums for row in result.rows] == [(1.0, 1.0), (3.0, 1.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]
    assert [row.value for row in result.rows] == [1.0, 3.0, None, None, None]
    assert (result.value, result.scored, result.failed) == (2.0, 2, 0)
    assert [one["score"] for one in result.rows[0].notes["actions"]] == [3, 0, 0]
    assert result.rows[0].notes["actions"][0] == {"action": "He sits.", "score": 3, "reason": "3 of 3."}


def test_a_judges_failure_counts_as_0_and_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def score_of(request: Request) -> str:
        (line,) = quotes(request, "The system's line")
        return "no" if line == LINES[1] else json.dumps({"score": 5 if line == LINES[0] else 3})

    name = named(monkeypatch, said_by(score_of))
    result = measured(f"llm-ad-eval@{name}", corpus_of(*items((*LINES[:2], None, *LINES[3:]))))
    assert [row.sums for row in result.rows] == [(5, 1), (0, 1), (0, 1), (3, 1), (3, 1)]
    assert (result.value, result.failed) == (11 / 5, 2)
    assert [row.failure.startswith("judge: The answer does not begin") for row in result.rows].index(
        True
    ) == 1
    # One failed action of several counts as 0, and is asked about again alone.
    yes = '{"reason": "Same.", "score": 3}'

    def not_about_eating(request: Request) -> str:
        return "no" if quotes(request, "Action") == ["He eats."] else yes

    name, store = named(monkeypatch, said_by(not_about_eating)), Store()
    actions = ("He sits.", "He eats.", "He sleeps.")
    corpus = corpus_of(item("1", "…", "He sits and eats and sleeps.", actions=actions))
    (row,) = measured(f"llm-action@{name}", corpus, store=store).rows
    assert row.sums == (2.0, 1.0)
    assert row.failure.startswith("judge: 1 of 3 answers: ")
    engine = said_by(yes)
    named(monkeypatch, engine)
    assert measured(f"llm-action@{name}", corpus, store=store).rows[0].sums == (3.0, 1.0)
    assert [quotes(request, "Action") for request in engine.asked] == [["He eats."]]


STORY = (
    "Ada hides the letter under the floor.", "The guard kicks the door open.", "He searches the room.",
    "He finds nothing and leaves.", "Ada burns the letter.",
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _short_passages() -> Iterator[None]:
    """So that a story of five lines has two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judged, "STORY_LINES", 3)
        yield


def recalled(told: Sequence[str | None], judge: str = WORDS) -> Result:
    """Of these lines, of as many of the story."""
    pairs = enumerate(zip(STORY, told, strict=False))
    lines = [item(str(n), one, other, start=10.0 * n) for n, (one, other) in pairs]
    return measured(f"story-recall@{judge}", corpus_of(*lines))


def test_lines_may_tell_it_at_another_place_of_the_passage() -> None:
    assert recalled([STORY[n] for n in (2, 0, 1, 4, 3)]).value == pytest.approx(100.0)
    moved = recalled([STORY[n] for n in (3, 4, 2, 0, 1)]).value
    assert moved is not None
    assert moved < 50, "what is told in another passage is told too late"


def test_a_verdict_or_list_of_events_that_cannot_be_read_counts_0(monkeypatch: pytest.MonkeyPatch) -> None:
    events = json.dumps({"events": ["Ada hides a letter.", "The guard comes."]})
    verdict = '{"reason": "Said.", "conveyed": "%s"}'
    judge = named(monkeypatch, said_by(events, verdict % "yes", verdict % "surely"))
    result = recalled(STORY[:2], judge)
    assert result.value == pytest.approx(50.0)
    assert all(row.failure.startswith("judge: 1 of 2 answers: ") for row in result.rows)
    assert [one["conveyed"] for one in result.rows[0].notes["events"]] == ["yes", ""]
    for wrong in ([], ["…"], "He sits.", [f"Event {n}." for n in range(7)]):
        result = recalled(STORY[:3], named(monkeypatch, said_by(json.dumps({"events": wrong}))))
        assert (result.value, result.failed) == (0.0, 3), wrong


def test_what_the_judge_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = said_by('{"events": ["Ada hides a letter."]}', '{"reason": "Said.", "conveyed": "yes"}')
    recalled(("She hides it.", None, "A “guard” looks."), named(monkeypatch, engine))
    first, second = engine.asked
    assert lines_of(first) == list(STORY[:3])
    assert "at most 6" in first.messages[1].text
    assert lines_of(second) == ["She hides it.", "A “guard” looks."]
    assert quotes(second, "The event") == ["Ada hides a letter."]
    assert first.sampling.max_tokens >= 48 * 6


ODD = 'He says "$5 {now}\\" \n\n— and… 100 % ☃'
QUESTIONS: dict[str, Question[Any]] = {
    "ad": judged.ad_question(ODD, ODD, 0), "action": judged.action_question(ODD, ODD),
    "events": judged.events_question([ODD, ODD]), "conveyed": judged.conveyed_question(ODD, [ODD, ODD]),
    "names": making.names_question(ODD), "split": making.split_question(ODD),
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_any_text_is_quoted_whole_on_one_line_and_the_form_of_an_answer_is_no_answer(name: str) -> None:
    question = QUESTIONS[name]
    text = question.messages[1].text
    assert json.dumps(" ".join(ODD.split()), ensure_ascii=False) in text
    assert "$" not in text.replace("$5", "")
    # Weak models copy the form.
    assert question.template in text
    with pytest.raises(Unreadable):
        question.read(question.template)
