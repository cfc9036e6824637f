"""Reasons in a track: why a slot has no line, what was done to make a line fit, why a line is doubtful.
Where a person's line came from is among them.

They are sentences of `shotad.script.track_texts`. The code makes them in English, which the terminal and the
records show; the track has them in its own language. `reason_in` says a reason in another of the languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from shotad.core.config.languages import languages
from shotad.core.errors import quoted
from shotad.script.track_texts import Texts, text_languages, texts_in

LONGEST = 2000
"""Characters of a reason that is looked at; a longer one stays as it is."""
SEPARATOR = "; "
"""What stands between several reasons."""

_GROUPS = ("reason", "doubt", "silent", "failure", "fault", "pause", "worth", "count", "source")
_NESTED = frozenset({"reason", "error", "fault", "why", "line", "worth", "budget", "words", "advice"})
"""Values that are reasons themselves."""
_LISTS = frozenset({"names", "moments", "texts"})
"""Values that are lists."""
_DECIMALS = frozenset({"seconds", "times", "needed", "free", "confidence", "points"})
_NUMBERS = frozenset({"number", "fitting", "minutes", "limit", "status"})


def in_english(key: str, **values: object) -> str:
    """The English sentence of a key: ``in_english("reason.later", seconds="0.50")``."""
    return texts_in("en")(key, **values)


def reason_in(reason: str, language: str) -> str:
    """A reason, in whatever language it stands, in ``language`` (a tag).

    Several reasons that are joined by `SEPARATOR` are taken one by one. What is no sentence of this program,
    such as the words of a server, stays as it is.

    >>> reason_in("moved 0.50 s later; tried shorter: Er geht.", "de")
    'um 0,50 s nach hinten verschoben; kürzer versucht: Er geht.'
    """
    if not reason or len(reason) > LONGEST:
        return reason
    return _reason_in(reason, texts_in(language).tag)


def is_reason(reason: str, english: str) -> bool:
    """Whether ``reason`` says, in any language, what the sentence ``english`` says."""
    return reason == english or reason_in(reason, "en") == english


def is_of(reason: str, key: str) -> bool:
    """Whether ``reason`` is, in any language, the sentence of ``key``, whatever its values are."""
    return any(
        pattern.key == key and pattern.expression.fullmatch(reason)
        for tag in text_languages()
        for pattern in _patterns(tag)
    )


def is_sentence(reason: str) -> bool:
    """Whether ``reason`` is a sentence of this program, or several, in whatever language.

    >>> is_sentence("nicht gesprochen: es steht kein Wort darin"), is_sentence("HTTP 500")
    (True, False)
    """
    if len(reason) > LONGEST:
        return False
    if _sentence_in(reason, "en") is not None:
        return True
    return all(_sentence_in(part, "en") is not None for part in reason.split(SEPARATOR))


def engine_failure(error: str) -> str:
    """The English reason for the error of an engine's reply.

    Errors of this program's engines are sentences already. The words of other engines are quoted, cut at 80
    letters: nothing says what language they are in. The records keep the whole.

    >>> engine_failure("empty answer"), engine_failure("RuntimeError: no GPU")
    ('empty answer', "the engine reports 'RuntimeError: no GPU'")
    """
    return error if is_sentence(error) else in_english("failure.engine", text=quoted(error))


@lru_cache(maxsize=1024)
def _reason_in(reason: str, tag: str) -> str:
    parts = reason.split(SEPARATOR)
    translated_parts = [_sentence_in(part, tag) for part in parts]
    if None not in translated_parts:
        return SEPARATOR.join(part for part in translated_parts if part is not None)
    # A line that is quoted may have a semicolon of its own.
    whole = _sentence_in(reason, tag)
    if whole is not None:
        return whole
    return SEPARATOR.join(
        part if translated is None else translated
        for part, translated in zip(parts, translated_parts, strict=True)
    )


def _sentence_in(sentence: str, tag: str) -> str | None:
    """One sentence in another language; None where it is in no table."""
    target = texts_in(tag)
    # A sentence that is in the language already is found there first, and comes back as it is.
    for source_tag in sorted(text_languages(), key=lambda language: language != tag):
        for pattern in _patterns(source_tag):
            match = pattern.expression.fullmatch(sentence)
            if match is not None:
                source = texts_in(source_tag)
                values = {
                    name: _value_in(name, value, source, target) for name, value in match.groupdict().items()
                }
                return _text_with(target, pattern.key, values)
    return None


def _text_with(texts: Texts, key: str, values: Mapping[str, str]) -> str:
    base, _, form = key.rpartition(".")
    if form not in ("one", "other") or "number" not in values:
        return texts(key, **values)
    # Which numbers take the singular differs between languages.
    values_without_number = {name: value for name, value in values.items() if name != "number"}
    return texts.count(base, int(values["number"]), **values_without_number)


def _value_in(name: str, value: str, source: Texts, target: Texts) -> str:
    if name in _NESTED:
        return _reason_in(value, target.tag)
    if name == "because":
        parts = value.split(", ")
        return ", ".join(_sentence_in(part, target.tag) or part for part in parts)
    if name in _DECIMALS:
        return value.replace(source("number.decimal"), target("number.decimal"))
    if name == "language":
        tag = _language_tag(value, source)
        return languages().get(tag, tag) if target.tag == "en" else target.language(tag)
    if name in _LISTS:
        # ``Ann and Bob``
        return target.listed(value.split(source("list.and", before="", last="")))
    return value


def _language_tag(name: str, texts: Texts) -> str:
    """The tag of a language by its name in ``texts``, or in English; else the name itself."""
    for key, text in texts.by_key.items():
        if key.startswith("language.") and text == name:
            return key.removeprefix("language.")
    return next((code for code, english in languages().items() if english == name), name)


@dataclass(frozen=True, slots=True)
class _Pattern:
    """What the sentence of a key looks like; the groups are its values."""

    key: str
    expression: re.Pattern[str]


@cache
def _patterns(tag: str) -> tuple[_Pattern, ...]:
    """The patterns of all sentences of a language, those with most words of their own first."""
    texts: Mapping[str, str] = texts_in(tag).by_key
    keys = [key for key in texts if key.split(".")[0] in _GROUPS]
    # Of "in {language}" and "in another language" both match the second.
    keys.sort(key=lambda key: -len(re.sub(r"\{\w+\}", "", texts[key])))
    names = [re.escape(text) for key, text in texts.items() if key.startswith("language.")]
    # Languages that have no name here are called by their tag, in English by their English name.
    language = "|".join([*names, r"[a-z]{2,3}(?:-\w+)*", *([r"[A-Z][^:,;]{1,50}"] if tag == "en" else [])])
    return tuple(_Pattern(key, re.compile(_expression(key, texts[key], language), re.DOTALL)) for key in keys)


def _expression(key: str, text: str, language: str) -> str:
    """The expression for a text; ``language`` is that for the name of a language."""
    parts: list[str] = []
    for part in re.split(r"(\{\w+\})", text):
        name = part.strip("{}")
        if not part.startswith("{"):
            parts.append(re.escape(part))
        elif name in _DECIMALS:
            parts.append(rf"(?P<{name}>[\d.,]+)")
        elif name in _NUMBERS:
            parts.append(rf"(?P<{name}>{'[01]' if key.endswith('.one') else '[0-9]+'})")
        elif name == "language":
            parts.append(f"(?P<language>{language})")
        elif name == "server":
            # A host and its port: no other sentence before it.
            parts.append(r"(?P<server>\S+)")
        else:
            parts.append(rf"(?P<{name}>.+)")
    return "".join(parts)
