"""The forms in which a line may be said: itself and what is left of it, and how long each takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from shotad.config import FitSettings
from shotad.describe.fit import split_sentences, variants
from shotad.script.cue import count_words
from shotad.sound.kinds import Line, Take

HOPE = 0.95
"""An unspoken form is taken to be this much shorter than the pace of its line says: one that is tried in vain
costs a call of the voice, one that is not tried costs the listener words."""


@dataclass(frozen=True, slots=True)
class Form:
    """Words in which a line may be said. ``steps`` say what became of the rest, ``lost`` is how many words.

    ``length`` is at the voice's own pace: measured where there is a ``take``, else estimated. ``factor`` is
    how many times faster it may be spoken.
    """

    text: str
    lost: int
    steps: tuple[str, ...]
    length: int
    factor: float
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
    return -(-take.samples.size * 1000 // take.rate)


def forms_of(line: Line, take: Take, settings: FitSettings) -> tuple[Form, ...]:
    """The line as it is, spoken, then its ever shorter forms, with lengths by its own pace."""
    whole = spoken(_form(line.text, 0, (), 1, settings), take, settings)
    pace = whole.length / weight(line.text)
    words = count_words(line.text)
    shorter = variants(
        line.text,
        language=line.language,
        sentences=settings.drop_sentences,
        clauses=settings.drop_clauses,
    )
    return (
        whole,
        *(
            _form(
                text.text,
                words - count_words(text.text),
                tuple(_left_out(line.text, text.text)),
                max(1, round(HOPE * pace * weight(text.text))),
                settings,
            )
            for text in shorter
            if text.text != line.text and (settings.drop_sentences or settings.drop_clauses)
        ),
    )


def written(line: Line, text: str, whole: Form, settings: FitSettings) -> Form:
    """A form that somebody wrote anew."""
    length = max(1, round(HOPE * whole.length / weight(line.text) * weight(text)))
    step = f"written anew, shorter: {line.text}"
    return _form(text, max(0, count_words(line.text) - count_words(text)), (step,), length, settings)


def spoken(form: Form, take: Take, settings: FitSettings) -> Form:
    """The form with its measured length."""
    length = milliseconds_of(take)
    return replace(form, take=take, length=length, factor=_factor(form.text, length, settings))


def weight(text: str) -> int:
    """How much there is to say, for comparing texts of one voice: letters, a figure as several, a pause."""
    figures = sum(char.isdigit() for char in text)
    stops = len(_STOP.findall(text))
    return max(1, sum(char.isalpha() for char in text) + _FIGURE * figures + _PAUSE * stops)


_STOP = re.compile(r"[,;:.!?…–—](?=\s)")
_FIGURE, _PAUSE = 5, 4
"""Letters that take as long to say as a figure (four to five in English), and as a pause between phrases."""


def _form(text: str, lost: int, steps: tuple[str, ...], length: int, settings: FitSettings) -> Form:
    return Form(text, lost, steps, length, _factor(text, length, settings))


def _factor(text: str, length: int, settings: FitSettings) -> float:
    """How many times faster it may be: the setting, and never over the longest word rate."""
    own = 60_000 * max(1, count_words(text)) / length
    return max(1.0, min(settings.fastest, settings.longest_word_rate / own))


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
