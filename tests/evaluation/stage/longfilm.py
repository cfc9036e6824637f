"""A film of 41 scenes, in each of which something is hidden, and an engine that sums up, walks, draws graphs and
writes cards by rule."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

from shotad.core import Reply, Request
from shotad.core.errors import EngineError
from tests.evaluation.judges.judging import ScriptedEngine, keys_of, quoted_after, words_of
from tests.evaluation.stage.stagefilm import files, write_film

HERE = "tests.evaluation.stage.longfilm"
SCENES = 41
THINGS = tuple(f"thing{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(SCENES))
PLACES = tuple(f"place{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(SCENES))
TURNS = (1, 20, 21, 22, 41)
"""Scenes that matter most."""
QUESTIONS = (
    (3, "Scene Grounding"), (17, "Scene Grounding"), (30, "Narrative Progression"), (40, "Temporal Reasoning"),
)  # fmt: skip
"""Which thing is asked about (by its scene, from 1), and the type of the question."""


def hiding(number: int) -> str:
    return f"Ann hides the {THINGS[number - 1]} in the {PLACES[number - 1]}."


def write_long_film(folder: Path, contents: dict[int, str] | None = None) -> Path:
    content = files()
    content["script"] = [
        {
            "_id": n, "title": f"INT. ROOM {n}", "subtitle": "",
            "content": (contents or {}).get(n, f"{hiding(n)}\nBOB\nWhat is that?"),
        }
        for n in range(1, SCENES + 1)
    ]  # fmt: skip
    write_film(folder, content)
    with (folder / "task_2_question_answering.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "question", "answer", "evidence_or_reason", "question_type"))
        for number, kind in QUESTIONS:
            thing, place = THINGS[number - 1], PLACES[number - 1]
            writer.writerow((str(number), f"Where is the {thing}?", f"In the {place}.", "So it is.", kind))
    return folder


class Reader(ScriptedEngine):
    """Knows where a thing is if it reads so: in a report for questions of narrative progression, in a scene for the
    others."""

    fails_on = ""
    """Requests with this text have no answer."""
    stops_after = 10**9
    """Requests that are answered before the engine stops the run."""

    def reply(self, request: Request) -> Reply:
        if len(self.asked) > self.stops_after:
            raise EngineError("The server is gone.", "")
        text = request.messages[1].text
        if self.fails_on and self.fails_on in text and keys_of(request) != ["answer"]:
            return Reply("I do not know.")
        return Reply(json.dumps(self.parts(keys_of(request), request, text)))

    def parts(self, keys: list[str], request: Request, text: str) -> dict[str, Any]:
        hidings = re.findall(r"Ann hides the \w+ in the \w+", text)
        if keys == ["summary"]:
            return {"summary": f"{'. '.join(hidings)}."}
        if keys == ["reason", "parts"]:
            wanted = words_of(quoted_after("The question", text)) - {"where", "is"}
            numbers = re.findall(r'^Part (\d+), "[^"]*":\n"([^"]*)"$', text, re.MULTILINE)
            return {
                "reason": "It is there.",
                "parts": [int(n) for n, said in numbers if wanted & words_of(said)] or [1],
            }
        if keys == ["entities"]:
            return {"entities": self.entities(hidings[0].removesuffix("."), "Event" in text)}
        if keys == ["relations"]:
            return {"relations": self.relations(text)}
        if keys == ["title", "summary"]:
            return {"title": "A thing", "summary": f"{'. '.join(dict.fromkeys(hidings))}."}
        if keys[0] == "presence":
            number = THINGS.index(hidings[0].split()[3]) + 1
            lasting = {
                "change": "Another thing is gone.",
                "relation": "",
                "goal": "",
                "pressure": "",
                "mission": "",
            }
            quotes = [f"{hidings[0]}.", "Ann never said so."]
            score = 5 if number in TURNS else 1
            return {
                "presence": "active",
                "part": f"{hidings[0]}.",
                **lasting,
                "score": score,
                "quotes": quotes,
            }
        if keys[0] == "development":
            return {"development": f"{hidings[0]}.", "goal": "", "result": "", "unresolved": ""}
        if keys == ["arcs"]:
            made = {"title": "The things", "nodes": ["1", "2"], "summary": "All things go."}
            return {"arcs": [made | {"start": "", "end": "", "unresolved": ""}]}
        thing = quoted_after("The question", text).removeprefix("Where is the ").removesuffix("?")
        place = PLACES[THINGS.index(thing)]
        from_reports = "Reports on parts of its story" in text
        is_progression = {THINGS[n - 1]: kind for n, kind in QUESTIONS}[thing] == "Narrative Progression"
        is_known = f"{thing} in the {place}" in text and from_reports == is_progression
        return {"answer": f"In the {place}." if is_known else "Nobody knows."}

    @staticmethod
    def entities(hides: str, of_events: bool) -> list[dict[str, str]]:
        thing, place = re.findall(r"(?:thing|place)\w+", hides)
        if of_events:
            named = [("Ann", "Character"), (hides, "Event"), ("Nothing", "Mood")]
        else:
            named = [(thing.upper(), "Object"), (place, "Location")]
        return [{"name": name, "type": kind, "description": f"{hides}."} for name, kind in named]

    @staticmethod
    def relations(text: str) -> list[dict[str, Any]]:
        numbers = {kind: int(n) for n, kind in re.findall(r"^(\d+)\. (\w+) ", text, re.MULTILINE)}
        character, event, thing, place = (
            numbers[kind] for kind in ("Character", "Event", "Object", "Location")
        )
        drawn = {
            "performs": [(character, "performs", event), (event, "performs", character)],
            "undergoes": [(thing, "undergoes", event), (thing, "undergoes", 99)],
            "occurs_at": [(event, "occurs_at", place)],
        }
        found = [ends for kind, some in drawn.items() if f"- {kind}: " in text for ends in some]
        return [
            {"subject": subject, "relation": kind, "object": other, "description": "So it is."}
            for subject, kind, other in found
        ]


READER = f"{HERE}:Reader"
