"""Facts as records: what they refuse, and what they look like as JSON."""

from __future__ import annotations

import json
from typing import Any

from shotad.core import Facts, Named, PeopleFact, ThingFact

THOM = Named("thom", "Thom", "he")
RED = Named("red", "the woman in red", "she", named=False)


def person(**more: Any) -> PeopleFact:
    basics: dict[str, Any] = {"shot": 1, "first": 1.0, "last": 3.0, "count": 1, "place": "left", "size": 0.6}
    basics |= {"face": True, "movement": None, "enters": False, "leaves": False, "sure": 0.95}
    return PeopleFact(**(basics | more))


def test_names_survive_the_way_through_json() -> None:
    facts = Facts((1,), people=(person(count=3, names=(THOM, RED)), person()))
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts


def test_people_without_names_are_written_as_they_were_before_names() -> None:
    (fact,) = Facts((1,), people=(person(),)).to_json()["people"]
    assert "names" not in fact
    assert Facts.from_json({"current": [1], "people": [fact]}).people == (person(),)


def test_deeds_postures_and_sizes_survive_and_older_records_have_none() -> None:
    facts = Facts(
        (1,),
        people=(person(posture="sits"), person(deed="stands up", among=2)),
        things=(ThingFact(1, "car", 1, "left", 0.9, area=0.5),),
    )
    notes = json.loads(json.dumps(facts.to_json()))
    assert Facts.from_json(notes) == facts
    for fact in notes["people"]:
        for key in ("posture", "deed", "among"):
            del fact[key]
    del notes["things"][0]["area"]
    older = Facts.from_json(notes)
    assert older.people == (person(), person())
    assert older.things[0].area is None
