"""How words of one film are spoken: ``pronunciation.txt`` in its work folder, ``word = how it is spoken``.

It has the form of every lexicon (`shotad.sound.pronunciation`), and people may edit it. Renders and the
review page read it; the page and ``shotad render --say-as`` write into it. Its sayings go before those of
the cast.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

from shotad.core.errors import VoiceError
from shotad.core.files import write_text
from shotad.core.text_files import read_text_file
from shotad.script import track_lock
from shotad.sound.pronunciation import EMPTY_LEXICON, Lexicon, parse_lexicon

FILM_LEXICON = "pronunciation.txt"

_HINT = "Write: Siobhan = shiv-awn"


def film_lexicon(folder: Path) -> Lexicon:
    """The sayings of a work folder's film; empty where there are none. Raises VoiceError for a file that
    cannot be read."""
    path = folder / FILM_LEXICON
    return parse_lexicon(_text(path), str(path)) if path.is_file() else EMPTY_LEXICON


def set_saying(folder: Path, word: str, saying: str) -> Lexicon:
    """Have a word spoken as ``saying`` in this film from now on; empty: as written. Returns all sayings.

    Other lines of the file stay as they are. Raises VoiceError for what is no word or no saying.
    """
    word, saying = _plain(word), _plain(saying)
    if not word:
        raise VoiceError("There is no word to be said.", _HINT)
    new_line = f"{word} = {saying}"
    if saying:
        parse_lexicon(new_line, "This word")
    path = folder / FILM_LEXICON
    with track_lock(folder):
        lines = _text(path).splitlines() if path.is_file() else []
        other_lines = [line for line in lines if _plain(line.partition("=")[0]) != word]
        if saying:
            other_lines.append(new_line)
        text = "".join(f"{line}\n" for line in other_lines)
        lexicon = parse_lexicon(text, str(path))
        write_text(path, text)
    return lexicon


def _text(path: Path) -> str:
    return read_text_file(path, "lexicon", VoiceError, hint=_HINT, encoding="utf-8").text


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
