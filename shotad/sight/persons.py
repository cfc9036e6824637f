"""From tracks of one shot to facts about the people in it. Pure logic.

Which tracks are people, beyond doubt, is decided by many weak signs over many frames. The rules and borders
were chosen on labelled frames (tests/labels/people.json) for at least 95 % right (`benchmarks/observer.py`).
What misleads single frames is known: pillars and statues reach 0.66 as bodies, an animated animal 0.84 as a
face and 0.76 as a body in a tile, but none of them two kinds of sign at once, over several frames.

What is said of a single person (movement, looks, colours) is said only where one person alone is seen; of
several without names, how many and where, for whose movement it is could not be said. Somebody with a name
can be told of alone (`companies`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

import numpy as np

from shotad.core import Framing, Look, Movement, Named, PeopleFact, Place
from shotad.sight.motion import Shift, T, Track, way_of, windows
from shotad.sight.people import PROOF, Glimpse, identities, place_at, share_a_moment
from shotad.sight.pose import Act
from shotad.sight.things import overlap

_GROUP_SURE = 0.9
_KNOWN_SURE = 0.9
_WINDOW = 2.5
"""Seconds in which a movement is looked for."""
_BEGUN = 0.1
"""The share of a movement that is not seen as one yet."""
_LEAVING = 1.0
"""Seconds that it takes to leave the picture."""
_NEARER = math.log(1.2)
"""Logarithm of the growth against the background from which somebody comes closer or moves away."""
_TOGETHER = 1.5
"""Seconds within which several who do the same do it together."""
_MEANWHILE = 2.0
"""Seconds after a movement within which a look or a turn of the head is still told with it."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Unbroken frames of one shot, looked at for people.

    ``seconds`` are the frames' times, ``shifts`` the movements of the picture between them (one
    fewer), ``aspect`` the picture's width over height. ``opens`` and ``closes``: the stretch begins
    with the shot and ends with it.
    """

    shot: int
    seconds: tuple[float, ...]
    shifts: tuple[Shift | None, ...]
    aspect: float
    opens: bool = True
    closes: bool = True


@dataclass(frozen=True, slots=True)
class Person:
    """A track that is a person, and how sure that is.

    ``who`` is the id of the one of the cast who was recognised in it, empty for an unknown person.
    ``parts`` are tracks at other moments that are, or may be, of the same person; ``steps``: they set one
    foot before the other.
    """

    track: Track[Glimpse]
    sure: float
    who: str = ""
    parts: tuple[Track[Glimpse], ...] = ()
    steps: bool = False


def people_of(tracks: Sequence[Track[Glimpse]]) -> list[Person]:
    """The tracks that are people beyond doubt, surest first, each person once."""
    found: list[Person] = []
    for track, who in zip(tracks, identities(tracks), strict=True):
        # A face that was recognised often enough is a person whatever the detectors of bodies say.
        known = bool(who) and sum(glimpse.who == who for glimpse in track.seen) >= PROOF
        found.append(Person(track, max(sure_of(track), _KNOWN_SURE if known else 0.0), who))
    kept: list[Person] = []
    sure = (p for p in found if p.sure > 0)
    for person in sorted(sure, key=lambda p: (not p.who, -p.sure, -_size(p.track), p.track.first)):
        # Two who were recognised are two, one before the other perhaps.
        others = [k for k in kept if not (person.who and k.who and person.who != k.who)]
        doubles = any(_doubles(person.track, other.track) for other in others)
        if not doubles and (not kept or person.who or is_clear(person.track)):
            kept.append(person)
    if kept:
        return kept
    return [Person(track, _GROUP_SURE) for track in group_of(tracks)]


def has_more(tracks: Sequence[Track[Glimpse]], people: Sequence[Person]) -> bool:
    """True where there may be others, half as large as the smallest or more: how many is not known."""
    least = min((_size(person.track) for person in people), default=0.0) / 2
    mine = [part for person in people for part in (person.track, *person.parts)]
    for track in tracks:
        scores = [max(g.body, g.part, g.second) for g in track.seen]
        likely = len(scores) >= _FEW and float(np.mean(scores)) >= _LIKELY and _size(track) >= least
        if likely and track not in mine and not any(_doubles(track, other) for other in mine):
            return True
    return False


def people_fact(
    people: Sequence[Person], stretch: Stretch, cast: Mapping[str, Named] | None = None
) -> PeopleFact | None:
    """The fact about the people of one stretch; None where nobody is seen for sure.

    ``cast`` says by id how those who were recognised are called.
    """
    if not people:
        return None
    together = _at_once(people)
    main = max(people, key=lambda p: (_size(p.track), p.sure, -p.track.first))
    alone = len(people) == 1
    seen = main.track.seen
    movement = movement_of(main.track, stretch) if alone else None
    came, went = seen[0].box, seen[-1].box
    inward = (movement == "right" and came.left < EDGE) or (movement == "left" and came.right > 1 - EDGE)
    outward = (movement == "left" and went.left < EDGE) or (movement == "right" and went.right > 1 - EDGE)
    enters = stretch.opens and inward and main.track.first - stretch.seconds[0] > 0.4
    enters = enters and not any(part.first < main.track.first for part in main.parts)
    leaves = outward and stretch.seconds[-1] - main.track.last > 0.4
    leaves = leaves and not any(part.last > main.track.last for part in main.parts)
    since = _since(main.track, stretch, movement, enters=enters, leaves=leaves)
    if len(together) > 1:  # from when all of them are
        since = min(set.intersection(*({g.seconds for g in p.track.seen} for p in together)))
    looks, turns = (look_of(seen), turn_of(seen)) if alone else (None, None)
    if looks or turns:
        gaze = gaze_since(seen)
        if not (enters or leaves) and movement in (None, "still"):
            since = gaze
        elif gaze > since + _MEANWHILE:
            looks = turns = None
    return PeopleFact(
        shot=stretch.shot,
        first=round(min(p.track.first for p in people), 3),
        last=round(max(p.track.last for p in people), 3),
        count=len(together),
        place=place_of([p.track for p in together]),
        size=round(_size(main.track), 3),
        face=any(_faces(p.track) for p in people),
        movement=movement,
        enters=enters,
        leaves=leaves,
        sure=round(min(p.sure for p in together), 3),
        framing=framing_of(main.track) if alone else None,
        looks=looks,
        turns=turns,
        quick=quick_of(main.track, stretch) if movement in ("left", "right") else None,
        facing=len(people) == 2 and _face_each_other(people),
        frames=len(seen),
        names=_names(together, cast or {}),
        since=round(since, 3),
        walks=alone and main.steps,
    )


def deed_facts(
    acts: Mapping[Person, Sequence[Act]], stretch: Stretch, cast: Mapping[str, Named] | None = None
) -> Iterator[PeopleFact]:
    """What people do, one fact for each deed, by time; the same of all who are there, at about one time, as
    one fact.

    Of one among others, ``place`` is where they are, seen from those: it tells them apart, or there is no
    fact.
    """
    everybody = {p: [*found, *(_walk(p, stretch) if len(acts) > 1 else ())] for p, found in acts.items()}
    done = [(act, person) for person, found in everybody.items() for act in found]
    done.sort(key=lambda one: (one[0].since, one[0].deed, place_in([one[1].track])))
    told: set[int] = set()
    for i, (act, person) in enumerate(done):
        if i in told:
            continue
        there = [p for p in acts if p.track.first <= act.since <= p.track.last or p is person]
        alike = {
            p: k
            for k, (other, p) in enumerate(done)
            if k not in told and act.deed == other.deed and abs(act.since - other.since) <= _TOGETHER
        }
        if len(there) > 1 and set(there) <= set(alike):
            told |= {alike[p] for p in there}
            together = [done[alike[p]][0] for p in there]
            since, until = max(a.since for a in together), max(a.until for a in together)
            yield _deed_fact(there, Act(act.deed, since, until), stretch, cast or {})
        elif len(there) == 1 or person.who:
            yield _deed_fact([person], act, stretch, cast or {})
        elif (place := _apart(person, there, act.since)) is not None:
            fact = _deed_fact([person], act, stretch, cast or {})
            yield replace(fact, place=place, among=len(there) - 1)


def _walk(person: Person, stretch: Stretch) -> Iterator[Act]:
    """The way that one of several goes on foot."""
    movement = movement_of(person.track, stretch)
    if movement in ("left", "right") and person.steps:
        since = min(first for found, first in _movements(person.track, stretch) if found == movement)
        yield Act(f"walks to the {movement}", since, person.track.last)  # type: ignore[arg-type]


def _apart(person: Person, there: Sequence[Person], second: float) -> Place | None:
    """Left or right where nobody else is farther on that side by half a width; else None."""
    boxes = {p: min(p.track.seen, key=lambda g: abs(g.seconds - second)).box for p in there}
    mine = boxes[person]
    others = [box for p, box in boxes.items() if p is not person]
    margin = 0.5 * min(box.width for box in boxes.values())
    if all(mine.centre[0] < box.centre[0] - margin for box in others):
        return "left"
    return "right" if all(mine.centre[0] > box.centre[0] + margin for box in others) else None


def _deed_fact(people: Sequence[Person], act: Act, stretch: Stretch, cast: Mapping[str, Named]) -> PeopleFact:
    tracks = [person.track for person in people]
    return PeopleFact(
        shot=stretch.shot,
        first=round(act.since, 3),
        last=round(act.until, 3),
        count=len(people),
        place=place_of(tracks),
        size=round(max(_size(track) for track in tracks), 3),
        face=any(_faces(track) for track in tracks),
        movement=None,
        enters=False,
        leaves=False,
        sure=round(min(person.sure for person in people), 3),
        frames=min(len(track.seen) for track in tracks),
        names=_names(people, cast),
        since=round(act.since, 3),
        deed=act.deed,
    )


def place_of(tracks: Sequence[Track[T]]) -> Place:
    """Where the tracks are on the mean: the outer three tenths of the picture are left and right."""
    return place_at(place_in(tracks))


def place_in(tracks: Sequence[Track[T]]) -> float:
    """The mean of all places from left (0) to right (1)."""
    return float(np.mean([seen.box.centre[0] for track in tracks for seen in track.seen]))


def movement_of(track: Track[Glimpse], stretch: Stretch) -> Movement | None:
    """The way of one person, the picture's own movement taken out; None where it cannot be told.

    A movement counts where the picture shows it and the background does not explain it, for at least a
    second. One who moves both ways is told of neither; one who never moves stays still.
    """
    found = {movement for movement, _ in _movements(track, stretch)}
    if len(found) == 1:
        return found.pop()
    way = way_of(track, stretch.shifts, stretch.aspect)
    edges = [[g.box.left for g in track.seen], [g.box.right for g in track.seen]]
    calm = all(max(edge) - min(edge) < 0.06 for edge in edges) and abs(way.x) < 0.12 and abs(way.y) < 0.12
    return "still" if calm and not found and way.seconds >= 1.0 and way.known >= 0.7 else None


def _movements(track: Track[Glimpse], stretch: Stretch) -> list[tuple[Movement, float]]:
    """Each movement that a part of the track shows, and the second at which it begins there."""
    parts = ((_movement_in(part, stretch), part) for part in windows(track, _WINDOW))
    return [(movement, _beginning(part, movement)) for movement, part in parts if movement is not None]


def _beginning(track: Track[Glimpse], movement: Movement) -> float:
    """The last second at which hardly any of the movement is done."""
    if movement in ("closer", "away"):
        seen = [(g.seconds, math.log(g.face.box.height)) for g in track.seen if g.face]
    else:
        axis = 0 if movement in ("left", "right") else 1
        seen = [(g.seconds, g.box.centre[axis]) for g in track.seen]
    (_, first), (_, last) = seen[0], seen[-1]
    return max(second for second, at in seen if abs(at - first) <= _BEGUN * abs(last - first))


def _since(
    track: Track[Glimpse], stretch: Stretch, movement: Movement | None, *, enters: bool, leaves: bool
) -> float:
    """The second from which what is told of one person is seen: of one who leaves when they do, a movement
    when it begins."""
    if enters:
        return track.first
    if leaves:
        return max(track.first, track.last - _LEAVING)
    began = (first for found, first in _movements(track, stretch) if found == movement)
    return min(began, default=track.first)


def _movement_in(track: Track[Glimpse], stretch: Stretch) -> Movement | None:
    boxes = [g.box for g in track.seen]
    way = way_of(track, stretch.shifts, stretch.aspect)
    if len(boxes) < 5 or way.known < 0.7 or way.seconds < 1.0:
        return None
    faces = [g.face.box for g in track.seen if g.face and g.face_score > FACE_SEEN]
    often = len(faces) >= 4
    head = drift([face.centre[0] for face in faces]) if often and 2 * len(faces) > len(boxes) else None
    across = least(drift([b.left for b in boxes]), drift([b.right for b in boxes]), head)
    if abs(across) > 0.08 and across * way.x > 0 and abs(way.x) > 0.3:
        return "right" if across > 0 else "left"
    growth = drift([float(np.log(face.height)) for face in faces]) if often else 0.0
    beyond = math.log(way.growth)  # a picture that is enlarged brings nobody closer
    if growth * beyond > 0 and abs(growth) > math.log(1.35) and abs(beyond) > _NEARER:
        return "closer" if growth > 0 else "away"
    upright = least(drift([b.top for b in boxes]), drift([b.bottom for b in boxes]))
    if abs(upright) > 0.12 and upright * way.y > 0 and abs(way.y) > 0.2:
        return "down" if upright > 0 else "up"
    return None


def quick_of(track: Track[Glimpse], stretch: Stretch) -> bool | None:
    """True for more than a body height a second; None where the body is cut off by the picture's edge."""
    if any(g.box.bottom > 1 - EDGE for g in track.seen):
        return None
    way = way_of(track, stretch.shifts, stretch.aspect)
    return abs(way.x) / max(way.seconds, 0.1) > 1.0


def _names(together: Sequence[Person], cast: Mapping[str, Named]) -> tuple[Named, ...]:
    ordered = sorted(together, key=lambda p: (place_in([p.track]), p.who))
    return tuple(cast[p.who] for p in ordered if p.who in cast)


def _doubles(track: Track[Glimpse], other: Track[Glimpse]) -> bool:
    """True where both are seen at one moment in one place; two faces are two people."""
    at = {g.seconds: g for g in other.seen}
    pairs = [(g, at[g.seconds]) for g in track.seen if g.seconds in at]
    if not pairs:
        return False
    faces = [(a.face, b.face) for a, b in pairs if a.face and b.face]
    if any(a.box.iou(b.box) < 0.1 for a, b in faces):
        return False
    return any(overlap(a.box, b.box) > 0.45 for a, b in pairs)


def _at_once(people: Sequence[Person]) -> list[Person]:
    """The most people that are seen in one frame, in half of the frames at least; else one of them."""
    moments = sorted({g.seconds for p in people for g in p.track.seen})
    groups: list[tuple[Person, ...]] = [
        tuple(p for p in people if any(g.seconds == s for g in p.track.seen)) for s in moments
    ]
    often = [g for g in groups if len(g) == 1 or 2 * groups.count(g) >= len(groups)] or groups
    most = max(len(group) for group in often)
    return list(next(group for group in often if len(group) == most))


def _size(track: Track[Glimpse]) -> float:
    return max(g.box.height for g in track.seen)


def _faces(track: Track[Glimpse]) -> bool:
    return sum(g.face_score > FACE_SEEN or bool(g.who) for g in track.seen) >= 2


def _face_each_other(people: Sequence[Person]) -> bool:
    left, right = sorted((p.track.seen for p in people), key=lambda seen: seen[0].box.centre[0])
    return look_of(left) == "right" and look_of(right) == "left"


def drift(values: Sequence[float]) -> float:
    """The change from first to last by a straight line; 0 where the values do not keep to one way."""
    line = np.polyfit(np.arange(len(values)), values, 1)[0] * (len(values) - 1)
    spread = float(np.std(values))
    if spread < 1e-6:
        return 0.0
    steady = float(np.corrcoef(np.arange(len(values)), values)[0, 1])
    return float(line) if abs(steady) > 0.8 else 0.0


def least(*drifts: float | None) -> float:
    """The smallest of drifts in one direction; 0 where they disagree. A body that turns or is cut off
    moves one of its edges, a body that walks moves both, and the head."""
    known = [drift for drift in drifts if drift is not None]
    if min(known) > 0 or max(known) < 0:
        return min(known, key=abs)
    return 0.0


_FEW = 4
"""Frames in which somebody unsure must be seen to count as perhaps there, and their mean score."""
_LIKELY = 0.35
FACE_SEEN = 0.75
"""Score from which a face is there beyond doubt."""
_PLAIN_FACE = 0.85
"""The same where there is nothing else to go by."""
_HEAD = 0.33
"""Height of a face, in the picture's, from which hardly more than head and shoulders are seen."""
EDGE = 0.02
"""Share of the picture that is its border."""
_AHEAD = 0.14
"""Yaw up to which a face looks ahead, and from ``_ASIDE`` on aside; between them nothing is said."""
_ASIDE = 0.33
_ORDER: dict[Look, int] = {"left": -1, "ahead": 0, "right": 1}


def framing_of(track: Track[Glimpse]) -> Framing | None:
    """How much of the person is seen, from the face's height and where the body ends."""
    faces = [g.face.box.height for g in track.seen if g.face and g.face_score > FACE_SEEN]
    if 2 * len(faces) > len(track.seen):
        face = float(np.quantile(faces, 0.1))  # it is so near all the time
        return "face" if face > 0.6 else "head and shoulders" if face > _HEAD else _body_framing(track)
    return _body_framing(track)


def is_close_face(track: Track[Glimpse]) -> bool:
    """True for a face that is plain nearly always and so near that few joints are in the picture."""
    plain = [g.face.box.height for g in track.seen if g.face and g.face_score >= _PLAIN_FACE]
    return 5 * len(plain) >= 4 * len(track.seen) and float(np.median(plain)) > _HEAD


def look_of(seen: Sequence[Glimpse]) -> Look | None:
    """Where the face points to over the last second of sight: left or right.

    None where it is between, or changing, and for a face that points ahead: whether it looks down is
    not measured.
    """
    yaws = [g.face.yaw for g in seen if g.face and g.face_score > FACE_SEEN]
    if len(yaws) < 2 or 2 * len(yaws) < len(seen):
        return None
    looks = {_look(yaw) for yaw in yaws[-4:]}
    look = looks.pop()
    return look if not looks and look != "ahead" else None


def turn_of(seen: Sequence[Glimpse]) -> Look | None:
    """Where the head turns to: two looks at least one way, then two at least to the left or right."""
    looks = [_look(g.face.yaw) for g in seen if g.face and g.face_score > FACE_SEEN]
    clear = [look for look in looks if look is not None]
    if len(clear) < 4 or clear[0] == clear[-1] or clear[0] != clear[1] or clear[-1] != clear[-2]:
        return None
    steps = [_ORDER[b] - _ORDER[a] for a, b in pairwise(clear)]
    one_way = all(step >= 0 for step in steps) or all(step <= 0 for step in steps)
    return clear[-1] if one_way and clear[-1] != "ahead" else None


def gaze_since(seen: Sequence[Glimpse]) -> float:
    """The second from which the face points to where it points last."""
    faces = [(g.seconds, _look(g.face.yaw)) for g in seen if g.face and g.face_score > FACE_SEEN]
    clear = [(second, look) for second, look in faces if look is not None]
    return min(second for second, _ in takewhile(lambda face: face[1] == clear[-1][1], reversed(clear)))


def _look(yaw: float) -> Look | None:
    if abs(yaw) <= _AHEAD:
        return "ahead"
    if abs(yaw) < _ASIDE:
        return None
    return "right" if yaw > 0 else "left"


def _body_framing(track: Track[Glimpse]) -> Framing | None:
    """By the body's height and ends; None where no body was seen, only a face that was recognised."""
    if not any(max(g.body, g.part, g.second) or g.face for g in track.seen):
        return None
    height = float(np.median([g.box.height for g in track.seen]))
    if height < 0.25:
        return "distant"
    if height > 0.45 and float(np.mean([g.box.bottom > 1 - EDGE for g in track.seen])) > 0.8:
        return "upper body" if any(g.face for g in track.seen) else None
    ends = [g.box.top > 0.03 and g.box.bottom < 1 - 2 * EDGE for g in track.seen]
    slim = float(np.median([g.box.height / g.box.width for g in track.seen]))
    return "full figure" if float(np.mean(ends)) > 0.8 and slim > 0.9 else None


_GROUP_SCORE = 0.39
_GROUP_SECONDS = 2.0


_FACE = 0.75
"""Score from which a face counts, where the body under it has `_FACE_BODY`; all scores are from 0 to 1."""
_FACE_BODY = 0.3
_BODY = 0.72
"""Best score of a body without a face. Pillars and statues reach 0.66."""
_BODY_MEAN = 0.6
_SECOND_MEAN = 0.6
_SECOND_BODY = 0.2
_FRAMES = 2
"""In how many frames a face, and one more for a body, must be seen."""
_RIVAL = 0.6
"""Share of the own scores that an animal's may reach."""


def sure_of(track: Track[Glimpse]) -> float:
    """How sure it is that the track is a person: 0 where it is not sure enough to be said, else to 1."""
    # True where an animal is seen in the same place about as clearly
    own = float(np.mean([max(g.body, g.part, g.second) for g in track.seen]))
    outbid = float(np.mean([g.rival for g in track.seen])) > _RIVAL * max(own, 0.01)
    if outbid:
        return 0.0
    votes = [_by_face(track.seen), _by_body(track.seen), _by_second(track.seen)]
    best = max(votes)
    return min(1.0, best + 0.02 * (sum(vote > 0 for vote in votes) - 1)) if best else 0.0


def is_clear(track: Track[Glimpse]) -> bool:
    """True for one who may be counted beside others: with a face, or a body that is clear throughout.

    A statue beside a person was the only false one left without this.
    """
    bodies = float(np.mean([g.body for g in track.seen]))
    return _by_face(track.seen) > 0 or bodies >= _BODY_MEAN


def group_of(tracks: Sequence[Track[Glimpse]]) -> list[Track[Glimpse]]:
    """Small people who keep together: none sure alone, but three or more of them for two seconds.

    Empty where there are fewer. On the labelled films two groups are found, and nothing else; nearest to a
    false one came rocks in a snowstorm, with three tracks of 1.5 s at 0.36 to 0.39.
    """
    small = [t for t in tracks if _is_small(t) and t.last - t.first >= _GROUP_SECONDS]
    usual = float(np.median([_height(t) for t in small])) if small else 0.0
    small = [t for t in small if 0.6 * usual <= _height(t) <= usual / 0.6]
    kept: list[Track[Glimpse]] = []
    for track in small:
        if all(track.seen[0].box.iou(other.seen[0].box) < 0.3 for other in kept):
            kept.append(track)
    return kept if len(kept) >= 3 else []


def _height(track: Track[Glimpse]) -> float:
    return float(np.median([g.box.height for g in track.seen]))


def _is_small(track: Track[Glimpse]) -> bool:
    seen = track.seen
    scores = float(np.mean([max(g.body, g.part) for g in seen]))
    steady = len(seen) >= 0.7 * (track.frames[-1] - track.frames[0] + 1)
    rival = float(np.mean([g.rival for g in seen]))
    return scores >= _GROUP_SCORE and _height(track) <= 0.55 and steady and len(seen) >= 9 and rival < 0.2


def _by_face(seen: Sequence[Glimpse]) -> float:
    faces = [
        g.face_score for g in seen if g.face_score >= _FACE and max(g.body, g.part, g.second) >= _FACE_BODY
    ]
    return min(0.96, 0.9 + 0.01 * len(faces)) if len(faces) >= _FRAMES else 0.0


def _by_body(seen: Sequence[Glimpse]) -> float:
    bodies = sorted((g.body for g in seen), reverse=True)
    better = bodies[: max(_FRAMES + 1, (len(bodies) + 1) // 2)]
    if len(bodies) <= _FRAMES or bodies[0] < _BODY:
        return 0.0
    mean = float(np.mean(better))
    return min(0.96, 0.3 + mean) if mean >= _BODY_MEAN else 0.0


def _by_second(seen: Sequence[Glimpse]) -> float:
    if len(seen) <= _FRAMES + 1:
        return 0.0
    second = float(np.mean([g.second for g in seen]))
    own = float(np.mean([max(g.body, g.part) for g in seen]))
    return min(0.95, 0.3 + second) if second >= _SECOND_MEAN and own >= _SECOND_BODY else 0.0


Company = tuple[Person, ...]


def companies(people: Sequence[Person]) -> tuple[Company, ...]:
    """Those who are told of together, then each one with a name who is told of alone, by appearance.

    Somebody unknown who is seen at other moments than everybody else is left out beside a name: it may be the
    same person.
    """
    if not any(person.who for person in people):
        return (tuple(people),) if people else ()
    whole = _whole(people)
    beside = {p: [q for q in whole if q is not p and share_a_moment(p.track, q.track)] for p in whole}
    together = tuple(person for person in whole if beside[person])
    unknown = [p.track for p in whole if not p.who]
    alone: list[Company] = []
    for person in sorted((p for p in whole if p.who), key=lambda p: (p.track.first, p.who)):
        # Tracks of unknown people that are seen at other moments only may be theirs.
        perhaps = [track for track in unknown if not share_a_moment(track, person.track)]
        alone.append((replace(person, parts=(*person.parts, *perhaps)),))
    return (together, *alone) if together else tuple(alone)


def _whole(people: Sequence[Person]) -> list[Person]:
    """The people with the tracks of one and the same put together: the longest, the others as its parts."""
    found: list[Person] = []
    for person in people:
        same = [p for p in people if person.who and p.who == person.who]
        longest = max(same, key=lambda p: (len(p.track.seen), -p.track.first), default=person)
        if person is longest:
            found.append(replace(person, parts=tuple(p.track for p in same if p is not longest)))
    return found
