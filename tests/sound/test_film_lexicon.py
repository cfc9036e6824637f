"""How words of one film are spoken, kept in its work folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core.errors import VoiceError
from shotad.sound.film_lexicon import FILM_LEXICON, film_lexicon, set_saying
from tests.rendering.described import rendered, write_folder


def test_a_saying_is_kept_changed_and_removed_and_other_lines_stay(tmp_path: Path) -> None:
    assert film_lexicon(tmp_path).sayings == {}
    (tmp_path / FILM_LEXICON).write_text("# Irish names\nNiamh = neev\n", encoding="utf-8")
    set_saying(tmp_path, " Siobhan ", "shiv-awn")
    assert dict(set_saying(tmp_path, "Niamh", "neeve").sayings) == {"Siobhan": "shiv-awn", "Niamh": "neeve"}
    text = (tmp_path / FILM_LEXICON).read_text(encoding="utf-8")
    assert text == "# Irish names\nSiobhan = shiv-awn\nNiamh = neeve\n"
    assert dict(set_saying(tmp_path, "Siobhan", "").sayings) == {"Niamh": "neeve"}


@pytest.mark.parametrize(("word", "saying"), [("", "x"), ("word", "123"), ("a=b", "c"), ("word", "<b>")])
def test_what_is_no_word_or_no_saying_is_refused(tmp_path: Path, word: str, saying: str) -> None:
    with pytest.raises(VoiceError):
        set_saying(tmp_path, word, saying)
    assert film_lexicon(tmp_path).sayings == {}


def test_a_render_says_it_so_and_speaks_only_those_lines_again(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "w")
    rendered(place, "ad")
    set_saying(place, "cat", "katt")
    _, voice = rendered(place, "ad")
    assert [text for text, _ in voice.calls] == ["A katt sleeps by the window."]
