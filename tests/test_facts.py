"""Facts as records: what they refuse, and what they look like as JSON."""

from __future__ import annotations

import json
from typing import Any

from shotad.core import Facts, PeopleFact, ThingFact


def person(**more: Any) -> PeopleFact:
    basics: dict[str, Any] = {"shot": 1, "first": 1.0, "last": 3.0, "count": 1, "place": "left", "size": 0.6}
    basics |= {"face": True, "movement": None, "enters": False, "leaves": False, "sure": 0.95}
    return PeopleFact(**(basics | more))


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
