"""Who is there by a recognised face alone, and who is not told twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from shotad.core import Box, Named, PeopleFact, Sighting
from shotad.sight import with_missed

THOM, BARLEY, CELIA = (
    Named("thom", "Thom", "he"), Named("barley", "Barley", "he"), Named("celia", "Celia", "she"),
)  # fmt: skip
CAST = {named.id: named for named in (THOM, BARLEY, CELIA)}
LEFT, MIDDLE, RIGHT = (Box(x, 0.2, x + 0.1, 0.4) for x in (0.1, 0.45, 0.8))


def faces(name: str, box: Box, *frames: int) -> list[Sighting]:
    return [Sighting(name, box, frame / 8, 0.8) for frame in frames]


def fact(*names: Named, count: int = 0, first: float = 0.0, last: float = 1.0, **more: Any) -> PeopleFact:
    basics: dict[str, Any] = {"shot": 2, "first": first, "last": last, "count": count or len(names) or 1}
    basics |= {
        "place": "centre", "size": 0.9, "face": True, "movement": None, "enters": False, "leaves": False,
    }  # fmt: skip
    return PeopleFact(**(basics | {"sure": 0.95, "names": names} | more))


def told(facts: Sequence[PeopleFact], *seen: Sequence[Sighting]) -> list[PeopleFact]:
    return with_missed(facts, 2, [s for sightings in seen for s in sightings], CAST)


def who(facts: Sequence[PeopleFact]) -> list[tuple[int, str]]:
    return [(f.count, " ".join(name.called for name in f.names)) for f in facts]


def test_one_whom_no_track_shows() -> None:
    (found,) = told([], faces("thom", LEFT, 3, 4, 5))
    assert found == fact(THOM, first=0.375, last=0.625, place="left", size=0.52, sure=0.9, frames=3)
    # Two frames are no proof and strangers to the cast are nobody.
    assert told([], faces("thom", LEFT, 0, 1), faces("max", RIGHT, 0, 1, 2)) == []
    assert told([fact()], []) == [fact()]
    # Who is told already is not told again.
    thom = fact(THOM, movement="left")
    assert told([thom], faces("thom", LEFT, 0, 1, 2)) == [thom]
    both = fact(THOM, BARLEY)
    assert told([both], faces("thom", LEFT, 0, 1, 2), faces("barley", RIGHT, 0, 1, 2)) == [both]
    # One missed beside one who was followed.
    thom = fact(THOM, movement="left")
    found = told([thom], faces("thom", RIGHT, 0, 1, 2, 3, 4), faces("barley", LEFT, 2, 3, 4))
    assert found[0] == thom
    assert who(found) == [(1, "Thom"), (2, "Barley Thom")]
    assert (found[1].first, found[1].last, found[1].frames, found[1].framing) == (0.25, 0.5, 3, None)
    # One moment together is no pair.
    found = told([], faces("thom", LEFT, 0, 1, 2), faces("barley", RIGHT, 2, 3, 4))
    assert who(found) == [(1, "Thom"), (1, "Barley")]


@pytest.mark.parametrize(("height", "framing"), [(0.2, None), (0.4, "head and shoulders"), (0.7, "face")])
def test_how_near_is_known_by_the_face(height: float, framing: str | None) -> None:
    (found,) = told([], faces("thom", Box(0.4, 0.1, 0.6, 0.1 + height), 0, 1, 2))
    assert (found.framing, found.place) == (framing, "centre")


def test_somebody_counted_without_a_name_gets_it() -> None:
    seen = faces("thom", LEFT, 0, 1, 2), faces("barley", RIGHT, 0, 1, 2)
    pair = fact(THOM, count=2)
    assert told([pair], *seen) == [replace(pair, names=(THOM, BARLEY))]
    crowd = fact(BARLEY, count=5)
    assert told([crowd], *seen) == [replace(crowd, names=(THOM, BARLEY))]
    later = fact(THOM, count=2, first=2, last=3)
    assert who(told([later], *seen)) == [(2, "Thom"), (2, "Thom Barley")]
    both = fact(THOM, BARLEY, first=0.2)
    assert told([pair, both], *seen) == [replace(pair, names=(THOM, BARLEY)), both]
    others = fact(CELIA, count=2)
    assert who(told([others], *seen)) == [(2, "Celia"), (2, "Thom Barley")]
    # Beside somebody unknown nobody is told who may be the same.
    unknown = fact(movement="left")
    assert told([unknown], faces("thom", LEFT, 0, 1, 2)) == [unknown]
    early = fact(first=-2, last=-1)
    assert who(told([early], faces("thom", LEFT, 0, 1, 2))) == [(1, ""), (1, "Thom")]
    # The surest of two faces with one name at one moment counts.
    sure = [replace(s, score=0.9) for s in faces("thom", RIGHT, 0, 1, 2)]
    (found,) = told([], faces("thom", LEFT, 0, 1, 2), sure)
    assert found.place == "right"
