"""Looking for the roll of end credits: text, looked for at a few moments of the film's last part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from shotad.core import Image, Interval, Sighting, in_room, spanned
from shotad.film import Picture, credits_interval
from shotad.sight.text import TextReader

STEPS = (1.0, 3.0)
"""Seconds between the moments looked at, at least and at most."""
MOMENTS = 60
"""How many moments a short film is looked at; a long one at more, each `STEPS` [1] seconds."""
REACH = 900.0
"""Seconds before the end of the film within which credits are looked for."""


@in_room("credits")
def find_credits(
    pictures: Callable[[Sequence[float]], Iterable[Picture]],
    end: float,
    reader: TextReader,
    advance: Callable[[float], None],
) -> Interval | None:
    """The roll of credits of a film that ends at ``end`` seconds, or None.

    ``pictures`` delivers one picture for each of the ascending seconds it is given.
    """
    moments = credit_moments(end)
    if not moments:
        return None
    stills = _counted(pictures(moments), advance)
    seen = [
        Sighting(line.text, line.box, moment, line.score)
        for lines, moment in zip(reader.read_all(stills), moments, strict=False)
        for line in lines
    ]
    return credits_interval(seen, moments, Interval(0.0, end))


def credit_moments(end: float) -> list[float]:
    """The moments looked at, ascending: a film of 60 s is looked at from 30 s on, once a second."""
    first = max(end / 2, end - REACH)
    step = min(max((end - first) / MOMENTS, STEPS[0]), STEPS[1])
    return [round(float(second), 3) for second in np.arange(first, end - step / 4, step)]


def _counted(pictures: Iterable[Picture], advance: Callable[[float], None]) -> Iterator[Image]:
    for picture in spanned("frames", pictures):
        yield picture.image
        advance(1)
