"""A character's timeline by scene cards and milestones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shotad.evaluation import evaluate_timelines
from shotad.evaluation.stage import StageFilm, StageScene, StageTimeline, read_stage
from shotad.evaluation.stage_cards import SceneCard, choose_milestones, scenes_of_character
from tests.evaluation.cml.script_reader import word_context
from tests.evaluation.judges.judging import keys_of
from tests.evaluation.stage.longfilm import READER, SCENES, TURNS, Reader, hiding, write_long_film
from tests.evaluation.stage.stagefilm import GRADER, Grader


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    Reader.asked.clear()
    Grader.asked.clear()
    yield
    Reader.fails_on = ""


def script_of(*contents: str) -> StageFilm:
    """A film with these scenes and nothing else."""
    scenes = tuple(StageScene(id=str(n), content=text) for n, text in enumerate(contents, 1))
    return StageFilm("film", "en", scenes, (), (), (), (), ())


def named(name: str, *aliases: str) -> StageTimeline:
    return StageTimeline(character=name, aliases=aliases, nodes=())


def test_a_timeline_of_milestones(tmp_path: Path) -> None:
    films = read_stage(write_long_film(tmp_path / "film"))
    run = evaluate_timelines(films, READER, word_context(), judge=GRADER, memory=("cards",), limit=1)
    (ann,) = run.items
    scenes = [int(node["scene"]) for node in ann["timeline"]["nodes"]]
    assert scenes == sorted(scenes)
    assert len(scenes) == 24  # 20, and one more for each sign that much happens, up to 24
    assert set(TURNS) <= set(scenes)
    assert [node["id"] for node in ann["timeline"]["nodes"]] == [str(n) for n in range(1, 25)]
    assert len(ann["cards"]) == SCENES
    assert ann["cards"][0]["quotes"] == (hiding(1),), "what the scene does not say is no quote"
    # A node is written from its scene alone, and from what stands in its card.
    written = [r.messages[1].text for r in Reader.asked if keys_of(r)[0] == "development"]
    assert hiding(1) in written[0]
    assert hiding(20) not in written[0]
    values = {result.name: result.value for result in run.results}
    common = len({1, 2, 3} & set(scenes))
    assert values["cards: scene grounding recall"] == pytest.approx(100 * common / 3)
    assert values["cards: scene grounding F1"] == pytest.approx(100 * 2 * common / (24 + 3))
    assert ann["failure"] == ""


def test_both_readings_stand_side_by_side(tmp_path: Path) -> None:
    films = read_stage(write_long_film(tmp_path / "film"))
    run = evaluate_timelines(films, READER, word_context(), judge=GRADER, memory=("full", "cards"), limit=1)
    assert [item["id"] for item in run.items] == ["full/film/Ann", "cards/film/Ann"]
    assert {result.name.split(":")[0] for result in run.results} == {"full", "cards"}


def test_a_card_that_cannot_be_had_is_left_out_and_told(tmp_path: Path) -> None:
    Reader.fails_on = f"{hiding(20)}\\nBOB"
    films = read_stage(write_long_film(tmp_path / "film"))
    run = evaluate_timelines(films, READER, word_context(), judge=GRADER, memory=("cards",), limit=1)
    assert "20" not in {node["scene"] for node in run.items[0]["timeline"]["nodes"]}
    assert "1 of 41 answers" in run.items[0]["failure"]


def test_no_scene_of_a_character_is_no_timeline(tmp_path: Path) -> None:
    films = read_stage(write_long_film(tmp_path / "film", dict.fromkeys(range(1, SCENES + 1), "Rain falls.")))
    run = evaluate_timelines(films, READER, word_context(), judge=GRADER, memory=("cards",), limit=1)
    assert Reader.asked == []
    assert "no scene has a part" in run.items[0]["failure"]
    values = {result.name: (result.value, result.failed) for result in run.results}
    assert values["cards: gold-fact recall"] == (0, 1)
    assert values["cards: scene grounding precision"] == (None, 0)
    assert values["cards: scene grounding recall"] == values["cards: node grounding F1"] == (0, 1)
    assert values["cards: Fact-F1"] == (0, 1)


def test_the_scenes_of_a_character() -> None:
    rain = ["Rain falls."] * 5
    surely = "MRS. PEEL (V.O.)\nHello."
    film = script_of(*rain, surely, *rain, "A peel of an orange.", *rain)
    # Her words make a scene surely hers, and bring the two on either side; a word of her name brings itself alone.
    assert scenes_of_character(film, named("Mrs. Peel")) == [3, 4, 5, 6, 7, 11]
    assert scenes_of_character(film, named("Emma", "MRS. PEEL")) == [3, 4, 5, 6, 7, 11]
    assert scenes_of_character(film, named("Steed")) == []
    assert scenes_of_character(script_of("小四：你来了。", "下雨。"), named("小四")) == [0, 1]


def test_a_character_of_every_scene_is_read_in_all_parts_of_the_script() -> None:
    film = script_of(*["Ann waits."] * 200, *["ANN\nAnn is here."] * 100)
    places = scenes_of_character(film, named("Ann"))
    assert len(places) == 120
    assert [sum(third * 100 <= place < third * 100 + 100 for place in places) for third in range(3)] == [
        24,
        24,
        72,
    ]


def card(place: int, score: int, presence: str = "active", **changes: str) -> SceneCard:
    return SceneCard(place, presence, "So it is.", changes, score, ())


def test_milestones_are_spread_over_the_story() -> None:
    cards = [card(place, 5 if place >= 60 else 1) for place in range(90)]
    chosen = [milestone.place for milestone in choose_milestones(cards, 90)]
    assert len(chosen) == 24
    assert [sum(third * 30 <= place < third * 30 + 30 for place in chosen) for third in range(3)][:2] != [
        0,
        0,
    ]
    assert min(sum(third * 30 <= place < third * 30 + 30 for place in chosen) for third in range(3)) >= 3
    # Of neighbours one is enough while others are left.
    assert [milestone.place for milestone in choose_milestones([card(p, 5) for p in range(4)], 90)] == [
        0,
        1,
        2,
        3,
    ]
    absent = [card(1, 0, "absent"), card(2, 0, "indirect"), card(3, 2, "absent")]
    assert [milestone.place for milestone in choose_milestones(absent, 90)] == [2, 3]


def test_what_changes_more_goes_first() -> None:
    cards = [card(3 * n, 3, change="So.") if n % 2 else card(3 * n, 3) for n in range(30)]
    chosen = {milestone.place for milestone in choose_milestones(cards, 90)}
    assert {3 * n for n in range(1, 30, 2)} <= chosen
