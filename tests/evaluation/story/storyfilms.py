"""Two made films whose stories are known, questions on them, and engines that know only what they are given."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shotad.core import Identity, Reply, Request
from tests.evaluation.filmfolder import Lines, make_folder
from tests.evaluation.judges.judging import ScriptedEngine

HERE = "tests.evaluation.story.storyfilms"
READER = f"{HERE}:Reader"
_QUOTED = r'("(?:[^"\\]|\\.)*")'

FACTS = ("key", "letter", "cat", "lamp", "boat", "drum")
"""What each film hides: fact N is in N's line of the human AD."""


def human(film: str) -> Lines:
    return [
        (10.0 * n, 10.0 * n + 3, f"{film} finds the {fact} in place {n}.") for n, fact in enumerate(FACTS, 1)
    ]


def own(film: str, facts: Sequence[str]) -> Lines:
    """An AD under test: the human lines of some facts; elsewhere it says nothing of worth."""
    return [
        (start, end, text if any(f in text for f in facts) else "Somebody stands there.")
        for start, end, text in human(film)
    ]


def vtt(lines: Lines) -> str:
    cues = (
        f"00:{int(a) // 60:02d}:{a % 60:06.3f} --> 00:{int(b) // 60:02d}:{b % 60:06.3f}\n{t}\n"
        for a, b, t in lines
    )
    return "WEBVTT\n\n" + "\n".join(cues)


def options_of(n: int) -> list[str]:
    """The right place stands at every position, and is never alone the longest."""
    places = [f"place {k}" for k in (n, 7, 8, 9)]
    return places[n % 4 :] + places[: n % 4]


def write_questions(path: Path, *films: str, open_ones: bool = False) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for film in films:
            for n, fact in enumerate(FACTS, 1):
                row: dict[str, Any] = {"film": film, "id": fact, "answer": f"place {n}"}
                row |= {"question": f"Where does {film} find the {fact}?"}
                file.write(json.dumps(row if open_ones else {**row, "options": options_of(n)}) + "\n")
    return path


def make_table(place: Path, told: dict[str, Sequence[str]], *, with_human: bool = True) -> Path:
    """A table of films, each with a work folder that tells some facts, dialogue that tells ``key``, and human AD."""
    rows = ["film,ad,human"]
    for film, facts in told.items():
        said = [(5.0, 7.0, f"Ann: {film} finds the key in place 1.")]
        make_folder(place / f"{film}.shotad", film, own(film, facts), said)
        (place / f"{film}.human.vtt").write_text(vtt(human(film)), encoding="utf-8")
        rows.append(f"{film},{film}.shotad," + (f"{film}.human.vtt" if with_human else ""))
    table = place / "films.csv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return table


def listed(mark: str, text: str) -> list[tuple[str, str]]:
    """What stands in quotes behind marks of this form, at the beginning of a line."""
    found = re.findall(rf"^({mark})\. {_QUOTED}$", text, re.MULTILINE)
    return [(one, json.loads(line)) for one, line in found]


def lines_of(text: str) -> list[tuple[int, str]]:
    return [(int(number), line) for number, line in listed(r"\d+", text)]


def letters_of(text: str) -> dict[str, str]:
    return {option: letter for letter, option in listed("[A-Z]", text)}


class Reader(ScriptedEngine):
    """Knows only the lines that it is given: it looks for one with the question's film and thing; else it says the
    same wrong thing always. As a judge it compares words."""

    identity = Identity("scripted", "reader", "1")

    def reply(self, request: Request) -> Reply:
        return Reply(json.dumps(self.told(request.messages[1].text)))

    def told(self, text: str) -> dict[str, Any]:
        if "The given answer:" in text:
            given, right = (
                json.loads(re.findall(rf"^{label}: {_QUOTED}$", text, re.MULTILINE)[0])
                for label in ("The given answer", "The right answer")
            )
            return {"why": "By the words.", "right": "yes" if given == right else "no"}
        film, fact = re.findall(r"Where does (\S+) find the (\w+)\?", text)[-1]
        found = [one for one in lines_of(text) if film in one[1] and self.tells(fact, *one, text)]
        place = re.findall(r"place \d", found[0][1])[0] if found else "place 9"
        return {"lines": [number for number, _ in found[:1]], "answer": letters_of(text).get(place, place)}

    def tells(self, fact: str, number: int, line: str, text: str) -> bool:
        return fact in line


class Strict(Reader):
    """Believes a line only where it stands right after the one that tells of the thing before: order matters."""

    def tells(self, fact: str, number: int, line: str, text: str) -> bool:
        before = dict(lines_of(text)).get(number - 1, "")
        place = FACTS.index(fact)
        return fact in line and (place == 0 or FACTS[place - 1] in before)


class Knower(Reader):
    """Knows every film by heart."""

    def told(self, text: str) -> dict[str, Any]:
        fact = re.findall(r"find the (\w+)\?", text)[-1]
        return {"lines": [], "answer": letters_of(text)[f"place {FACTS.index(fact) + 1}"]}


class Maker(Reader):
    """Makes a question of the second line of each passage, where there is one."""

    def told(self, text: str) -> dict[str, Any]:
        lines = lines_of(text)
        number, line = lines[min(1, len(lines) - 1)]
        fact = re.findall(r"the (\w+) in", line)[0]
        film = line[1:].split()[0]
        row = {
            "question": f"Where does {film} find the {fact}?", "answer": re.findall(r"place \d", line)[0],
            "wrong": ["place 7", "place 8", "place 9"], "line": number,
        }  # fmt: skip
        return {"questions": [row]}


class Dying(Reader):
    """Stops the run after some answers."""

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        if len(self.asked) + len(requests) > 20:
            raise KeyboardInterrupt
        return super().generate(requests)
