"""Whom pronouns mean, by the plain resolver: texts that are plain to a reader."""

from __future__ import annotations

import pytest

from shotad.evaluation.metrics.critic import Document
from shotad.evaluation.metrics.pronouns import named, resolved

CAST = ("Tony Wendice", "Margot Wendice", "Mark Halliday", "Charles Swann", "Celia Ross", "Quarrel", "Max")
T, M, H, S, C, X = "Tony Wendice", "Margot Wendice", "Mark Halliday", "Charles Swann", "Celia Ross", "Max"


def last(*sentences: str, starts: tuple[float, ...] = (), groups: bool = True) -> set[str]:
    """Whom the last sentence means."""
    return set(resolved(Document(sentences, CAST, starts), groups)[-1])


@pytest.mark.parametrize(
    ("text", "people"),
    [
        # A man and a woman.
        (["Tony opens the door.", "He steps inside."], {T}),
        (["Margot looks up.", "She drops the phone."], {M}),
        (["Tony looks at Margot.", "She turns away."], {M}),
        (["Tony looks at Margot.", "He smiles."], {T}),
        (["Swann bends over Margot.", "She struggles to push him away."], {M, S}),
        (["Swann puts the scarf around Margot's neck.", "He pulls it tight as she gasps."], {M, S}),
        (["Margot sits.", "Tony stands.", "She watches him."], {M, T}),
        # Two women, two men.
        (["Margot meets Celia.", "Celia hugs her."], {M, C}),
        (["Celia hugs Margot.", "Celia kisses her cheek."], {M, C}),
        (["Margot meets Celia.", "She waves."], {M}),
        (["Tony glares.", "Mark hits him."], {T, H}),
        (["Tony stands.", "Mark enters.", "He sits down."], {H}),
        (["Mark follows Tony.", "He glares at Mark."], {T, H}),
        # In one sentence.
        (["Tony checks his watch."], {T}),
        (["Tony pours himself a drink."], {T}),
        (["Mark lies there.", "Tony pours himself a drink."], {T}),
        (["Wiping his brow, Tony sits down."], {T}),
        (["Mark leaves.", "Wiping his brow, Tony sits down."], {T}),
        (["Tony closes the door behind him."], {T}),
        (["Mark waits.", "Tony creeps up behind him."], {T, H}),
        (["Tony looks at Mark, who drops his cards."], {T, H}),
        (["Margot waits.", "Tony lets Mark kiss her."], {M, T, H}),
        (["Margot sighs.", "Celia strokes her hair."], {M, C}),
        (["Tony shoves Mark.", "And throws him to the ground."], {H}),
        # Somebody who is not in the cast.
        (["A man enters.", "He sits down."], set()),
        (["Tony waits.", "A man enters.", "He sits down."], set()),
        (["Tony waits.", "A woman enters.", "He stands up."], {T}),
        (["Tony waits.", "Her husband enters.", "He sits down."], set()),
        (["George waits.", "Tony enters.", "George shakes his head."], set()),
        (["The man looks up."], set()),
        (["He looks up."], set()),
        # Possessives.
        (["Margot's hand trembles.", "She drops the glass."], {M}),
        (["Tony's wife looks up.", "She drops the glass."], set()),
        (["Margot's dog barks.", "Her eyes widen."], {M}),
        # Several.
        (["Tony and Mark enter.", "They sit down."], {T, H}),
        (["Tony looks at Margot.", "They kiss."], {T, M}),
        (["Tony, Mark and Celia enter.", "They sit down."], {T, H, C}),
        (["The police arrive.", "They search the flat."], set()),
        (["Tony and Mark enter.", "Two policemen stop them."], {T, H}),
        (["Tony and Mark enter.", "Margot watches them."], {T, H, M}),
        (["They sit down."], set()),
        # It is nobody.
        (["Tony lifts the phone.", "It rings."], set()),
        (["Tony lifts the phone.", "Its cord swings."], set()),
        # Short forms.
        (["Tony waits.", "He's nervous."], {T}),
        (["Margot waits.", "She’s nervous."], {M}),
    ],
)  # fmt: skip
def test_pronouns(text: list[str], people: set[str]) -> None:
    assert last(*text) == people


def test_what_the_film_says_of_somebody_tells_who_is_she() -> None:
    film = ("Quarrel rubs her eyes.", "Quarrel lifts her gun.", "Tony meets Quarrel.", "She turns.")
    assert resolved(Document(film, CAST))[-1] == ("Quarrel",)


def test_pronouns_do_not_reach_over_a_long_pause() -> None:
    text = ("Tony opens the door.", "He steps inside.")
    assert last(*text, starts=(10.0, 14.0)) == {T}
    assert last(*text, starts=(10.0, 900.0)) == set()
    assert last(*text) == {T}


def test_nobody_is_in_focus_for_ever() -> None:
    assert last("Tony opens the door.", *["Rain falls."] * 10, "He steps inside.") == set()


def test_a_lead_is_meant_where_nobody_is_in_focus() -> None:
    film = (*["Tony waits."] * 6, "Mark nods.", *["Rain falls."] * 10, "He steps inside.")
    assert last(*film) == {T}
    assert last(*film[:-1], "Tony looks at him.") == {T}, "the lead does not look at himself"


def test_several_may_be_left_out() -> None:
    assert last("Tony and Mark enter.", "They sit down.", groups=False) == set()


def test_every_sentence_has_its_answer_and_empty_ones_mean_nobody() -> None:
    found = resolved(Document(("Tony waits.", "", "He nods.", "…"), CAST))
    assert found == (("Tony Wendice",), (), ("Tony Wendice",), ())


def test_no_cast_means_nobody() -> None:
    assert resolved(Document(("Tony waits.", "He nods."), ())) == ((), ())


def test_a_document_has_a_start_for_each_sentence() -> None:
    with pytest.raises(ValueError, match="2 starts for 1 sentences"):
        Document(("Tony waits.",), CAST, (1.0, 2.0))


def test_where_names_stand() -> None:
    (found,) = named(Document(("The Inspector meets Tony's wife, Margot.",), (*CAST, "Inspector Hubbard")))
    text = "The Inspector meets Tony's wife, Margot."
    assert [(text[start:end], name) for start, end, name in found] == [
        ("The Inspector", "Inspector Hubbard"), ("Tony", T), ("Margot", M),
    ]  # fmt: skip
