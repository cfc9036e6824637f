"""The forms in which a line may be said: itself and what is left of it, and how long each takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from shotad.core import FitSettings
from shotad.script import BREATH, fit_spoken, rate_of, split_sentences, spoken_words, usual_words, variants
from shotad.sound.kinds import Line, Take

HOPE = 0.95
"""An unspoken form is taken to be this much shorter than the pace of its line says: one that is tried in vain
costs a call of the voice, one that is not tried costs the listener words."""


@dataclass(frozen=True, slots=True)
class Form:
    """Words in which a line may be said. ``steps`` say what became of the rest.

    ``words`` is how many English words it counts for, ``lost`` how many it has fewer than the line. Its
    ``length`` is at the voice's own pace: measured where there is a ``take``, else estimated. ``factor`` is
    how many times faster it may be spoken.
    """

    text: str
    words: int
    lost: int
    steps: tuple[str, ...]
    length: int
    factor: float
    usual: float = 1.0
    """Its letters as words of the usual length, by which its pace is told (`shotad.script.pace`)."""
    take: Take | None = None

    def at(self, factor: float) -> int:
        """Its length at this many times its pace, or at the fastest it may have."""
        return math.ceil(self.length / min(factor, self.factor) - 1e-6)

    @property
    def shortest(self) -> int:
        """Its length at its fastest."""
        return self.at(self.factor)


def milliseconds_of(take: Take) -> int:
    """Length of a take, its last millisecond counted whole."""
    return -(-take.size * 1000 // take.rate)


def whole_form(line: Line, take: Take, settings: FitSettings) -> Form:
    """The line as it is, spoken."""
    words = spoken_words(line.text, line.language)
    usual = usual_words(line.text, line.language)
    return spoken(Form(line.text, words, 0, (), 1, 1.0, usual), take, settings)


def shorter_forms(line: Line, whole: Form, settings: FitSettings) -> Iterator[Form]:
    """Its ever shorter forms, with lengths by its own pace."""
    return (_cut(line, text, whole, settings) for text in _shorter(line, settings))


def written(line: Line, text: str, whole: Form, settings: FitSettings) -> Form:
    """A form that somebody wrote anew."""
    return _form(line, text, (f"written anew, shorter: {line.text}",), whole, settings)


def spoken(form: Form, take: Take, settings: FitSettings) -> Form:
    """The form with its measured length."""
    length = milliseconds_of(take)
    return replace(form, take=take, length=length, factor=_factor(form.usual, length, settings))


def weight(text: str) -> int:
    """How much there is to say, for comparing texts of one voice: letters, a figure as several, a pause."""
    figures = sum(char.isdigit() for char in text)
    stops = len(_STOP.findall(text))
    return max(1, sum(char.isalpha() for char in text) + _FIGURE * figures + _PAUSE * stops)


_STOP = re.compile(r"[,;:.!?…–—](?=\s)")
_FIGURE, _PAUSE = 5, 4
"""Letters that take as long to say as a figure (four to five in English), and as a pause between phrases."""


def _shorter(line: Line, settings: FitSettings) -> Iterator[str]:
    """Ever shorter texts of a line that are whole."""
    sentences, clauses = settings.drop_sentences, settings.drop_clauses
    if rate_of(line.language).words:
        forms = variants(line.text, language=line.language, sentences=sentences, clauses=clauses)
        yield from (form.text for form in forms if form.text != line.text)
    elif sentences and clauses:
        budget = spoken_words(line.text, line.language) - 1
        while budget > 0 and (form := fit_spoken(line.text, budget, language=line.language)) is not None:
            yield form.text
            budget = spoken_words(form.text, line.language) - 1


def _cut(line: Line, text: str, whole: Form, settings: FitSettings) -> Form:
    blanks = rate_of(line.language).words > 0
    steps = tuple(_left_out(line.text, text)) if blanks else (f"dropped sentences or clauses: {line.text}",)
    return _form(line, text, steps, whole, settings)


def _form(line: Line, text: str, steps: tuple[str, ...], whole: Form, settings: FitSettings) -> Form:
    """A form that has not been spoken, its length after the pace of the whole line."""
    length = max(1, round(HOPE * whole.length / weight(line.text) * weight(text)))
    words = spoken_words(text, line.language)
    lost = max(0, whole.words - words)
    usual = usual_words(text, line.language)
    return Form(text, words, lost, steps, length, _factor(usual, length, settings), usual)


def _factor(usual: float, length: int, settings: FitSettings) -> float:
    """How many times faster it may be: the setting, and never over the longest word rate, as T3 counts."""
    least = 60 * usual / settings.longest_word_rate - BREATH
    return max(1.0, min(settings.fastest, length / 1000 / least)) if least > 0 else settings.fastest


def _left_out(whole: str, short: str) -> Iterator[str]:
    """What a form leaves out, in words for people."""
    before, after = split_sentences(whole), split_sentences(short)
    gone = before[len(after) :]
    if gone:
        yield f"dropped {_sentences(len(gone))}: {' '.join(gone)}"
    pieces = [piece for old, new in zip(before, after, strict=False) for piece in _gone(old, new)]
    if pieces:
        yield f"dropped {'a clause' if len(pieces) == 1 else 'clauses'}: {' … '.join(pieces)}"


def _sentences(number: int) -> str:
    return "a sentence" if number == 1 else f"{number} sentences"


def _gone(old: str, new: str) -> list[str]:
    """Runs of words of ``old`` that ``new`` has not."""
    words = old.split()
    match = SequenceMatcher(None, _bare(words), _bare(new.split()), autojunk=False)
    runs = [words[a:b] for kind, a, b, _, _ in match.get_opcodes() if kind in ("delete", "replace")]
    return [" ".join(run).strip(" ,;:.–—-") for run in runs]


def _bare(words: Sequence[str]) -> list[str]:
    return ["".join(char for char in word.lower() if char.isalnum()) or word for word in words]
