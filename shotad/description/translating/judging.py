"""What is wrong with a translation, in sentences that tell a model what to do about it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shotad.core import Language
from shotad.description.language_id import other_language
from shotad.description.translating.prompt import Task
from shotad.description.translating.wanted import Wanted
from shotad.script import MARKUP, budget_in, quotations, similarity, spoken_words

_SAME_WORDS = 3
"""A line of fewer words may be the same in both languages by right: a name, a title that is read."""
_ALIKE = 0.5
"""Share of their words from which two lines may well be one sentence in the other language."""
_STEM = 3
"""Letters of a name that case endings leave: ``Anna → Anny``, ``Annan``."""
_MARKS = re.compile(r"[\"“”„«»「」『』‘‚‹›]|(?<!\w)'|'(?!\w)")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong. ``kind``: missing, refused, language, copied, markup, length, name, quote,
    repeated.

    ``text`` is a sentence or two for a model.
    """

    kind: str
    text: str

    @property
    def soft(self) -> bool:
        """Whether the translation may be spoken all the same: it is asked for again once."""
        return self.kind in ("name", "quote")

    @property
    def fits_not(self) -> bool:
        """Whether only its length is wrong: it may be shortened without a model."""
        return self.kind == "length"


MISSING = Fault("missing", "It was left out of the answer. Translate it too.")
REPEATED = Fault("repeated", "You gave the same sentence for another line. Translate what this line says.")


def repeats(text: str, line: str, others: Iterable[tuple[str, str]]) -> bool:
    """Whether ``text``, for ``line``, came for another of ``others`` too, lines with their translations.

    Lines that are alike may come to one sentence, and short ones (``He leaves.``, ``He goes.``) too.
    """
    said = _bare(text)
    return len(said) >= _SAME_WORDS and any(
        _bare(told) == said and similarity(other, line) < _ALIKE for other, told in others
    )


def _bare(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def faults_of(text: str, line: Wanted, task: Task) -> tuple[Fault, ...]:
    """What is wrong with ``text`` as the translation of ``line``; nothing where it is good."""
    return (
        *_in_another_language(text, line, task),
        *_markup(text),
        *_too_long(text, line, task.target),
        *_names_gone(text, line, task.target),
        *_quotes_gone(text, line, task),
    )


def _in_another_language(text: str, line: Wanted, task: Task) -> Iterator[Fault]:
    target = task.target
    if (found := other_language(text, target.tag, line.names)) is not None:
        yield Fault("language", f"It is in {found}. Write it in {target.name}.")
    elif task.source.code != target.code and _copied(text, line.text):
        yield Fault("copied", f"It is the line itself. Write it in {target.name}.")


def _copied(text: str, line: str) -> bool:
    plain = line
    for start, end in reversed(quotations(line)):
        plain = f"{plain[:start]} {plain[end:]}"
    return len(plain.split()) >= _SAME_WORDS and _letters(text) == _letters(line)


def _markup(text: str) -> Iterator[Fault]:
    if (found := MARKUP.search(text)) is not None:
        yield Fault("markup", f"It holds {found[0].strip()!r}. Give the sentence alone, as plain text.")


def _too_long(text: str, line: Wanted, target: Language) -> Iterator[Fault]:
    if spoken_words(text, target.tag) > line.words:
        most = budget_in(target.tag, line.words)
        short = "short ones, " if most.unit == "word" else ""
        yield Fault("length", f"It takes too long to say. Write at most {most}, {short}less if need be.")


def _names_gone(text: str, line: Wanted, target: Language) -> Iterator[Fault]:
    """Names that are left out or translated; another script spells them in its own letters."""
    if not _is_latin(text):
        return
    said = _letters(text)
    gone = [name for name in line.names if _is_latin(name) and not _says(name, said)]
    if gone:
        yield Fault("name", f"It must say {' and '.join(gone)}, spelled so.")


def _says(name: str, said: str) -> bool:
    """Whether any part of the name stands there, but for its last letters, which a case may change."""
    parts = [_letters(part) for part in name.split()]
    return any(part[: max(_STEM, len(part) - 2)] in said for part in parts if part)


def _quotes_gone(text: str, line: Wanted, task: Task) -> Iterator[Fault]:
    spans = quotations(line.text)
    if not spans:
        return
    if task.quotes == "keep":
        inner = [line.text[start + 1 : end - 1].strip(" .,!?") for start, end in spans]
        if gone := [said for said in inner if said.casefold() not in text.casefold()]:
            yield Fault("quote", f"What is read from the screen stays as it is: {' and '.join(gone)}.")
    elif not quotes(text):
        yield Fault("quote", "What is read from the screen must stand in quotation marks.")


def quotes(text: str) -> bool:
    """Whether something in the text stands in quotation marks, of whatever language."""
    return _MARKS.search(text) is not None


def _is_latin(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return sum("LATIN" in unicodedata.name(char, "") for char in letters) * 2 > len(letters)


def _letters(text: str) -> str:
    """Letters and digits in small letters, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in plain if char.isalnum())
