"""Looking at slots while the film's shots are still being found.

A gap that lies before the second up to which shots are final gets its slots as it will in the end, and a slot
whose clip lies there too is shown to Stage I at once. Nothing depends on these being right: the slots are
planned as ever when the film is known to its end, and what was asked for another clip is of no use, no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from shotad.core import Interval, Shot, Slot, shot_rows, shots_of
from shotad.description.clip_builder import ClipBuilder, ClipDraft
from shotad.description.preparing import Bench, Heard
from shotad.description.writing.engines import Engines
from shotad.description.writing.stage1_runner import Stage1Runner
from shotad.engines import Belt
from shotad.film import BREATH, Frames, OnShots, Prepared, plan_slots
from shotad.sight import credit_moments

UNSURE_END = 5.0
"""Seconds by which the film may end before its container says so: end credits are looked for from its end."""

UNREAD = 12.0
"""Seconds by which the frames that can be read are behind, where nobody says how far they are: they are kept
in blocks."""


class EarlyLooks:
    """Hands Stage I those slots that will not change any more."""

    def __init__(self, bench: Bench, engines: Engines, looking: Stage1Runner, insight: ClipBuilder) -> None:
        self._bench, self._engines = bench, engines
        self._looking, self._insight = looking, insight

    def watch(self, heard: Heard) -> OnShots | None:
        """Who is to be told of shots, where early looks are of use; asked before the pass over the picture.

        Not with a cast, which needs the whole film; nor where a part is described, slots are given or a
        person changed them.
        """
        given, frames = self._bench.given, self._bench.frames
        part = given.start > 0 or given.end is not None
        fixed = given.slots is not None or given.cast is not None or bool(heard.hand)
        if part or fixed or frames.exact or not self._engines.gains_early(self._bench.config):
            return None
        return _Watch(self._bench, heard, self._insight, self._looking.begin_early(self._insight)).on_shots


class _Watch:
    """What is final so far: gaps with their slots, of which the first ``_waiting`` are not shown yet."""

    def __init__(self, bench: Bench, heard: Heard, insight: ClipBuilder, sketches: Belt[ClipDraft]) -> None:
        self._bench, self._heard, self._insight, self._sketches = bench, heard, insight, sketches
        self._end = bench.film.info.duration
        moments = credit_moments(self._end - UNSURE_END) if bench.config.slots.find_credits else []
        self._until = moments[0] - BREATH if moments else self._end - UNSURE_END
        self._gaps = deque(gap for gap in heard.free if gap.end <= self._until)
        self._waiting: deque[Slot] = deque()

    def on_shots(self, shots: tuple[Shot, ...], until: float) -> None:
        """Lay the sketches of slots that are final now on the belt. ``shots`` are those with both ends, and
        no cut will be found before second ``until``."""
        known = shots_of(shot_rows(shots, range(1, len(shots)))) if shots else ()
        open_from = known[-1].interval.end if known else 0.0
        if until <= open_from or not (self._gaps or self._waiting):
            return
        # The shot that has not ended: as it stands it counts as the rest of the film.
        all_ = (*known, Shot(len(known), Interval(open_from, max(self._end, until) + UNSURE_END)))
        while self._gaps and self._gaps[0].end <= until:
            gap = self._gaps.popleft()
            self._waiting += plan_slots(
                [gap], _near(gap, all_), self._bench.config.slots, film=Interval(0.0, self._end)
            )
        prepared = Prepared(self._bench.film.info, self._end, all_, self._heard.speech, (), ())
        while self._waiting:
            sketch = self._insight.sketch(self._waiting[0], prepared)
            if not _is_final(sketch, len(known), _readable(self._bench.frames, until)):
                return
            self._sketches.put(sketch)
            self._waiting.popleft()


def _near(gap: Interval, shots: Sequence[Shot]) -> list[Shot]:
    """The shots that matter for where slots of ``gap`` begin."""
    return [shot for shot in shots if gap.start - 1 <= shot.interval.start <= gap.end]


def _readable(frames: Frames, until: float) -> float:
    """The second up to which frames can be read without decoding them anew."""
    filled = frames.filled_until
    return until - UNREAD if filled is None else min(until, filled)


def _is_final(sketch: ClipDraft, ended: int, until: float) -> bool:
    """Whether all shots that the clip shows have ended, and all their frames can be read."""
    return all(piece.shot.index < ended and piece.shot.interval.end <= until for piece in sketch.context)
