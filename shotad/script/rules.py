"""Describers' guidelines as checks: T1 to T7 on times, L1 to L5, L13 and L14 on words, L9 on repetition.

The numbers are those of the guidelines and stand in `Limits`; the words are English and used for English
lines only. Text in quotation marks, which is read from the screen, is exempt from L1 to L4, L13 and the
phrases of L5.

Word lists are patterns read from word files, whose form stands in ``configs/words/README.md``; a user's files
add to those of the program. Every list was run over human AD; entries that hit it were narrowed or made
warnings.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from shotad.core import ConfigError, Interval, clock_time, quoted, read_text_file, time_range, word_files
from shotad.script.cue import LEAD, ScriptCue, count_words, milliseconds

Case = Literal["any", "exact"]


def _meets(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether ``[start, end)`` shares a letter with one of ``spans``, which ascend and do not overlap."""
    before = bisect_left(spans, (end, end)) - 1
    return before >= 0 and spans[before][0] < end and spans[before][1] > start


@dataclass(frozen=True)
class WordList:
    """The words by which one rule is broken.

    ``entries`` and ``sets`` (by name) are lines of a word file, ``allowed`` those that are no fault, without
    their hyphen. Raises ConfigError for an entry that is no pattern, when it is first used.
    """

    name: str
    rule: str
    level: Literal["error", "warning"]
    says: str
    entries: tuple[str, ...]
    allowed: tuple[str, ...] = ()
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    case: Case = "any"
    source: str = ""
    """The file, for messages."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where ``text`` breaks the rule, half-open; ``text`` has straight apostrophes."""
        wanted, allowed = self._patterns
        spared = [match.span() for match in allowed.finditer(text)] if allowed else []
        for match in wanted.finditer(text) if wanted else ():
            start, end = match.span()
            if start < end and not _meets(spared, start, end):
                yield start, end

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        return self._any(self.entries), self._any(self.allowed)

    def _any(self, entries: Sequence[str]) -> re.Pattern[str] | None:
        flags = re.IGNORECASE if self.case == "any" else re.NOFLAG
        patterns: list[str] = []
        for entry in dict.fromkeys(entries):
            if len(entry) > 1 and entry.startswith("/") and entry.endswith("/"):
                parts = enumerate(_SET.split(entry[1:-1]))  # every second one is the name of a set
                pattern = "".join(self._set(part, entry) if at % 2 else part for at, part in parts)
            else:
                pattern = rf"(?<!\w){self._plain(entry)}(?!\w)"
            patterns.append(f"(?:{pattern})")
            try:
                re.compile(pattern, flags)
            except (re.error, RecursionError, OverflowError) as error:
                what = f"{self.source or self.name}: {quoted(entry)} cannot be understood: {error}."
                raise ConfigError(what, _FORM) from None
        return re.compile("|".join(patterns), flags) if patterns else None

    def _plain(self, entry: str) -> str:
        """Words with their marks as a pattern: ``[the] dog[s]`` → ``(?:the )?dog(?:s)?``."""
        marked = _LAST_MAYBE.sub(r"[ (\1)]", _MAYBE.sub(r"\1[(\2) ]", " ".join(entry.split())))
        parts = (part for part in _PART.split(marked) if part)
        return "".join(
            self._set(part[1:-1], entry) if part[0] == "{" else _MARKS.get(part, re.escape(part))
            for part in parts
        )

    def _set(self, name: str, entry: str) -> str:
        if name not in self.sets:
            named = f"{quoted(entry)} names the set {quoted(name)}, which is not there."
            what = f"{self.source or self.name}: {named}"
            raise ConfigError(what, f"Write a line: @set {name} = one | two | three.")
        return f"(?:{'|'.join(map(self._plain, self.sets[name]))})"


_FORM = "The form of word files stands in configs/words/README.md."
_SET = re.compile(r"\{([^\W\d][^{}]*)\}")
_MAYBE = re.compile(r"(\A| )\[([^\[\]]*)\] ")
_LAST_MAYBE = re.compile(r" \[([^\[\]]*)\]\Z")
_PART = re.compile(r"(\{[^{}]+\}|[\[\]()|* ])")
_MARKS = {"[": "(?:", "]": ")?", "(": "(?:", ")": ")", "|": "|", "*": r"\w*", " ": r"\s+"}
LONGEST_ENTRY = 1_000
"""Letters of a line of a word file. Ours have 600; the time to compile a pattern grows faster than it."""
_DIRECTIVE = re.compile(r"@(?P<key>[a-z]+)\s++(?P<value>.+)")


def parse_words(text: str, name: str, source: str = "") -> WordList:
    """The list in a word file's ``text``; ``rule`` is empty where the file names none.

    Raises ConfigError with the line.
    """
    made = WordList(name, "", "warning", "on your list", (), source=source or name)
    entries: list[str] = []
    allowed: list[str] = []
    sets: dict[str, dict[str, None]] = {}
    for number, raw in enumerate(text.replace("’", "'").splitlines(), 1):
        line = raw.strip()
        if len(line) > LONGEST_ENTRY:
            what = f"{made.source}, line {number}: {quoted(line)} has over {LONGEST_ENTRY} letters."
            raise ConfigError(what, "Write one entry on each line.")
        if line.startswith("@set "):
            key, is_there, words = line.removeprefix("@set ").partition("=")
            key, members = key.strip(), [word.strip() for word in _outer_bars(words) if word.strip()]
            if not is_there or not key or not members:
                what = f"{made.source}, line {number}: {quoted(line)} is no set."
                raise ConfigError(what, "Write @set name = one | two | three.")
            sets.setdefault(key, {}).update(dict.fromkeys(members))
        elif line.startswith("@"):
            match = _DIRECTIVE.fullmatch(line)
            key, value = (match["key"], match["value"].strip()) if match else ("", "")
            choices = {"rule": (), "says": (), "level": ("error", "warning"), "case": ("any", "exact")}
            if key not in choices or (choices[key] and value not in choices[key]):
                what = f"{made.source}, line {number}: {quoted(line)} cannot be understood."
                hint = "There are @set, @rule, @level (error, warning), @says and @case (any, exact)."
                raise ConfigError(what, hint)
            made = replace(made, **{key: value})  # type: ignore[arg-type]  # one of four strings
        elif line.startswith("-"):
            allowed.append(line[1:].strip())
        elif line and not line.startswith("#"):
            entries.append(line)
    return replace(
        made,
        entries=tuple(entries),
        allowed=tuple(word for word in allowed if word),
        sets={key: tuple(members) for key, members in sets.items()},
    )


def _outer_bars(text: str) -> Iterator[str]:
    """``a | b (c|d)`` → ``a``, ``b (c|d)``: bars within brackets part nothing."""
    depth, last = 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "|" and depth == 0:
            yield text[last:at]
            last = at + 1
    yield text[last:]


OWN = "own"
"""The rule of a user's list that names none."""


@lru_cache(maxsize=16)
def packaged(language: str) -> tuple[WordList, ...]:
    """The lists that come with the program for a language (``en-GB``: those of ``en``); none for most."""
    name = language.lower().split("-")[0]
    files = word_files(name) if name.isalpha() else ()
    return tuple(parse_words(path.read_text(encoding="utf-8"), path.stem, path.name) for path in files)


ARTICLES = frozenset(("a", "an", "the"))
"""Words that L9 does not compare."""

SOMEONE = re.compile(
    r"(?:^|(?<=[.!?;] )|(?<=, while )|(?<=, as )|(?<=\bwhile )|(?<=, and ))"
    r"(?P<who>(?:a|an|the) (?:man|woman|boy|girl|guy|lady|person|gentleman))\b(?!'s|-| and\b)",
    re.IGNORECASE,
)
"""Stage II's wish: somebody without a name is "he", "she" or "they" where they act, never "a man"."""

TALK = re.compile(
    r"\b(?:speaks?|talks?|chats?|convers(?:es?|ing)|speaking|talking|chatting|discuss(?:es|ing)?)\b"
    r"(?! show)(?! into\b)(?! window)(?<!small talk)(?<!pep talk)(?<!a talk)(?<!the talk)(?<!a chat)"
    r"(?<!without speaking)(?<!without talking)"
    r"|\b(?:in|into|have|has|having|hold|holds|continues?|through) (?:(?:a|an|their|the|his|her) )?"
    r"(?:\w+ )?conversations?\b"
    r"|\b(?:says|is saying|are saying)\b(?!  |,  )",
    re.IGNORECASE,
)
"""Stage II's wish: no talk about talking, which is heard."""

MARKUP = re.compile(
    r"\*\*|\b__\w|^\s{0,3}#{1,6}\s|```|`[^`]+`|^[^\S\n]*(?:[-*•]|\d{1,2}[.)])\s+\S|<\|?/?[a-z_]+\|?>"
    r"|\[/?(?:INST|SYS)\]|\{\s*[\"'“][\w ]+[\"'”]\s*:|[\"“]\s*\}|\\n|^[^\S\n]*[\[{]|https?://|\ufffd",
    re.MULTILINE | re.IGNORECASE,
)
"""L5: markdown, lists, JSON, tokens of a chat template."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-\w+)*", re.IGNORECASE)


def read_words(places: Sequence[str | Path]) -> tuple[UserWords, ...]:
    """The word files at ``places``: files, or folders of them with a folder for each language.

    Raises ConfigError for what is missing, cannot be read, or has no meaning; with the line.
    """
    found: list[UserWords] = []
    for place in map(Path, places):
        if not place.exists():
            raise ConfigError(f"There are no words at {place}.", "Name a word file, or a folder of them.")
        files = sorted(place.rglob("*.txt")) if place.is_dir() else [place]
        if not files:
            raise ConfigError(f"The folder {place} holds no word files.", "Their names end in .txt.")
        for file in files:
            hint = "Save them as UTF-8."
            text = read_text_file(file, "words", ConfigError, hint=hint, encoding="utf-8").text
            folder = file.absolute().parent.name
            name = folder.lower().split("-")[0] if _LANGUAGE.fullmatch(folder) else ""
            found.append((name if len(name) == 2 else "", parse_words(text, file.stem, str(file))))
    return tuple(found)


UserWords = tuple[str, WordList]
"""A language, empty where it is for every track, and a user's word file."""


def lists_for(language: str, own: Sequence[UserWords] = ()) -> tuple[WordList, ...]:
    """The lists by which lines of a language are read: a user's entries are added to the list of the same
    name, whose rule and level hold. A list of another name without a rule is ``own``. Every pattern is tried:
    raises ConfigError."""
    name = language.lower().split("-")[0]
    lists = {words.name: words for words in packaged(language)}
    mine = [words for tag, words in own if tag in ("", name)]
    for more in mine:
        base = lists.get(more.name)
        if base is None:
            lists[more.name] = more if more.rule else replace(more, rule=OWN)
            continue
        names = dict.fromkeys((*base.sets, *more.sets))
        lists[more.name] = replace(
            base,
            entries=(*base.entries, *more.entries),
            allowed=(*base.allowed, *more.allowed),
            sets={key: (*base.sets.get(key, ()), *more.sets.get(key, ())) for key in names},
            source=f"{base.source} and {more.source}",
        )
    for words in lists.values() if mine else ():
        tuple(words.spans(""))
    return tuple(lists.values())


class Level(StrEnum):
    """An error must not go out; a warning is for a person to judge."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule. ``span`` are the characters of the text that break it, half-open; ``when`` says of which
    time it is where no line is at fault."""

    rule: str
    level: Level
    message: str
    cue_id: str | None = None
    span: tuple[int, int] | None = None
    when: Interval | None = None

    def __str__(self) -> str:
        where = f"{self.cue_id}: " if self.cue_id else ""
        return f"{self.level} {self.rule}: {where}{self.message}"


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the rules draw their lines. ``math.inf`` or 0 turns one off.

    Seconds for gaps and stretches, words a minute for rates, share of common words for ``similar``.
    """

    gap_error: float = 2.0
    gap_warning: float = 2.0
    """T2: lint takes ``slots.minimum`` where that is longer."""
    rate_error: float = 200.0
    rate_warning: float = 180.0
    stretch: float = 45.0
    """T5: a longer one without a line is told, for one listens whether the sound is still on."""
    similar: float = 0.8
    history: int = 5
    """L9: lines that are looked back; what was said before them is forgotten."""
    overlap: float = 0.0
    """T1: seconds for which a line may touch one stretch of speech."""
    titles: bool = False
    """L13: a title before a name is a warning. Off: human AD has them, often as the only name there is."""


BENCHMARK = Limits(gap_error=0, gap_warning=0, rate_error=math.inf, rate_warning=math.inf)
"""For given slots: their minima do not apply and their budgets allow 218 words a minute."""


def check_line(
    text: str,
    *,
    interval: Interval | None = None,
    slot: Interval | None = None,
    speech: Sequence[Interval] = (),
    gap: Interval | None = None,
    previous: Sequence[str] = (),
    measured: float | None = None,
    language: str = "en",
    limits: Limits = Limits(),
    lists: Sequence[WordList] | None = None,
) -> tuple[Finding, ...]:
    """What is wrong with one line.

    ``interval`` is from its start to its spoken end; ``slot`` the time it may take; ``gap`` the whole
    speech-free time around it; ``previous`` the lines before it, oldest first; ``measured`` the length of the
    recorded voice in seconds. What is not given is not checked. ``lists`` are the words of the line's
    language (None: those that come with the program, which are English).
    """
    found: list[Finding] = []
    if interval is not None:
        found += [
            *_over_speech(interval, speech, limits),
            *too_fast(count_words(text) * 60 / interval.duration, limits, ""),
            *_at_zero(interval),
        ]
    if gap is not None:
        found += _in_short_gap(gap, limits)
    if slot is not None and measured is not None and milliseconds(measured) > milliseconds(slot.duration):
        what = f"The voice takes {measured:.2f} s, the slot has {slot.duration:.2f} s"
        found.append(Finding("T4", Level.ERROR, what))
    known = packaged(language) if lists is None else lists
    found += _wording(text, [words for words in known if limits.titles or words.rule != "L13"])
    for match in MARKUP.finditer(text):
        found.append(Finding("L5", Level.ERROR, f"markup: {quoted(match[0].strip())}", span=match.span()))
    return (*found, *_repeats(text, previous, limits))


def check_times(cues: Iterable[ScriptCue]) -> tuple[Finding, ...]:
    """T6 for the lines of a script, in the order in which they stand there."""
    found: list[Finding] = []
    before: Interval | None = None
    for number, cue in enumerate(cues, 1):
        name = cue.id or f"cue {number}"
        found += [replace(finding, cue_id=name) for finding in _at_zero(cue.interval)]
        if before is not None:
            found += check_order(before, cue.interval, name)
        before = cue.interval
    return tuple(found)


def silences(lines: Sequence[Interval], free: Iterable[Interval], longest: float) -> Iterator[Interval]:
    """Stretches of the speech-free times ``free`` over ``longest`` seconds without any of ``lines``."""
    for gap in free:
        if gap.duration <= longest:
            continue
        at = gap.start
        for line in [*(line for line in lines if line.overlaps(gap)), None]:
            start = gap.end if line is None else line.start
            if start - at > longest:
                yield Interval(at, start)
            at = at if line is None else max(at, line.end)


def similarity(one: str, other: str) -> float:
    """How much two lines share, 0 to 1: twice the common words over all words (Dice on bags of words).

    Words are compared in small letters, without articles and endings in s, ed, ing. Order does not count:
    a copy is often turned around. Pronouns and prepositions do, since short lines differ by little else:
    ``He looks at her`` and ``She looks at him`` share a half. Under three words only equal lines are alike.
    """
    a, b = _bag(one), _bag(other)
    total = a.total() + b.total()
    if min(a.total(), b.total()) < 3:
        return float(a == b and total > 0)
    return 2 * (a & b).total() / total


def quotations(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of text in quotation marks, marks included; a mark that never closes reaches to the end."""
    return tuple(match.span() for match in _QUOTED.finditer(text))


def unquoted(text: str) -> str:
    """``text`` as word lists read it, letter for letter: quotations are blanks, apostrophes straight."""
    return without_quotations(text).replace("’", "'")


def without_quotations(text: str) -> str:
    """``text`` with what stands in quotation marks blanked out."""
    for start, end in quotations(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


_QUOTED = re.compile(
    r"“[^”]*(?:”|$)|«[^»]*(?:»|$)|„[^“”]*(?:[“”]|$)|\"[^\"]*(?:\"|$)"
    r"|(?<!\w)‘(?:[^’]|’(?=\w))*’(?!\w)|(?<![\w])'(?=\w)(?:[^']|'(?=\w))*[^\s']'(?!\w)"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s)$")


def _over_speech(interval: Interval, speech: Sequence[Interval], limits: Limits) -> Iterator[Finding]:
    parts = [(shared, spoken) for spoken in speech if (shared := interval.clip(spoken)) is not None]
    longest = max(parts, key=lambda part: part[0].duration, default=None)
    if longest is not None and milliseconds(longest[0].duration) > milliseconds(limits.overlap):
        shared, spoken = longest
        what = f"This line ({time_range(interval)}) lies over speech ({time_range(spoken)})"
        yield Finding("T1", Level.ERROR, f"{what} for {_tenths(shared.duration)} s")


def _tenths(seconds: float) -> str:
    """Seconds with one decimal, rounded down, so that 1.96 s never reads as the 2 s that a line needs."""
    return f"{milliseconds(seconds) // 100 / 10:.1f}"


def _in_short_gap(gap: Interval, limits: Limits) -> Iterator[Finding]:
    """T2: the gap is too short for a line. Two levels, the error first."""
    for level, least in ((Level.ERROR, limits.gap_error), (Level.WARNING, limits.gap_warning)):
        if milliseconds(gap.duration) < milliseconds(least):
            what = f"This gap is {_tenths(gap.duration)} s ({time_range(gap)}); lines need {least:g} s"
            yield Finding("T2", level, what)
            return


def too_fast(rate: float, limits: Limits, said: str) -> Iterator[Finding]:
    """T3 for ``rate`` words a minute; ``said`` is what a finding begins with."""
    for level, limit in ((Level.ERROR, limits.rate_error), (Level.WARNING, limits.rate_warning)):
        if rate > limit + 1e-6:
            yield Finding("T3", level, f"{said}{rate:.0f} words a minute, over {limit:g}")
            return


def _at_zero(interval: Interval) -> Iterator[Finding]:
    if interval.start < 0:
        yield Finding("T6", Level.ERROR, f"This line starts {-interval.start:.3f} s before the film")
    elif milliseconds(interval.start) == 0:
        yield Finding("T6", Level.ERROR, "This line starts at 0, and players show it before they play")


def check_order(before: Interval, interval: Interval, name: str) -> Iterator[Finding]:
    if interval.start < before.start:
        start, start_before = clock_time(interval.start, 3), clock_time(before.start, 3)
        what = f"This line starts at {start}, earlier than the line above it ({start_before})"
        yield Finding("T6", Level.ERROR, what, name)
    elif milliseconds(before.end) > milliseconds(interval.start):
        start, end_before = clock_time(interval.start, 3), clock_time(before.end, 3)
        what = f"This line starts at {start}, before the line above it ends ({end_before})"
        yield Finding("T6", Level.ERROR, what, name)


def check_seen(heard: Interval, seen_from: float, *, by_hand: bool) -> Iterator[Finding]:
    """T7: a line that is heard more than `LEAD` before what it tells is seen. A person may mean it so."""
    early = seen_from - heard.start
    if milliseconds(early) > milliseconds(LEAD):
        level = Level.WARNING if by_hand else Level.ERROR
        seen = clock_time(seen_from, 1)
        what = f"This line is spoken {early:.1f} s before what it describes is seen ({seen})"
        yield Finding("T7", level, what)


def stretches(lines: Sequence[Interval], free: Iterable[Interval], limits: Limits) -> Iterator[Finding]:
    """T5: times of ``free`` over ``limits.stretch`` seconds without any of ``lines``."""
    for silent in silences(lines, free, limits.stretch):
        what = f"{silent.duration:.0f} s without speech or AD ({time_range(silent)})"
        yield Finding("T5", Level.WARNING, what, when=silent)


def _wording(text: str, lists: Sequence[WordList]) -> Iterator[Finding]:
    """What the word lists find; what one calls an error is not called a warning by another of that rule."""
    plain = unquoted(text)
    found: list[Finding] = []
    for words in sorted(lists, key=lambda words: words.level):
        # Letters in which another level of this rule found something. A line may hold thousands of findings.
        known = {
            letter
            for finding in found
            if finding.rule == words.rule and finding.level != words.level and finding.span
            for letter in range(*finding.span)
        }
        for start, end in words.spans(plain):
            if known.isdisjoint(range(start, end)):
                what = f"{words.says}: {quoted(plain[start:end].strip())}"
                found.append(Finding(words.rule, Level(words.level), what, span=(start, end)))
    yield from found


def _repeats(text: str, previous: Sequence[str], limits: Limits) -> Iterator[Finding]:
    for before in reversed(previous[-limits.history :] if limits.history else ()):
        if _AGAIN.search(text) and not _AGAIN.search(before):
            continue
        score = similarity(text, before)
        # What is read out must be near too, where both read something: two titles are not copies.
        a, b = (" ".join(one[start:end] for start, end in quotations(one)) for one in (text, before))
        score = min(score, similarity(a, b)) if a and b else score
        if score >= limits.similar:
            yield Finding("L9", Level.WARNING, f"is near to an earlier line ({score:.0%}): {quoted(before)}")
            return


_AGAIN = re.compile(r"\b(?:again|another|once more|a second|a third)\b", re.IGNORECASE)
"""Says that it is another time: ``The horse knocks him down again`` tells of something new."""


@lru_cache(maxsize=64)
def _bag(text: str) -> Counter[str]:
    plain = (word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(text))
    return Counter(_ENDING.sub("", word) for word in plain if word not in ARTICLES)
