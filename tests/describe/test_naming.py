"""Words of a line, without a parser. Names: everybody is called what they are to be called, models are told about names
that are not, and names of people are told from those of places, makes and titles. Verbs, their forms and subjects."""

from __future__ import annotations

import csv
import json

import pytest

from shotad.core import Character
from shotad.core.cast import Presence
from shotad.description.slotplan import NearbyName, with_spoken_names
from shotad.script.english_words import (
    LEMMAS,
    PARTICIPLES,
    gerund_forms,
    lemma,
    participles,
    singular,
    third_person_form,
)
from shotad.script.names import (
    cast_mentions,
    names_in,
    people_named,
    words_of,
)
from tests.describe.prompting import ANNOTATION, SHARED
from tests.describe.slot_run import complaints_about, last_slot, run_slots

CELIA = Character("celia", "Celia", "Celia Smith", ("Dr. Smith", "Sis"), pronoun="she")
THOM = Character("thom", "Thom", "Thomas van Beek", ("Tommy",), pronoun="he")
BO = Character("bo", "the man in grey", "the man in grey", (), ("Bo", "Bo Jones"), "he", named=False)
DEB = Character("deb", "", "", (), ("Deb",), named=False)
CAST = (CELIA, THOM, BO, DEB)


@pytest.mark.parametrize(("text", "said"), [
    ("Dr. Celia Smith enters.", "Celia enters."),
    ("Mr. van Beek waits.", "Thom waits."),
    ("Sis' hat.", "Celia's hat."),
    # Only these.
    ("Mary Smith waits on Smith Street.", "Mary Smith waits on Smith Street."),
    ("A door reads “Dr. Smith”.", "A door reads “Dr. Smith”."),
    # Before the name is told.
    ("Bo smiles at Bo Jones's dog.", "The man in grey smiles at the man in grey's dog."),
    ("She waits. Captain Jones runs; Jones falls.", "She waits. The man in grey runs; the man in grey falls."),
    # In quotation marks too, and in small letters, unless the film shows the name.
    ("1. Main characters: Bo and Celia Smith", "1. Main characters: the man in grey and Celia"),
    ("\"Bo\" smiles at 'Bo Jones'.", "The man in grey smiles at the man in grey."),
    ("She gives bo jones a map.", "She gives the man in grey a map."),
    # Whoever's surname a model adds.
    ("Bo Finch runs.", "The man in grey runs."),
    # Nobody twice.
    ("Celia (Celia Smith) waves.", "Celia waves."),
    ("The man in grey (Bo) waves to Celia, Dr. Smith.", "The man in grey waves to Celia."),
    ("", ""),
])  # fmt: skip
def test_spoken(text: str, said: str) -> None:
    assert with_spoken_names(text, CAST) == said
    assert with_spoken_names(said, CAST) == said


def test_accents_are_left_out_as_models_like() -> None:
    zoe = Character("z", "the girl", "the girl", (), ("Zoë",), "she", named=False)
    rene = Character("r", "René", "René Ångström")
    assert (
        with_spoken_names("Zoe and ZOË see Rene Angstrom.", (zoe, rene)) == "The girl and the girl see René."
    )
    kana = Character("k", "the boy", "the boy", (), ("が",), "he", named=False)
    assert with_spoken_names("か", (kana,)) == "か"


HERE = Presence(CAST)
DESCRIPTION = "Celia and a boy. Celia runs along Baker Street as snow falls."


@pytest.mark.parametrize(("line", "description", "why"), [
    ("Bo Jones runs.", DESCRIPTION, '"Bo Jones" may not be named yet. Write "the man in grey" or "he" instead.'),
    ("Deb runs.", DESCRIPTION, '"Deb" may not be named yet. Write "he", "she" or "they" instead.'),
    ("Thom runs.", DESCRIPTION, 'The description does not say that "Thom" is there. Write "he" instead.'),
    ("Thom runs.", "Thomas van Beek runs.", ""),
])  # fmt: skip
def test_who_may_not_be_named_and_whom_the_description_does_not_name(line, description, why) -> None:
    question = complaints_about(line, description, HERE)
    assert why in question
    assert bool(question) == bool(why)


def test_a_name_from_nowhere() -> None:
    looks = "She looks at Boris."
    assert '"Boris" is not in the description.' in complaints_about(looks, DESCRIPTION, HERE)
    assert complaints_about(looks, "Celia sees Boris.", HERE) == ""
    nearby = [NearbyName("Boris", "spoken", 1.0)]
    assert complaints_about(looks, DESCRIPTION, HERE, nearby_names=nearby) == ""
    note = ("prompt.note=The thief is called Boris.",)
    assert complaints_about(looks, DESCRIPTION, HERE, how=note) == ""
    assert complaints_about("Sie sieht Boris auf der Straße.", DESCRIPTION, HERE, how=("language=de",)) == ""
    # A misspelt one is told with the right one.
    assert 'If "Celia" is meant, write that' in complaints_about("He looks at Celiah.", DESCRIPTION, HERE)
    # A word that is a name too.
    snow = Presence((Character("s", "Snow", "Snow"),))
    assert complaints_about("Snow falls.", "The snow falls.", snow) == ""
    assert '"Snow" is there' in complaints_about("Snow falls.", "A man falls.", snow)


@pytest.mark.parametrize(("line", "names"), [
    ("She looks at Ann and Bo.", ("Ann", "Bo")),
    ("She meets Captain Ann Lee.", ("Ann Lee",)),
    # Not in the middle of a sentence.
    ("Rain falls. Ann runs.", ()),
    # No names of people or places.
    ("She reads a French book at Christmas.", ()),
    ("A poster of Tears of Steel hangs there.", ()),
    # Read from the screen.
    ('A sign reads "Turn Left At Smith Road".', ()),
])  # fmt: skip
def test_names_of_a_line(line: str, names: tuple[str, ...]) -> None:
    assert names_in([line]) == names


def test_who_only_begins_sentences_is_named_where_two_lines_have_it_act() -> None:
    assert names_in(["Ann runs."]) == ()
    assert names_in(["Ann runs.", "Ann falls."]) == ("Ann",)
    assert names_in(["Ann runs.", "He watches. Ann slowly falls."]) == ("Ann",)
    assert names_in(["Rain falls.", "Rain runs down the pane.", "Nothing moves.", "Nothing stirs."]) == ()
    assert names_in(["Dogs run.", "Dogs bark."]) == ()
    # The first name of somebody known is not repeated.
    assert names_in(["He sees Ann.", "He sees Bo."], "The thief is Ann Lee.") == ("Ann Lee", "Bo")


def test_names_of_the_note_go_first_in_its_order() -> None:
    note = """Tone: dry. Place: a mill.
    - Cy: young, red hair
    - Ann Lee (her mother)
    * Bo – the dog
    Eve, a nurse
    Max is her brother. He lives with Ida.
    This is a sad film: avoid its end.
    """
    assert names_in(["He sees Zoë."], note) == ("Cy", "Ann Lee", "Bo", "Eve", "Max", "Ida", "Zoë")


@pytest.mark.parametrize(("line", "names"), [
    ("She kisses Boris Lee and runs.", ["Boris Lee"]),
    ("She follows Mr. Lee.", ["Mr. Lee"]),
    ("Boris's hand shakes.", ["Boris"]),
    ("Boris and Olga walk on.", ["Boris", "Olga"]),
    ("In London's rain, Boris waits.", ["Boris"]),
    # Places, makes, titles.
    ("They are back at Tipton.", []),
    ("A poster of Tears of Steel hangs there.", []),
    ("Her friend Boris waits.", []),
    # Words that begin a sentence.
    # Read from the screen.
    ('A sign reads "Boris Lee".', []),
    ("", []),
])  # fmt: skip
def test_people(line: str, names: list[str]) -> None:
    assert [line[start:end] for start, end in people_named(line)] == names


def test_words_that_are_names_too_are_names_where_they_act() -> None:
    cast = (Character("r", "Rose Dawson", "Rose Dawson"), Character("w", "Will Brennan", "Will Brennan"))
    for line, names in (("Will slowly steps back.", 1), ("Rose is here.", 1), ("Rose petals fall.", 0)):
        assert len(cast_mentions(line, cast)) == names, line


@pytest.mark.skipif(not ANNOTATION.exists(), reason="the published AD is not beside the repository")
def test_on_published_descriptions() -> None:
    """Of the names that are in the films' cast lists, more than four in five are known for people's without
    the list."""
    casts = {
        film: tuple(Character(str(i), name, name) for i, name in enumerate(names))
        for film, names in json.loads((SHARED / "cmd-ad" / "cast.json").read_text()).items()
    }
    there = known = beside = 0
    with ANNOTATION.open() as file:
        for row in list(csv.DictReader(file))[::2]:
            cast = casts[row["imdbid"]]
            spans = people_named(row["text"])
            for mention in cast_mentions(row["text"], cast):
                there += 1
                known += any(start < mention.end and mention.start < end for start, end in spans)
            beside += len(people_named(row["text"], words_of(cast).__contains__))
    assert known / there > 0.82
    assert beside < 750  # of 1,500 in all lines 36 were no people's


# Verbs


FORMS = [
    ("be", "is", "being", "been"),
    ("carry", "carries", "carrying", "carried"),
    ("go", "goes", "going", "gone"),
    ("lie", "lies", "lying", "lain"),
    ("grab", "grabs", "grabbing", "grabbed"),
    ("take", "takes", "taking", "taken"),
]


@pytest.mark.parametrize(("base", "present", "gerund", "participle"), FORMS)
def test_a_verb_has_its_forms(base: str, present: str, gerund: str, participle: str) -> None:
    assert third_person_form(base) == present
    assert gerund_forms(base)[0] == gerund
    assert participle in participles(base)


def test_a_form_leads_to_its_verb_or_its_singular_and_made_up_forms_are_none() -> None:
    verbs = {"grabbing": "grab", "took": "take", "saw": "see", "lay": "lay", "bound": "bound", "was": "be",
             "shone": "shine", "traveled": "travel", "teapot": "teapot"}  # fmt: skip
    assert {form: lemma(form) for form in verbs} == verbs
    nouns = {"boxes": "box", "ladies": "lady", "glass": "glass", "gas": "gas", "gulls": "gull"}
    assert {noun: singular(noun) for noun in nouns} == nouns
    wrong = [
        "runned", "teared", "bended", "goed", "haved", "runing", "takeing", "squating", "bes", "gos",
        "reseting", "unwraping", "begining",
    ]  # fmt: skip
    assert not set(wrong) & (set(LEMMAS) | PARTICIPLES)


@pytest.mark.parametrize(("line", "other", "same"), [
    # The same words, but another acts, or something else is done.
    ("Slowly, Ann opens the old door for Bob.", "Slowly, Bob opens the old door for Ann.", False),
    ("Turning at the window, she smiles.", "Smiling at the window, she turns.", True),
    ("The pizza guy's jaw drops.", "The guy's pizza jaw drops.", True),
    ("The old train stops at the gate.", "The gate stops the old train.", False),
    ("Cut to black.", "Cut to black.", True),
    ("Inside, a second pair of doors.", "A second pair of doors inside.", True),
])  # fmt: skip
def test_lines_with_the_same_words_are_copies_where_the_same_one_does_the_same(line, other, same) -> None:
    how = ("stage2.repair=none", "stage2.candidates=2")
    candidates = run_slots(last_slot(line, other), how=how).cue.candidates
    assert len(candidates) == (1 if same else 2)


def test_a_form_of_a_verb_is_a_noun_after_an_article_or_a_preposition() -> None:
    """A verb of the description counts more than its other words for the choice of a line."""
    how = ("stage2.repair=none", "stage2.candidates=2")
    for description, other, line in (
        ("She takes a walk with her watch in hand.", "A walk begins.", "She takes something."),
        ("He walks to a door.", "He sits at a door.", "He walks."),
    ):
        looks = (f"Description:\n1. Actions: {description}",)
        assert run_slots(last_slot(other, line, looks=looks), how=how).cue.text == line
