"""Judges: how they are named, what they are asked, how answers are read and kept, and what happens to failures; and
LLM-AD-Eval, the LLM action metric and story recall by a judge that counts words."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings, strategies as st

from shotad.core import (
    Abilities,
    Config,
    Identity,
    NoProgress,
    Reply,
    Request,
)
from shotad.core.errors import EngineError, EvaluationError
from shotad.evaluation import (
    Corpus,
    Item,
    MetricContext,
    Result,
    Row,
    Store,
    evaluate_questions,
    make_actions,
    make_metric,
    score,
)
from shotad.evaluation.making_actions import AdText
from shotad.evaluation.stage import read_stage
from tests.bad_server import BadServer
from tests.evaluation.judges.judging import (
    WORDS,
    ScriptedEngine,
    WordJudge,
    bench_of,
    corpus_of,
    item,
    keys_of,
    lines_of,
    named,
    quotes,
    said_by,
)
from tests.evaluation.stage.stagefilm import Grader, Model, write_film


class Placed(ScriptedEngine):
    """Keeps the settings that it is made with."""

    configs: ClassVar[list[Config]] = []

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.configs.append(config)


@pytest.mark.parametrize(
    ("text", "model", "revision", "base_url"),
    [
        (":llama3:8b", "llama3:8b", None, None),
        (":m@http://localhost:8000/v1", "m", None, "http://localhost:8000/v1"),
        (":@https://a.b/v1", None, None, "https://a.b/v1"),
        (":/models/a@b c/x", "/models/a@b c/x", None, None),
        (":org/name@main", "org/name", "main", None),
        (" ", None, None, None),
    ],
)
def test_a_judges_name_has_its_model_revision_and_server(
    text: str, model: str | None, revision: str | None, base_url: str | None
) -> None:
    make_metric(f"llm-ad-eval@{named(Placed)}{text}", bench_of())
    stage2 = Placed.configs[-1].stage2
    assert (stage2.model, stage2.revision, stage2.base_url) == (model, revision, base_url)


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
    judged_metric = make_metric(f"{metric}@openai:{judge}", bench_of("openai.base_url=http://localhost:1/v1"))
    assert judged_metric.comparable is may


def measured(name: str, corpus: Corpus, *assignments: str, store: Store | None = None) -> Result:
    bench = bench_of(f"measures.judge.engines=[{WORDS}]", *assignments, store=store)
    return score(make_metric(name, bench), corpus, bench)


def doors(count: int = 1) -> Corpus:
    """ADs with predictions, no two of them equal."""
    return corpus_of(*(item(str(n), f"He opens door {n}.", f"Door {n} opens.") for n in range(count)))


def judged(
    engine: type[ScriptedEngine], *assignments: str, count: int = 1, store: Store | None = None
) -> list[Row]:
    """The rows of `doors` by LLM-AD-Eval with this engine."""
    return list(measured(f"llm-ad-eval@{named(engine)}", doors(count), *assignments, store=store).rows)


def actions_judged(engine: type[ScriptedEngine], count: int, store: Store | None = None) -> Row:
    """The row of one AD with so many actions, which are asked about together."""
    actions = tuple(f"He opens door {n}." for n in range(count))
    corpus = corpus_of(item("0", "…", "Doors open.", actions=actions))
    return measured(f"llm-action@{named(engine)}", corpus, store=store).rows[0]


# --- answers
GOOD = json.dumps({"score": 4})
GOOD_ACTION = json.dumps({"reason": "Same.", "score": 3})
REFUSAL = "I'm sorry, but I can't assist with that."


@pytest.mark.parametrize(
    "answer",
    [
        '  {"score": 3}\n', '{\n  "score": 3\n}', '```json\n{"score": 3}\n```', '```\n{"score": 3}```',
        '<think>Is it {"score": 1}? No.</think>\n{"score": 3}',
        'Is it {"score": 1}? No.</think>\n{"score": 3}', '[THINK]Is it {"score": 1}?[/THINK]{"score": 3}',
        '<|channel|>analysis<|message|>{"score": 1}?<|end|><|start|>assistant<|channel|>final<|message|>{"score": 3}',
        'analysisIs it 1?assistantfinal{"score": 3}', '◁think▷{"score": 1}?◁/think▷{"score": 3}<|im_end|>',
    ],
)  # fmt: skip
def test_what_is_read(answer: str) -> None:
    (row,) = judged(said_by(answer))
    assert (row.value, row.failure) == (3, "")


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
        ("<think>I go on thinking", "empty: it holds nothing but thoughts"),
        ('{"a":' * 5000, "not valid JSON"),
        ('{"score": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"score": 4.0}', "whole number from 1 to 5, and is 4.0"),
        (Reply('{"score":', "length"), "too long, and was cut off"),
    ],
)
def test_what_is_refused(answer: str | Reply, why: str) -> None:
    (row,) = judged(said_by(answer))
    assert row.value == 0
    assert re.match(f"judge: .*{re.escape(why)}", row.failure), row.failure


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("  Both \n open a door. ", "Both open a door."),
        ("Ann &amp; <b>Bo</b>\u200b sit.", "Ann & Bo sit."),
        ("Nothing.", "Nothing."),
        *((value, None) for value in ("", "…", None, 3, ["He sits."], True, "NaN", "undefined", "string",
                                      "[object Object]", "&nbsp;")),
    ],
)  # fmt: skip
def test_a_reason_is_a_sentence(reason: Any, text: str | None) -> None:
    row = actions_judged(said_by(json.dumps({"reason": reason, "score": 3})), 1)
    if text is None:
        assert row.failure.startswith("judge: reason must be a sentence")
    else:
        assert row.notes["actions"][0]["reason"] == text


def test_equal_events_count_once() -> None:
    events = json.dumps({"events": ["He sits.", "She stands.", "he  sits."]})
    judge = named(said_by(events, json.dumps({"reason": "Said.", "conveyed": "Yes"})))
    (row,) = measured(f"story-recall@{judge}", doors()).rows
    assert [note["event"] for note in row.notes["events"]] == ["He sits.", "She stands."]
    assert row.value == 100


@settings(max_examples=50, deadline=None)
@given(st.text() | st.text(alphabet='{}[]":,0123456789 \nscoretrue`\\'))
def test_whatever_is_said_is_read_or_refused(answer: str) -> None:
    (row,) = judged(said_by(answer))
    assert row.failure.startswith("judge: ") if row.value == 0 else row.value in range(1, 6)


def test_a_wrong_answer_is_shown_again_and_a_refusal_is_asked_anew_and_not_argued_with() -> None:
    engine = said_by('{"score": 7}', '{"score": 8}')
    (row,) = judged(engine)
    assert "whole number from 1 to 5, and is 8" in row.failure
    assert [len(request.messages) for request in engine.asked] == [2, 4]
    # An engine's own error is not asked about again.
    engine = said_by(Reply("", "error", error="HTTP 500"))
    (row,) = judged(engine)
    assert (row.failure, len(engine.asked)) == ("judge: HTTP 500", 1)
    # A refusal, by the model or by its server.
    for refusal in (REFUSAL, Reply("", "refused")):
        engine = said_by(refusal, GOOD)
        assert judged(engine)[0].value == 4
        _, again = engine.asked
        assert [message.role for message in again.messages] == ["system", "user"]
        assert "published film" in again.messages[-1].text


# --- what is kept
def test_answers_are_kept_and_failures_are_not(tmp_path):
    path = tmp_path / "cache.sqlite"
    with Store(path) as store:
        engine = said_by(lambda request: "?" if "door 1." in request.messages[1].text else GOOD)
        assert [row.value for row in judged(engine, count=3, store=store)] == [4, 0, 4]
    with Store(path) as store:
        engine = said_by(json.dumps({"score": 5}))
        assert [row.value for row in judged(engine, count=3, store=store)] == [4, 5, 4]
        assert len(engine.asked) == 1
    with Store(path) as store:
        engine = said_by(json.dumps({"score": 2}))
        rows = judged(engine, "stage2.sampling.max_tokens=300", count=3, store=store)
        assert [row.value for row in rows] == [2, 2, 2]


def test_what_was_answered_before_an_engine_stopped_is_kept(tmp_path):
    def gone(request: Request) -> str:
        raise EngineError("The server is gone.")

    with Store(tmp_path / "cache.sqlite") as store:
        with pytest.raises(EngineError, match="gone"):
            actions_judged(said_by(GOOD_ACTION, GOOD_ACTION, gone), 5, store)
        engine = said_by(GOOD_ACTION)
        assert actions_judged(engine, 5, store).value == 3
        assert len(engine.asked) == 3


def test_an_engine_that_fails_on_the_second_attempt_is_asked_for_that_alone(tmp_path):
    with Store(tmp_path / "cache.sqlite") as store:
        failing = said_by("?", Reply("", "error", error="HTTP 500"))
        assert judged(failing, store=store)[0].failure == "judge: HTTP 500"
        engine = said_by(GOOD)
        assert judged(engine, store=store)[0].value == 4
        (again,) = engine.asked
        assert [message.role for message in again.messages] == ["system", "user", "assistant", "user"]


class FullStore(Store):
    """A store on a disk that is full when a value of this space is put into it."""

    def __init__(self, space: str) -> None:
        super().__init__()
        self._space = space

    def put(self, space: str, values: Any) -> None:
        if space.startswith(self._space):
            raise EvaluationError("There is no space left.")
        super().put(space, values)


def test_a_full_disk_stops_the_run_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    engine = said_by(GOOD_ACTION)
    with pytest.raises(EvaluationError, match="no space"):
        actions_judged(engine, 500, FullStore("answers"))
    assert len(engine.asked) == 1
    # Rows that cannot be kept.
    with pytest.raises(EvaluationError, match="no space") as caught:
        judged(said_by(GOOD), count=500, store=FullStore("rows/"))
    assert caught.tb, "the error is still looked at: its frames are there"
    assert set(threading.enumerate()) <= before


def test_servers_that_call_different_models_by_one_name_are_not_mixed_up():
    class OneOfTwo(said_by("")):  # type: ignore[misc]
        def answer(self, request: Request) -> str:
            return json.dumps({"score": 1 if "//one" in self.config.stage2.base_url else 2})

        reply = ScriptedEngine.reply

    name, store = named(OneOfTwo), Store()
    for host, value in (("one", 1), ("other", 2), ("one", 1)):
        result = measured(f"llm-ad-eval@{name}:default@http://{host}/v1", doors(3), store=store)
        assert [row.value for row in result.rows] == [value] * 3


# --- many items at once
def test_questions_of_many_items_fill_the_batches_of_a_local_model() -> None:
    class Counting(ScriptedEngine):
        sizes: ClassVar[list[int]] = []

        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            self.sizes.append(len(requests))
            return [Reply(GOOD_ACTION) for _ in requests]

    corpus = corpus_of(
        *(item(str(n), "…", "It opens.", actions=(f"Line {2 * n}.", f"Line {2 * n + 1}.")) for n in range(8))
    )
    assert measured(f"llm-action@{named(Counting)}", corpus).value == 3
    assert Counting.sizes == [4] * 4


def test_local_models_are_changed_once_for_many_items(tmp_path):
    """One answers questions about a film, the other judges the answers."""
    order: list[str] = []

    class Answering(Model):
        identity = Identity("local", "first")

        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            order.append("first")
            return super().generate(requests)

    class Judging(Grader):
        identity = Identity("local", "second")

        def generate(self, requests: Sequence[Request]) -> list[Reply]:
            order.append("second")
            return super().generate(requests)

    films = read_stage(write_film(tmp_path / "film"))
    names = named(Answering, "First"), named(Judging, "Second")
    evaluate_questions(films, names[0], bench_of(), judge=names[1], memory=("bm25", "none", "full"))
    assert order.count("first") > 1
    assert order == sorted(order)


def test_asking_ends_with_whoever_draws_the_rows() -> None:
    before = set(threading.enumerate())
    engine = said_by(GOOD)
    metric = make_metric(f"llm-ad-eval@{named(engine)}", bench_of())
    rows = iter(metric.rows(doors(500), range(500)))
    assert next(rows).value == 4
    rows.close()  # type: ignore[attr-defined]
    assert len(engine.asked) < 100
    assert set(threading.enumerate()) <= before


def test_the_host_that_is_sent_texts_is_named_once() -> None:
    class Far(said_by(GOOD)):  # type: ignore[misc]
        abilities = Abilities(sends_to="far.example")

    class Notes(NoProgress):
        def note(self, text: str) -> None:
            notes.append(text)

    notes: list[str] = []
    context = MetricContext(bench_of().config, Store(), Notes())
    for count in (2, 5):
        result = score(make_metric(f"llm-ad-eval@{named(Far)}", context), doors(count), context)
        assert "Texts were sent to far.example." in result.remarks
    assert notes == ["Texts leave this machine: they are sent to far.example."]


def test_which_judge_is_meant_and_no_server_is_an_error() -> None:
    set_twice = f"measures.judge.engines=[{WORDS},{WORDS}]"
    assert make_metric("llm-action", bench_of(set_twice)).title == f"LLM action ({WORDS})"
    own = named(said_by(GOOD))
    assert make_metric(f"llm-action@{own}", bench_of(set_twice)).title == f"LLM action ({own})"
    for engines in ("", f"{WORDS},{own}"):
        with pytest.raises(EvaluationError, match="not said which"):
            make_metric("llm-action", bench_of(f"measures.judge.engines=[{engines}]"))
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


def test_a_judges_failure_counts_as_0_and_is_told_apart() -> None:
    def score_of(request: Request) -> str:
        (line,) = quotes(request, "The system's line")
        return "no" if line == LINES[1] else json.dumps({"score": 5 if line == LINES[0] else 3})

    name = named(said_by(score_of))
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

    name, store = named(said_by(not_about_eating)), Store()
    actions = ("He sits.", "He eats.", "He sleeps.")
    corpus = corpus_of(item("1", "…", "He sits and eats and sleeps.", actions=actions))
    (row,) = measured(f"llm-action@{name}", corpus, store=store).rows
    assert row.sums == (2.0, 1.0)
    assert row.failure.startswith("judge: 1 of 3 answers: ")
    engine = said_by(yes)
    named(engine)
    assert measured(f"llm-action@{name}", corpus, store=store).rows[0].sums == (3.0, 1.0)
    assert [quotes(request, "Action") for request in engine.asked] == [["He eats."]]


THINGS = [
    "letter",
    "guard",
    "room",
    "door",
    "fire",
    "boat",
    "rope",
    "lamp",
    "horse",
    "well",
    "bridge",
    "clock",
    "coat",
    "knife",
    "glass",
    "crown",
    "tower",
    "mirror",
    "field",
    "candle",
    "drum",
    "wagon",
    "pearl",
    "garden",
]
STORY = [f"The {THINGS[n]} hits the {THINGS[n - 1]}." for n in range(24)]
"""Two passages of twelve lines; no two of one thing but neighbours."""


def recalled(lines: Sequence[str | None], judge: str = WORDS) -> Result:
    """Of these lines, of as many of the story."""
    pairs = enumerate(zip(STORY, lines, strict=False))
    items = [item(str(n), human, line, start=10.0 * n) for n, (human, line) in pairs]
    return measured(f"story-recall@{judge}", corpus_of(*items))


def test_lines_may_tell_it_at_another_place_of_the_passage() -> None:
    assert recalled([*STORY[11::-1], *STORY[:11:-1]]).value == pytest.approx(100.0)
    moved = recalled([*STORY[12:], *STORY[:12]]).value
    assert moved is not None
    assert moved < 50, "what is told in another passage is told too late"


def test_a_verdict_or_list_of_events_that_cannot_be_read_counts_0() -> None:
    events = json.dumps({"events": ["Ada hides a letter.", "The guard comes."]})
    verdict = '{"reason": "Said.", "conveyed": "%s"}'
    judge = named(said_by(events, verdict % "yes", verdict % "surely"))
    result = recalled(STORY[:2], judge)
    assert result.value == pytest.approx(50.0)
    assert all(row.failure.startswith("judge: 1 of 2 answers: ") for row in result.rows)
    assert [one["conveyed"] for one in result.rows[0].notes["events"]] == ["yes", ""]
    for wrong in ([], ["…"], "He sits.", [f"Event {n}." for n in range(7)]):
        result = recalled(STORY[:3], named(said_by(json.dumps({"events": wrong}))))
        assert (result.value, result.failed) == (0.0, 3), wrong


def test_what_the_judge_is_shown() -> None:
    engine = said_by('{"events": ["Ada hides a letter."]}', '{"reason": "Said.", "conveyed": "yes"}')
    recalled(("She hides it.", None, "A “guard” looks."), named(engine))
    first, second = engine.asked
    assert lines_of(first) == list(STORY[:3])
    assert "at most 6" in first.messages[1].text
    assert lines_of(second) == ["She hides it.", "A “guard” looks."]
    assert quotes(second, "The event") == ["Ada hides a letter."]
    assert first.sampling.max_tokens >= 48 * 6


ODD = 'He says "$5 {now}\\" \n\n— and… 100 % ☃'
EVENT = json.dumps({"events": [ODD]})


def last_form(request: Request) -> str:
    """The form of the answer, as it stands at the end of the question."""
    return request.messages[1].text.rpartition("in this form:\n")[2].partition("\n")[0]


def copies(*answers: str) -> type[ScriptedEngine]:
    """Engines that give these answers, and then the form of the answer back, as weak models do."""
    return said_by(*answers, last_form)


def judge_odd_line(engine: type[ScriptedEngine]) -> str:
    (row,) = measured(f"llm-ad-eval@{named(engine)}", corpus_of(item("0", ODD, ODD))).rows
    return row.failure


def judge_odd_action(engine: type[ScriptedEngine]) -> str:
    (row,) = measured(f"llm-action@{named(engine)}", corpus_of(item("0", "…", ODD, actions=(ODD,)))).rows
    return row.failure


def judge_odd_story(engine: type[ScriptedEngine]) -> str:
    return measured(f"story-recall@{named(engine)}", corpus_of(item("0", ODD, ODD))).rows[0].failure


def make_odd_actions(engine: type[ScriptedEngine]) -> str:
    (ad,), _ = make_actions([AdText("0", "", ODD)], named(engine), bench_of())
    return ad.failure


@pytest.mark.parametrize(
    ("ask", "before", "keys"),
    [
        (judge_odd_line, (), ["score"]),
        (judge_odd_action, (), ["reason", "score"]),
        (judge_odd_story, (), ["events"]),
        (judge_odd_story, (EVENT,), ["reason", "conveyed"]),
        (make_odd_actions, (), ["text"]),
        (make_odd_actions, (json.dumps({"text": ODD}),), ["actions"]),
    ],
)
def test_any_text_is_quoted_whole_on_one_line_and_the_form_of_an_answer_is_no_answer(
    ask: Callable[[type[ScriptedEngine]], str], before: tuple[str, ...], keys: list[str]
) -> None:
    engine = copies(*before)
    assert ask(engine), "the form was taken for an answer"
    request = engine.asked[len(before)]
    assert keys_of(request) == keys
    text = request.messages[1].text
    assert json.dumps(" ".join(ODD.split()), ensure_ascii=False) in text
    assert "$" not in text.replace("$5", "")
