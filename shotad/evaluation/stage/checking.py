"""Is a copy of STAGE whole, and does every id in it lead somewhere?

Counts are those of the paper's Table 1. Some ids of the release itself (commit 1396258) lead nowhere. They
are known here by their number, so that a whole copy is told from a damaged one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from shotad.core import aligned
from shotad.evaluation.metric import Json
from shotad.evaluation.stage.films import StageFilm

RELEASE: Mapping[str, int] = {
    "films": 151,
    "characters": 434,
    "timeline nodes": 9975,
    "arcs": 2093,
    "questions": 5011,
    "single-turn interviews": 3643,
    "multi-turn interviews": 868,
}
KNOWN: Mapping[str, int] = {
    "arc of a character without a timeline": 49,
    "scene of a memory not in the script": 120,
    "scene twice": 7,
}
"""Ids of the release that are loose, by what they are."""


@dataclass(frozen=True, slots=True)
class Loose:
    """An id that stands twice or leads nowhere: ``what`` it is of, and ``where``."""

    what: str
    where: str


@dataclass(frozen=True, slots=True)
class StageCheck:
    """What is there, and ids that are loose. Several films are held against the release."""

    counts: Mapping[str, int]
    loose: tuple[Loose, ...]

    @property
    def kinds(self) -> Mapping[str, int]:
        """How many ids are loose, by what they are."""
        return dict(sorted(Counter(one.what for one in self.loose).items()))

    @property
    def whole(self) -> bool:
        """Whether nothing is missing, and no id is loose that is not so in the release."""
        if self.counts["films"] == 1:
            return not self.loose
        return self.counts == RELEASE and self.kinds == KNOWN

    @property
    def text(self) -> str:
        """Counts, and loose ids with an example of each kind."""
        several = self.counts["films"] > 1
        rows = [
            (name, f"{number:,}", f"of {RELEASE[name]:,}" if several else "")
            for name, number in self.counts.items()
        ]
        lines = aligned(("", "", ""), rows, (1, 2))[1:]
        for what, number in self.kinds.items():
            example = next(one.where for one in self.loose if one.what == what)
            same = ", as in the release" if several and KNOWN.get(what) == number else ""
            lines.append(f"{what}: {number}{same} ({example})")
        return "\n".join(lines if self.loose else [*lines, "Every id leads somewhere."])

    def record(self) -> Json:
        """As JSON."""
        loose = [asdict(one) for one in self.loose]
        return {"counts": dict(self.counts), "whole": self.whole, "loose": loose}


def check_stage(films: Sequence[StageFilm]) -> StageCheck:
    """How much is there, and which ids stand twice or lead nowhere."""
    kinds = Counter(one.kind for film in films for one in film.interviews)
    counts = (
        len(films),
        sum(len(film.timelines) for film in films),
        sum(len(one.nodes) for film in films for one in film.timelines),
        sum(len(film.arcs) for film in films),
        sum(len(film.questions) for film in films),
        kinds["single"],
        kinds["multi"],
    )
    loose = (Loose(*one) for film in films for part in (_twice, _of_story, _of_roles) for one in part(film))
    return StageCheck(dict(zip(RELEASE, counts, strict=True)), tuple(loose))


def _twice(film: StageFilm) -> Iterator[tuple[str, str]]:
    nodes = [node for one in film.timelines for node in one.nodes]
    ids: dict[str, Iterable[str]] = {
        "scene": (one.id for one in film.scenes),
        "character": (one.character for one in film.timelines),
        "node": (one.id for one in nodes),
        "arc": (one.id for one in film.arcs),
        "question": (one.id for one in film.questions),
        "memory": (f"{role.character}/{one.id}" for role in film.roles for one in role.memories),
        "interview": (one.id for one in film.interviews),
    }
    for what, names in ids.items():
        yield from ((f"{what} twice", f"{film.id}/{name}") for name, n in Counter(names).items() if n > 1)


def _of_story(film: StageFilm) -> Iterator[tuple[str, str]]:
    nodes = {one.character: {node.id for node in one.nodes} for one in film.timelines}
    for node in (node for one in film.timelines for node in one.nodes):
        if node.scene not in film.places:
            yield "scene of a node not in the script", f"{film.id}/{node.id}: {node.scene}"
    for arc in film.arcs:
        if arc.character not in nodes:
            yield "arc of a character without a timeline", f"{film.id}/{arc.id}: {arc.character}"
        else:
            strange = sorted(set(arc.nodes) - nodes[arc.character])
            yield from (
                ("node of an arc not in the timeline", f"{film.id}/{arc.id}: {one}") for one in strange
            )


def _of_roles(film: StageFilm) -> Iterator[tuple[str, str]]:
    memories = {role.character: {one.id for one in role.memories} for role in film.roles}
    for name in sorted({one.character for one in film.timelines} ^ set(memories)):
        yield "character without timeline or role", f"{film.id}/{name}"
    for role in film.roles:
        for one in role.memories:
            if one.scene and one.scene not in film.places:
                yield "scene of a memory not in the script", f"{film.id}/{role.character}/{one.id}"
    for talk in film.interviews:
        if talk.character not in memories:
            yield "interview of a character without a role", f"{film.id}/{talk.id}: {talk.character}"
        else:
            strange = {name for turn in talk.turns for name in turn.sources} - memories[talk.character]
            for name in sorted(strange):
                yield "source of an interview not in the memories", f"{film.id}/{talk.id}: {name}"
