"""The embedded Stage I: what small open models can measure in a clip, and nothing that is guessed.

It reads the text on the screen and counts faces; who they are comes from the cast, where one is given. What
it measures stands in the reply's notes, for Stage II, the worksheet and the review page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shotad.core import (
    Abilities,
    Clip,
    Config,
    Identity,
    Interval,
    Reply,
    Request,
    ShotadError,
    Sighting,
    Utterance,
)
from shotad.core.cast import EMPTY_PRESENCE, Presence
from shotad.core.engine import (
    EntranceFact,
    FacesFact,
    Facts,
    NamedFace,
    Scene,
    TextFact,
)
from shotad.core.errors import WeightsError
from shotad.core.types import Role
from shotad.core.weight_store import weights_file
from shotad.engines.english import bare
from shotad.script.track_texts import texts_in
from shotad.sight import (
    FaceFinder,
    FrameText,
    TextReader,
    texts_of_shots,
)
from shotad.sight.inscriptions import looks_like_credits
from shotad.sight.text import TEXT_WEIGHTS, plain_fraction

REVISION = "16"
"""Raise it with every change that changes what is measured: records depend on it."""
FACE_WEIGHTS = ("yunet",)
"""The detector of faces, by its name in the manifest."""
TEXT_EVERY = 0.45
"""Seconds between two frames in which text is looked for: a title of a second is seen in two of them."""
FACES_EVERY = 0.9
"""Seconds between two frames in which faces are counted."""
SURE_FACE = 0.8
"""Score from which something is counted as a face."""
SPOKEN_NEAR = 10.0
"""Seconds before and after a text is seen within which the dialogue may read it out."""
_ROUNDING = 1e-6
"""Seconds by which sums of frame times may be off."""


class Observer:
    """Measures a slot's clip. The same clip gets the same answer, byte for byte."""

    def __init__(self, settings: Config) -> None:
        weights = (*FACE_WEIGHTS, *TEXT_WEIGHTS)
        self.identity = Identity("observer", "+".join(weights), REVISION)
        self.abilities = Abilities(
            accepts_images=True,
            wants_overlay=False,
            wants_context=False,
            frames_per_second=1 / TEXT_EVERY,
            weights=weights,
            converses=False,
        )
        self._text_reader = TextReader()

    @cached_property
    def _face_finder(self) -> FaceFinder:
        return FaceFinder(weights_file(FACE_WEIGHTS[0]))

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
        """What is measured in the slot's shots. Without a scene every frame counts as the slot's."""
        frames = slot_frames(clip, scene)
        shots = tuple(sorted({int(clip.shot_numbers[frame]) for frame in frames}))
        frames_of_shots = {
            shot: [frame for frame in frames if clip.shot_numbers[frame] == shot] for shot in shots
        }
        texts, credits_roll = self._texts(clip, frames, scene)
        presence = scene.presence if scene else EMPTY_PRESENCE
        return Facts(
            current=shots,
            texts=texts,
            faces=tuple(self._faces(clip, frames_of_shots, presence)),
            entrances=tuple(entrances(clip, frames_of_shots, presence)),
            credits=credits_roll or (scene is not None and scene.credits),
        )

    def _texts(
        self, clip: Clip, frames: Sequence[int], scene: Scene | None
    ) -> tuple[tuple[TextFact, ...], bool]:
        """The texts seen in ``frames``, and whether they are credits that roll by."""
        chosen = spaced(clip, frames, TEXT_EVERY)
        lines_of_frames = self._text_reader.read_close([clip.images[frame] for frame in chosen])
        read = [
            FrameText(
                shot=int(clip.shot_numbers[frame]),
                seconds=float(clip.seconds[frame]),
                lines=lines,
                plain=plain_fraction(clip.images[frame], lines),
            )
            for frame, lines in zip(chosen, lines_of_frames, strict=True)
        ]
        speech = scene.speech if scene else ()
        texts = texts_of_shots(read, speech=[utterance.interval for utterance in speech])
        texts = tuple(replace(text, spoken=is_spoken(text, speech)) for text in texts)
        return texts, looks_like_credits(read)

    def _faces(
        self, clip: Clip, frames_of_shots: Mapping[int, Sequence[int]], presence: Presence
    ) -> Iterator[FacesFact]:
        """The faces of each shot that shows some."""
        nameable = nameable_members(presence)
        for shot, frames in frames_of_shots.items():
            counts: dict[float, int] = {}
            for frame in spaced(clip, frames, FACES_EVERY):
                second = float(clip.seconds[frame])
                faces = self._face_finder.find(clip.images[frame], second)
                counts[second] = sum(face.score >= SURE_FACE for face in faces)
            recognised = sightings_in(presence, clip, frames)
            at_once: Counter[float] = Counter(sighting.seconds for sighting in recognised)
            seconds = [second for second, count in counts.items() if count] + list(at_once)
            if seconds:
                member_ids = dict.fromkeys(s.name for s in recognised if s.name in nameable)
                yield FacesFact(
                    shot=shot,
                    count=max([*counts.values(), *at_once.values()]),
                    names=tuple(nameable[member_id] for member_id in member_ids),
                    first=min(seconds),
                    last=max(seconds),
                )


def entrances(
    clip: Clip, frames_of_shots: Mapping[int, Sequence[int]], presence: Presence
) -> Iterator[EntranceFact]:
    """Who of the cast is seen for the first time in a while, shot by shot."""
    nameable = nameable_members(presence)
    seen_lately = set(presence.lately)
    for shot, frames in frames_of_shots.items():
        new_sightings = [
            s
            for s in sightings_in(presence, clip, frames)
            if s.name in nameable and s.name not in seen_lately
        ]
        if new_sightings:
            member_ids = dict.fromkeys(sighting.name for sighting in new_sightings)
            seen_lately.update(member_ids)
            yield EntranceFact(
                shot=shot,
                names=tuple(nameable[member_id] for member_id in member_ids),
                first=new_sightings[0].seconds,
                last=new_sightings[-1].seconds,
            )


def sightings_in(presence: Presence, clip: Clip, frames: Sequence[int]) -> list[Sighting]:
    """The recognised faces on these frames of the clip, by time."""
    seconds = [float(clip.seconds[frame]) for frame in frames]
    inside = [s for s in presence.sightings if seconds[0] <= s.seconds <= seconds[-1]]
    return sorted(inside, key=lambda sighting: (sighting.seconds, sighting.box.left))


def is_spoken(text: TextFact, speech: Sequence[Utterance]) -> bool:
    """True where somebody in the film reads the text out, about when it is seen."""
    words = f" {bare(text.text)} "
    time_on_screen = Interval(max(0.0, text.first - SPOKEN_NEAR), text.last + SPOKEN_NEAR)
    return any(
        words in f" {bare(utterance.text)} "
        for utterance in speech
        if utterance.text and utterance.interval.overlaps(time_on_screen)
    )


def slot_frames(clip: Clip, scene: Scene | None) -> list[int]:
    """Which frames of the clip are the slot's: those of current shots inside the slot, else all of current
    shots where fewer than two lie inside it, else all."""
    everything = list(range(len(clip)))
    if scene is None or not scene.context:
        return everything
    roles = {number: shot.role for number, shot in enumerate(scene.context)}
    current: npt.NDArray[np.bool_] = np.array(
        [roles.get(number, Role.CURRENT) is Role.CURRENT for number in clip.shot_numbers.tolist()]
    )
    inside = current & (clip.seconds >= scene.slot.start) & (clip.seconds < scene.slot.end)
    for chosen in (inside, current):
        if np.count_nonzero(chosen) >= 2:
            return [int(frame) for frame in np.flatnonzero(chosen)]
    return everything


def spaced(clip: Clip, frames: Sequence[int], seconds: float) -> list[int]:
    """The first of ``frames`` in each shot, and those at least ``seconds`` after the last one taken."""
    taken: list[int] = []
    for frame in frames:
        begins_shot = not taken or clip.shot_numbers[frame] != clip.shot_numbers[taken[-1]]
        if begins_shot or clip.seconds[frame] - clip.seconds[taken[-1]] >= seconds - _ROUNDING:
            taken.append(frame)
    return taken


def nameable_members(presence: Presence) -> dict[str, NamedFace]:
    """Those on the clip's frames who may be named, by id; nobody who is called the same as another."""
    called = [character.called.casefold() for character in presence.cast]
    return {
        character.id: NamedFace(character.id, character.called, character.pronoun, character.named)
        for character in presence.seen
        if character.called and called.count(character.called.casefold()) == 1
    }


def describe(facts: Facts) -> str:
    """What was measured, in the four numbered steps of Stage I, for people who read the record."""
    people = [f"in Shot {faces.shot}, {_faces_in_words(faces)}" for faces in facts.faces]
    texts = [f'{text.kind} on the screen: "{text.text}"' for text in facts.texts]
    if facts.credits:
        texts.append("credits roll")
    steps = {"Main characters": people, "Actions": [], "Interactions": [], "Environment": texts}
    lines = []
    for number, (step, sentences) in enumerate(steps.items(), 1):
        body = " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences)
        lines.append(f"{number}. {step}: {body or 'None measured.'}")
    return "\n".join(lines)


def _faces_in_words(faces: FacesFact) -> str:
    """``2 faces: Thom``, ``1 face``."""
    count = f"{faces.count} face{'' if faces.count == 1 else 's'}"
    names = texts_in("en").listed([name.called for name in faces.names])
    return f"{count}: {names}" if names else count
