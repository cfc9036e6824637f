"""Regular expressions: none of the package's can be stalled by a text made for it.

They are found by themselves: patterns that modules hold, in collections too, and patterns written where they
are used. Attacks are derived from each: what stands before a repetition, the repetition many times, and a
character that does not fit behind it.
"""

from __future__ import annotations

import ast
import importlib
import re
import signal
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import product
from pathlib import Path
from re import (
    _compiler as compiler,  # type: ignore[attr-defined]
    _constants as codes,  # type: ignore[attr-defined]
    _parser as parser,  # type: ignore[attr-defined]
)
from typing import Any

import pytest

from shotad.review.english_sentences import LONGEST as LONGEST_SENTENCE
from shotad.script.cue import MAX_TEXT_LENGTH

PACKAGE = Path(__file__).resolve().parent.parent / "shotad"
CALLS = frozenset(("compile", "match", "search", "sub", "subn", "split", "findall", "fullmatch", "finditer"))
FLAGS_AT = {
    "compile": 1, "match": 2, "search": 2, "findall": 2, "fullmatch": 2, "finditer": 2, "split": 3, "sub": 4,
}  # fmt: skip

EXPLICIT = (codes.LITERAL, codes.RANGE)
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)

LONG = 100_000
"""Characters of an attack."""

SECONDS = 4.0
"""Of the processor for one text. A search whose steps grow with the square needs ten times more for `LONG`."""

BOUNDED = {
    "shotad.batch": "names of files, keys of storage and settings",
    "shotad.description.verify:_ANTECEDENT": "one sentence of a line",
    "shotad.evaluation.metrics.ptb": "lines of a data set; the rules are those of the published tokenizer",
    "shotad.review.english_sentences": "one sentence of the program; longer ones are not looked at",
    "shotad.script.cast_members": "names of a cast",
    **{
        f"shotad.script.names:{name}": "a line"
        for name in ("_BEFORE_READ_TEXT", "_AFTER_READ_TEXT", "_READ_WITHOUT_QUOTES")
    },
    **{
        f"shotad.script.rules:{name}": "a line"
        for name in ("_QUOTATION", "_COMPARED_WORD", "_ENDING", "_AGAIN")
    },
}
"""Patterns, by module or by name, that may take a time that grows with the square, and why their texts are short."""

SHORT = {
    "shotad.script": MAX_TEXT_LENGTH,
    "shotad.description": MAX_TEXT_LENGTH,
    "shotad.review": LONGEST_SENTENCE,
}
"""How long the texts of such patterns can be, by room; others have `LONGEST_NAME`."""
LONGEST_NAME = 300


@dataclass(frozen=True)
class Found:
    """A pattern, the methods by which it is used, and where it stands."""

    pattern: str
    flags: int
    methods: tuple[str, ...]
    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


def _held(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 4:
        if is_dataclass(value) and not isinstance(value, type):
            value = [getattr(value, field.name, None) for field in fields(value)]
        inner = value.values() if isinstance(value, dict) else value
        for one in inner if isinstance(value, tuple | list | set | frozenset | dict) else ():
            yield from _held(one, depth + 1)


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS:
            yield node


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "pattern", "eval"), dict(names))


def _inline(call: ast.Call, names: dict[str, Any]) -> re.Pattern[str] | None:
    """The pattern that is written in a call; None where it is put together of local names."""
    assert isinstance(call.func, ast.Attribute)
    at = FLAGS_AT.get(call.func.attr, 9)
    flags = [word.value for word in call.keywords if word.arg == "flags"] + call.args[at : at + 1]
    try:
        pattern = _value(call.args[0], names)
        return (
            re.compile(pattern, _value(flags[0], names) if flags else 0) if isinstance(pattern, str) else None
        )
    except (NameError, AttributeError, TypeError, IndexError, re.error):
        return None


@cache
def found() -> tuple[Found, ...]:
    rows: dict[tuple[str, int], tuple[str, str, set[str]]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "import re\n" not in source:
            continue
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        try:
            names = vars(importlib.import_module(module))
        except ImportError:
            continue
        used: dict[str, set[str]] = {}
        for call in _calls(ast.parse(source)):
            assert isinstance(call.func, ast.Attribute)
            of = call.func.value
            if isinstance(of, ast.Name) and of.id == "re":
                if call.func.attr != "compile" and (one := _inline(call, names)) is not None:
                    where = (module, str(call.lineno), set[str]())
                    rows.setdefault((one.pattern, one.flags), where)[2].add(call.func.attr)
            elif isinstance(of, ast.Name):
                used.setdefault(of.id, set()).add(call.func.attr)
        for name, value in names.items():
            for one in _held(value):
                where = (module, name, set[str]())
                methods = used.get(name, set()) if one is value else {"search"}
                rows.setdefault((one.pattern, one.flags), where)[2].update(methods or {"search"})
    return tuple(
        Found(*key, _methods(methods), module, name) for key, (module, name, methods) in rows.items()
    )


def _methods(methods: set[str]) -> tuple[str, ...]:
    """Those that start once, at the beginning, or else a search for all."""
    once = tuple(sorted(methods & {"match", "fullmatch"}))
    return once if once and not methods - set(once) else ("finditer",)


POOL = " a1A\n.,'\"-:([<{é_=\\/]"


def _characters(code: Any, value: Any) -> list[str] | None:
    """Some characters that a part of a pattern fits; None where it is no single character."""
    if code is codes.LITERAL:
        return [chr(value)]
    if code not in (codes.ANY, codes.NOT_LITERAL, codes.IN):
        return None
    fits = compiler.compile(parser.SubPattern(parser.State(), [(code, value)])).fullmatch
    pairs = value if code is codes.IN and value[0][0] is not codes.NEGATE else []
    listed = [chr(inner[0] if kind is codes.RANGE else inner) for kind, inner in pairs if kind in EXPLICIT]
    return (listed[:4] + listed[4:][-3:] + [one for one in POOL if one not in listed and fits(one)])[:8] or [
        "€"
    ]


def _sample(parts: Any, pick: int, fewest: bool = True) -> str:
    """A text that the parts fit, by and large; ``pick`` chooses among characters and branches."""
    text = ""
    for code, value in parts:
        some = _characters(code, value)
        if some is not None:
            text += some[pick % len(some)]
        elif code in REPEATS:
            low, high, inner = value
            text += _sample(inner, pick) * max(low, 0 if fewest else min(1, high))
        elif code in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
            text += _sample(value[3] if code is codes.SUBPATTERN else value, pick, fewest)
        elif code is codes.BRANCH:
            text += _sample(value[1][pick % len(value[1])], pick, fewest)
    return text


def _repeats(parts: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Each repetition with a text that leads to it."""
    for code, value in parts:
        if code in REPEATS:
            low, high, inner = value
            if high is codes.MAXREPEAT or high > 5:
                yield before, inner
            yield from _repeats(inner, before)
            before += _sample(inner, 0) * low
        elif code in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
            inner = value[3] if code is codes.SUBPATTERN else value
            yield from _repeats(inner, before)
            before += _sample(inner, 0)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before)
            before += _sample(value[1][0], 0)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(value[1], before)
        elif (some := _characters(code, value)) is not None:
            before += some[0]


def shapes(one: Found) -> Iterator[tuple[str, str, str]]:
    """Attacks as what stands first, what is repeated, and what stands last."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = parser.parse(one.pattern, one.flags)
    pumps: dict[tuple[str, str], None] = {}
    for before, inner in _repeats(parts):
        for pick in range(4):
            if body := _sample(inner, pick, fewest=False):
                pumps |= {(before, body): None, ("", body): None, ("", before + body): None}
    for pick, fewest in product(range(4), (True, False)):
        whole = _sample(parts, pick, fewest)
        pumps |= {("", text): None for text in (whole, whole[:-1]) if text}
    escaped = re.findall(r"\\([^\w\s])|([^\w\s\\()[\]{}?*+|^$.])", one.pattern)
    signs = dict.fromkeys("".join(pair) for pair in escaped)
    for (before, body), last in product(pumps, ("", "\x00", "!", "a", "\n", *[*signs][:12])):
        yield before, body, last


def seconds(one: Found, method: str, text: str, limit: float) -> float:
    """How long a search takes; infinite where it was stopped after ``limit`` seconds of the processor."""

    def stop(*_: object) -> None:
        raise TimeoutError

    pattern = re.compile(one.pattern, one.flags)
    before = signal.signal(signal.SIGVTALRM, stop)
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)
        if method == "finditer":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, method)(text)
    except TimeoutError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.perf_counter() - start


def stalled_by(one: Found, length: int, limit: float = SECONDS) -> str | None:
    """The beginning of a text by which a pattern is stalled, None where none was found."""
    for method in one.methods:
        ranked = []
        for before, body, last in shapes(one):
            spent = seconds(one, method, before + body * (500 // len(body) + 1) + last, limit)
            if spent == float("inf") and length > 1000:
                return f"{before[:40]!r} + {body[:40]!r} * {500 // len(body) + 1} + {last!r}"
            ranked.append((spent, before, body, last))
        ranked.sort(key=lambda row: -row[0])
        for _, before, body, last in ranked[:6]:
            text = before + body * (length // len(body)) + last
            if seconds(one, method, text, limit) == float("inf"):
                return f"{before[:40]!r} + {body[:40]!r} * {length // len(body)} + {last!r}"
    return None


@pytest.mark.long
def test_no_pattern_can_be_stalled() -> None:
    stalled = []
    for one in found():
        reason = next((name for name in BOUNDED if f"{one}:".startswith((f"{name}:", f"{name}."))), None)
        room = ".".join(one.module.split(".")[:2])
        length = LONG if reason is None else SHORT.get(room, LONGEST_NAME)
        if (text := stalled_by(one, length)) is not None:
            stalled.append(f"{one} {one.pattern!r} by {text}")
    assert not stalled, "\n".join(stalled)


@pytest.mark.long
@pytest.mark.parametrize(
    "pattern",
    [
        r"^\s*[\[(](?:[^\s\])]+\s*){1,8}$", r"(a+)+b", r"\s+$", r"\w+@\w+", r"<[^>]*>", r"(?:x|x)*y", r"\d+(?:\.\d+)+",
        r"^\s*#", r"\bfrom .*? to .*?!",
    ],
)  # fmt: skip
def test_a_bad_pattern_is_found(pattern: str) -> None:
    assert stalled_by(Found(pattern, re.MULTILINE, ("finditer",), "here", "it"), LONG, limit=0.5)


def test_patterns_are_found_by_themselves() -> None:
    names = {str(one) for one in found()}
    assert {"shotad.film.subtitles:_UNCLOSED", "shotad.description.answers:_KEY"} <= names
    assert len(names) > 380
    assert [
        bound for bound in BOUNDED if not any(f"{n}:".startswith((f"{bound}:", f"{bound}.")) for n in names)
    ] == []
    assert set(SHORT) <= {".".join(one.module.split(".")[:2]) for one in found()}


def has_negative_look_within_possessive(parts: Any, within: bool = False) -> bool:
    """Whether a repetition such as ``(…)*+`` has a ``(?!…)`` or ``(?<!…)`` somewhere within it."""
    if isinstance(parts, parser.SubPattern | list | tuple):
        if len(parts) == 2 and parts[0] in (codes.ASSERT_NOT, codes.POSSESSIVE_REPEAT):
            if parts[0] is codes.ASSERT_NOT and within:
                return True
            within = within or parts[0] is codes.POSSESSIVE_REPEAT
        return any(has_negative_look_within_possessive(part, within) for part in parts)
    return False


def test_no_pattern_needs_a_python_newer_than_the_oldest() -> None:
    """Python 3.11.0 to 3.11.4 (Debian 12 has 3.11.2) match such patterns wrongly."""
    assert has_negative_look_within_possessive(parser.parse(r'"(?:[^"]|"(?!,))*+"'))
    assert not has_negative_look_within_possessive(parser.parse(r'"(?=((?:[^"]|"(?!,))*))\1"'))
    faulty = [
        str(pattern)
        for pattern in found()
        if has_negative_look_within_possessive(parser.parse(pattern.pattern))
    ]
    assert faulty == []
