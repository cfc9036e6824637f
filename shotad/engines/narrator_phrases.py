"""Statements that could be said, and the wordings for people, things and text.

Only what the observer measures has words here. Walking, running or standing are mostly not: so people "move",
"come closer", "enter" and "leave". Who was recognised is called by name; others are nobody's he or she.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shotad.core import MANY, Deed, Named, PeopleFact, Posture, TextFact, ThingFact
from shotad.engines import narrator_words as english
from shotad.sight import Level

WORTH = {
    "title": 100.0, "sign": 80.0, "text": 78.0, "credit": 75.0, "credits": 65.0,
    "enters": 60.0, "passes": 58.0, "leaves": 55.0, "facing": 52.0, "closer": 50.0, "away": 46.0,
    "turns": 44.0, "left": 42.0, "right": 42.0,
    "stands up": 66.0, "sits down": 66.0, "crouches": 60.0, "bends forward": 58.0, "raises a hand": 60.0,
    "raises both arms": 64.0, "spreads the arms": 62.0, "puts a hand to the face": 54.0,
    "turns round": 60.0, "turns away": 58.0,
    "walks to the left": 52.0, "walks to the right": 52.0, "posture": 44.0,
    "smiles": 58.0, "opens the mouth wide": 52.0, "lowers the head": 50.0, "raises the head": 50.0,
    "tilts the head": 46.0,
    "described": 6.0, "dressed": 24.0, "named": 15.0, "new": 30.0,
    "hands": 46.0, "thing": 44.0, "furniture": 12.0, "lively": 8.0, "accompanied": 6.0, "looks": 24.0,
    "person": 10.0, "face": 10.0, "people": 10.0, "up": 8.0, "down": 8.0,
}  # fmt: skip
"""What listeners miss most comes first (text that nobody reads, then who does what).

``named`` is added for who has a name, ``new`` also for a name that the last lines do not have. The last row
tells nothing to follow the film by: it stays in the record and is no line, unless ``narrator.always``.
"""
PRESENT = frozenset({"person", "face", "people"})
"""That somebody is there, and no more."""
_DEEDS: dict[Deed, tuple[str, ...]] = {
    "stands up": ("stand up", "get up"),
    "sits down": ("sit down",),
    "crouches": ("crouch", "squat down"),
    "bends forward": ("bend forward",),
    "raises a hand": ("raise a hand", "lift a hand"),
    "raises both arms": ("raise both arms", "lift both arms"),
    "spreads the arms": ("spread both arms", "hold out both arms"),
    "turns round": ("turn round", "turn around"),
    "turns away": ("turn away",),
    "walks to the left": ("walk to the left",),
    "walks to the right": ("walk to the right",),
    "puts a hand to the face": ("put a hand to the face", "bring a hand to the face"),
    "smiles": ("smile",),
    "opens the mouth wide": ("open the mouth wide",),
    "lowers the head": ("lower the head",),
    "raises the head": ("raise the head", "lift the head"),
    "tilts the head": ("tilt the head",),
}
_POSTURES: dict[Posture, str] = {"stands": "stand", "sits": "sit", "lies": "lie"}
EVENTS = frozenset(
    {"enters", "passes", "leaves", "closer", "away", "left", "right", "up", "down", "turns"} | set(_DEEDS)
)
"""What somebody does, as against what merely is."""
START, MIDDLE = 0, 1
"""Phases of a shot: what a fade-in shows comes before all else."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that could be said. ``heads`` is how many people it is about, ``names`` those of them who are
    known; ``who`` is the same for one person in several shots; ``near``: hardly more than a face is seen.

    ``shot``, ``phase`` and ``time`` (when it holds, in film seconds) put statements in order; ``since`` and
    ``until`` are the seconds between which it is to be seen when told. None: not measured.
    """

    key: str
    shot: int
    worth: float
    clauses: tuple[Clause, ...]
    heads: int = 0
    near: bool = False
    who: int | str | None = None
    names: tuple[Named, ...] = ()
    phase: int = MIDDLE
    time: tuple[float, float] | None = None
    sure: float = 1.0
    since: float | None = None
    until: float | None = None

    @property
    def order(self) -> tuple[int, int, float]:
        """Film order, as far as it was measured."""
        return self.shot, self.phase, self.time[0] if self.time else 0.0

    @property
    def named(self) -> Named | None:
        """Who a single person is; None for one that is unknown, and for several."""
        return self.names[0] if self.heads == 1 and self.names else None

    @property
    def reads(self) -> bool:
        """True where it reads words aloud."""
        return any(clause.quotes for clause in self.clauses)

    def precedes(self, other: Statement) -> bool:
        """True where it was measured to be over before the other begins."""
        if self.shot != other.shot:
            return self.shot < other.shot
        return bool(self.time and other.time and self.time[1] <= other.time[0])

    def beside(self, other: Statement) -> bool:
        """True where both were measured to hold at one time, in one shot."""
        if self.shot != other.shot or self.time is None or other.time is None:
            return False
        return self.time[0] < other.time[1] and other.time[0] < self.time[1]


_NAMES = {
    "tv": "television", "cell phone": "phone", "couch": "sofa", "sports ball": "ball",
    "dining table": "table", "potted plant": "plant", "hair drier": "hair dryer", "donut": "doughnut",
    "motorcycle": "motorbike",
}  # fmt: skip
"""COCO's names where they are not what one says."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One wording of a statement: subject, verb phrase in its base form, and what depends on them.

    ``detail`` (clothes) may be dropped, so may the adverbials ``where``, most useful first; the rest may not.
    """

    subject: str
    verb: str
    many: bool = False
    where: tuple[str, ...] = ()
    detail: str = ""
    tail: str = ""
    quotes: tuple[english.Quote, ...] = ()
    join: str = "and"
    """How quotes follow each other: "and" at one time, "then" one after the other."""

    @property
    def core(self) -> str:
        """Subject and verb, agreeing, without what may be dropped."""
        return f"{self.subject} {english.agree(self.verb, self.many)}"

    def body(self, adverbials: int, last: bool) -> str:
        """The clause with so many of its adverbials at its end; ``last`` closes a final quotation."""
        subject = [part for part in (self.subject, self.detail) if part]
        verb = english.agree(self.verb, self.many)
        words = " ".join([*subject, verb, *self.where[:adverbials]]).replace(" ,", ",") + self.tail
        return words if not self.quotes else f"{words}: {self._quoted(last)}"

    def bare(self) -> Clause:
        """The clause without what may be dropped."""
        return replace(self, where=(), detail="")

    def _quoted(self, last: bool) -> str:
        *before, final = self.quotes
        parts = [quote.inside() for quote in before]
        if self.join == "then":
            parts = [f'{part[:-1]},"' if part[-2] not in "!?…" else part for part in parts]
        closing = final.at_end() if last else final.inside()
        return f" {self.join} ".join([*parts, closing])


def thing_noun(fact: ThingFact) -> str:
    """What one says for a detector's class: "a phone" for cell phone, "two dogs", "bottles" for `MANY`."""
    noun = _NAMES.get(fact.name, fact.name)
    return english.counted(noun, fact.count) if fact.count < MANY else english.plural(noun)


def thing_moves(noun: str, fact: ThingFact) -> tuple[Clause, ...]:
    """ "A car drives to the left", "a dog moves up"."""
    way = fact.movement or "up"
    return (
        Clause(noun, f"{'drive' if fact.name in ('car', 'bus', 'truck') else 'move'} {_GAZE.get(way, way)}"),
    )


def appear_clauses(
    nouns: Iterable[str], many: bool, where: tuple[str, ...], named: bool = False
) -> tuple[Clause, ...]:
    """ "A person and a dog appear", "there are two boats"; that somebody ``named`` exists is no news."""
    subject = english.listed(nouns)
    appear = Clause(subject, "appear", many, where)
    if named:
        return (appear,)
    return (
        appear,
        Clause("there", f"be {subject}", many and not subject.startswith(("a ", "an ")), where),
    )


_READ = {
    "title": ("a title", "titles"),
    "sign": ("text", "text"),  # what it stands on is not measured
    "credit": ("a credit", "credits"),
    "text": ("text", "text"),
}
"""What reads a text of each kind, one or several."""


def text_clauses(
    kind: str, quotes: tuple[english.Quote, ...], join: str, appearing: bool
) -> tuple[Clause, ...]:
    """The ways to read words aloud; a text of which only the beginning fits is said to begin so."""
    one = len(quotes) == 1
    if appearing:
        return (Clause("credits", "appear", True, quotes=quotes, join=join),)
    if one and not quotes[0].whole:
        return (Clause("a text", "begin", quotes=quotes),)
    noun = _READ[kind][not one]
    reads = Clause(noun, "read", not one and noun != "text", quotes=quotes, join=join)
    if kind != "title":
        return (reads,)
    if one and " " not in quotes[0].words:
        return (reads, Clause("a title", "appear", quotes=quotes))
    return (Clause("words", "appear", True, quotes=quotes, join=join), reads)


def text_words(fact: TextFact) -> int:
    """Words that a text's introduction takes at least: "words appear"."""
    return 3 if fact.kind in ("sign", "text", "credit") else 2


ONE_OF = "person on the"
"""Stands in what one of several who are seen is called by: where they are."""
FAR = 0.25
"""Height of a person, as a fraction of the picture's, up to which they are in the distance."""
FAINT = 0.4
"""The same, up to which no more than a figure is made out in the dark."""
_OPPOSITE = {"left": "right", "right": "left"}
_MOVES = {
    "closer": ("come closer", "move closer", "draw nearer"),
    "away": ("move away", "move farther away"),
    "left": ("move to the left", "move left"),
    "right": ("move to the right", "move right"),
    "up": ("rise", "move upward"),
    "down": ("move downward", "sink down"),
}
_QUICK_MOVES = {
    "closer": ("rush closer", "move quickly closer"),
    "away": ("rush away", "move quickly away"),
    "left": ("rush to the left", "move quickly to the left"),
    "right": ("rush to the right", "move quickly to the right"),
    "up": ("move quickly upward",),
    "down": ("move quickly downward",),
}
_GAZE = {"left": "to the left", "right": "to the right", "ahead": "straight ahead"}


def people_clauses(fact: PeopleFact, light: Level) -> tuple[Clause, ...]:
    """What people do, or that they are there, in several wordings."""
    key = people_key(fact)
    where = _where(fact)
    many = fact.count > 1 and (fact.count < english.CROWD or bool(fact.names))
    if key == "face":
        if fact.who:
            whole = fact.who.pronoun == "they"  # a face goes on as "it", a person as "they"
            subjects = (fact.who.called,) if whole else (fact.who.called, english.face_of(fact.who))
            return _clauses(subjects, ("appear",), False, where)
        told = description(fact)
        if told:
            return (Clause("the face of a person", "appear", where=where, detail=told),)
        return _clauses(("a face", "a person's face"), ("appear",), False, where)
    if fact.deed or key == "posture":
        verbs = _DEEDS[fact.deed] if fact.deed else (_POSTURES[fact.posture or "stands"],)
        clauses = _clauses(people_nouns(fact, light), verbs, many, where)
        return tuple(replace(clause, detail=description(fact)) for clause in clauses)
    if fact.count > 1:
        verb, tail = ("face each other", "") if fact.facing else ("appear", _one_of_them(fact))
        clauses = _clauses(people_nouns(fact, light), (verb,), many, where)
        return tuple(replace(clause, tail=tail) for clause in clauses)
    clauses = _clauses(people_nouns(fact, light), _verbs(fact, key), False, where)
    return tuple(replace(clause, detail=description(fact)) for clause in clauses)


def people_key(fact: PeopleFact) -> str:
    """The most telling thing about people, by its name in the table of worth."""
    if fact.count > 1:
        return fact.deed or ("facing" if fact.facing else "posture" if fact.posture else "people")
    going = "passes" if fact.enters and fact.leaves else "enters" if fact.enters else "leaves"
    moves = fact.movement if fact.movement != "still" else None
    signs = {
        going: fact.enters or fact.leaves,
        str(moves): moves,
        "turns": fact.turns,
        "posture": fact.posture,
        "looks": fact.looks,
        "face": is_near(fact),
    }
    return fact.deed or next((key for key, there in signs.items() if there), "person")


def people_nouns(fact: PeopleFact, light: Level) -> tuple[str, ...]:
    """How the people of a fact may be called."""
    if fact.names:
        return (english.called_together(fact.names, fact.unknown),)
    if fact.among:
        # The one on the left of two; of more there may be others who were not seen.
        return (f"{'the' if fact.among == 1 else 'a'} {ONE_OF} {fact.place}",)
    faint = not fact.face and (is_far(fact) or (light in ("black", "dark") and fact.size <= FAINT))
    if fact.count == 1:
        return ("a figure",) if faint and not description(fact) else ("a person", "someone")
    if fact.count >= english.CROWD:
        return ("a crowd",)
    if fact.count < english.SEVERAL:
        return (english.counted("figure" if faint else "person", fact.count),)
    return ("several figures",) if faint else ("several people", "a few people")


def description(fact: PeopleFact) -> str:
    """What tells somebody unnamed from others: "in blue", or nothing."""
    if fact.names:
        return ""
    return f"in {fact.clothes}" if fact.clothes else ""


def is_far(fact: PeopleFact) -> bool:
    """True for people in the distance."""
    return fact.framing == "distant" or (fact.framing is None and not fact.face and fact.size <= FAR)


def is_near(fact: PeopleFact) -> bool:
    """True for one person of whom hardly more than the face is seen."""
    return fact.count == 1 and fact.face and fact.framing == "face"


_NEARNESS = {"face": ["up close"], "head and shoulders": ["close by"]}
"""How near somebody is by what is seen of them."""


def _clauses(
    subjects: Iterable[str], verbs: Iterable[str], many: bool, where: tuple[str, ...]
) -> tuple[Clause, ...]:
    return tuple(Clause(subject, verb, many, where) for subject in subjects for verb in verbs)


def _where(fact: PeopleFact) -> tuple[str, ...]:
    """Distance, the side for someone who is merely there, and where one looks meanwhile."""
    places = ["in the distance"] if is_far(fact) else []
    if fact.count == 1 and fact.face and fact.movement not in ("closer", "away"):
        places += _NEARNESS.get(fact.framing or "", [])
    key = people_key(fact)
    if key in ("person", "posture") and fact.count == 1 and fact.place != "centre":
        places.append(f"on the {fact.place}")
    return (*places, *_meanwhile(fact, key))


def _meanwhile(fact: PeopleFact, key: str) -> tuple[str, ...]:
    """What else a single person's head does: ", turning to the left", ", looking straight ahead"."""
    way, verb = (fact.turns, "turn") if fact.turns else (fact.looks, "look")
    if way is None or way == fact.movement or fact.count != 1 or key in ("turns", "looks"):
        return ()
    if way == "away":
        return (", facing away",)
    if verb == "turn" and way == "ahead":
        return ()
    return (f", {english.gerund(verb)} {_GAZE[way]}",)


def _one_of_them(fact: PeopleFact) -> str:
    """Of several people, the movement of one is measured: ", one coming closer"."""
    one = "one person" if fact.count >= english.CROWD else "one"
    if fact.leaves and not fact.enters:
        return f", {one} leaving"
    if fact.movement in (None, "still") or fact.enters:
        return ""
    return f", {one} {english.gerund(_MOVES[fact.movement][0])}"


def _verbs(fact: PeopleFact, key: str) -> tuple[str, ...]:
    if key == "turns" and fact.turns:
        return (f"turn {_GAZE[fact.turns]}",) if fact.turns != "ahead" else ("turn to face forward",)
    if key == "looks" and fact.looks == "away":
        return ("face away",)
    if key == "looks" and fact.looks:
        gaze = _GAZE[fact.looks]
        return (f"look {gaze}", f"gaze {gaze}") if fact.looks != "ahead" else (f"look {gaze}",)
    return _going(fact)


_SIDEWAYS = {
    (True, True): (
        ("walk past from {side} to {way}",),
        ("rush past from {side} to {way}",),
        ("pass from {side} to {way}", "cross from {side} to {way}", "pass by"),
    ),
    (True, False): (
        ("walk in from the {side}",),
        ("rush in from the {side}",),
        ("enter from the {side}", "come in from the {side}"),
    ),
    (False, True): (
        ("walk off to the {way}",),
        ("rush off to the {way}",),
        ("leave to the {way}", "go off to the {way}"),
    ),
    (False, False): (("walk to the {way}",), (), ()),
}
"""By whether they enter and leave: walking, fast, or else."""
_LEAVING = {
    "closer": ("come closer, then leave", "come near, then leave"),
    "away": ("move away & leave", "go away"),
}


def _going(fact: PeopleFact) -> tuple[str, ...]:
    way = fact.movement
    if way in _OPPOSITE and (fact.walks or fact.enters or fact.leaves):
        walking, fast, usual = _SIDEWAYS[fact.enters, fact.leaves]
        found = walking if fact.walks else fast if fact.quick else usual
        return tuple(verb.format(side=_OPPOSITE[way], way=way) for verb in found)
    if fact.enters and fact.leaves:
        return ("appear, then leave", "come & go")
    if fact.enters:
        near = tuple(f"enter & {verb}" for verb in _MOVES[way][:2]) if way in ("closer", "away") else ()
        return near or ("enter", "come into sight")
    if fact.leaves:
        return _LEAVING.get(way or "", ("leave", "go away"))
    if way is None or way == "still":
        return ("appear",)
    return (_QUICK_MOVES if fact.quick else _MOVES)[way]
