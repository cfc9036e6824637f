"""The films of STAGE (Tian et al., 2026, arXiv 2601.08510): what a film's folder holds, and if it is whole.

Everything is joined by id: a node's scene by the scene's ``_id``, which begins at 0 in some scripts and at 1
in others. A copy is checked by counts and ids. Some ids of the release itself (commit 1396258) lead nowhere:
they are known here by their number, so that a whole copy is told from a damaged one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from shotad.core.errors import DatasetError
from shotad.core.progress import plural, table_lines
from shotad.core.records import first_error_message, parse_json
from shotad.core.text_files import read_text_file
from shotad.evaluation.metric import Json, Result
from shotad.evaluation.metrics.judge import (
    SENTENCE,
    YES_OR_NO,
    Question,
    question,
    text_part,
)
from shotad.evaluation.report.intervals import Span, span_of
from shotad.evaluation.story import SAMPLING
from shotad.evaluation.story_questions import StoryQuestion, questions_in

T = TypeVar("T")


class _Entry(BaseModel):
    """What a file says of one thing; names are ours, and the file's where they differ."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, coerce_numbers_to_str=True)


Words = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""Text; null is empty, and a number is its digits."""
Texts = tuple[str, ...]


def _judge_list(name: str) -> Any:
    """A list of what the judge of a turn knows."""
    return Field((), validation_alias=AliasPath("reference", *name.split(".")))


class StageScene(_Entry):
    """A scene as it was typed: names and what they say, and what is done, line by line."""

    id: Words = Field(validation_alias="_id")
    title: Words = ""
    subtitle: Words = ""
    content: Words

    @property
    def heading(self) -> str:
        """Title and subtitle."""
        return " - ".join(filter(None, (self.title.strip(), self.subtitle.strip())))


class StageNode(_Entry):
    """A lasting development of a character, and the scene that it is in."""

    id: Words = Field("", validation_alias="timeline_node_id")
    scene: Words = Field(validation_alias="scene_id")
    development: Words = Field(validation_alias="salient_development")
    goal: Words = Field("", validation_alias="goal_state")
    result: Words = Field("", validation_alias="resulting_state")
    unresolved: Words = Field("", validation_alias="unresolved_issue")


class StageTimeline(_Entry):
    """A focal character, and what becomes of it, in order of the story."""

    character: Words = Field(validation_alias="character_name")
    aliases: Texts = ()
    nodes: tuple[StageNode, ...] = Field(validation_alias="timeline_nodes")


class StageArc(_Entry):
    """A change of a character over several nodes, by their ids."""

    id: Words = Field("", validation_alias="arc_id")
    character: Words = Field(validation_alias="character_name")
    title: Words
    focus: Words = Field("", validation_alias="arc_focus")
    nodes: Texts = Field(validation_alias="linked_timeline_node_ids")
    summary: Words = Field(validation_alias="arc_summary")
    start: Words = Field("", validation_alias="start_state")
    end: Words = Field("", validation_alias="end_state")
    unresolved: Words = Field("", validation_alias="unresolved_issue")


class StageMemory(_Entry):
    """What a character knows of one moment, in the first person."""

    id: Words = Field(validation_alias="memory_id")
    scene: Words = Field("", validation_alias="scene_id")
    order: int | None = Field(None, validation_alias="scene_order")
    text: Words = Field(validation_alias="memory_text")
    facts: Texts = Field((), validation_alias="grounded_facts")
    tags: Texts = ()


class StageRelation(_Entry):
    """What somebody else is to a character."""

    other: Words = Field(validation_alias="target_character")
    relation: Words


class StagePersona(_Entry):
    """How a character is and speaks, in a few words each."""

    traits: Texts = ()
    style: Texts = Field((), validation_alias="speaking_style")
    constraints: Texts = ()
    examples: Texts = Field((), validation_alias="dialogue_exemplars")


class StageRole(_Entry):
    """All that an actor of the character may be given."""

    character: Words = Field(validation_alias="character_name")
    persona: StagePersona = Field(validation_alias="persona_card")
    relations: tuple[StageRelation, ...] = ()
    memories: tuple[StageMemory, ...] = ()


class StageSaid(_Entry):
    """What was said before: a ``text``, or where there is none the actor's own answer in ``turn``, from 1."""

    speaker: Words
    text: Words = ""
    source_turn_index: int = 0

    @property
    def turn(self) -> int:
        return 0 if self.text else self.source_turn_index


class StageTurn(_Entry):
    """A question to the character, what was said before it, and what the judge knows of a right answer."""

    asked: Words = Field(validation_alias=AliasPath("input", "current_user_turn"))
    history: tuple[StageSaid, ...] = Field(
        (), validation_alias=AliasPath("input", "dialogue_history_template")
    )
    sources: Texts = _judge_list("source_memory_ids")
    facts: Texts = _judge_list("supporting_facts")
    against: Texts = _judge_list("contradicting_facts")
    allowed: Texts = _judge_list("knowledge_boundary.allowed")
    forbidden: Texts = _judge_list("knowledge_boundary.forbidden")
    constraints: Texts = _judge_list("cross_turn_constraints")


class StageInterview(_Entry):
    """Questions to one character, one after the other: one, or several that build on each other."""

    id: Words = Field(validation_alias="episode_id")
    character: Words = Field(validation_alias=AliasPath("role_asset_ref", "character_name"))
    turns: tuple[StageTurn, ...]

    @model_validator(mode="before")
    @classmethod
    def _as_episode(cls, entry: Any) -> Any:
        """An instance of one turn has the turn's entries itself."""
        if not isinstance(entry, dict) or "turns" in entry:
            return entry
        return {**entry, "episode_id": entry.get("instance_id"), "turns": [entry]}

    @model_validator(mode="after")
    def _answers_come_before(self) -> Self:
        for number, turn in enumerate(self.turns, 1):
            if any(line.turn >= number for line in turn.history):
                raise ValueError(f"the history of turn {number} has an answer that is not yet given")
        return self

    @property
    def kind(self) -> str:
        """``single`` or ``multi``."""
        return "multi" if len(self.turns) > 1 else "single"


def _first_of_list(value: Any) -> Any:
    return next(iter(value), "") if isinstance(value, list) else value


class GraphEntity(_Entry):
    """Somebody or something of the story; ``type`` is the first where the file has several."""

    id: Words
    name: Words
    type: Annotated[Words, BeforeValidator(_first_of_list)] = ""
    description: Words = ""


class GraphRelation(_Entry):
    """What one entity is to another, both by their ids."""

    subject: Words = Field(validation_alias=AliasChoices("subject_id", "subject"))
    kind: Words = Field(validation_alias=AliasChoices("relation_type", "predicate", "kind"))
    object: Words = Field(validation_alias=AliasChoices("object_id", "object"))
    description: Words = ""


@dataclass(frozen=True, eq=False)
class StageGraph:
    """The entities of a film's story, and how they hang together; every relation is between two of them."""

    entities: tuple[GraphEntity, ...]
    relations: tuple[GraphRelation, ...]


@dataclass(frozen=True, eq=False)
class StageFilm:
    """A film of STAGE; ``id`` is the name of its folder, ``language`` is ``en`` or ``zh``. ``graph`` is the
    film's knowledge graph, None where its folder has none."""

    id: str
    language: str
    scenes: tuple[StageScene, ...]
    timelines: tuple[StageTimeline, ...]
    arcs: tuple[StageArc, ...]
    questions: tuple[StoryQuestion, ...]
    roles: tuple[StageRole, ...]
    interviews: tuple[StageInterview, ...]
    graph: StageGraph | None = None

    @cached_property
    def places(self) -> dict[str, int]:
        """Where in the script each scene stands, by its id; of two with one id the first."""
        return {scene.id: place for place, scene in reversed(list(enumerate(self.scenes)))}


def read_stage(folder: Path) -> tuple[StageFilm, ...]:
    """The films below a folder: of one film, a language, or the whole release; in order of their paths.
    Raises DatasetError for a folder without a film, and for a file that is missing or malformed."""
    scripts = [path for depth in ("", "*/", "*/*/") for path in folder.glob(f"{depth}script.json")]
    if not scripts:
        raise DatasetError(
            f"There is no film of STAGE in {folder}: no script.json there, or one or two folders below.",
            "Name a film's folder, English, Chinese, or the folder that holds both.",
        )
    films = []
    for place in (path.parent for path in sorted({path.resolve() for path in scripts})):
        timelines, roles = place / "task_1_character_timelines.json", "task_3_in_script_character_role_play"
        film = StageFilm(
            place.name,
            str(_json_content(timelines, "language")),
            _entries_in(place / "script.json", "", StageScene),
            _entries_in(timelines, "focal_character_timelines", StageTimeline),
            _entries_in(place / "task_1_cross_scene_arcs.json", "cross_scene_arcs", StageArc),
            tuple(questions_in(place / "task_2_question_answering.csv")),
            _entries_in(place / "task_3_role_assets.json", "roles", StageRole),
            _entries_in(place / f"{roles}_single_turn.json", "instances", StageInterview)
            + _entries_in(place / f"{roles}_multi_turn.json", "episodes", StageInterview),
            _graph_in(place),
        )
        films.append(film)
    return tuple(films)


GRAPH_FILES = ("entity_basic_info.json", "relation_basic_info.json")
"""Entities by their ids, and a list of relations: as the program of STAGE's authors writes a film's graph
(github.com/roytian1992/NarrativeKnowledgeWeaver, ``core/builder/graph_builder.py``). The release does not
contain the graphs, and says of no form."""


def _graph_in(folder: Path) -> StageGraph | None:
    """The graph in a film's folder, without relations that lead nowhere. Raises DatasetError."""
    entities_file, relations_file = (folder / name for name in GRAPH_FILES)
    if not entities_file.exists():
        return None
    content = _json_content(entities_file, "")
    records = list(content.values()) if isinstance(content, dict) else content
    graph_entities = _read_entries(entities_file, records, GraphEntity)
    ids = {entity.id for entity in graph_entities}
    relations = [
        relation
        for relation in _entries_in(relations_file, "", GraphRelation)
        if relation.subject in ids and relation.object in ids and relation.subject != relation.object
    ]
    return StageGraph(graph_entities, tuple(relations))


_HINT = "Get the file again from STAGE's release."


def _entries_in(path: Path, key: str, kind: type[T]) -> tuple[T, ...]:
    return _read_entries(path, _json_content(path, key), kind)


def _read_entries(path: Path, content: Any, kind: type[T]) -> tuple[T, ...]:
    try:
        return entries(content, kind)
    except ValueError as error:
        raise DatasetError(f"{path} is malformed: {error}.", _HINT) from None


def _json_content(path: Path, key: str) -> Any:
    """What stands under a key of a JSON file; the whole without one."""
    try:
        content = parse_json(read_text_file(path, "table", DatasetError, hint=_HINT, encoding="utf-8").text)
        return content[key] if key else content
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{path} cannot be read: {type(error).__name__}, {error}.", _HINT) from None


def entries(content: Any, kind: type[T]) -> tuple[T, ...]:
    """A list of such entries. Raises ValueError with the place of what is wrong."""
    try:
        return tuple(TypeAdapter(list[kind]).validate_python(content))  # type: ignore[valid-type]
    except ValidationError as error:
        raise ValueError(first_error_message(error)) from None


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


def check_stage(films: Sequence[StageFilm]) -> Json:
    """How much is there, and which ids stand twice or lead nowhere (``loose``: what each is of, and where it
    stands), as JSON. ``whole``: no id is loose; of several films, all is as in the release."""
    kinds = Counter(interview.kind for film in films for interview in film.interviews)
    counts = {
        "films": len(films),
        "characters": sum(len(film.timelines) for film in films),
        "timeline nodes": sum(len(timeline.nodes) for film in films for timeline in film.timelines),
        "arcs": sum(len(film.arcs) for film in films),
        "questions": sum(len(film.questions) for film in films),
        "single-turn interviews": kinds["single"],
        "multi-turn interviews": kinds["multi"],
    }
    loose = [{"what": problem, "where": where} for film in films for problem, where in _loose_ids(film)]
    as_published = counts == RELEASE and _count_loose(loose) == KNOWN
    return {"counts": counts, "whole": not loose if len(films) == 1 else as_published, "loose": loose}


def _count_loose(loose: Sequence[Json]) -> Json:
    """How many ids are loose, by what they are."""
    return dict(sorted(Counter(problem["what"] for problem in loose).items()))


def check_stage_text(check: Json) -> str:
    """Counts, and loose ids with an example of each kind."""
    several = check["counts"]["films"] > 1
    rows = [
        (name, f"{number:,}", f"of {RELEASE[name]:,}" if several else "")
        for name, number in check["counts"].items()
    ]
    lines = table_lines(("", "", ""), rows, (1, 2))[1:]
    for kind, number in _count_loose(check["loose"]).items():
        example = next(problem["where"] for problem in check["loose"] if problem["what"] == kind)
        same = ", as in the release" if several and KNOWN.get(kind) == number else ""
        lines.append(f"{kind}: {number}{same} ({example})")
    return "\n".join(lines if check["loose"] else [*lines, "Every id leads somewhere."])


def _sources(interview: StageInterview) -> set[str]:
    """The ids of all memories that the questions of an interview were made of."""
    return {memory_id for turn in interview.turns for memory_id in turn.sources}


def _loose_ids(film: StageFilm) -> Iterator[tuple[str, str]]:
    """Ids that stand twice, and ids that lead nowhere: what each is of, and where it stands."""
    nodes = [node for timeline in film.timelines for node in timeline.nodes]
    ids: dict[str, Iterable[str]] = {
        "scene": (scene.id for scene in film.scenes),
        "character": (timeline.character for timeline in film.timelines),
        "node": (node.id for node in nodes),
        "arc": (arc.id for arc in film.arcs),
        "question": (story_question.id for story_question in film.questions),
        "memory": (f"{role.character}/{memory.id}" for role in film.roles for memory in role.memories),
        "interview": (interview.id for interview in film.interviews),
    }
    nodes_by_character = {
        timeline.character: {node.id for node in timeline.nodes} for timeline in film.timelines
    }
    memories = {role.character: {memory.id for memory in role.memories} for role in film.roles}
    places_by_kind: dict[str, Iterable[str]] = {
        f"{kind} twice": [name for name, n in Counter(names).items() if n > 1] for kind, names in ids.items()
    }
    places_by_kind |= {
        "scene of a node not in the script": (
            f"{node.id}: {node.scene}" for node in nodes if node.scene not in film.places
        ),
        "arc of a character without a timeline": (
            f"{arc.id}: {arc.character}" for arc in film.arcs if arc.character not in nodes_by_character
        ),
        "node of an arc not in the timeline": (
            f"{arc.id}: {node_id}"
            for arc in film.arcs
            for node_id in sorted(set(arc.nodes) - nodes_by_character.get(arc.character, set(arc.nodes)))
        ),
        "character without timeline or role": sorted(set(nodes_by_character) ^ set(memories)),
        "scene of a memory not in the script": (
            f"{role.character}/{memory.id}"
            for role in film.roles
            for memory in role.memories
            if memory.scene and memory.scene not in film.places
        ),
        "interview of a character without a role": (
            f"{talk.id}: {talk.character}" for talk in film.interviews if talk.character not in memories
        ),
        "source of an interview not in the memories": (
            f"{talk.id}: {memory_id}"
            for talk in film.interviews
            if talk.character in memories
            for memory_id in sorted(_sources(talk) - memories[talk.character])
        ),
    }
    for kind, places in places_by_kind.items():
        yield from ((kind, f"{film.id}/{place}") for place in places)


SHOWN = 3
"""Failures that are shown."""


def sampled(story_question: Question[T], tokens: int = 0, draw: int = 0) -> Question[T]:
    """The question as the engine that is scored is asked it, for the ``draw``-th time (section 4); the judge
    is asked by the likeliest tokens (section C.3)."""
    return replace(story_question, sampling=SAMPLING, tokens=tokens, draw=draw)


ANSWER = {"answer": text_part("<your answer, in quotes>")}
"""An answer of the engine that is scored, in a sentence or a few."""


def verdict(name: str, values: Mapping[str, Any]) -> Question[bool]:
    """A question of yes or no to the judge, by a template."""
    return question(name, values, {"reason": SENTENCE, "verdict": YES_OR_NO})


@dataclass(frozen=True, slots=True)
class StageRun:
    """What one task found: its figures in order, what was said and judged of each item (with ``id`` and
    ``film``, as JSON), and all that can change a number."""

    task: str
    results: tuple[Result, ...]
    items: tuple[Json, ...]
    identity: Json

    @property
    def films(self) -> dict[str, str]:
        """The film of each item, by its id."""
        return {item["id"]: item["film"] for item in self.items}

    @property
    def text(self) -> str:
        """A table of the figures with their intervals, and how many answers are missing."""
        models = {name: self.identity[name]["model"] for name in ("engine", "judge")}
        films = plural(len(set(self.films.values())), "film")
        head = f"STAGE, {self.task}, {films}: {models['engine']} answers, {models['judge']} judges."
        rows = []
        for result in self.results:
            span, digits = self._span(result), 1 if result.figure.factor > 1 else 2
            value = "–" if result.value is None else f"{result.value:.{digits}f}"
            interval_text = f"({span.low:.{digits}f} to {span.high:.{digits}f})" if span else ""
            failed = f"failed: {result.failed}" if result.failed else ""
            rows.append(
                (result.title, value, interval_text, f"{result.columns[1]}: {result.sums[1]:,.0f}", failed)
            )
        failures = dict.fromkeys(row.failure for result in self.results for row in result.rows if row.failure)
        failure_lines = [f"Failed: {failure}" for failure in list(failures)[:SHOWN]]
        return "\n".join([head, *table_lines(("",) * 5, rows, (1,)), *failure_lines])

    def _span(self, result: Result) -> Span | None:
        return span_of(result, self.films, unit="film")

    def record(self) -> Json:
        """As JSON: figures with intervals over films (of one film over its items), and every item."""
        figures = []
        for result in self.results:
            span = self._span(result)
            ends = {"low": span.low, "high": span.high} if span else {"low": None, "high": None}
            counts = {"of": float(result.sums[1]), "what": result.columns[1], "failed": result.failed}
            figures.append({"name": result.name, "value": result.value, **ends, **counts})
        items = list(self.items)
        return {"task": self.task, "figures": figures, "items": items, "identity": self.identity}
