"""Whose a face is: decided for a face followed through a shot, against the gallery of the cast.

A wrong name is worse than none. A face is given a name if it is like somebody beyond the threshold and
plainly less like everybody else. Sure matches in the film itself may stand beside the photos, as a bank of
best queries. To take each face of each frame for whom it is most like, and no more, is AutoAD-Zero's way
(section 3.2) and a setting. Pure logic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shotad.core import CastSettings
from shotad.sight.faces import FaceModels
from shotad.sight.facetracks import FaceTrack
from shotad.sight.gallery import Embeddings, Gallery, mean_of

_SURE = 2.0
"""Times the margin by which a match beyond doubt leaves the second best behind."""
_BANK = 24
"""Tracks of the film that may stand for one person: the surest."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whose one track is.

    ``person`` is the id of whoever it is, the nameless of the cast too; ``member`` the same where they may be
    named. ``likeness`` is that to the best match, ``runner_up`` that to the second best (None: there is
    none). ``reason`` says why nobody is named, in words for people; empty where somebody is. ``looks`` has an
    id or None for each of the track's ``faces`` where each frame was decided for itself, else nothing.
    """

    person: str | None = None
    member: str | None = None
    likeness: float | None = None
    runner_up: float | None = None
    reason: str = ""
    looks: tuple[str | None, ...] = ()

    def at(self, look: int) -> str | None:
        """Who may be named at the track's ``faces[look]``."""
        return self.looks[look] if self.looks else self.member


def identify(
    tracks: Sequence[FaceTrack],
    gallery: Gallery,
    settings: CastSettings,
    models: FaceModels,
    names: Mapping[str, str] | None = None,
) -> list[Verdict]:
    """A verdict for each track; their order does not matter. ``names`` (by id) are for the reasons only."""
    if not len(gallery):
        return [Verdict(reason="nobody has a photo") for _ in tracks]
    set_here = settings.by_rules
    threshold = models.threshold if settings.threshold is None else settings.threshold
    margin = models.margin if set_here.margin is None else set_here.margin
    same = max(models.same, threshold)
    rules = _Rules(threshold, margin, same, set_here.smallest, gallery.nameless, names or {})
    if set_here.decide == "frame":
        return _by_frame(tracks, gallery, rules)
    # The embeddings of those looks that are large enough: ``float32[k, d]``, k from 0
    looks = []
    for track in tracks:
        boxes = [track.faces[look].box for look in track.read]
        looks.append(track.embeddings[[k for k, box in enumerate(boxes) if box.height >= rules.smallest]])
    if set_here.from_film:
        gallery = _with_bank(tracks, looks, gallery, rules)
    verdicts = [_verdict(rows, gallery, rules) for rows in looks]
    return _one_place_at_a_time(tracks, looks, verdicts, rules)


@dataclass(frozen=True, slots=True)
class _Rules:
    threshold: float
    margin: float
    same: float
    smallest: float
    nameless: frozenset[str]
    names: Mapping[str, str]

    def called(self, person: str) -> str:
        return "somebody without a name" if person in self.nameless else self.names.get(person, person)

    def beyond_doubt(self, verdict: Verdict) -> bool:
        """Whether a match could stand for a photo."""
        if verdict.likeness is None or verdict.likeness < self.same:
            return False
        return verdict.runner_up is None or verdict.likeness - verdict.runner_up >= _SURE * self.margin


def _verdict(rows: Embeddings, gallery: Gallery, rules: _Rules) -> Verdict:
    """Whose a face is that was seen ``float32[k, d]``."""
    if len(rows) == 0:
        return Verdict(reason="too small")
    # The likest first; of equals, the first of the cast.
    (person, likeness), *others = sorted(gallery.likeness(rows).items(), key=lambda item: -item[1])
    rival, runner_up = others[0] if others else (None, None)
    verdict = Verdict(likeness=likeness, runner_up=runner_up)
    if likeness < rules.threshold:
        return replace(verdict, reason=f"not alike enough (best: {rules.called(person)}, {likeness:.2f})")
    if rival is not None and runner_up is not None and likeness - runner_up < rules.margin:
        return replace(verdict, reason=f"{rules.called(person)} is too near to {rules.called(rival)}")
    if person in rules.nameless:
        return replace(verdict, person=person, reason=rules.called(person))
    return replace(verdict, person=person, member=person)


def _with_bank(
    tracks: Sequence[FaceTrack], looks: Sequence[Embeddings], gallery: Gallery, rules: _Rules
) -> Gallery:
    """The gallery with the film's own sure matches, found in rounds until no more are.

    Who is beyond doubt by the photos comes first; with them in the gallery others may be. Each of these must
    be like the person's photos beyond the threshold too. The bank only grows, so that the rounds end.
    """
    by_photos = [gallery.likeness(rows) if len(rows) else {} for rows in looks]
    bank: dict[int, str] = {}
    while True:
        verdicts = _one_place_at_a_time(tracks, looks, [_verdict(r, gallery, rules) for r in looks], rules)
        found = {
            at: verdict.person
            for at, verdict in enumerate(verdicts)
            if verdict.person is not None
            and rules.beyond_doubt(verdict)
            and by_photos[at][verdict.person] >= rules.threshold
        }
        if found.keys() <= bank.keys():
            return gallery
        bank = found | bank
        # The faces of each person that are most like the photos, one row a track, in an order of their own
        film: dict[str, list[tuple[float, bytes, Embeddings]]] = {}
        for at, person in bank.items():
            face = mean_of(looks[at])
            film.setdefault(person, []).append((-by_photos[at][person], face.tobytes(), face))
        surest = {person: sorted(faces, key=lambda f: f[:2])[:_BANK] for person, faces in film.items()}
        gallery = gallery.with_film({p: np.stack([f for _, _, f in faces]) for p, faces in surest.items()})


def _one_place_at_a_time(
    tracks: Sequence[FaceTrack], looks: Sequence[Embeddings], verdicts: Sequence[Verdict], rules: _Rules
) -> list[Verdict]:
    """Take a person's name from the less alike of two faces that are in one picture.

    Both keep it where they are the same person beyond doubt, to the gallery and to one another: a mirror, a
    split screen, a portrait on the wall.
    """
    groups: dict[tuple[int, str], list[int]] = {}
    for at, (track, verdict) in enumerate(zip(tracks, verdicts, strict=True)):
        if verdict.person is not None:
            groups.setdefault((track.shot, verdict.person), []).append(at)
    moments = [{face.seconds for face in track.faces} for track in tracks]

    def is_same(one: int, other: int) -> bool:
        sure = rules.beyond_doubt(verdicts[one]) and rules.beyond_doubt(verdicts[other])
        return sure and float(mean_of(looks[one]) @ mean_of(looks[other])) >= rules.same

    judged = list(verdicts)
    for (_, person), group in groups.items():
        kept: list[int] = []
        for at in sorted(
            group, key=lambda i: (-(verdicts[i].likeness or 0.0), tracks[i].first, _corner(tracks[i]))
        ):
            if all(is_same(rival, at) for rival in kept if moments[rival] & moments[at]):
                kept.append(at)
            else:
                reason = f"the same moment as a face more like {rules.called(person)}"
                judged[at] = replace(verdicts[at], person=None, member=None, reason=reason)
    return judged


def _corner(track: FaceTrack) -> tuple[float, float]:
    return track.faces[0].box.left, track.faces[0].box.top


def _by_frame(tracks: Sequence[FaceTrack], gallery: Gallery, rules: _Rules) -> list[Verdict]:
    """As in AutoAD-Zero: each face of each frame is whom it is most like, from the threshold on; of two that
    would be one person in a frame, the better. There is no margin."""
    plain = replace(rules, margin=0.0)
    # Of each track, the looks that were read, and whose they are
    read = [
        {
            look: _verdict(track.embeddings[row : row + 1], gallery, plain)
            for row, look in enumerate(track.read)
            if track.faces[look].box.height >= rules.smallest
        }
        for track in tracks
    ]
    best: dict[tuple[int, float, str], tuple[int, int]] = {}
    found = [(at, look) for at, known in enumerate(read) for look in known]
    for at, look in sorted(found, key=lambda f: (-(read[f[0]][f[1]].likeness or 0.0), _corner(tracks[f[0]]))):
        person, track = read[at][look].person, tracks[at]
        if person is not None:
            best.setdefault((track.shot, track.faces[look].seconds, person), (at, look))
    verdicts = []
    for at, track in enumerate(tracks):
        own = sorted(look for t, look in best.values() if t == at)
        looks = tuple(read[at][k].member if k in own else None for k in range(len(track.faces)))
        if own:  # the most frequent is that of the track
            person = Counter(read[at][look].person for look in own).most_common(1)[0][0]
            mine = [read[at][look] for look in own if read[at][look].person == person]
            verdicts.append(replace(max(mine, key=lambda v: v.likeness or 0.0), looks=looks))
        elif read[at]:
            top = max(read[at].values(), key=lambda v: v.likeness or 0.0)
            reason = top.reason or f"the same moment as a face more like {top.person}"
            verdicts.append(replace(top, person=None, member=None, reason=reason, looks=looks))
        else:
            verdicts.append(Verdict(reason="too small", looks=looks))
    return verdicts
