"""Questions about films of which all is known, answered by engines that know only what they are given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Interval
from shotad.core.errors import DatasetError, EvaluationError
from shotad.evaluation import (
    Store,
    Story,
    evaluate_story,
)
from shotad.evaluation.story import (
    estimate_story,
    lost_questions,
    story_record,
    story_text,
)
from shotad.evaluation.story_questions import (
    StoryQuestion,
    check_questions,
    make_story_questions,
    read_film,
    read_films,
    read_questions,
    write_questions as as_csv,
)
from tests.evaluation.judges.judging import bench_of
from tests.evaluation.story import storyfilms
from tests.evaluation.story.storyfilms import (
    FACTS,
    HERE,
    READER,
    Dying,
    Maker,
    Reader,
    make_table,
    write_questions,
)

TOLD = {"Anna": ("letter", "cat", "lamp"), "Bert": ("letter",)}


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    for name in ("Reader", "Strict", "Knower", "Maker", "Dying"):
        getattr(storyfilms, name).asked.clear()


def asked(
    place: Path,
    engine: str = READER,
    told: dict[str, tuple[str, ...]] = TOLD,
    *,
    open_ones: bool = False,
    with_human: bool = True,
    store: Store | None = None,
    **more: Any,
) -> Story:
    films = read_films(make_table(place, told, with_human=with_human))
    questions = read_questions([write_questions(place / "q.jsonl", *told, open_ones=open_ones)])
    return evaluate_story(films, questions, engine, bench_of(store=store), **{"tries": 2, **more})


@pytest.mark.parametrize("open_ones", [False, True])
def test_gains_are_those_of_what_each_description_tells(tmp_path: Path, open_ones: bool) -> None:
    story = asked(tmp_path, open_ones=open_ones)
    assert list(story.answers) == ["nothing", "dialogue", "ad", "other", "shuffled", "human"]
    average = {name: story.accuracy(name).value for name in story.answers}
    # Of 12 questions: the dialogue tells key of both films; the ADs 3 and 1 more; the human AD all.
    expected = {
        "nothing": 0, "dialogue": 200 / 12, "ad": 600 / 12, "other": 200 / 12, "shuffled": 100, "human": 100,
    }  # fmt: skip
    assert average == pytest.approx(expected)
    gains = {name: story.gain(name) for name in ("ad", "other", "human")}
    gained = {name: gain.value for name, gain in gains.items()}
    assert gained == pytest.approx({"ad": 400 / 12, "other": 0, "human": 1000 / 12})
    assert story.passed("ad").value == average["ad"]
    span = story.span(gains["ad"])
    # Without Anna 1/6 is gained, without Bert 3/6: t of one degree of freedom times 1/6, around 2/6.
    assert span is not None
    assert (span.unit, span.units) == ("film", 2)
    ends = 100 * (1 / 3 - 12.706 / 6), 100 * (1 / 3 + 12.706 / 6)
    assert (span.low, span.high) == pytest.approx(ends, abs=0.01)


def test_it_tells_good_from_bad_where_order_matters_and_says_so_where_it_does_not(tmp_path: Path) -> None:
    strict = asked(tmp_path, f"{HERE}:Strict", anyway=True)
    shuffled, human = strict.accuracy("shuffled").value, strict.accuracy("human").value
    assert shuffled is not None
    assert human == 100 > shuffled
    plain = asked(tmp_path)
    tells_apart, why = plain.verdict
    assert tells_apart is False
    assert "the human AD over itself shuffled, of fewer than 5 films or questions" in why
    assert "Does this set tell a good description from a bad one? No, it cannot." in story_text(plain)


def test_verdicts_need_gains_that_are_sure_and_a_human_ad(tmp_path: Path) -> None:
    story = asked(tmp_path, f"{HERE}:Strict", {f"F{n}": () for n in range(8)}, tries=1)
    assert story.verdict[0] is True
    assert "Yes. Above 0 for sure" in story_text(story)
    # Without a human ad it says that it does not know.
    story = asked(tmp_path, with_human=False, tries=1)
    assert story.verdict[0] is None
    absent = "not there for 2 of 2 films (Anna, Bert)"
    assert story.left_out == {"human": absent, "script": absent}
    assert "Not asked: full script, not there for 2 of 2 films" in story_text(story)


def test_options_are_shuffled_by_the_seed_alike_under_all_conditions(tmp_path: Path) -> None:
    asked(tmp_path, tries=3)
    orders: dict[str, dict[str, set[str]]] = {}
    for request in Reader.asked:
        lines, _, rest = request.messages[1].text.partition("The question: ")
        question, options = rest.split("\n", 1)
        orders.setdefault(question, {}).setdefault(lines, set()).add(options)
    assert len(orders) == 12
    for orders_of_question in orders.values():
        assert len({frozenset(options) for options in orders_of_question.values()}) == 1
        assert all(len(options) in (2, 3) for options in orders_of_question.values())


def test_a_killed_run_goes_on_without_asking_again(tmp_path: Path) -> None:
    with Store(tmp_path / "kept.sqlite") as store:
        with pytest.raises(KeyboardInterrupt):
            asked(tmp_path, f"{HERE}:Dying", store=store)
        answered = len(Dying.asked)
        assert answered
    with Store(tmp_path / "kept.sqlite") as store:
        asked(tmp_path, store=store)
        rest = len(Reader.asked)
        asked(tmp_path, store=store)
        assert len(Reader.asked) == rest
    asked(tmp_path)
    assert len(Reader.asked) == rest + rest + answered


def test_what_the_estimate_says_is_asked_at_most(tmp_path: Path) -> None:
    asked(tmp_path, open_ones=True, conditions=["ad", "human"])
    films, questions = read_films(tmp_path / "films.csv"), read_questions([tmp_path / "q.jsonl"])
    estimate = estimate_story(films, questions, 0, tries=2, conditions=["ad", "human"])
    assert (estimate["answers"], estimate["checks"]) == (2 * 4 * 12, 2 * 4 * 12)
    # Equal answers to one question are judged once.
    answers = [request for request in Reader.asked if "The given answer:" not in request.messages[1].text]
    assert len(answers) == estimate["answers"]
    assert len(Reader.asked) < estimate["answers"] + estimate["checks"]


def test_questions_that_are_answered_from_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"100% of the questions are answered from nothing .* --anyway"):
        asked(tmp_path, f"{HERE}:Knower")
    assert len(storyfilms.Knower.asked) == 24  # no other condition was asked
    story = asked(tmp_path, f"{HERE}:Knower", anyway=True)
    assert story.examination["blind"] == 1
    assert "FAULT: 100% of the questions are answered from nothing" in story_text(story)


def test_questions_whose_longest_option_is_right_or_of_other_films_are_refused_unasked(
    tmp_path: Path,
) -> None:
    films = read_films(make_table(tmp_path, TOLD))
    options = ("place 1, of course", "place 2")
    questions = [
        StoryQuestion(film, fact, f"Where does {film} find the {fact}?", options[0], options)
        for film in TOLD
        for fact in FACTS
    ]
    message = r"longest option is the right one in 100% .* \(by chance 50%; 60% is accepted\)"
    with pytest.raises(EvaluationError, match=message):
        evaluate_story(films, questions, READER, bench_of())
    with pytest.raises(EvaluationError, match="not here: Cleo"):
        evaluate_story(films, [StoryQuestion("Cleo", "1", "Who?", "She.")], READER, bench_of())
    assert not Reader.asked


def test_an_examination_counts() -> None:
    options = ("a cat", "a dog", "a large dog")
    few = [StoryQuestion("f", str(n), "What?", options[n % 3], options) for n in range(6)]
    examination = check_questions([*few, StoryQuestion("f", "x", "Why?", "So.")])
    assert (examination["questions"], examination["with_options"]) == (7, 6)
    assert examination["positions"] == [(1, 2), (2, 2), (3, 2)]
    assert (examination["chance"], examination["longest"]) == pytest.approx((2 / 7, 1 / 3))
    assert examination["faults"] == []
    five = [StoryQuestion("f", str(n), "What?", "a large dog", options) for n in range(5)]
    assert check_questions(five)["rare"] == pytest.approx(3**-5)
    assert check_questions(five[:4])["faults"] == []  # by chance one of 81 sets


def test_what_an_answer_rests_on_is_told_by_the_ids_of_cues(tmp_path: Path) -> None:
    story = asked(tmp_path)
    answers_of = {(row["film"], row["id"]): row["answers"] for row in story_record(story)["questions"]}
    answer = {"said": "place 2", "right": True, "rests_on": ("s00020000",), "failure": ""}
    assert answers_of["Bert", "letter"]["ad"][0] == answer
    assert answers_of["Anna", "key"]["dialogue"][0]["rests_on"] == ("d00005000",)
    assert answers_of["Anna", "key"]["nothing"][0]["rests_on"] == ()


def test_room_for_a_missing_line(tmp_path: Path) -> None:
    place = make_table(tmp_path, TOLD).parent / "Anna.shotad"
    film = read_film("Anna", place, human=tmp_path / "Anna.human.vtt")
    text, right, options = "Where does Anna find the drum?", "place 6", ("place 6", "place 9")

    def room(moment: Interval | None, *, slots: bool = True, told: bool = True) -> str:
        here = replace(film, slots=film.slots if slots else None, ad=film.ad if told else film.ad[:1])
        one = StoryQuestion("Anna", "drum", text, right, options, moment)
        story = evaluate_story([here], [one], READER, bench_of(), tries=1, anyway=True)
        ((lost, _),) = lost_questions(story)
        return str(lost["room"])

    assert room(Interval(61, 62)) == "slot with a line"
    assert room(Interval(61, 62), told=False) == "free slot"
    assert room(Interval(300, 310)) == "no slot"
    assert room(Interval(61, 62), slots=False) == "unknown"


def test_made_questions_have_their_evidence_and_read_back_equal(tmp_path: Path) -> None:
    films = read_films(make_table(tmp_path, TOLD))
    questions = make_story_questions(films, f"{HERE}:Maker", bench_of())
    assert len(Maker.asked) == 2
    (first, _) = questions
    assert (first.film, first.text, first.answer) == ("Anna", "Where does Anna find the letter?", "place 2")
    assert first.evidence == Interval(20, 23)
    assert first.reason == "Anna finds the letter in place 2."
    assert sorted(first.options) == ["place 2", "place 7", "place 8", "place 9"]
    file = tmp_path / "made.csv"
    file.write_text(as_csv(questions), encoding="utf-8")
    assert read_questions([file]) == tuple(questions)


STAGE = """id,movie_id,language,related_scenes,question,answer,evidence_or_reason,question_type
1,en04,en,,Where does Anna find the key?,place 1,"She finds it, [scene 1]",Scene Grounding
2,en04,en,,Where does Anna find the cat?,place 3,,Temporal Reasoning
"""


def test_questions_and_script_of_stage(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(STAGE, encoding="utf-8")
    content = "Anna finds the cat in place 3.\nANNA\nAnna finds the key in place 1."
    scenes = [{"_id": 1, "title": "1、INT. HALL", "content": content}]
    (tmp_path / "script.json").write_text(json.dumps(scenes))
    questions = read_questions([tmp_path / "q.csv"])
    cells = (
        "Where does Anna find the key?", "place 1", (), None, "She finds it, [scene 1]", "Scene Grounding",
    )  # fmt: skip
    assert questions[0] == StoryQuestion("en04", "1", *cells)
    film = read_film("en04", script=tmp_path / "script.json")
    story = evaluate_story([film], questions, READER, bench_of(), tries=5)
    accuracy = {name: story.accuracy(name).value for name in story.answers}
    assert accuracy == {"nothing": 0, "dialogue": 50, "script": 100}
    assert story.span(story.accuracy("script")) is None
    assert "too few questions or films for intervals" in story_text(story)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("question,answer\nWhat?,\n", r"line 2: the question or its answer is empty"),
        ("question\nWhat?\n", "has no column for answers"),
        ('question,answer,options\nWhat?,a,"[""b"", ""c""]"\n',
         "line 2: the answer 'a' is none of the options"),
        ('question,answer,options\nWhat?,a,"[""a""]"\n', "2 to 26, all different"),
        ("question,answer,start\nWhat?,a,soon\n", "'soon' is no time"),
        ("id,question,answer\n1,What?,a\n1,Who?,b\n", "stand several times: /1"),
    ],
)  # fmt: skip
def test_files_of_questions_that_cannot_be_used(rows: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(DatasetError, match=said):
        read_questions([tmp_path / "q.csv"])
