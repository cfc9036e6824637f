"""Names of people are told from those of places, makes and titles; rather one too few than one too many."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from shotad.core import Character
from shotad.script import cast_mentions, people_named, words_of


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Boris smiles.", ["Boris"]),
        ("Boris's hand shakes.", ["Boris"]),
        ("She kisses Boris Lee and runs.", ["Boris Lee"]),
        ("She follows Mr. Lee.", ["Mr. Lee"]),
        ("Boris and Olga walk on.", ["Boris", "Olga"]),
        ("In London's rain, Boris waits.", ["Boris"]),
        # Places, makes, titles.
        ("She flies to London.", []),
        ("She walks down Baker Street.", []),
        ("They are back at Tipton.", []),
        ("He parks a black Mercedes.", []),
        ("The Bronx burns.", []),
        ("A poster of Tears of Steel hangs there.", []),
        ("Her friend Boris waits.", []),
        # Words that begin a sentence.
        ("Dogs bark.", []),
        ("Coloured lights reflect on the street.", []),
        ("Dad smiles.", []),
        # Read from the screen.
        ('A sign reads "Boris Lee".', []),
        ("", []),
    ],
)
def test_people(line: str, names: list[str]) -> None:
    assert [line[start:end] for start, end in people_named(line)] == names


CMD_AD = Path(__file__).parents[3] / "shared" / "data" / "cmd-ad"


@pytest.mark.skipif(not CMD_AD.exists(), reason="the published AD is not beside the repository")
def test_on_published_descriptions() -> None:
    """Of the names that are in the films' cast lists, more than four in five are known for people's without
    the list."""
    casts = {
        film: tuple(Character(str(i), name, name) for i, name in enumerate(names))
        for film, names in json.loads((CMD_AD / "cast.json").read_text()).items()
    }
    there = known = beside = 0
    with (CMD_AD / "cmdad_anno.csv").open() as file:
        for row in csv.DictReader(file):
            cast = casts[row["imdbid"]]
            spans = people_named(row["text"])
            for mention in cast_mentions(row["text"], cast):
                there += 1
                known += any(start < mention.end and mention.start < end for start, end in spans)
            beside += len(people_named(row["text"], words_of(cast).__contains__))
    assert known / there > 0.82
    assert beside < 1500  # of which 36 were no people's when all were looked at
