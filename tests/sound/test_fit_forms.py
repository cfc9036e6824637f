"""The forms of a line: ever shorter, whole, with lengths by its own pace and words on what is gone."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from shotad.core import FitSettings
from shotad.script import count_words, usual_words, variants
from shotad.script.pace import tempo
from shotad.sound.placing import Form, shorter_forms, whole_form, written
from tests.sound.speaking import Slow, line

TEXT = "He walks to the door, opens it and looks out into the dark street. A dog barks. Then it is still."
SETTINGS = FitSettings()


def forms(text: str, settings: FitSettings = SETTINGS, pace: float = 0.1, language: str = "en") -> list[Form]:
    own = line(text, 10, (10, 20), language=language)
    whole = whole_form(own, Slow(pace).say(text), settings)
    return [whole, *shorter_forms(own, whole, settings)]


@given(
    st.lists(
        st.sampled_from(
            [
                TEXT,
                "She takes a book from the shelf, holding her hat.",
                "As the sun sets, they walk home.",
                'A sign reads "No entry, please."',
                "Run!",
            ]
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_variants_get_ever_shorter_and_the_first_is_the_line(parts: list[str]) -> None:
    text = " ".join(parts)
    found = [one.text for one in variants(text)]
    words = [count_words(one) for one in found]
    assert found[0] == text
    assert all(more > fewer > 0 for more, fewer in itertools.pairwise(words))


def test_what_is_gone_is_told() -> None:
    told = {form.text: form.steps for form in forms(TEXT)}
    assert told[TEXT] == ()
    first = "He walks to the door, opens it and looks out into the dark street."
    assert told[f"{first} A dog barks."] == ("dropped a sentence: Then it is still.",)
    assert told[first] == ("dropped 2 sentences: A dog barks. Then it is still.",)
    assert told["He walks to the door and opens it."] == (
        "dropped 2 sentences: A dog barks. Then it is still.",
        "dropped a clause: and looks out into the dark street",
    )


@pytest.mark.parametrize("pace", [0.1, 0.07, 0.06])
def test_how_much_faster_depends_on_the_pace(pace: float) -> None:
    text = "They walk down to the lake, and then they swim across it."
    (whole, *_) = forms(text, pace=pace)
    usual = usual_words(text)
    at_most = tempo(usual, whole.length / 1000 / whole.factor)
    if pace == 0.1:
        assert whole.factor == 1.15
        assert at_most < 200
    elif pace == 0.07:
        assert 1 < whole.factor < 1.15
        assert at_most == pytest.approx(200, abs=0.1)
    else:
        assert whole.factor == 1
        assert at_most > 200
    assert whole.at(9) == whole.shortest
    assert whole.at(1) == whole.length


def test_a_line_written_anew_tells_the_old_one() -> None:
    own = line(TEXT, 10, (10, 20))
    whole = whole_form(own, Slow().say(TEXT), SETTINGS)
    form = written(own, "He looks out.", whole, SETTINGS)
    assert form.steps == (f"written anew, shorter: {TEXT}",)
    assert form.lost == whole.words - 3


def test_forms_of_other_languages() -> None:
    german = forms("Er geht zur Tür, öffnet sie und blickt hinaus. Ein Hund bellt.", language="de")
    assert [form.text for form in german][1] == "Er geht zur Tür, öffnet sie und blickt hinaus."
    chinese = forms("他打开门，走进黑暗的房间。窗外下着雨。", language="zh")
    assert [form.text for form in chinese][1:] == ["他打开门，走进黑暗的房间。", "他打开门。"]
    assert chinese[1].steps[0].startswith("dropped sentences or clauses: ")
