"""The language of a script that is checked: what the file says, what its name says, what its text is in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from shotad.core.config.languages import language_name, language_of
from shotad.core.errors import UsageError
from shotad.core.records import parse_json
from shotad.description.english_words import other_language, plain_language

_HEAD_BYTES = 1 << 16
_LANGUAGE_OF_VTT = re.compile(r"\AWEBVTT[^\n]*\n(?:[^\n]+\n)*?Language:[ \t]*(?P<tag>[\w-]+)", re.IGNORECASE)
_LANGUAGE_OF_XML = re.compile(r"<(?:\w+:)?tt\s(?:[^<>]*\s)?xml:lang\s*=\s*[\"'](?P<tag>[\w-]+)")
_WORD_OF_DESCRIPTION = re.compile(r"ad|dapt|frazier|reaper|\d+", re.IGNORECASE)
"""What may stand between the language and the ending in a script's name: ``movie.de.ad.vtt``."""
_TAG = re.compile(r"[A-Za-z]{2}(?:[-_][A-Za-z]{4})?(?:[-_](?:[A-Za-z]{2}|\d{3}))?")


def language_of_script(
    path: Path, texts: Iterable[str], run_language: str | None, default: str
) -> tuple[str, str]:
    """The tag of the language of a script with these ``texts``, and a sentence that says where it is from.

    The language that the file names goes first, then that of its name, unless the text is plainly in another,
    then ``run_language``, of the work folder it belongs to (None: to none), then that of the text where it is
    sure, else ``default``. The sentence is empty for the default.
    """
    text = "\n".join(texts)
    tag, source = _language_in_file(path), "from the file"
    if tag is None:
        tag, source = _language_in_name(path.name), "from the file's name"
        if tag is not None and other_language(text, tag) is not None:
            tag = None
    if tag is None and run_language is not None:
        return run_language, ""
    if tag is None:
        tag, source = plain_language(text, default), "from its words"
    if tag is None or tag == default:
        return default, ""
    return tag, f"Checked as {language_name(tag)} ({source}); --language names another."


def _language_in_file(path: Path) -> str | None:
    """The tag of the language that a WebVTT, DAPT or JSON file names; None where it names none."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = data[:_HEAD_BYTES].decode("utf-8", "replace").removeprefix("\ufeff").lstrip().replace("\r\n", "\n")
    if head.startswith("{"):
        try:
            tree = parse_json(data.decode("utf-8-sig", "replace"))
        except ValueError:
            return None  # who reads the script says what is wrong with it
        named = tree.get("language") if isinstance(tree, dict) else None
        return _known_tag(named) if isinstance(named, str) else None
    match = _LANGUAGE_OF_VTT.search(head) or _LANGUAGE_OF_XML.search(head)
    return None if match is None else _known_tag(match["tag"])


def _language_in_name(file_name: str) -> str | None:
    """The tag of the language before the ending of a name; None where there is none."""
    words = file_name.split(".")[1:-1]
    while words and _WORD_OF_DESCRIPTION.fullmatch(words[-1]):
        words.pop()
    return _known_tag(words[-1]) if words and _TAG.fullmatch(words[-1]) else None


def _known_tag(tag: str) -> str | None:
    try:
        return language_of(tag).tag
    except UsageError:
        return None
