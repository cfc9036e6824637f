"""What the review says: keys of the page's texts with values.

The texts are in ``web/texts/LANGUAGE.json``, and the page shows them in its reader's language; programs, the
terminal and files get the English ones. What other packages say stays as they say it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from shotad.core import ShotadError
from shotad.core.errors import ReviewError
from shotad.core.progress import size_text
from shotad.review.events import Json
from shotad.script.cue import milliseconds

TEXTS = Path(__file__).parent / "web" / "texts"
"""The folder of the page's texts."""


@dataclass(frozen=True, slots=True)
class Time:
    """A second of the film, written to the millisecond: ``2:03.456``."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Seconds:
    """A length, written to a tenth: ``4.2 s``."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes, written as ``1.2 MB``."""

    size: int


@dataclass(frozen=True, slots=True)
class Message:
    """A text of the page, by its key, and the ``values`` that stand in its places. As `str` it is English."""

    key: str
    values: Mapping[str, Value]

    def __str__(self) -> str:
        return english(self.key, self.values)

    def view(self) -> dict[str, Any]:
        """As JSON, with the English ``text`` for who has no texts of the page."""
        return {"key": self.key, "values": values_view(self.values), "text": str(self)}


Value: TypeAlias = "str | int | float | Time | Seconds | Size | Message | Sequence[Value]"
"""What may stand in a text; a sequence is written as ``a, b and c``."""

Sentence = str | Message
"""What is said: by the review itself with a key, by another package as it is."""


def message(key: str, /, **values: Value) -> Message:
    """The text ``key`` with its values; ``count`` among them chooses the plural form."""
    return Message(key, values)


def both(first: Sentence, second: Sentence) -> Sentence:
    """Two sentences, one after the other; either may be empty."""
    if not first or not second:
        return first or second
    return message("page.both", first=first, second=second)


def joined(sentences: Iterable[Sentence]) -> Sentence:
    """Sentences, one after the other; empty where there are none."""
    text: Sentence = ""
    for sentence in sentences:
        text = both(text, sentence)
    return text


def refusal(key: str, /, **values: Value) -> ReviewError:
    """A `ReviewError` that says the text ``key``, and as its hint ``key.hint`` where there is one."""
    return with_texts(ReviewError, key, **values)


Error = TypeVar("Error", bound=ShotadError)


def with_texts(kind: Callable[[str, str], Error], key: str, /, **values: Value) -> Error:
    """An error of a class that says the text ``key``, and as its hint ``key.hint`` where there is one."""
    hint = f"{key}.hint"
    error = kind(english(key, values), english(hint, values) if hint in _english_texts() else "")
    error.key, error.values = key, values
    return error


def said_by(error: ShotadError) -> Sentence:
    """What an error says has happened, without its hint."""
    return Message(error.key, error.values) if error.key else error.what


def fault_view(error: ShotadError) -> dict[str, Any]:
    """An error as the page gets it: ``what`` and ``hint`` in English, and the key of its text if any."""
    view: dict[str, Any] = {"what": error.what, "hint": error.hint}
    if error.key:
        view |= {"key": error.key, "values": values_view(error.values)}
    return view


def sentence_view(said: Sentence) -> Any:
    """A sentence as JSON: a text alone, or the object of `Message.view`."""
    return said.view() if isinstance(said, Message) else said


def values_view(values: Mapping[str, Value]) -> dict[str, Any]:
    """The values of a text as JSON."""
    return {name: _value_view(value) for name, value in values.items()}


def message_of(view: Any) -> Sentence:
    """A sentence from its JSON (`sentence_view`). Raises ValueError for what is none."""
    match view:
        case str():
            return view
        case {"key": str(key), "values": {**values}}:
            return Message(key, {str(name): _value_of(value) for name, value in values.items()})
    raise ValueError("neither a text nor a message")


def english(key: str, values: Mapping[str, Value]) -> str:
    """The English text ``key`` with its values; the key where there is none."""
    text = _english_texts().get(key, key)
    if not isinstance(text, str):
        text = text["one" if values.get("count") == 1 else "other"]
    words = re.sub(r"\{(\w+)\}", lambda place: _english_word(values.get(place[1], place[0])), text)
    # A sentence that begins with the words of another text, a reason say, begins with a capital all the same.
    begins = [str(value) for value in values.values() if isinstance(value, Message)]
    is_begun_by_other = any(words.startswith(beginning) for beginning in begins)
    return words[:1].upper() + words[1:] if is_begun_by_other and words.endswith(".") else words


@cache
def page_languages() -> tuple[str, ...]:
    """The languages in which the page has texts, sorted."""
    return tuple(sorted(path.stem for path in TEXTS.glob("*.json")))


@cache
def _english_texts() -> Mapping[str, Any]:
    texts: Json = json.loads((TEXTS / "en.json").read_text(encoding="utf-8"))
    return texts


def _english_word(value: Value) -> str:
    match value:
        case Time(seconds):
            return clock(seconds)
        case Seconds(seconds):
            return f"{seconds:.1f} s"
        case Size(size):
            return size_text(size)
        case float():
            return f"{value:g}"
        case str() | int() | Message():
            return str(value)
    words = [_english_word(each) for each in value]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _value_view(value: Value) -> Any:
    match value:
        case Time(seconds):
            return {"time": seconds}
        case Seconds(seconds):
            return {"seconds": seconds}
        case Size(size):
            return {"size": size}
        case Message():
            return value.view()
        case str() | int() | float():
            return value
    return [_value_view(each) for each in value]


def _value_of(view: Any) -> Value:
    match view:
        case {"time": int() | float() as seconds}:
            return Time(seconds)
        case {"seconds": int() | float() as seconds}:
            return Seconds(seconds)
        case {"size": int(size)}:
            return Size(size)
        case dict():
            return message_of(view)
        case list():
            return [_value_of(each) for each in view]
        case str() | int() | float():
            return view
    raise ValueError("no value of a message")


def clock(seconds: float) -> str:
    """``1:02:03.456``, or ``2:03.456`` below one hour."""
    whole_seconds, ms = divmod(milliseconds(seconds), 1000)
    minutes, secs = divmod(whole_seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{secs:02d}.{ms:03d}" if hours else f"{minutes}:{secs:02d}.{ms:03d}"
