"""Prompt templates: text files with ``$names``, filled in completely or not at all.

A variable that is missing, and one that the template does not know, are refused before any model
is called (as in simonw/llm's templates).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from string import Template

from shotad.core import PromptError, prompt_text


def render(name: str, /, **values: str) -> str:
    """The template ``name`` (``stage1/base``) with its variables filled in, without the last line's end.

    Raises PromptError where the template's variables and ``values`` are not the same, naming all
    that are missing and all that are unknown, and where a ``$`` stands alone.
    """
    template = _template(name)
    _require_same(name, set(template.get_identifiers()), set(values))
    return template.substitute(values).rstrip("\n")


def check_templates(variables: Mapping[str, Iterable[str]]) -> None:
    """Raise PromptError unless each named template has exactly the variables given for it."""
    for name, expected in variables.items():
        _require_same(name, set(_template(name).get_identifiers()), set(expected))


def cut_to_words(text: str, words: int) -> str:
    """The beginning of a text of at most ``words`` words. Its lines stay lines.

    It ends with a sentence or a line where that keeps half of the words, else with a word and an ellipsis.

    >>> cut_to_words("Ann is a thief. Bo does not know it.", 6)
    'Ann is a thief.'
    """
    found = list(re.finditer(r"\S+", text))
    if len(found) <= words:
        return text.strip()
    if words < 1:
        return ""
    end = found[words - 1].end()
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, end + 1)]
    if ends and sum(word.end() <= ends[-1] for word in found) >= words / 2:
        return text[: ends[-1]].strip()
    return f"{text[:end].strip().rstrip(',;:')} …"


_SENTENCE_END = re.compile(r"[.!?…][\"'”’)]*(?=\s)|(?=\n)")


def prompt_hash(names: Iterable[str]) -> str:
    """Hash (sha256, hex) of the texts of these prompts, whatever their order."""
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        digest.update(f"{name}\0{prompt_text(name)}\0".encode())
    return digest.hexdigest()


def _template(name: str) -> Template:
    text = prompt_text(name)
    template = Template(text)
    if not template.is_valid():
        stray = re.search(r"\$(?!\$|\w|\{\w+\})", re.sub(r"\$\$", "  ", text))
        line = text.count("\n", 0, stray.start() if stray else 0) + 1
        raise PromptError(
            f"The prompt {name} has a $ without a name in line {line}.", "Write $$ for a dollar sign."
        )
    return template


def _require_same(name: str, in_template: set[str], given: set[str]) -> None:
    unknown = ", ".join(f"${v}" for v in sorted(in_template - given))
    missing = ", ".join(f"${v}" for v in sorted(given - in_template))
    complaints = [f"does not know {unknown}"] * bool(unknown) + [f"lacks {missing}"] * bool(missing)
    if complaints:
        valid = ", ".join(f"${v}" for v in sorted(given)) or "none"
        raise PromptError(f"The prompt {name} {' and '.join(complaints)}.", f"Its variables are: {valid}.")
