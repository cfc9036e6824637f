"""The embedded Stage I: looks at a clip's raw frames with small open models and says what it measured.

It answers as a VLM would, with a dense description in numbered steps, but knows only people, faces, movement,
text, light and a few things with names. What is not sure is left out. Its facts are in the reply's notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from shotad.core import (
    NOBODY,
    Abilities,
    Clip,
    Config,
    Facts,
    FigureFact,
    Identity,
    LightFact,
    MotionFact,
    Named,
    PeopleFact,
    Reply,
    Request,
    Role,
    Scene,
    ShotadError,
    TextFact,
    ThingFact,
    WeightsError,
    key_of,
)
from shotad.engines.narrator_words import listed
from shotad.engines.observer_sightings import (
    Eyes,
    Passage,
    ShotFrames,
    cast_of,
    clothes_of,
    eye_weights,
    known_faces,
    passages,
    shots_of,
)
from shotad.sight import (
    ASKED,
    BESIDE,
    CLEAR,
    KINDS,
    OUTFITS,
    SCENES,
    TEXT_WEIGHTS,
    Act,
    Change,
    FrameText,
    Glimpse,
    Level,
    Person,
    Pose,
    TextReader,
    Track,
    active_area,
    acts_of,
    camera_of,
    change_of,
    companies,
    deed_facts,
    face_acts,
    figure_of,
    hands_of,
    has_more,
    inside_of,
    is_close_face,
    is_turned_away,
    level_of,
    link,
    looks_like_credits,
    mean_luma,
    people_fact,
    people_of,
    posture_of,
    scene_of,
    since_of,
    texts_of_shots,
    things_of,
    walks,
    with_missed,
)

REVISION = "13"
"""Raise it with every change that changes what is measured: records depend on it."""
FRAMES_PER_SECOND = 8.0
"""How densely a slot is best sampled for it; it works with fewer, and sees less movement."""
_TEXT_EVERY = 0.45
"""Seconds between two frames in which text is looked for."""
_HELD = 0.3
"""Share of corners that must agree on the picture's movement for a flash in it to be believed."""
_FEW = 4
"""Frames below which a fact gives way to a fuller one of its shot."""
_TALL = 0.15
"""Height of a person, in that of the picture, from which joints are looked for."""
_UNCOUNTED = 0.4
"""How sure a number of people is at most where there may be more: it is not said, but stays in the record."""
_BESIDE = 0.7
"""Height of a person, in that of a larger one of whom no joints are clear, from which both are equals."""
_WITH_PEOPLE = frozenset({*BESIDE, *OUTFITS})
_ANY = frozenset({*KINDS, *SCENES, *BESIDE})
"""What the whole picture is told to show, with people in it and without."""
_Poses = dict[Track[Glimpse], list[Pose]]
_Fact = TypeVar("_Fact", PeopleFact, FigureFact, TextFact, ThingFact, LightFact, MotionFact)
_SAME_FACE = 0.5
"""Likeness of two faces of one person. OpenCV Zoo's border for SFace is 0.363; a wrong "again" is worse."""


class Observer:
    """Measures facts in the frames of a slot. The same clip gets the same answer, byte for byte."""

    def __init__(self, settings: Config) -> None:
        weights = (*eye_weights(), *TEXT_WEIGHTS)
        self.identity = Identity(
            "observer",
            "+".join(weights),
            f"{REVISION}-{key_of(Config.former['observer'], Config.former['text'])}",
        )
        self.abilities = Abilities(
            accepts_images=True,
            wants_overlay=False,
            wants_context=False,
            frames_per_second=FRAMES_PER_SECOND,
            weights=weights,
            converses=False,
        )
        self._eyes = Eyes(weights)
        self._texts = TextReader()

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order; a clip that cannot be measured is a reply with an error."""
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        if request.clip is None:
            return Reply("", "error", error="the observer needs a clip to look at")
        try:
            facts = self.observe(request.clip, request.scene)
        except WeightsError:
            raise
        except ShotadError as error:
            return Reply("", "error", error=str(error))
        return Reply(describe(facts), notes=facts.to_json())

    def observe(self, clip: Clip, scene: Scene | None = None) -> Facts:
        """The facts of the slot's shots. Without a scene every frame counts as the slot's."""
        current = _current(clip, scene)
        numbers = tuple(int(n) for n in sorted(set(clip.shot_numbers[current].tolist())))
        area = active_area(clip.images)
        facts = Facts(numbers)
        presence = scene.presence if scene else NOBODY
        faces = known_faces(presence.sightings, area)
        known = _Known(cast_of(presence))
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(self._read, clip, current, scene)
            for frames in shots_of(clip, current, area, faces):
                facts = self._with_shot(facts, frames, known)
            texts, rolls = reading.result()
        return replace(facts, texts=texts, credits=rolls or (scene is not None and scene.credits))

    def _with_shot(self, facts: Facts, frames: ShotFrames, known: _Known) -> Facts:
        light, trusted = _light(frames), [shift for shift in frames.shifts if shift is not None]
        sure = len(trusted) / len(frames.shifts) if frames.shifts else 0.0
        camera = camera_of(frames.shifts, frames.seconds) if frames.shifts else "still"
        motion = MotionFact(frames.number, camera, inside_of(frames.shifts), round(sure, 3))
        people, things, figures = list(facts.people), list(facts.things), list(facts.figures)
        if light.level != "black":
            for passage in passages(frames, self._eyes):
                stretch = passage.stretch
                tracks = link([look.people for look in passage.looks], stretch.shifts)
                found = people_of(tracks)
                poses = self._poses(found, passage)
                seen = [replace(p, steps=walks(poses[p.track])) for p in _real(found, poses)]
                scene = self._scene(passage, frames.number, _WITH_PEOPLE if seen else _ANY)
                more = has_more(tracks, seen)
                outfit = (
                    scene.name if scene and scene.name in OUTFITS and len(seen) == 1 and not more else None
                )
                told = self._people(seen, poses, passage, light.level, known, outfit)
                people += map(_uncounted, told) if more else told
                firsts, seconds = [k.first for k in passage.looks], [k.second for k in passage.looks]
                figure = figure_of(passage.moving, passage.steps, seen, stretch, passage.seconds)
                figures += [figure] if figure else []
                images = {look.seconds: look.image for look in passage.looks}
                named = things_of(
                    firsts,
                    seconds,
                    stretch,
                    lambda s, images=images: self._eyes.shares(images[s.seconds], s),  # type: ignore[misc]
                )
                hands = None if seen else hands_of(self._eyes.hands(passage.looks), frames.number)
                things += [*named, hands] if hands else named
                if scene and scene.name not in OUTFITS and not named:
                    things += [scene] if scene.name in BESIDE or not hands else []
        return replace(
            facts,
            people=_without_echoes(_with_missed(people, frames, known)),
            things=tuple(things),
            figures=tuple(figures),
            light=(*facts.light, light),
            motion=(*facts.motion, motion),
        )

    def _scene(self, passage: Passage, shot: int, told: frozenset[str]) -> ThingFact | None:
        """What of ``told`` a whole picture shows, where it does so from the beginning to the end."""
        if len(passage.looks) < ASKED:
            return None
        chosen = [passage.looks[i] for i in np.linspace(0, len(passage.looks) - 1, ASKED).astype(int)]
        sure = self._eyes.scenes([look.image for look in chosen], told)
        fact = scene_of(sure, [look.seconds for look in chosen], shot) if sure else None
        return fact if fact and fact.name in told else None

    def _poses(self, found: Sequence[Person], passage: Passage) -> _Poses:
        """The joints of all who are large enough for them; none of the others."""
        images = {look.seconds: look.image for look in passage.looks}
        return {p.track: self._eyes.poses(p.track, images) if _height(p) >= _TALL else [] for p in found}

    def _people(
        self,
        seen: Sequence[Person],
        poses: _Poses,
        passage: Passage,
        level: Level,
        known: _Known,
        outfit: str | None,
    ) -> Iterator[PeopleFact]:
        """The facts about the people of a passage, each one named, and what each does; ``outfit``: of one."""
        stretch, images = passage.stretch, {look.seconds: look.image for look in passage.looks}
        told = companies(seen)
        worn: str | None = None
        for company in told:
            fact = people_fact(company, stretch, known.cast)
            if fact is not None:
                # How all of them are, all the time; None where it differs or is not known of one
                found = {posture_of(poses[person.track]) for person in company}
                fact = replace(fact, posture=(found.pop() if len(found) == 1 else None))
            if fact is not None and len(company) == 1:
                track = company[0].track
                again = self._again(company[0], stretch.shot, passage, known)
                back = not fact.face and is_turned_away(poses[track])
                worn_by = outfit or clothes_of(track, poses[track], images, level)
                fact = replace(fact, again=again, clothes=worn_by, looks="away" if back else fact.looks)
            if fact is not None and (company is told[0] or fact.names):
                yield fact
                worn = fact.clothes if len(seen) == 1 else None
        acts: dict[Person, list[Act]] = {}
        for person in seen:
            body = [act for act in acts_of(poses[person.track]) if _is_borne_out(act, person.track)]
            acts[person] = [*body, *face_acts(self._eyes.expressions(person.track, images), body)]
        for fact in deed_facts(acts, stretch, known.cast):
            yield replace(fact, clothes=worn)

    def _again(self, person: Person, shot: int, passage: Passage, known: _Known) -> int | None:
        """The earlier shot with the same person: by name or, of the unknown, by the best face of the track,
        which is then known itself. Who was not recognised is taken for nobody who was."""
        if person.who:
            return known.met(person.who, shot)
        faced = [g for g in person.track.seen if g.face_score >= 0.8]
        if not faced:
            return None
        best = max(faced, key=lambda g: (g.face_score, -g.seconds))
        look = next(look for look in passage.looks if look.seconds == best.seconds)
        face = self._eyes.face_of(look, best)
        if face is None:
            return None
        alike = [(float(face @ other), number) for number, other in known.faces if number != shot]
        known.faces.append((shot, face))
        likeness, number = max(alike, default=(0.0, shot))
        return number if likeness >= _SAME_FACE else None

    def _read(
        self, clip: Clip, current: npt.NDArray[np.bool_], scene: Scene | None
    ) -> tuple[tuple[TextFact, ...], bool]:
        """The texts seen, and whether they are credits that roll by."""
        chosen: list[int] = []
        for i in np.flatnonzero(current).tolist():
            new_shot = not chosen or clip.shot_numbers[i] != clip.shot_numbers[chosen[-1]]
            if new_shot or clip.seconds[i] - clip.seconds[chosen[-1]] >= _TEXT_EVERY:
                chosen.append(i)
        lines = self._texts.read_close([clip.images[i] for i in chosen])
        seen = [
            FrameText(int(clip.shot_numbers[i]), float(clip.seconds[i]), found)
            for i, found in zip(chosen, lines, strict=True)
        ]
        return texts_of_shots(seen, speech=scene.speech if scene else ()), looks_like_credits(seen)


@dataclass(slots=True)
class _Known:
    """Who was seen in the clip so far: faces of unknown people with their shots, others with their last."""

    cast: Mapping[str, Named]
    faces: list[tuple[int, npt.NDArray[np.float32]]] = field(default_factory=list)
    shots: dict[str, int] = field(default_factory=dict)

    def met(self, who: str, shot: int) -> int | None:
        """The shot before ``shot`` in which ``who`` was seen last; ``shot`` is the last from now on."""
        before = self.shots.get(who)
        self.shots[who] = shot
        return before if before != shot else None


def _real(found: Sequence[Person], poses: _Poses) -> list[Person]:
    """Those with a person's joints, too small to tell, or with a near face; not who is small beside a larger
    one with neither: the background of something unknown."""
    clear = {p: [pose.clear for pose in poses[p.track]] for p in found}
    real = [
        p
        for p in found
        if p.who or not clear[p] or float(np.mean(clear[p])) >= CLEAR or is_close_face(p.track)
    ]
    unclear = max((_height(person) for person in found if person not in real), default=0.0)
    return [person for person in real if person.who or _height(person) >= _BESIDE * unclear]


def _is_borne_out(act: Act, track: Track[Glimpse]) -> bool:
    """False for a turn that the face denies: joints alone take a back in the dark for a front."""
    faces = [g.face is not None for g in track.seen if act.since < g.seconds <= act.until]
    faced = 2 * sum(faces) > len(faces)
    return faced == (act.deed == "turns round") if act.deed in ("turns round", "turns away") else True


def _uncounted(fact: PeopleFact) -> PeopleFact:
    """The fact of those beside whom there may be more: unsure where it tells but their number and posture."""
    moves = fact.movement not in (None, "still") or fact.enters or fact.leaves or fact.turns
    told = moves or fact.deed or fact.facing or fact.names
    return fact if told else replace(fact, sure=min(fact.sure, _UNCOUNTED))


def _height(person: Person) -> float:
    return float(np.median([glimpse.box.height for glimpse in person.track.seen]))


def _current(clip: Clip, scene: Scene | None) -> npt.NDArray[np.bool_]:
    """Which frames are the slot's: those of current shots inside the slot, else those of current shots."""
    if scene is None or not scene.context:
        return np.ones(len(clip), bool)
    roles = dict(enumerate(c.role for c in scene.context))
    current = np.array([roles.get(n, Role.CURRENT) is Role.CURRENT for n in clip.shot_numbers.tolist()])
    inside = current & (clip.seconds >= scene.slot.start) & (clip.seconds < scene.slot.end)
    for mask in (inside, current):
        if np.count_nonzero(mask) >= 2:
            return np.asarray(mask, bool)
    return np.ones(len(clip), bool)


def _without_echoes(facts: Sequence[PeopleFact]) -> tuple[PeopleFact, ...]:
    """The facts less those of a few frames that saw fewer people than others of a shot: one was missed."""
    return tuple(
        fact
        for fact in facts
        if fact.frames >= _FEW
        or not any(
            o.shot == fact.shot and o.count > fact.count and set(fact.names) <= set(o.names) for o in facts
        )
    )


def _with_missed(people: Sequence[PeopleFact], frames: ShotFrames, known: _Known) -> list[PeopleFact]:
    """The facts with those of a shot's people whose recognised faces alone show them, in the dark too."""
    before = [fact for fact in people if fact.shot != frames.number]
    faces = [s for second in frames.seconds for s in frames.known_at(second)]
    mine = [fact for fact in people if fact.shot == frames.number]
    found = with_missed(mine, frames.number, faces, known.cast)
    return [
        *before,
        *(
            fact if fact in mine or not fact.who else replace(fact, again=known.met(fact.who.id, fact.shot))
            for fact in found
        ),
    ]


def _light(frames: ShotFrames) -> LightFact:
    lumas = [mean_luma(image) for image in frames.images]
    borders = [0, *frames.breaks, len(lumas)]
    changes = [_change(frames, lumas, a, b) for a, b in pairwise(borders)]
    known = (c for c in (changes[-1], changes[0], *changes) if c is not None)
    # A shot fades in with its first passage and out with its last; a flash may come anywhere.
    ends = {"fade-in": changes[0], "fade-out": changes[-1]}
    change = next((c for c in known if ends.get(c, c) == c), None)
    at = len(changes) - 1 if change == "fade-out" else changes.index(change) if change else 0
    part = slice(borders[at], borders[at + 1])
    since = since_of(change, lumas[part], frames.seconds[part])
    return LightFact(frames.number, level_of(lumas), change, 0.95, round(since, 3))


def _change(frames: ShotFrames, lumas: Sequence[float], start: int, end: int) -> Change | None:
    """The change within one passage; no flash where the picture is thrown about, and bright parts with it."""
    change = change_of(lumas[start:end], frames.seconds[start:end])
    steps = frames.shifts[start : end - 1]
    held = sum(s is not None and s.trust >= _HELD for s in steps)
    return None if change == "flash" and held < 0.6 * len(steps) else change


_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_PLACES = {"left": "on the left", "centre": "in the middle", "right": "on the right"}
_FRAMINGS = {
    "face": "the face close up",
    "head and shoulders": "head and shoulders",
    "upper body": "the upper body",
    "full figure": "the whole figure",
    "distant": "small, in the distance",
}
_MOVES = {
    "left": "moves to the left",
    "right": "moves to the right",
    "closer": "comes closer",
    "away": "moves away",
    "up": "moves up",
    "down": "moves down",
    "still": "stays in place",
}
_LOOKS = {"left": "to the left", "right": "to the right", "ahead": "straight ahead", "away": "away from us"}
_LEVELS = {
    "black": "it is black",
    "dark": "it is dark",
    "middling": "it is neither dark nor bright",
    "bright": "it is bright",
    "white": "it is white",
}
_CHANGES: dict[str | None, str] = {
    "fade-out": "and darkens to black",
    "fade-in": "and brightens out of black",
    "flash": "with a flash",
}


def describe(facts: Facts) -> str:
    """Numbered steps: main characters, actions, interactions, environment; empty steps say so."""

    def told(found: Sequence[_Fact], words: Callable[[_Fact], str]) -> list[str]:
        said = [(fact.shot, words(fact)) for fact in found]
        return [f"in Shot {shot}, {one}" if len(facts.current) > 1 else one for shot, one in said if one]

    steps = {
        "Main characters": told(facts.people, _who),
        "Actions": [
            *told(facts.people, _deed),
            *told(facts.figures, lambda f: f"a figure {_PLACES[f.place]} {_MOVES[f.movement]}"),
        ],
        "Interactions": told(facts.people, _look),
        "Environment": [
            *told(facts.texts, lambda f: f'{f.kind} on the screen: "{f.text}"'),
            *told(facts.things, _thing),
            *told(facts.light, lambda f: " ".join(filter(None, [_LEVELS[f.level], _CHANGES.get(f.change)]))),
            *told(facts.motion, lambda f: "much moves" if f.inside == "much" else ""),
        ],
    }
    lines = []
    for i, (head, sentences) in enumerate(steps.items(), 1):
        body = " ".join(f"{one[0].upper()}{one[1:]}." for one in sentences)
        lines.append(f"{i}. {head}: {body or 'None measured.'}")
    return "\n".join(lines)


def _who(fact: PeopleFact) -> str:
    parts = [f"{_people(fact)} {_PLACES[fact.place]}"]
    if fact.framing:
        parts.append(_FRAMINGS[fact.framing])
    if fact.clothes:
        parts.append(f"dressed in {fact.clothes}")
    if fact.again is not None:
        parts.append(f"the same as in Shot {fact.again}")
    return ", ".join(parts)


def _people(fact: PeopleFact) -> str:
    """ "One person", "Thom", "Thom and Celia", "Thom and two other people"."""
    names = [name.called for name in fact.names]
    number = _NUMBERS.get(fact.unknown, str(fact.unknown))
    noun = "person" if fact.unknown == 1 else "people"
    if not names:
        return f"{number} {noun}"
    return listed([*names, f"{number} other {noun}"] if fact.unknown else names)


def _subject(fact: PeopleFact) -> str:
    """Who a single person is once they were introduced."""
    return fact.who.called if fact.who else "the person"


def _deed(fact: PeopleFact) -> str:
    parts = []
    if fact.enters:
        parts.append("comes into view")
    if fact.movement:
        parts.append(_MOVES[fact.movement] + (" fast" if fact.quick else ""))
    if fact.leaves:
        parts.append("goes out of view")
    if fact.turns:
        parts.append(f"turns the head {_LOOKS[fact.turns]}")
    if fact.deed or fact.posture:
        parts.append(fact.deed or fact.posture or "")
    if fact.count == 1:
        return f"{_subject(fact)} {' and '.join(parts)}" if parts else ""
    if fact.deed or fact.posture:
        return f"each of {_people(fact) if fact.names else 'them'} {fact.deed or fact.posture}"
    them = _people(fact) if fact.names else "they"
    return f"{them} {_MOVES[fact.movement].replace('s ', ' ', 1)}" if fact.movement else ""


def _look(fact: PeopleFact) -> str:
    if fact.facing:
        return f"{_people(fact) if fact.names else 'the two'} face each other"
    return f"{_subject(fact)} looks {_LOOKS[fact.looks]}" if fact.looks else ""


def _thing(fact: ThingFact) -> str:
    number = _NUMBERS.get(fact.count, str(fact.count))
    way = f", {_MOVES[fact.movement].replace('moves', 'moving')}" if fact.movement else ""
    return f"{number} {fact.name}{'' if fact.count == 1 else 's'} {_PLACES[fact.place]}{way}"
