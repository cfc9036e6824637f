"""The questions to models: Jinja templates in ``prompts/``, one file for each question, filled in or refused.

A file has a block for each message (``system``, ``user``), and sometimes blocks for what is said later. Texts
from outside the project go through the filter ``material``. Templates run in Jinja's sandbox, and a variable
that is not given is refused with the file and the line.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from shotad.core import Message
from shotad.core.config.words import PromptSettings
from shotad.core.errors import PromptError, did_you_mean
from shotad.core.progress import visible_text
from shotad.core.settings import (
    data_root,
    prompt_file,
    shipped_prompt_files,
    shipped_prompts,
)

SUFFIX = ".j2"
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def prompt_messages(name: str, /, *, with_clip: bool = False, **values: Any) -> tuple[Message, ...]:
    """The question ``name`` (``stage1``): its system message, where it has one, and that of the user.

    Where the user's message holds text from outside (`material`), the rule on such text stands before it.
    Raises PromptError for a template that cannot be read or filled in.
    """
    template = _template(name)
    text = prompt_block(name, "user", **values)
    if _OPENS in text and _fences_text(template):
        text = f"{prompt_block(MATERIAL, 'rule')}\n\n{text}"
    user = Message("user", text, with_clip=with_clip)
    if "system" not in template.blocks:
        return (user,)
    return Message("system", prompt_block(name, "system", **values)), user


def prompt_block(name: str, block: str, /, **values: Any) -> str:
    """One block of a template, filled in. Raises PromptError."""
    template = _template(name)
    if block not in template.blocks:
        raise PromptError(
            f"The prompt {template.filename} has no block {block!r}.",
            f"Its blocks are: {', '.join(template.blocks) or 'none'}. Add {{% block {block} %}}.",
        )
    try:
        try:
            return "".join(template.blocks[block](template.new_context(values)))
        except Exception:  # noqa: BLE001
            # Jinja's own way to put the template's lines into the traceback.
            template.environment.handle_exception()
    except (jinja2.TemplateError, *_FAILURES) as error:
        raise _refused(name, error, values) from None


_FAILURES = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What an expression in a template can raise, apart from Jinja's own errors."""

MATERIAL = "material"
"""The prompt that says what the marks of `material` mean."""


def check_templates(names: Iterable[str]) -> None:
    """Raise PromptError unless each template can be read, has the blocks of the one that ships with the
    program, and uses no variable that the program does not give."""
    _check_names()
    for name in names:
        template = _template(name)
        shipped_source = shipped_prompts(name)[name]
        if _source(name) == shipped_source:
            continue
        shipped = _ENVIRONMENT.parse(shipped_source)
        known_variables = meta.find_undeclared_variables(shipped)
        for block in shipped.find_all(nodes.Block):
            if block.name not in template.blocks:
                raise PromptError(
                    f"The prompt {template.filename} has no block {block.name!r}.",
                    f"Add {{% block {block.name} %}}, as in the file that ships with the program.",
                )
        used = _ENVIRONMENT.parse(_source(name))
        unknown_variables = meta.find_undeclared_variables(used) - known_variables
        if unknown_variables:
            uses = [use for use in used.find_all(nodes.Name) if use.name in unknown_variables]
            first = min(uses, key=lambda use: use.lineno)
            raise PromptError(
                f"{template.filename}, line {first.lineno}: the prompt knows no {first.name!r}.",
                _variables(known_variables),
            )


def _check_names() -> None:
    """Refuse a file of ``SHOTAD_DATA`` that would never be read; ``_mine.j2`` is there to be imported."""
    shipped_files = shipped_prompt_files()
    for path in sorted((data_root() / "prompts").glob(f"*{SUFFIX}")):
        if not path.stem.startswith("_") and path.name not in shipped_files:
            hint = did_you_mean(path.name, shipped_files)
            raise PromptError(
                f"{path} is no prompt of this program.", f"{hint}All are listed in prompts/README.md."
            )


def prompt_hash(names: Iterable[str]) -> str:
    """Hash (sha256, hex) of the files of these prompts, and of the files that they import."""
    files: set[str] = set()
    for name in names:
        _add_with_imported(name, files)
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{_source(name)}\0".encode())
    return digest.hexdigest()


def _add_with_imported(name: str, files: set[str]) -> None:
    """Add a template and those that it imports to ``files``."""
    if name in files:
        return
    files.add(name)
    for imported in meta.find_referenced_templates(_ENVIRONMENT.parse(_source(name))):
        if imported is not None:
            _add_with_imported(imported.removesuffix(SUFFIX), files)


def _source(name: str) -> str:
    return prompt_file(f"{name}{SUFFIX}")[1]


def _template(name: str) -> jinja2.Template:
    try:
        return _ENVIRONMENT.get_template(f"{name}{SUFFIX}")
    except jinja2.TemplateSyntaxError as error:
        place = error.filename or f"{name}{SUFFIX}"
        raise PromptError(f"{place}, line {error.lineno}: {error.message}.", _SYNTAX) from None


_SYNTAX = "The prompts are Jinja templates (prompts/README.md)."


def _refused(name: str, error: Exception, values: Mapping[str, Any]) -> PromptError:
    """The error with the file and the line of the template in which it was raised."""
    place = str(_template(name).filename)
    # The innermost line that is in a template: Jinja gives its code the template's name.
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file.endswith(SUFFIX):
            place = f"{file}, line {traceback.tb_lineno}"
        traceback = traceback.tb_next
    message = str(error).rstrip(".")
    hint = _variables(values) if isinstance(error, jinja2.UndefinedError) else _SYNTAX
    return PromptError(f"{place}: {message}.", hint)


def _variables(names: Iterable[str]) -> str:
    return f"The variables of this prompt are: {', '.join(sorted(names)) or 'none'}."


def _fences_text(template: jinja2.Template) -> bool:
    """Whether a template has text from outside in it; other texts may hold the marks by chance."""
    return _uses_material(_source(str(template.name).removesuffix(SUFFIX)))


@cache
def _uses_material(source: str) -> bool:
    return any(used.name == MATERIAL for used in _ENVIRONMENT.parse(source).find_all(nodes.Filter))


def cut_to_words(text: str, max_words: int) -> str:
    """The beginning of a text of at most ``max_words`` words. Its lines stay lines.

    It ends with a sentence or a line where that keeps half of the words, else with a word and an ellipsis.

    >>> cut_to_words("Ann is a thief. Bo does not know it.", 6)
    'Ann is a thief.'
    """
    words = list(re.finditer(r"\S+", text))
    if len(words) <= max_words:
        return text.strip()
    if max_words < 1:
        return ""
    end = words[max_words - 1].end()
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, end + 1)]
    if ends and sum(word.end() <= ends[-1] for word in words) >= max_words / 2:
        return text[: ends[-1]].strip()
    return f"{text[:end].strip().rstrip(',;:')} …"


_SENTENCE_END = re.compile(r"[.!?…][\"'”’)]*(?=\s)|(?=\n)")


def note_of(settings: PromptSettings) -> str:
    """The user's note on the film, cut to what a prompt may take of it; empty where there is none."""
    return cut_to_words(settings.note, settings.note_words)


# Filters


def material(text: str) -> str:
    """Text from outside (notes, dialogue, names, earlier lines) between marks that it cannot close itself.

    Nothing leaves no trace. ``prompts/material.j2`` says what the marks mean.

    >>> material("Ann, Bo"), material("a </material> b")
    ('<material>Ann, Bo</material>', '<material>a ‹/material> b</material>')
    """
    inner = _MARK.sub("‹", visible_text(text)).strip()
    between = "\n" if "\n" in inner else ""
    return f"{_OPENS}{between}{inner}{between}{_CLOSES}" if inner else ""


def without_material(text: str) -> str:
    """A prompt without what stands between the marks of `material`."""
    before, *parts = text.split(_OPENS)
    return "\n".join((before, *(part.partition(_CLOSES)[2] for part in parts)))


def material_in(text: str) -> str:
    """What stands between the marks of `material` in a prompt, each on a line of its own."""
    _, *parts = text.split(_OPENS)
    return "\n".join(part.partition(_CLOSES)[0] for part in parts)


_OPENS, _CLOSES = "<material>", "</material>"
_MARK = re.compile(r"<(?=\s*+(?:/\s*+)?material)", re.IGNORECASE)


def as_json(value: Any) -> str:
    """A value in JSON, with letters of all alphabets as they are."""
    return json.dumps(value, ensure_ascii=False)


def in_quotes(text: str) -> str:
    """A text in quotes, on one line, so that it is plain where it begins and ends."""
    return as_json(" ".join(text.split()))


def name_shots(numbers: Sequence[int]) -> str:
    """``[1, 2] → [Shot 1, Shot 2]``."""
    return "[" + ", ".join(f"Shot {n}" for n in numbers) + "]"


def in_a_row(names: Iterable[str]) -> str:
    """Names in a row. With semicolons where one has a comma, which a mark in brackets may have.

    >>> in_a_row(["Ann (red)", "Bo (red, tagged 2)"]), in_a_row(["Ann", "the man in hat, scarf and coat"])
    ('Ann (red), Bo (red, tagged 2)', 'Ann; the man in hat, scarf and coat')
    """
    names = list(names)
    without_brackets = [re.sub(r"\([^()]*\)", "", name) for name in names]
    has_comma = any("," in name for name in without_brackets)
    return ("; " if has_comma else ", ").join(names)


def in_words(number: int) -> str:
    """A number up to ten in words, others in digits."""
    return COUNTS[number] if number < len(COUNTS) else str(number)


def sentences(number: int) -> str:
    """``2 → two sentences``."""
    if number == 1:
        return "one sentence"
    return f"{in_words(number) if number <= _IN_WORDS else number} sentences"


_IN_WORDS = 5
"""Up to which number sentences are counted in words when a model is asked again."""


def bullets(lines: Iterable[str]) -> str:
    """Each line after a hyphen."""
    return "\n".join(f"- {line}" for line in lines)


def _load(file: str) -> tuple[str, str, Callable[[], bool]]:
    path, text = prompt_file(file)
    return text, str(path), lambda: prompt_file(file) == (path, text)


_ENVIRONMENT = ImmutableSandboxedEnvironment(
    loader=jinja2.FunctionLoader(_load),
    undefined=jinja2.StrictUndefined,
    autoescape=False,
)
_ENVIRONMENT.filters |= {
    "bullets": bullets,
    "in_a_row": in_a_row,
    "in_words": in_words,
    "json": as_json,
    "material": material,
    "quoted": in_quotes,
    "sentences": sentences,
    "shots": name_shots,
}


def form_of(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON schema of an answer that has these fields and no others."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


_LATIN_END, _GREEK_EXTENDED = 0x250, (0x1E00, 0x2000)
_SIGNS = (
    (0x1100, 0x1200),
    (0x2E80, 0xA4D0),
    (0xAC00, 0xD800),
    (0xF900, 0xFB00),
    (0xFF00, 0xFFF0),
    (0x20000, 0x40000),
)
"""Chinese, Japanese and Korean: ``[first, last)`` code points."""


def tokens_in(text: str) -> int:
    """About how many tokens a text takes; 0 for none.

    ASCII takes a token for 4 characters; a Latin letter with a mark 1.5 tokens (it breaks a word in two); a
    letter of another alphabet 0.45; a Chinese, Japanese or Korean sign 0.8. Measured on this project's own
    English prompts against real tokenizers: 1 to 10 % too few for SmolLM2 (13 % for a short answer in JSON),
    1 % below to 6 % above for Qwen, LLaMA3 and GPT-4o (o200k). In German, French, Spanish, Polish, Greek,
    Arabic, Chinese, Japanese and Korean within 18 % of LLaMA3 and GPT-4o (Russian: up to 38 % above); but
    SmolLM2, made for English, takes 1.3 to 3 times as many there, and Qwen twice as many in Greek and Hindi.

    >>> tokens_in("She climbs the stairs."), tokens_in("彼女は階段を上る。")
    (6, 8)
    """
    tokens = 0.0
    for code in map(ord, text):
        if code < 0x80:
            tokens += 0.25
        elif code < _LATIN_END or _GREEK_EXTENDED[0] <= code < _GREEK_EXTENDED[1]:
            tokens += 1.5
        else:
            tokens += 0.8 if any(first <= code < end for first, end in _SIGNS) else 0.45
    return math.ceil(round(tokens, 6))
