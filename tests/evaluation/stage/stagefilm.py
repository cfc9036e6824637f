"""A film of our own in STAGE's format, and engines that read, play and judge it by rule."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from shotad.core import Reply, Request
from tests.evaluation.judges.judging import ScriptedEngine

HERE = "tests.evaluation.stage.stagefilm"

CONTENTS = (
    "Ann kneels by the well and finds a key.\nANN\nWhose is this?",
    "Ann drops the key into the river.\nBOB\nNot again.", "Ann and Bob dance on the roof.",
)  # fmt: skip
TITLES = ("1、EXT. WELL - DAY", "2、EXT. RIVER - DAY", "3、EXT. ROOF - NIGHT")


def node(name: str, scene: int, development: str) -> dict[str, Any]:
    return {
        "timeline_node_id": name, "scene_id": str(scene), "scene_order": scene,
        "scene_title": TITLES[scene - 1], "importance": "core", "role_in_context": "foreground",
        "salient_development": development, "goal_state": None, "resulting_state": "It stays so.",
        "unresolved_issue": "", "evidence_quotes": [],
    }  # fmt: skip


def arc(name: str, title: str, nodes: list[str], end: str) -> dict[str, Any]:
    return {
        "arc_id": name, "character_name": "Ann", "title": title, "arc_focus": "goal",
        "linked_timeline_node_ids": nodes, "arc_summary": f"{title} from first to last.",
        "start_state": "Nothing.", "end_state": end, "unresolved_issue": None,
    }  # fmt: skip


def turn(asked: str, sources: list[str], history: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    key = "dialogue_history" if history is None else "dialogue_history_template"
    return {
        "question_id": "q",
        "input": {key: history or [], "current_user_turn": asked},
        "reference": {
            "source_memory_ids": sources,
            "source_relation_ids": [],
            "supporting_facts": ["The key lay by the well."],
            "contradicting_facts": ["The key lay in the river."],
            "knowledge_boundary": {"allowed": ["The key."], "forbidden": ["The dance."]},
            "expected_stance": None,
            "cross_turn_constraints": ["Stay with it."],
        },
    }


MEMORIES = {
    "r001": "I found a key by the well.", "r002": "I dropped it into the river.",
    "r003": "We danced on the roof.", "r004": "Bob laughed at me.", "r005": "My mother called.",
    "r006": "The rain stopped.",
}  # fmt: skip
RIVER, WELL = "Where did it fall, into the river?", "What lay by the well?"


def memory(name: str, text: str) -> dict[str, Any]:
    order = int(name[1:])
    return {
        "memory_id": name, "scene_id": str(min(order, 3)), "scene_order": order, "memory_text": text,
        "grounded_facts": [], "tags": ["a_tag"],
    }  # fmt: skip


def role(name: str, memories: dict[str, str]) -> dict[str, Any]:
    return {
        "character_name": name,
        "aliases": [],
        "persona_card": {
            "traits": ["brave"], "speaking_style": ["short"], "constraints": ["Never lies."],
            "dialogue_exemplars": ["Whose is this?"],
        },
        "relations": [
            {"relation_id": "x", "target_character": "Bob", "relation": "friend", "relation_summary": ""}
        ],
        "memories": [memory(*one) for one in memories.items()],
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
        node("n1", 1, "Ann finds the key."), node("n2", 2, "Ann loses the key."),
        node("n3", 3, "Ann forgives Bob."),
    ]  # fmt: skip
    ref = {"asset_file": "task_3_role_assets.json", "character_name": "Ann"}
    talk = [
        turn(WELL, ["r001"], []) | {"turn_index": 1},
        turn(RIVER, ["r002", "r006"], said(1, WELL)) | {"turn_index": 2},
        turn("And then?", [], said(1, WELL) + said(2, RIVER)) | {"turn_index": 3},
    ]
    return {
        "script": [
            {"_id": n, "title": title, "subtitle": "", "content": text}
            for n, (title, text) in enumerate(zip(TITLES, CONTENTS, strict=True), 1)
        ],
        "task_1_character_timelines": {
            "movie_id": "film",
            "language": "en",
            "focal_character_timelines": [
                {
                    "character_name": "Ann", "aliases": ["Annie"], "timeline_summary": "",
                    "timeline_nodes": ann,
                },
                {
                    "character_name": "Bob", "aliases": [], "timeline_summary": "",
                    "timeline_nodes": [node("n4", 2, "Bob loses patience.")],
                },
            ],
        },
        "task_1_cross_scene_arcs": {
            "cross_scene_arcs": [
                arc("a1", "The key", ["n1", "n2"], "It is gone."),
                arc("a2", "The friend", ["n2", "n3"], "They dance."),
            ]
        },
        "task_3_role_assets": {"roles": [role("Ann", MEMORIES), role("Bob", {})]},
        "task_3_in_script_character_role_play_single_turn": {
            "instances": [
                {"instance_id": "s1", "character": "Ann", "role_asset_ref": ref} | turn(WELL, ["r001"]),
                {"instance_id": "s2", "character": "Ann", "role_asset_ref": ref}
                | turn("Who called?", ["r003"]),
            ]
        },
        "task_3_in_script_character_role_play_multi_turn": {
            "episodes": [
                {
                    "episode_id": "m1", "character": "Ann", "role_asset_ref": ref, "episode_theme": "",
                    "turns": talk,
                }
            ]
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


def told(request: Request, label: str) -> str:
    """What stands in quotes after a label; empty where it does not."""
    found = re.search(rf'^{label}: ("(?:[^"\\]|\\.)*")', request.messages[1].text, re.MULTILINE)
    return str(json.loads(found[1])) if found else ""


def keys(request: Request) -> list[str]:
    assert request.schema is not None
    return list(request.schema["properties"])


class Model(ScriptedEngine):
    """Writes Ann's timeline, half of it wrong, and none of Bob's; knows the key two times in five; says what
    it remembers first."""

    tries: ClassVar[Counter[str]] = Counter()

    def answer(self, request: Request) -> str:
        empty = {"goal": "", "result": "", "unresolved": ""}
        text = request.messages[1].text
        if keys(request) == ["nodes"]:
            if told(request, "The character") == "Bob":
                return "Who is Bob?"
            nodes = [
                {"scene": "2", "development": "Ann flies to Mars."} | empty,
                {"scene": "1", "development": "Ann finds the key."} | empty,
            ]
            return json.dumps({"nodes": nodes})
        if keys(request) == ["arcs"]:
            made = {"title": "The key", "nodes": ["1", "2"], "summary": "The key from first to last."}
            return json.dumps({"arcs": [made | {"start": "", "end": "It is on Mars.", "unresolved": ""}]})
        question = told(request, "The question")
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
        if keys(request) == ["answer"]:
            return "Not I."
        if keys(request) == ["facts"]:
            return json.dumps({"facts": re.findall(r'what happens: "([^"]*)"', text)})
        if keys(request) == ["why", "right"]:
            agree = told(request, "The right answer") == told(request, "The given answer")
            return json.dumps({"why": "So it is.", "right": "yes" if agree else "no"})
        if keys(request) == ["reason", "score"]:
            return json.dumps({"reason": "So it is.", "score": self._score(text)})
        return json.dumps({"reason": "So it is.", "verdict": "yes" if self._agrees(request) else "no"})

    def _agrees(self, request: Request) -> bool:
        text = request.messages[1].text
        if told(request, "The fact"):
            return f'what happens: "{told(request, "The fact")}"' in text
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


class Dying(Model):
    """Stops the run after some answers."""

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        if len(self.asked) + len(requests) > 6:
            raise KeyboardInterrupt
        return super().generate(requests)


MODEL, GRADER, DYING = (f"{HERE}:{kind.__name__}" for kind in (Model, Grader, Dying))
