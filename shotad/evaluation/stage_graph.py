"""Questions of STAGE by a graph of the story and reports on its communities: the paper's GraphRAG.

The graph is the one in the film's folder, else the engine finds it in staged passes over the scenes, first
entities and then relations, each pass for a few types (paper, section B.2). Entities of one name are one;
relations without two entities of types that fit are dropped. Reflection, repair of types and the judge of
ambiguous names are left out, so the graph is rougher than the paper's.

Communities are Louvain's (Blondel et al., 2008; networkx). The engine reports on each, and the reports that
are nearest to a question by vectors are what it is answered from: the scenes themselves are not given, as
the failures in the paper's Table 22 show. The numbers are those of the authors' program
(github.com/roytian1992/NarrativeKnowledgeWeaver, ``CommunityGraphBuilderConfig``), which has Leiden and
reports on several levels in place of Louvain and one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from shotad.core.model_loading import require_module
from shotad.evaluation.metric import Json
from shotad.evaluation.metrics.judge import (
    STRING,
    Answer,
    Judge,
    Part,
    Question,
    Unreadable,
    entries_schema,
    failed,
    map_items,
    question,
    text_part,
)
from shotad.evaluation.stage import GraphEntity, GraphRelation, StageFilm, StageGraph, StageScene
from shotad.evaluation.stage_retrieval import passages_of
from shotad.evaluation.store import MetricContext, vectors_of
from shotad.script.embeddings import LANGUAGE_EXTRA

PASSAGE = 6000
"""Characters of a scene that are read at once (our choice): few scenes are longer, and in a longer text
engines list only what stands out (paper, section B.1)."""
SMALLEST, RESOLUTION = 3, 1.0
"""Entities of a community at least, and how finely the graph is divided."""
MEMBERS, BONDS = 40, 80
"""Entities and relations that a report is written from at most."""
LIST_TOKENS, REPORT_TOKENS = 2000, 900

T = TypeVar("T")

EVENT = "Event"
ENTITIES: tuple[Mapping[str, str], ...] = (
    {
        "Character": "somebody who takes part in the story, human or like a human",
        EVENT: "one thing that happens: an action, something said, a move, a change of state",
        "Occasion": "a situation that joins several events, such as a meeting, a fight, a search, a wedding",
    },
    {
        "Location": "a place where something happens",
        "TimePoint": "a point or a span of time that is named",
        "Object": "a thing that matters to the story",
        "Concept": "an organisation, a group, a species, an idea",
    },
)
"""The types of entities in the passes that ask for them (paper, Table 7)."""
TYPES = tuple(name for family in ENTITIES for name in family)


@dataclass(frozen=True, slots=True)
class RelationKind:
    """A kind of relation, and the types that its ends may have."""

    name: str
    description: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]


_ACTORS = ("Character", "Concept")
_THINGS = ("Location", "Object", "Concept")
RELATIONS: tuple[tuple[RelationKind, ...], ...] = (
    (
        RelationKind("performs", "does it", (*_ACTORS, "Object"), (EVENT,)),
        RelationKind("undergoes", "it is done to them", (*_ACTORS, "Object"), (EVENT,)),
        RelationKind("experiences", "feels, sees or understands it", ("Character",), (EVENT,)),
    ),
    (
        RelationKind("kinship_with", "is family or married", ("Character",), ("Character",)),
        RelationKind("affinity_with", "is a friend or an ally", _ACTORS, _ACTORS),
        RelationKind("hostility_with", "is an enemy or a rival", _ACTORS, _ACTORS),
        RelationKind("affiliated_with", "belongs to it", _ACTORS, ("Concept",)),
    ),
    (
        RelationKind("possesses", "owns or holds it", _ACTORS, ("Object",)),
        RelationKind("interacts_with", "uses or examines it", _ACTORS, ("Object",)),
    ),
    (
        RelationKind("is_a", "is one of that sort", TYPES, ("Concept",)),
        RelationKind("part_of", "is a part of it", _THINGS, _THINGS),
    ),
    (
        RelationKind("occurs_at", "happens there", (EVENT, "Occasion"), ("Location",)),
        RelationKind("occurs_on", "happens then", (EVENT, "Occasion"), ("TimePoint",)),
        RelationKind("located_at", "is there", (*_ACTORS, "Object"), ("Location",)),
        RelationKind("present_on", "is there then", (*_ACTORS, "Object"), ("TimePoint",)),
    ),
)
"""The kinds of relations in the passes that ask for them (paper, Table 8); the types of their ends as the
table describes them, and as the schema of the authors' program has them where it has the kind."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a community of the graph is about."""

    title: str
    summary: str

    @property
    def record(self) -> Json:
        """As the prompts take it."""
        return {"title": self.title, "summary": self.summary}


@dataclass(frozen=True, slots=True)
class StoryReports:
    """The reports on a film's graph. Of ``requests`` for them and the graph so many have ``answers``;
    ``failure`` says why one has not. ``is_released``: the graph came with the film. ``dropped`` counts what
    the engine named and the graph cannot hold."""

    reports: tuple[Report, ...]
    graph: StageGraph
    is_released: bool
    dropped: int
    requests: int
    answers: int
    failure: str

    @property
    def record(self) -> Json:
        """What became of the index, as JSON."""
        return {
            "requests": self.requests,
            "answers": self.answers,
            "failure": self.failure,
            "released": self.is_released,
            "entities": len(self.graph.entities),
            "relations": len(self.graph.relations),
            "dropped": self.dropped,
            "reports": [report.record for report in self.reports],
        }


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """What an answer lists, and how many entries of it the graph cannot hold."""

    entries: tuple[T, ...]
    dropped: int


@dataclass(slots=True)
class _Index:
    """A film's index while it is made."""

    graph: StageGraph | None
    is_released: bool
    entities: list[GraphEntity] = field(default_factory=list)
    relations: list[GraphRelation] = field(default_factory=list)
    dropped: int = 0
    answers: list[Answer[Any]] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)


def require_networkx() -> Any:
    """The module. Raises ShotadError, naming the extra to install, where it is not there."""
    return require_module("networkx", "Communities of a graph", LANGUAGE_EXTRA)


def build_reports(
    films: Sequence[StageFilm], engine: Judge, context: MetricContext
) -> dict[str, StoryReports]:
    """The reports on each film's graph, by the film's id. Raises ShotadError without networkx, EngineError
    for what stops the engine."""
    require_networkx()
    indexes = {film.id: _Index(film.graph, film.graph is not None) for film in films}
    passages = [(film.id, part) for film in films if not film.graph for part in passages_in(film)]

    def search_passage(at: tuple[str, StageScene]) -> _Search:
        return _search_passage(at[1], engine)

    searches = map_items(search_passage, passages, [engine], "Finding entities and relations", "passages")
    for (film_id, _), (entity_answers, relation_answers) in zip(passages, searches, strict=True):
        index = indexes[film_id]
        index.answers += [*entity_answers, *relation_answers]
        for listed_entities in entity_answers:
            if listed_entities.value is not None:
                index.entities += listed_entities.value.entries
                index.dropped += listed_entities.value.dropped
        for listed_relations in relation_answers:
            if listed_relations.value is not None:
                index.relations += listed_relations.value.entries
                index.dropped += listed_relations.value.dropped
    communities: list[tuple[_Index, Question[Report]]] = []
    for index in indexes.values():
        index.graph = index.graph or merged_graph(index.entities, index.relations)
        for members in communities_of(index.graph, context.config.seed):
            communities.append((index, report_question(index.graph, members)))

    def report(at: tuple[_Index, Question[Report]]) -> Answer[Report]:
        return engine.ask(at[1])

    answers = map_items(report, communities, [engine], "Reporting on communities", "communities")
    for (index, _), answer in zip(communities, answers, strict=True):
        index.answers.append(answer)
        if answer.value is not None:
            index.reports.append(answer.value)
    return {film_id: _finished(index) for film_id, index in indexes.items()}


def _finished(index: _Index) -> StoryReports:
    answers = sum(answer.value is not None for answer in index.answers)
    graph = index.graph or StageGraph((), ())
    reports, requests, failure = tuple(index.reports), len(index.answers), failed(index.answers)
    return StoryReports(reports, graph, index.is_released, index.dropped, requests, answers, failure)


def passages_in(film: StageFilm) -> list[StageScene]:
    """The film's scenes, those longer than `PASSAGE` in several parts with the same heading."""
    return [
        scene.model_copy(update={"content": passage})
        for scene in film.scenes
        for passage in passages_of(scene.content, PASSAGE)
    ]


_Search = tuple[list[Answer[Listing[GraphEntity]]], list[Answer[Listing[GraphRelation]]]]


def _search_passage(passage: StageScene, engine: Judge) -> _Search:
    """A pass for each family of entities, then one for each group of relations that these may have."""
    entity_answers = engine.ask_all([entities_question(passage, family) for family in ENTITIES])
    entities = [entity for answer in entity_answers if answer.value for entity in answer.value.entries]
    groups = [group for group in RELATIONS if any(_may_hold(kind, entities) for kind in group)]
    return entity_answers, engine.ask_all([relations_question(passage, entities, group) for group in groups])


def _may_hold(kind: RelationKind, entities: Sequence[GraphEntity]) -> bool:
    """Whether two of these entities may have a relation of this kind."""
    subjects = {entity.id for entity in entities if entity.type in kind.subjects}
    objects = {entity.id for entity in entities if entity.type in kind.objects}
    return bool(subjects and objects) and len(subjects | objects) > 1


def entities_question(passage: StageScene, family: Mapping[str, str]) -> Question[Listing[GraphEntity]]:
    """Which entities of these types are in a passage? Their ids are their names in one form."""

    def read(rows: list[Json]) -> Listing[GraphEntity]:
        by_key: dict[str, GraphEntity] = {}
        dropped = 0
        for row in rows:
            name, key = row["name"].strip(), name_key(row["name"])
            if key and row["type"] in family:
                entity = GraphEntity(id=key, name=name, type=row["type"], description=row["description"])
                by_key.setdefault(key, entity)
            else:
                dropped += 1
        return Listing(tuple(by_key.values()), dropped)

    types: Json = {**STRING, "enum": list(family)}
    entry: dict[str, Json] = {"name": STRING, "type": types, "description": STRING}
    values = {"passage": passage, "types": list(family.items())}
    return question("stage-entities", values, {"entities": rows_part(entry)}, read, tokens=LIST_TOKENS)


def relations_question(
    passage: StageScene, entities: Sequence[GraphEntity], group: Sequence[RelationKind]
) -> Question[Listing[GraphRelation]]:
    """How are the entities of a passage related, by these kinds of relations? One whose ends are not in the
    list, are the same, or are of other types than its kind has, is dropped."""
    kinds = {kind.name: kind for kind in group}

    def read(rows: list[Json]) -> Listing[GraphRelation]:
        relations = []
        for row in rows:
            kind, ends = kinds.get(row["relation"]), (row["subject"], row["object"])
            if kind is None or not all(1 <= end <= len(entities) for end in ends):
                continue
            subject, object_entity = (entities[end - 1] for end in ends)
            if (
                subject.id == object_entity.id
                or subject.type not in kind.subjects
                or object_entity.type not in kind.objects
            ):
                continue
            relation = GraphRelation(subject=subject.id, kind=kind.name, object=object_entity.id)
            relations.append(relation.model_copy(update={"description": row["description"]}))
        return Listing(tuple(relations), len(rows) - len(relations))

    number, names = {"type": "integer"}, {**STRING, "enum": list(kinds)}
    entry: dict[str, Json] = {"subject": number, "relation": names, "object": number, "description": STRING}
    values = {"passage": passage, "entities": entities, "kinds": group}
    return question("stage-relations", values, {"relations": rows_part(entry)}, read, tokens=LIST_TOKENS)


def rows_part(entry: Mapping[str, Mapping[str, Any]]) -> Part:
    """A list of objects with just these entries, each a text or a whole number; it may be empty."""
    python_types = {name: int if schema["type"] == "integer" else str for name, schema in entry.items()}

    def read(rows: Any, key: str) -> list[Json]:
        if not isinstance(rows, list):
            raise Unreadable(f"{key} must be a list.")
        for row in rows:
            if not isinstance(row, dict) or {name: type(row.get(name)) for name in entry} != python_types:
                raise Unreadable(f"Each of {key} must have {', '.join(entry)}.")
        return rows

    type_forms = {int: "<number>", str: '"…"'}
    forms = (f'"{name}": {type_forms[kind]}' for name, kind in python_types.items())
    return Part(f"[{{{', '.join(forms)}}}, …]", {"type": "array", "items": entries_schema(entry)}, read)


def name_key(name: str) -> str:
    """What two mentions of one entity have in common.

    >>> name_key("The  Well"), name_key("the well")
    ('the well', 'the well')
    """
    return " ".join(name.split()).casefold()


def merged_graph(entities: Iterable[GraphEntity], relations: Iterable[GraphRelation]) -> StageGraph:
    """The graph of a whole film: entities of one id are one, and so are relations of one kind between the
    same two. Of their descriptions the longest stays; of an event and something else with one name, the
    other (paper, section B.2)."""
    by_id: dict[str, GraphEntity] = {}
    for entity in entities:
        first_mention = by_id.setdefault(entity.id, entity)
        kind = entity.type if first_mention.type == EVENT else first_mention.type
        description = _longer(first_mention, entity)
        by_id[entity.id] = first_mention.model_copy(update={"type": kind, "description": description})
    by_ends: dict[tuple[str, str, str], GraphRelation] = {}
    for relation in relations:
        ends = relation.subject, relation.kind, relation.object
        first = by_ends.setdefault(ends, relation)
        by_ends[ends] = first.model_copy(update={"description": _longer(first, relation)})
    return StageGraph(tuple(by_id.values()), tuple(by_ends.values()))


def _longer(first: GraphEntity | GraphRelation, second: GraphEntity | GraphRelation) -> str:
    return max(first.description, second.description, key=len)


def communities_of(graph: StageGraph, seed: int) -> list[list[GraphEntity]]:
    """The communities with `SMALLEST` to `MEMBERS` entities, in order of their first entities; in each the
    entities with the most relations first. The same in every run."""
    networkx = require_networkx()
    places = {entity.id: place for place, entity in enumerate(graph.entities)}
    # Nodes are numbers: sets of texts have another order in every process.
    bonds = networkx.Graph()
    bonds.add_nodes_from(range(len(places)))
    weights = Counter(
        (min(ends), max(ends))
        for ends in ((places[relation.subject], places[relation.object]) for relation in graph.relations)
    )
    bonds.add_weighted_edges_from((first, second, weight) for (first, second), weight in weights.items())
    communities = []
    for members in sorted(_divided(bonds, list(bonds), seed)):
        if len(members) >= SMALLEST:
            members.sort(key=lambda place: (-bonds.degree(place), place))
            communities.append([graph.entities[place] for place in members])
    return communities


def _divided(bonds: Any, members: list[int], seed: int) -> list[list[int]]:
    """The communities among these nodes of the graph, each in order of the story.

    A community with more than `MEMBERS` entities is divided again, since a report shows no more. One that
    Louvain does not divide, such as somebody and all that this person does, is cut in order of the story;
    its best connected entity is in every part.
    """
    networkx = require_networkx()
    subgraph = bonds.subgraph(members)
    if not subgraph.number_of_edges():
        return []
    parts = networkx.community.louvain_communities(subgraph.copy(), resolution=RESOLUTION, seed=seed)
    communities: list[list[int]] = []
    for community in map(sorted, parts):
        if len(community) <= MEMBERS:
            communities.append(community)
        elif len(parts) > 1:
            communities += _divided(bonds, community, seed)
        else:
            hub = max(community, key=lambda place: (subgraph.degree(place), -place))
            members = [place for place in community if place != hub]
            count = math.ceil(len(members) / (MEMBERS - 1))
            borders = [len(members) * number // count for number in range(count + 1)]
            for start, end in pairwise(borders):
                communities.append(sorted([hub, *members[start:end]]))
    return communities


def report_question(graph: StageGraph, members: Sequence[GraphEntity]) -> Question[Report]:
    """What is this community about? It is shown by its entities and the relations between them."""
    names = {entity.id: entity.name for entity in members}
    relations = []
    for relation in graph.relations:
        if relation.subject in names and relation.object in names:
            ends = {"subject": names[relation.subject], "object": names[relation.object]}
            relations.append({"kind": relation.kind, "description": relation.description, **ends})
    parts = {"title": text_part('"…"'), "summary": text_part('"…"')}
    values = {"entities": members, "relations": relations[:BONDS]}
    return question("stage-report", values, parts, Report, tokens=REPORT_TOKENS)


def nearest_reports(
    reports: Sequence[Report], context: MetricContext, top: int
) -> Callable[[str], tuple[Report, ...]]:
    """How a question finds the ``top`` reports that are nearest to it by vectors. Raises ShotadError where
    vectors cannot be counted here."""
    service = vectors_of(context)
    if not reports:
        return lambda query: ()
    vectors = service.of([f"{report.title}\n{report.summary}" for report in reports])

    def choose(query: str) -> tuple[Report, ...]:
        nearness = vectors @ service.of([query])[0]
        return tuple(reports[place] for place in np.argsort(-nearness, kind="stable")[:top])

    return choose
