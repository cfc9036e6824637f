"""Face tracks: faces linked through a shot, embeddings of their best views, and portraits cut of them.

A view is one face in one picture. Views are linked from picture to picture of a shot to tracklets. A tracklet
is one person: place and likeness must agree, and where they leave a doubt the tracklet ends and another
begins. Two short tracks of one person do no harm; one of two people gives somebody a wrong name.

A portrait is kept only if the detector finds just that face in the JPEG again and the recogniser says that it
is this person's and nobody else's of the film: a describing run knows people by the portraits alone.
"""

from __future__ import annotations

import base64
import io
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image as Pictures

from shotad.core import Box, Image
from shotad.film.palette import jpeg
from shotad.sight.faces import Embedding, Embeddings, Face, FaceModels, TrackingRules
from shotad.sight.motion import (
    Gray,
    active_area,
    agreement,
    best_pairs,
    is_break,
    likeness,
    small_gray,
)

_MAX_PAUSE = 0.6
"""Seconds between two views that follow each other; pictures come four a second, or one."""
_MIN_PLACE_LIKENESS = 0.25
"""Likeness from which two boxes are at the same place."""
_VIEWS_COMPARED = 3
"""Last views of a tracklet to which a face is compared."""
_ONE_MOMENT = 0.15
"""Seconds within which all views count as one: neighbouring frames repeat each other's mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class FaceView:
    """One face in one picture; ``worth`` is how much its embedding says, 0 to 1.

    Of a candidate for a portrait, ``worth`` is how good a portrait it promises to be: size, frontality,
    certainty, wholeness. With its ``jpeg`` it is a checked portrait, from which the embedding was read, and
    its sharpness and light count too.
    """

    face: Face
    embedding: Embedding
    worth: float
    shot: int = 0
    jpeg: bytes = b""

    @property
    def seconds(self) -> float:
        """Second of the film at which the picture stands."""
        return self.face.seconds


Tracklet = list[FaceView]
"""Views of one person, oldest first."""
IsBreakBetween = Callable[[float, float], bool]
"""Whether the pictures at two seconds show different scenes; called only where cosines leave a doubt."""


def extend(
    tracklets: list[Tracklet],
    views: Sequence[FaceView],
    rules: TrackingRules,
    is_break_between: IsBreakBetween,
) -> None:
    """Add the ``views`` of one picture to ``tracklets``, each to the one that it continues, or as a new one.

    The most alike are linked first; each tracklet takes one view at most.
    """
    links: list[tuple[float, int, int]] = []
    for tracklet_index, tracklet in enumerate(tracklets):
        for view_index, view in enumerate(views):
            strength = _link_strength(tracklet, view, rules, is_break_between)
            if strength > 0:
                links.append((strength, view_index, tracklet_index))
    tracklet_of_view = best_pairs(links)
    for view_index, tracklet_index in tracklet_of_view.items():
        tracklets[tracklet_index].append(views[view_index])
    for view_index, view in enumerate(views):
        if view_index not in tracklet_of_view:
            tracklets.append([view])


def _link_strength(
    tracklet: Tracklet, view: FaceView, rules: TrackingRules, is_break_between: IsBreakBetween
) -> float:
    """How well ``view`` continues ``tracklet``: cosine plus likeness of the places, or 0 for not at all."""
    last = tracklet[-1]
    cosine = max(float(view.embedding @ earlier.embedding) for earlier in tracklet[-_VIEWS_COMPARED:])
    place_likeness = likeness(last.face.box, view.face.box)
    if cosine >= rules.min_cosine_anywhere:
        return cosine + place_likeness
    is_next = view.seconds - last.seconds <= _MAX_PAUSE
    is_nearby = place_likeness >= _MIN_PLACE_LIKENESS
    if not (is_next or is_nearby):
        return 0.0
    if cosine < (rules.min_cosine_nearby if is_next and is_nearby else rules.min_cosine_elsewhere):
        return 0.0
    # Last, for it compares pictures: the same place after a cut may be another person's.
    return 0.0 if is_break_between(last.seconds, view.seconds) else cosine + place_likeness


def split(tracklet: Tracklet, rules: TrackingRules) -> list[Tracklet]:
    """``tracklet`` in as many parts as it has people.

    It may have passed from one person to another by steps, over views that say little. Two parts of one
    person have views that are alike across the split.
    """
    if len(tracklet) < 4:
        return [tracklet]
    vectors = np.stack([view.embedding for view in tracklet])
    worth = np.array([view.worth for view in tracklet])
    weights = np.outer(worth, worth)
    # The sum of ``matrix[:i, i:]`` for each ``i`` that leaves two rows on either side, by running sums
    i, sums = np.arange(2, len(tracklet) - 1), []
    for matrix in (weights * (vectors @ vectors.T), weights):
        above = np.cumsum(np.cumsum(matrix, axis=0, dtype=np.float64), axis=1)
        sums.append(above[i - 1, -1] - above[i - 1, i - 1])
    mean_cosines = sums[0] / np.maximum(sums[1], 1e-9)
    weakest = int(np.argmin(mean_cosines))
    if mean_cosines[weakest] >= rules.min_cosine_nearby:
        return [tracklet]
    start_of_second = weakest + 2
    return [*split(tracklet[:start_of_second], rules), *split(tracklet[start_of_second:], rules)]


def is_certain(tracklet: Tracklet, rules: TrackingRules) -> bool:
    """True where this is a face beyond doubt: a good view among several, or a very good one."""
    best_score = max(view.face.score for view in tracklet)
    is_one_moment = tracklet[-1].seconds - tracklet[0].seconds < _ONE_MOMENT
    return best_score >= (rules.min_score_once if is_one_moment else rules.min_score)


_TIME_TOLERANCE = 1e-3
"""Seconds by which a face may lie beside the moment of `FaceTrack.box_at`."""
_MIN_AGREEMENT = 0.3
"""Share of a picture's corners that must be found again in another one that shows the same."""
_MAX_EMBEDDINGS = 5
"""Views of a track whose embeddings are kept, at most."""
_MIN_WORTH_TO_BEST = 0.7
"""Share of the best view's worth below which a view is not kept: poor views make strangers alike."""
_FULL_DISTANCE = 1.0
"""Seconds to the next view that is kept, beyond which distance makes no view better."""
_FULL_HEIGHT = 112.0
"""Height of a face in pixels beyond which size makes it no better: recognisers see faces of 112."""
_HALF = np.dtype("<f2")
"""Embeddings are kept in half precision, little-endian."""


@dataclass(frozen=True, slots=True, eq=False)
class FaceTrack:
    """One face through one shot.

    ``faces`` are the detections, oldest first (their ``seconds`` are those of the pictures); ``embeddings``
    is ``float32[k, d]``, rows of length 1 (in half precision, so that records keep them to the bit), read
    from ``faces[i]`` for ``i`` in ``read``, the best views first. Raises ValueError where these do not fit.
    """

    shot: int
    faces: tuple[Face, ...]
    embeddings: npt.NDArray[np.float32]
    read: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.faces or not self.read or not set(self.read) <= set(range(len(self.faces))):
            raise ValueError(f"a track reads some of its {len(self.faces)} faces, got {self.read}")
        if self.embeddings.ndim != 2 or len(self.embeddings) != len(self.read):
            raise ValueError(f"embeddings must be float32[{len(self.read)}, d], got {self.embeddings.shape}")

    @property
    def first(self) -> float:
        """Second of the first face."""
        return self.faces[0].seconds

    @property
    def last(self) -> float:
        """Second of the last face."""
        return self.faces[-1].seconds

    def box_at(self, seconds: float) -> Box | None:
        """The face's box at ``seconds``, detected or interpolated between two close detections; else None."""
        later = bisect_left(self.faces, seconds - _TIME_TOLERANCE, key=lambda face: face.seconds)
        if later == len(self.faces):
            return None
        after, before = self.faces[later], self.faces[max(later - 1, 0)]
        if after.seconds <= seconds + _TIME_TOLERANCE:
            return after.box
        span = after.seconds - before.seconds
        if later == 0 or span > _MAX_PAUSE:
            return None
        share = (seconds - before.seconds) / span
        start, end = (np.array([box.left, box.top, box.right, box.bottom]) for box in (before.box, after.box))
        left, top, right, bottom = (float(edge) for edge in start + (end - start) * share)
        return Box(left, top, right, bottom)


def tracks_of_shot(
    pictures: Iterable[tuple[float, Image]], shot: int, models: FaceModels
) -> tuple[FaceTrack, ...]:
    """The face tracks of one shot's pictures, given as (second, RGB image) oldest first.

    Tracks are in the order in which they begin. Those with too few and too faint detections to be a face
    beyond doubt are left out. ``pictures`` is read one by one, and none is kept. Raises WeightsError where
    the models cannot be loaded.
    """
    tracklets: list[Tracklet] = []
    small_pictures: dict[float, Gray] = {}  # by second, those that a tracklet ends in

    def is_break_between(before: float, after: float) -> bool:
        """Whether a cut lies between two seconds, which the shot detector has passed over."""
        earlier, later = small_pictures[before], small_pictures[after]
        # Without the black bars of both, which make any two pictures alike
        area, (height, width) = active_area(np.stack([earlier, later])[..., None]), earlier.shape
        rows = slice(round(area.top * height), round(area.bottom * height))
        columns = slice(round(area.left * width), round(area.right * width))
        earlier, later = earlier[rows, columns], later[rows, columns]
        agreeing = agreement(earlier, later)
        return is_break(earlier, later, moved_on=agreeing is not None and agreeing >= _MIN_AGREEMENT)

    for seconds, image in pictures:
        # Rounded as records keep them, to a microsecond and a ten thousandth of the picture: a track from a
        # record is then the same as a new one.
        faces = [_face_of(_face_row(face)) for face in models.find(image, seconds)]
        views = [_view(face, models.read(image, face), image.shape[0]) for face in faces]
        if views:
            small_pictures[views[0].seconds] = small_gray(image)
            extend(tracklets, views, models.tracking, is_break_between)
            last_seconds = {tracklet[-1].seconds for tracklet in tracklets}
            small_pictures = {second: small_pictures[second] for second in last_seconds}
    certain: list[Tracklet] = []
    for tracklet in tracklets:
        certain += [part for part in split(tracklet, models.tracking) if is_certain(part, models.tracking)]
    certain.sort(key=lambda part: (part[0].seconds, part[0].face.box.left, part[0].face.box.top))
    tracks = []
    for tracklet in certain:
        every = tuple(range(len(tracklet)))
        read = every if models.tracking.reads_every_view else _best_views(tracklet)
        embeddings = np.stack([tracklet[i].embedding for i in read])
        tracks.append(FaceTrack(shot, tuple(view.face for view in tracklet), embeddings, read))
    return tuple(tracks)


def _view(face: Face, embedding: Embedding, height: int) -> FaceView:
    """The view of ``face`` in a picture of ``height`` pixels.

    Worth most is a face that is large, sure and turned to the camera: what recognisers were trained on.
    """
    size = min(1.0, face.box.height * height / _FULL_HEIGHT)
    # Scores of good and poor faces lie close together, between 0.6 and 0.95: the power draws them apart.
    worth = size * face.score**4 * max(0.1, 1 - abs(face.yaw))
    return FaceView(face, embedding.astype(_HALF).astype(np.float32), worth)


def _best_views(tracklet: Tracklet) -> tuple[int, ...]:
    """Indices of the views worth most, spread over time: neighbouring views say the same."""
    min_worth = _MIN_WORTH_TO_BEST * max(view.worth for view in tracklet)
    candidates = [i for i, view in enumerate(tracklet) if view.worth >= min_worth]
    selected: list[int] = []

    def worth_now(i: int) -> tuple[float, int]:
        # All of it for a view far from all selected ones, little for a neighbour
        distances = [abs(tracklet[i].seconds - tracklet[j].seconds) for j in selected]
        distance = min(distances, default=_FULL_DISTANCE)
        return tracklet[i].worth * (0.2 + 0.8 * min(1.0, distance / _FULL_DISTANCE)), -i

    while candidates and len(selected) < _MAX_EMBEDDINGS:
        selected.append(max(candidates, key=worth_now))
        candidates.remove(selected[-1])
    return tuple(selected)


def track_to_json(track: FaceTrack) -> dict[str, Any]:
    """A track as JSON values; `track_from_json` gives back the same to the bit."""
    vectors = track.embeddings.astype(_HALF)
    return {
        "shot": track.shot,
        "faces": [_face_row(face) for face in track.faces],
        "read": list(track.read),
        "embeddings": [base64.b64encode(vector.tobytes()).decode("ascii") for vector in vectors],
    }


def track_from_json(row: Mapping[str, Any]) -> FaceTrack:
    """The track that `track_to_json` wrote. Raises KeyError, TypeError, ValueError for anything else."""
    vectors = [np.frombuffer(base64.b64decode(text), _HALF) for text in row["embeddings"]]
    return FaceTrack(
        row["shot"],
        tuple(_face_of(face) for face in row["faces"]),
        np.stack(vectors).astype(np.float32),
        tuple(row["read"]),
    )


def _face_row(face: Face) -> dict[str, Any]:
    """A face as JSON values, rounded."""
    box = face.box
    return {
        "seconds": round(face.seconds, 6),
        "box": [round(edge, 4) for edge in (box.left, box.top, box.right, box.bottom)],
        "score": round(face.score, 3),
        "yaw": round(face.yaw, 3),
        "landmarks": [[round(x, 4), round(y, 4)] for x, y in face.landmarks],
    }


def _face_of(row: Mapping[str, Any]) -> Face:
    """The face that `_face_row` wrote."""
    landmarks = tuple((x, y) for x, y in row["landmarks"])
    return Face(Box(*row["box"]), row["seconds"], row["score"], landmarks, row["yaw"])


_MARGINS = (0.6, 0.4, 0.25)
"""Picture around a face, in heights of the face; the next where somebody else would be in the portrait."""
_MAX_PORTRAIT_HEIGHT = 640
"""Pixels."""
_JPEG_QUALITY = 92
_FULL_PORTRAIT_HEIGHT = 160.0
"""Height of a face in pixels from which a larger one makes no better portrait."""
_PROFILE_YAW = 0.9
"""Yaw from which a face shows one side only."""
_SHARPNESS_IN_FOCUS = 0.12
"""Of `_sharpness`, for a face in focus."""
_MIN_PORTRAIT_WORTH = 0.05
_SAME_SHOT_PENALTY = 0.3
_LIKENESS_PENALTY = 0.6
"""What being of a shot, and as alike as can be, takes off a view's worth: portraits shall differ."""
_NOTHING_NEW = 0.9
"""Cosine to another portrait or photo of the person from which a portrait shows nothing new."""


def portrait_candidates(tracks: Iterable[FaceTrack], height: int) -> list[FaceView]:
    """The views that could become a portrait, oldest first; ``height`` is that of the frames in pixels."""
    views: list[FaceView] = []
    for track in tracks:
        for embedding, face_index in zip(track.embeddings, track.read, strict=True):
            face = track.faces[face_index]
            worth = _portrait_worth(face, height)
            if worth > _MIN_PORTRAIT_WORTH:
                views.append(FaceView(face, embedding, worth, track.shot))
    return sorted(views, key=lambda view: (view.face.seconds, view.face.box.left))


def _portrait_worth(face: Face, height: int) -> float:
    """How good a portrait ``face`` promises to be, 0 to 1; ``height`` is that of the frame in pixels."""
    box = face.box
    size: float = min(box.height * height / _FULL_PORTRAIT_HEIGHT, 1.0) ** 0.5
    frontality = max(1.0 - abs(face.yaw) / _PROFILE_YAW, 0.0)
    # A face that the picture's edge cuts off counts less.
    wholeness = 1.0 if min(box.left, box.top, 1 - box.right, 1 - box.bottom) > 0.005 else 0.4
    return size * (0.35 + 0.65 * frontality) * face.score * wholeness


def select_portraits(
    portraits: Sequence[FaceView], centre: Embedding, photos: Embeddings, count: int
) -> list[FaceView]:
    """Up to ``count`` of ``portraits``, best first; those that show what a photo shows already are left out.

    ``centre`` is what the person looks like, ``photos`` (``float32[n, d]``, n from 0) those that the cast has
    of them. Each is the best one given those before it, so that the portraits differ.
    """
    selected: list[FaceView] = []

    def worth_now(view: FaceView) -> tuple[float, float]:
        typicality = float(np.clip(view.embedding @ centre, 0.0, 1.0))
        shown = [*photos, *(other.embedding for other in selected)]
        nearest = max((float(view.embedding @ embedding) for embedding in shown), default=0.0)
        penalty = _LIKENESS_PENALTY * max(nearest, 0.0)
        same_shot_penalty = _SAME_SHOT_PENALTY * any(view.shot == other.shot for other in selected)
        worth = view.worth * (0.3 + 0.7 * typicality) * max(1 - penalty - same_shot_penalty, 0.0)
        return worth, -view.face.seconds

    candidates: list[FaceView] = []
    for view in portraits:
        if not len(photos) or float((photos @ view.embedding).max()) < _NOTHING_NEW:
            candidates.append(view)
    while candidates and len(selected) < count:
        best = max(candidates, key=worth_now)
        selected.append(best)
        candidates = [
            view
            for view in candidates
            if view is not best and float(view.embedding @ best.embedding) < _NOTHING_NEW
        ]
    return selected


def portrait(
    image: Image, view: FaceView, centre: Embedding, others: Embeddings, models: FaceModels
) -> FaceView | None:
    """``view`` as a portrait cut from the film's frame ``image`` (RGB); None where no cut of it passes.

    ``centre`` is what the person looks like, ``others`` (``float32[n, d]``) what the rest do. A cut passes if
    its JPEG shows this face alone, like the person and plainly less like the others.
    """
    box, (height, width) = view.face.box, image.shape[:2]
    for margin in _MARGINS:
        left, top, right, bottom = _edges(image, box, margin)
        cut_width, cut_height = right - left, bottom - top
        cut = Pictures.fromarray(np.ascontiguousarray(image[top:bottom, left:right]))
        if cut_height > _MAX_PORTRAIT_HEIGHT:
            size = (round(cut_width * _MAX_PORTRAIT_HEIGHT / cut_height), _MAX_PORTRAIT_HEIGHT)
            cut = cut.resize(size, Pictures.Resampling.LANCZOS)
        data = jpeg(np.asarray(cut), _JPEG_QUALITY, subsampling=0)
        # Decoded again: a later run sees the JPEG, not the frame.
        decoded = np.array(Pictures.open(io.BytesIO(data)).convert("RGB"), np.uint8)
        faces = models.find(decoded, 0.0)
        expected = Box(
            max((box.left * width - left) / cut_width, 0.0),
            max((box.top * height - top) / cut_height, 0.0),
            min((box.right * width - left) / cut_width, 1.0),
            min((box.bottom * height - top) / cut_height, 1.0),
        )
        if len(faces) != 1 or faces[0].box.iou(expected) <= 0.4:
            continue
        embedding = models.read(decoded, faces[0])
        cosine = float(embedding @ centre)
        runner_up = float((others @ embedding).max()) if len(others) else -1.0
        if cosine < max(models.threshold, models.join) or cosine - runner_up < models.margin:
            continue
        return replace(view, jpeg=data, embedding=embedding, worth=view.worth * _clearness(image, box))
    return None


def _clearness(image: Image, box: Box) -> float:
    """Sharpness and light of the face at ``box``, 0 to 1."""
    left, top, right, bottom = _edges(image, box, 0.0)
    grey = cv2.cvtColor(np.ascontiguousarray(image[top:bottom, left:right]), cv2.COLOR_RGB2GRAY)
    small = np.asarray(cv2.resize(grey, (96, 128), interpolation=cv2.INTER_AREA), np.float32)
    brightness = float(small.mean())
    # 1 from 60 to 210 of 255, and less towards black and white
    light = min((brightness - 15) / 45, (250 - brightness) / 40, 1.0)
    return max(light, 0.05) * (0.3 + 0.7 * min(_sharpness(small) / _SHARPNESS_IN_FOCUS, 1.0))


def _edges(image: Image, box: Box, margin: float) -> tuple[int, int, int, int]:
    """Left, top, right, bottom in pixels of a cut around ``box``, inside the picture.

    ``margin`` is the picture around it, in heights of the box.
    """
    height, width = image.shape[:2]
    around = margin * box.height * height
    return (
        max(int(box.left * width - around), 0),
        max(int(box.top * height - around), 0),
        min(int(np.ceil(box.right * width + around)), width),
        min(int(np.ceil(box.bottom * height + around)), height),
    )


def _sharpness(grey: npt.NDArray[np.float32]) -> float:
    """How much of a face's contrast is in its finest lines: the deviation of the Laplacian over that of
    ``grey``, a face of 96 by 128 pixels."""
    fine = cv2.Laplacian(cv2.GaussianBlur(grey, (3, 3), 0), cv2.CV_32F)
    return float(fine.std()) / max(float(grey.std()), 8.0) / 4
