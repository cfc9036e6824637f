"""A film of our own in STAGE's format, and engines that read, play and judge it by rule."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from shotad.core import Request
from tests.evaluation.judges.judging import ScriptedEngine, keys_of, quoted_after

HERE = "tests.evaluation.stage.stagefilm"

CONTENTS = (
    "Ann kneels by the well and finds a key.\nANN\nWhose is this?",
    "Ann drops the key into the river.\nBOB\nNot again.", "Ann and Bob dance on the roof.",
)  # fmt: skip
TITLES = ("1、EXT. WELL - DAY", "2、EXT. RIVER - DAY", "3、EXT. ROOF - NIGHT")


def node(name: str, scene: int, development: str) -> dict[str, Any]:
    return {
        "timeline_node_id": name, "scene_id": str(scene), "scene_title": TITLES[scene - 1],
        "salient_development": development, "goal_state": None, "resulting_state": "It stays so.",
    }  # fmt: skip


def arc(name: str, title: str, nodes: list[str], end: str) -> dict[str, Any]:
    return {
        "arc_id": name, "character_name": "Ann", "title": title, "linked_timeline_node_ids": nodes,
        "arc_summary": f"{title} from first to last.", "end_state": end, "unresolved_issue": None,
    }  # fmt: skip


def turn(asked: str, sources: list[str], history: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    key = "dialogue_history" if history is None else "dialogue_history_template"
    known = {
        "source_memory_ids": sources, "supporting_facts": ["The key lay by the well."],
        "contradicting_facts": ["The key lay in the river."], "cross_turn_constraints": ["Stay with it."],
        "knowledge_boundary": {"allowed": ["The key."], "forbidden": ["The dance."]},
    }  # fmt: skip
    return {"input": {key: history or [], "current_user_turn": asked}, "reference": known}


MEMORIES = (
    "I found a key by the well.", "I dropped it into the river.", "We danced on the roof.", "Bob laughed at me.",
    "My mother called.", "The rain stopped.",
)  # fmt: skip
"""Those of Ann: r001 and so on, of the three scenes, the last of all that follow."""
RIVER, WELL = "Where did it fall, into the river?", "What lay by the well?"


def role(name: str, memories: Sequence[str] = ()) -> dict[str, Any]:
    persona = {"traits": ["brave"], "speaking_style": ["short"], "constraints": ["Never lies."]}
    kept = [
        {"memory_id": f"r{n:03}", "scene_id": str(min(n, 3)), "scene_order": n, "memory_text": text}
        for n, text in enumerate(memories, 1)
    ]
    return {
        "character_name": name, "persona_card": {**persona, "dialogue_exemplars": ["Whose is this?"]},
        "relations": [{"target_character": "Bob", "relation": "friend"}],
        "memories": [memory | {"grounded_facts": [], "tags": ["a_tag"]} for memory in kept],
    }  # fmt: skip


def said(number: int, text: str = "And?") -> list[dict[str, Any]]:
    return [
        {"speaker": "user", "text": text, "source_turn_index": number},
        {"speaker": "assistant", "source_turn_index": number, "fill_with": "previous_model_response"},
    ]


QUESTIONS = (
    ("1", "What lay by the well?", "A key.", "She finds a key by the well.", "Scene Grounding"),
    ("2", "Who dances on the roof?", "Ann and Bob.", "They dance.", "Role-Relation Continuity"),
)


def files() -> dict[str, Any]:
    """Of one film, what each JSON file holds, by its name."""
    ann = [
        node("n1", 1, "Ann finds the key."),
        node("n2", 2, "Ann loses the key."),
        node("n3", 3, "Ann forgives Bob."),
    ]
    bob = [node("n4", 2, "Bob loses patience.")]
    ref = {"role_asset_ref": {"asset_file": "task_3_role_assets.json", "character_name": "Ann"}}
    talk = [
        turn(WELL, ["r001"], []), turn(RIVER, ["r002", "r006"], said(1, WELL)),
        turn("And then?", [], said(1, WELL) + said(2, RIVER)),
    ]  # fmt: skip
    single = [turn(WELL, ["r001"]), turn("Who called?", ["r003"])]
    return {
        "script": [
            {"_id": n, "title": title, "subtitle": "", "content": text}
            for n, (title, text) in enumerate(zip(TITLES, CONTENTS, strict=True), 1)
        ],
        "task_1_character_timelines": {
            "language": "en",
            "focal_character_timelines": [
                {"character_name": "Ann", "aliases": ["Annie"], "timeline_nodes": ann},
                {"character_name": "Bob", "aliases": [], "timeline_nodes": bob},
            ],
        },
        "task_1_cross_scene_arcs": {
            "cross_scene_arcs": [
                arc("a1", "The key", ["n1", "n2"], "It is gone."), arc("a2", "The friend", ["n2", "n3"], "They dance."),
            ]
        },
        "task_3_role_assets": {"roles": [role("Ann", MEMORIES), role("Bob")]},
        "task_3_in_script_character_role_play_single_turn": {
            "instances": [{"instance_id": f"s{n}", **ref, **one} for n, one in enumerate(single, 1)]
        },
        "task_3_in_script_character_role_play_multi_turn": {
            "episodes": [{"episode_id": "m1", **ref, "turns": talk}]
        },
    }  # fmt: skip


def write_film(folder: Path, content: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True)
    for name, value in (content or files()).items():
        (folder / f"{name}.json").write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    with (folder / "task_2_question_answering.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        names = "id movie_id language related_scenes question answer evidence_or_reason question_type"
        writer.writerow(names.split())
        for name, asked, answer, reason, kind in QUESTIONS:
            writer.writerow((name, "film", "en", "", asked, answer, reason, kind))
    return folder


class Model(ScriptedEngine):
    """Writes Ann's timeline, half of it wrong, and none of Bob's; knows the key two times in five; says what
    it remembers first."""

    tries: ClassVar[Counter[str]] = Counter()

    def answer(self, request: Request) -> str:
        empty = {"goal": "", "result": "", "unresolved": ""}
        text = request.messages[1].text
        if keys_of(request) == ["nodes"]:
            if quoted_after("The character", text) == "Bob":
                return "Who is Bob?"
            nodes = [
                {"scene": "2", "development": "Ann flies to Mars."} | empty,
                {"scene": "1", "development": "Ann finds the key."} | empty,
            ]
            return json.dumps({"nodes": nodes})
        if keys_of(request) == ["arcs"]:
            made = {"title": "The key", "nodes": ["1", "2"], "summary": "The key from first to last."}
            return json.dumps({"arcs": [made | {"start": "", "end": "It is on Mars.", "unresolved": ""}]})
        question = quoted_after("The question", text)
        if question:
            self.tries[text] += 1
            right = {row[1]: row[2] for row in QUESTIONS}[question]
            known = "kneels" in text and question == WELL and self.tries[text] <= 2
            return json.dumps({"answer": right if known else "Nobody knows."})
        first = re.search(r'What you remember:\n- ("[^"]*")', text)
        return json.dumps({"answer": json.loads(first[1]) if first else "I do not know."})


class Grader(ScriptedEngine):
    """Lists what happens as facts; says yes to what is there in the same words; gives 5 points, 1 to memories
    of the wrong moment, 2 to a question that goes on."""

    def answer(self, request: Request) -> str:
        text = request.messages[1].text
        if keys_of(request) == ["answer"]:
            return "Not I."
        if keys_of(request) == ["facts"]:
            return json.dumps({"facts": re.findall(r'what happens: "([^"]*)"', text)})
        if keys_of(request) == ["why", "right"]:
            agree = quoted_after("The right answer", text) == quoted_after("The given answer", text)
            return json.dumps({"why": "So it is.", "right": "yes" if agree else "no"})
        if keys_of(request) == ["reason", "score"]:
            return json.dumps({"reason": "So it is.", "score": self._score(text)})
        return json.dumps({"reason": "So it is.", "verdict": "yes" if self._agrees(request) else "no"})

    def _agrees(self, request: Request) -> bool:
        text = request.messages[1].text
        if quoted_after("The fact", text):
            return f'what happens: "{quoted_after("The fact", text)}"' in text
        if "Can the second come after" in text:
            return "Mars" not in text
        found = re.findall(r'Title: ("[^"]*")|It ends with: ("[^"]*")', text)
        (title, _), (_, end), (other_title, _), (_, other_end) = found
        return bool(end == other_end if "go the same way" in text else title == other_title)

    def _score(self, text: str) -> int:
        if "What is asked next" in text:
            return 2
        answers = re.findall(r'The actor\'s answer: "([^"]*)"', text)
        return 1 if "Judge the memories" in text and not any("well" in one for one in answers) else 5


MODEL, GRADER = f"{HERE}:Model", f"{HERE}:Grader"
