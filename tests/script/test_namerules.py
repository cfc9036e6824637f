"""L7 and L8: names that are nobody's, come too early, or are two for one person."""

from __future__ import annotations

from collections.abc import Sequence

from shotad.core import Cast, Character, Member, Reveal
from shotad.script import check_names, people_named

CAST = Cast(
    (
        Member("ann", "Ann Lee", "Ann", ("Annie",), "she"),
        Member("bo", "Bo Hill", "Bo", (), "he", "the man in grey", (Reveal(100.0),)),
        Member("cy", nameless=True),
    )
)


def cast(at: float) -> Sequence[Character]:
    return CAST.characters("film", at)


def rules(*lines: tuple[float, str]) -> list[list[str]]:
    return [[f.rule for f in found] for found in check_names(lines, cast, people_named)]


def test_clean_lines() -> None:
    assert rules((1, "Ann runs."), (2, "The man in grey waits."), (150, "Bo looks at Ann.")) == [[], [], []]


def test_a_name_before_the_film_reveals_it_is_an_error() -> None:
    early, late = check_names([(99.9, "Ann sees Bo Hill."), (100.0, "Ann sees Bo Hill.")], cast)
    (finding,) = early
    assert (finding.rule, str(finding.level)) == ("L7", "error")
    assert finding.span == (9, 16)
    assert "'Bo Hill'" in finding.message
    assert late == ()


def test_a_name_of_nobody_is_an_error() -> None:
    ((finding,),) = check_names([(1, "Ann smiles at Boris.")], cast, people_named)
    assert (finding.rule, str(finding.level), finding.span) == ("L7", "error", (14, 19))
    assert check_names([(1, "Ann smiles at Boris.")], cast) == ((),)
    assert rules((1, "Ann flies to the Bronx Zoo.")) == [[]]


def test_a_misspelt_name_is_told_with_the_right_one() -> None:
    ((finding,),) = check_names([(150, "She smiles at Anne.")], cast, people_named)
    assert finding.message.endswith("is it 'Ann'?")


def test_two_names_for_one_person_are_a_warning() -> None:
    lines = [(1.0, "Ann runs."), (2.0, "Annie falls."), (3.0, "Ann and Lee wait."), (4.0, "Ann sits.")]
    found = check_names(lines, cast, people_named)
    assert [[(f.rule, str(f.level)) for f in one] for one in found] == [
        [], [("L8", "warning")], [("L8", "warning")], []
    ]  # fmt: skip
    assert "'Ann'" in found[1][0].message


def test_a_track_may_use_another_name_throughout() -> None:
    assert rules((1, "Lee runs."), (2, "Lee falls."), (3, "Ann sits.")) == [[], [], ["L8"]]


def test_the_full_name_may_introduce_somebody() -> None:
    assert rules((1, "Ann Lee runs."), (2, "Ann falls."), (3, "Ann Lee sits."), (4, "Ann hides.")) == [
        [], [], ["L8"], []
    ]  # fmt: skip


def test_a_title_makes_no_other_name() -> None:
    assert rules((1, "Ann runs."), (2, "Dr. Ann falls."), (3, "Ann sits.")) == [[], [], []]


def test_without_a_cast_nothing_is_found() -> None:
    assert check_names([(1, "Boris runs."), (2, "Bo runs.")], lambda at: (), people_named) == ((), ())


def test_no_lines() -> None:
    assert check_names([], cast, people_named) == ()
