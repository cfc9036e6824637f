"""Check lines against describers' guidelines.

T1 to T7 concern times; L1 to L5, L13 and L14 words; L9 repetition.

The thresholds are those of the guidelines (`Limits`). Rules on times hold for every language. The word lists
of the program apply to lines of their language: English, German, French and Spanish have some, each after
guidelines of its own. Text in quotation marks, which is read from the screen, is exempt from L1 to L4, L13
and the phrases of L5.

Word lists are patterns read from word files (``configs/words/README.md`` describes their syntax); a user's
files add to those of the program. Every list was run over human AD: entries that matched there were narrowed
or made warnings.
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

from shotad.core import Interval
from shotad.core.config.languages import is_english
from shotad.core.errors import ConfigError, quoted
from shotad.core.settings import word_files
from shotad.core.text_files import read_text_file
from shotad.core.types import clock_time, time_range
from shotad.script.cue import MAX_LEAD, ScriptCue, count_words, milliseconds
from shotad.script.reasons import in_english

Case = Literal["any", "exact"]


def _overlaps_any(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether ``[start, end)`` shares a letter with one of ``spans``, which ascend and do not overlap."""
    # Only the last span that begins before ``end`` can reach beyond ``start`` if any does.
    last = bisect_left(spans, (end, end)) - 1
    return last >= 0 and spans[last][0] < end and spans[last][1] > start


@dataclass(frozen=True)
class WordList:
    """The words that break one rule.

    ``entries`` and ``sets`` (by name) are lines of a word file, ``allowed`` its exceptions, without their
    hyphen. ``says`` begins the message of a finding. Raises ConfigError for an entry that is no valid
    pattern, when the list is first used.
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
        entry_pattern, allowed_pattern = self._patterns
        allowed_spans = [match.span() for match in allowed_pattern.finditer(text)] if allowed_pattern else []
        for match in entry_pattern.finditer(text) if entry_pattern else ():
            start, end = match.span()
            if start < end and not _overlaps_any(allowed_spans, start, end):
                yield start, end

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        """The patterns of ``entries`` and of ``allowed``; None for one without entries."""
        return self._compile(self.entries), self._compile(self.allowed)

    def _compile(self, entries: Sequence[str]) -> re.Pattern[str] | None:
        """A pattern that matches any of ``entries``. Raises ConfigError for one that is invalid."""
        flags = re.IGNORECASE if self.case == "any" else re.NOFLAG
        patterns: list[str] = []
        for entry in dict.fromkeys(entries):
            if len(entry) > 1 and entry.startswith("/") and entry.endswith("/"):
                pattern = self._regex_pattern(entry)
            else:
                pattern = rf"(?<!\w){self._word_pattern(entry)}(?!\w)"
            patterns.append(f"(?:{pattern})")
            # Each by itself first: an error in the joined pattern would not say which entry it is.
            try:
                re.compile(pattern, flags)
            except (re.error, RecursionError, OverflowError) as error:
                message = f"{self.source or self.name}: {quoted(entry)} cannot be understood: {error}."
                raise ConfigError(message, _SYNTAX_HINT) from None
        return re.compile("|".join(patterns), flags) if patterns else None

    def _regex_pattern(self, entry: str) -> str:
        """The regular expression of an entry in slashes, each ``{set}`` in it replaced by its words."""
        pattern = ""
        for position, part in enumerate(_SET_NAME.split(entry[1:-1])):
            # The split gives text and names of sets by turns.
            pattern += self._set_pattern(part, entry) if position % 2 else part
        return pattern

    def _word_pattern(self, entry: str) -> str:
        """The pattern of words with the marks of word files: ``[the] dog[s]`` → ``(?:the )?dog(?:s)?``."""
        words = " ".join(entry.split())
        # The blank beside a word in brackets is as optional as the word.
        words = _OPTIONAL_WORD.sub(r"\1[(\2) ]", words)
        words = _OPTIONAL_LAST_WORD.sub(r"[ (\1)]", words)
        pattern = ""
        for part in _SET_OR_MARK.split(words):
            if part.startswith("{"):
                pattern += self._set_pattern(part[1:-1], entry)
            else:
                pattern += _MARKS.get(part, re.escape(part))
        return pattern

    def _set_pattern(self, name: str, entry: str) -> str:
        """The pattern for any word of a set. Raises ConfigError where there is no such set."""
        if name not in self.sets:
            missing = f"{quoted(entry)} names the set {quoted(name)}, which is not there."
            message = f"{self.source or self.name}: {missing}"
            raise ConfigError(message, f"Write a line: @set {name} = one | two | three.")
        return f"(?:{'|'.join(map(self._word_pattern, self.sets[name]))})"


_SYNTAX_HINT = "The form of word files stands in configs/words/README.md."
_SET_NAME = re.compile(r"\{([^\W\d][^{}]*)\}")
"""Not ``{2,3}``, which counts repetitions in a regular expression."""
_OPTIONAL_WORD = re.compile(r"(\A| )\[([^\[\]]*)\] ")
_OPTIONAL_LAST_WORD = re.compile(r" \[([^\[\]]*)\]\Z")
_SET_OR_MARK = re.compile(r"(\{[^{}]+\}|[\[\]()|* ])")
_MARKS = {"[": "(?:", "]": ")?", "(": "(?:", ")": ")", "|": "|", "*": r"\w*", " ": r"\s+"}
"""The marks of word files as parts of a regular expression."""
LONGEST_ENTRY = 1_000
"""Letters of a line of a word file. The longest of the program has 600; the time to compile a pattern grows
faster than its length."""
_DIRECTIVE = re.compile(r"@(?P<key>[a-z]+)\s++(?P<value>.+)")


def parse_words(text: str, name: str, source: str = "") -> WordList:
    """The list in a word file's ``text``; its ``rule`` is empty where the file names none.

    ``source`` is the file's name for messages. Raises ConfigError with the number of a wrong line.
    """
    words = WordList(name, "", "warning", "on your list", (), source=source or name)
    entries: list[str] = []
    allowed: list[str] = []
    sets: dict[str, dict[str, None]] = {}
    # Word files use straight apostrophes, as `unquoted` gives them.
    for number, raw_line in enumerate(text.replace("’", "'").splitlines(), 1):
        line = raw_line.strip()
        if len(line) > LONGEST_ENTRY:
            message = f"{words.source}, line {number}: {quoted(line)} has over {LONGEST_ENTRY} letters."
            raise ConfigError(message, "Write one entry on each line.")
        if line.startswith("@set "):
            set_name, equals_sign, members_text = line.removeprefix("@set ").partition("=")
            set_name = set_name.strip()
            members = [member.strip() for member in _split_at_bars(members_text) if member.strip()]
            if not equals_sign or not set_name or not members:
                message = f"{words.source}, line {number}: {quoted(line)} is no set."
                raise ConfigError(message, "Write @set name = one | two | three.")
            # A dict keeps each member once, in order.
            sets.setdefault(set_name, {}).update(dict.fromkeys(members))
        elif line.startswith("@"):
            match = _DIRECTIVE.fullmatch(line)
            key, value = (match["key"], match["value"].strip()) if match else ("", "")
            choices = {"rule": (), "says": (), "level": ("error", "warning"), "case": ("any", "exact")}
            if key not in choices or (choices[key] and value not in choices[key]):
                message = f"{words.source}, line {number}: {quoted(line)} cannot be understood."
                hint = "There are @set, @rule, @level (error, warning), @says and @case (any, exact)."
                raise ConfigError(message, hint)
            words = replace(words, **{key: value})  # type: ignore[arg-type]  # one of four strings
        elif line.startswith("-"):
            allowed.append(line[1:].strip())
        elif line and not line.startswith("#"):
            entries.append(line)
    return replace(
        words,
        entries=tuple(entries),
        allowed=tuple(entry for entry in allowed if entry),
        sets={set_name: tuple(members) for set_name, members in sets.items()},
    )


def _split_at_bars(text: str) -> Iterator[str]:
    """The parts between bars that stand outside brackets: ``a | b (c|d)`` → ``a``, ``b (c|d)``."""
    depth, part_start = 0, 0
    for position, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        if char == "|" and depth == 0:
            yield text[part_start:position]
            part_start = position + 1
    yield text[part_start:]


OWN_RULE = "own"
"""The rule of a user's list that names none."""


@lru_cache(maxsize=16)
def packaged_lists(language: str) -> tuple[WordList, ...]:
    """The lists that come with the program for a language (``en-GB``: those of ``en``); none for most."""
    code = language.lower().split("-")[0]
    files = word_files(code) if code.isalpha() else ()
    return tuple(parse_words(path.read_text(encoding="utf-8"), path.stem, path.name) for path in files)


ARTICLES = frozenset(("a", "an", "the"))
"""Words that L9 does not compare."""

SOMEONE = re.compile(
    r"(?:^|(?<=[.!?;] )|(?<=, while )|(?<=, as )|(?<=\bwhile )|(?<=, and ))"
    r"(?P<who>(?:a|an|the) (?:man|woman|boy|girl|guy|lady|person|gentleman))\b(?!'s|-| and\b)",
    re.IGNORECASE,
)
"""What Stage II is asked to avoid: "a man" for somebody without a name who acts, instead of "he"."""

TALK = re.compile(
    r"\b(?:speaks?|talks?|chats?|convers(?:es?|ing)|speaking|talking|chatting|discuss(?:es|ing)?)\b"
    r"(?! show)(?! into\b)(?! window)(?<!small talk)(?<!pep talk)(?<!a talk)(?<!the talk)(?<!a chat)"
    r"(?<!without speaking)(?<!without talking)"
    r"|\b(?:in|into|have|has|having|hold|holds|continues?|through) (?:(?:a|an|their|the|his|her) )?"
    r"(?:\w+ )?conversations?\b"
    r"|\b(?:says|is saying|are saying)\b(?!  |,  )",
    re.IGNORECASE,
)
"""What Stage II is asked to avoid: telling that people talk, which the audience hears."""

# Speaking into a telephone or a microphone is seen; what a sign says stands behind a colon.
_TALK_IN_OTHER_LANGUAGES: Mapping[str, re.Pattern[str]] = {
    "de": re.compile(
        r"(?<!zu )(?<!ohne )\b(?:spricht|sprechen|redet|reden|plaudert|plaudern|diskutiert|diskutieren"
        r"|sagt|sagen|unterhält sich|unterhalten sich)\b(?! ins? \w)(?! ein Gebet)(?!\s?:)"
    ),
    "fr": re.compile(
        r"(?<!sans )\b(?:parle|parlent|discute|discutent|bavarde|bavardent|converse|conversent|dit|disent)\b"
        r"(?! dans \w)(?!\s?:)"
    ),
    "es": re.compile(
        r"(?<!el )(?<!la )(?<!una )\b(?:habla|hablan|charla|charlan|conversa|conversan|discute|discuten"
        r"|dice|dicen)\b(?! por (?:el|un|la|radio))(?!\s?:)"
    ),
}


def talk_pattern(language: str) -> re.Pattern[str] | None:
    """What tells in ``language`` (a tag) that people talk; None where we have no words for it."""
    if is_english(language):
        return TALK
    return _TALK_IN_OTHER_LANGUAGES.get(language.lower().replace("_", "-").split("-")[0])


MARKUP = re.compile(
    r"\*\*|\b__\w|^\s{0,3}#{1,6}\s|```|`[^`]+`|^[^\S\n]*(?:[-*•]|\d{1,2}[.)])\s+\S|<\|?/?[a-z_]+\|?>"
    r"|\[/?(?:INST|SYS)\]|\{\s*[\"'“][\w ]+[\"'”]\s*:|[\"“]\s*\}|\\n|^[^\S\n]*[\[{]|https?://|\ufffd",
    re.MULTILINE | re.IGNORECASE,
)
"""L5: markdown, lists, JSON, tokens of a chat template."""

_LANGUAGE_FOLDER = re.compile(r"[a-z]{2,3}(?:-\w+)*", re.IGNORECASE)


def read_words(places: Sequence[str | Path]) -> tuple[UserWords, ...]:
    """The word files at ``places``: files, or folders of them with a folder for each language.

    Raises ConfigError for a file that is missing, cannot be read or is not valid, with the line.
    """
    user_words: list[UserWords] = []
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
            code = folder.lower().split("-")[0] if _LANGUAGE_FOLDER.fullmatch(folder) else ""
            # Most folders with three letters in their name are no languages.
            language = code if len(code) == 2 else ""
            user_words.append((language, parse_words(text, file.stem, str(file))))
    return tuple(user_words)


UserWords = tuple[str, WordList]
"""A language, empty where it is for every track, and a user's word file."""


def lists_for(language: str, user_words: Sequence[UserWords] = ()) -> tuple[WordList, ...]:
    """The word lists that apply to lines of a language.

    A user's entries are added to the program's list of the same name, which keeps its rule and level. A list
    of another name without a rule gets the rule `OWN_RULE`. Raises ConfigError for a pattern that
    is not valid.
    """
    code = language.lower().split("-")[0]
    lists = {words.name: words for words in packaged_lists(language)}
    users_lists = [words for user_language, words in user_words if user_language in ("", code)]
    for addition in users_lists:
        base = lists.get(addition.name)
        if base is None:
            lists[addition.name] = addition if addition.rule else replace(addition, rule=OWN_RULE)
            continue
        set_names = dict.fromkeys((*base.sets, *addition.sets))
        lists[addition.name] = replace(
            base,
            entries=(*base.entries, *addition.entries),
            allowed=(*base.allowed, *addition.allowed),
            sets={name: (*base.sets.get(name, ()), *addition.sets.get(name, ())) for name in set_names},
            source=f"{base.source} and {addition.source}",
        )
    if users_lists:
        for words in lists.values():
            # Compiles the patterns, so that a wrong entry is reported now and not in the middle of a run.
            tuple(words.spans(""))
    return tuple(lists.values())


class Level(StrEnum):
    """An error must be corrected before publication; a warning is for a person to judge."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule. ``span`` are the characters of the text that break it, half-open; ``when`` is the time
    that it concerns where no line is at fault."""

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
    """The thresholds of the rules. ``math.inf`` or 0 turns one off.

    Seconds for gaps and times without a line, words a minute for rates, the share of common words for
    ``min_similarity``.
    """

    gap_error: float = 2.0
    gap_warning: float = 2.0
    """T2: lint takes ``slots.minimum`` where that is longer."""
    rate_error: float = 200.0
    rate_warning: float = 180.0
    max_silence: float = 45.0
    """T5: seconds without speech or a line after which listeners wonder whether the sound is still on."""
    min_similarity: float = 0.8
    history: int = 5
    """L9: how many of the lines before are compared."""
    overlap: float = 0.0
    """T1: seconds for which a line may overlap one interval of speech."""
    titles: bool = False
    """L13: warn of a title before a name. Off by default: human AD has them, often as the only name."""


BENCHMARK_LIMITS = Limits(gap_error=0, gap_warning=0, rate_error=math.inf, rate_warning=math.inf)
"""For slots or budgets of a benchmark: rules T2 and T3 are off. Such slots may be shorter than lint
wants gaps to be, and the budgets (CMD-AD: 0.275 s a word, 218 words a minute) exceed `Limits.rate_error`."""


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
    recorded voice in seconds. A rule whose argument is missing is not checked. ``lists`` are the words of the
    line's language (None: those that come with the program for ``language``).
    """
    findings: list[Finding] = []
    if interval is not None:
        words_a_minute = count_words(text) * 60 / interval.duration
        findings += _check_speech(interval, speech, limits)
        findings += check_rate(words_a_minute, limits, "")
        findings += _check_start(interval)
    if gap is not None:
        findings += _check_gap(gap, limits)
    if slot is not None and measured is not None and milliseconds(measured) > milliseconds(slot.duration):
        message = f"The voice takes {measured:.2f} s, the slot has {slot.duration:.2f} s"
        findings.append(Finding("T4", Level.ERROR, message))
    if lists is None:
        lists = packaged_lists(language)
    findings += _check_words(text, [words for words in lists if limits.titles or words.rule != "L13"])
    for match in MARKUP.finditer(text):
        findings.append(
            Finding(
                "L5",
                Level.ERROR,
                in_english("fault.markup", text=quoted(match[0].strip())),
                span=match.span(),
            )
        )
    findings += _check_repetition(text, previous, limits)
    return tuple(findings)


def check_times(cues: Iterable[ScriptCue]) -> tuple[Finding, ...]:
    """T6 for the lines of a script, in the order of the file."""
    findings: list[Finding] = []
    previous: Interval | None = None
    for number, cue in enumerate(cues, 1):
        name = cue.id or f"cue {number}"
        findings += [replace(finding, cue_id=name) for finding in _check_start(cue.interval)]
        if previous is not None:
            findings += check_order(previous, cue.interval, name)
        previous = cue.interval
    return tuple(findings)


def silences(lines: Sequence[Interval], free: Iterable[Interval], longest: float) -> Iterator[Interval]:
    """Times of over ``longest`` seconds within the speech-free times ``free`` without any of ``lines``.

    ``lines`` ascend by start.
    """
    for gap in free:
        if gap.duration <= longest:
            continue
        silent_from = gap.start
        for line in lines:
            if not line.overlaps(gap):
                continue
            if line.start - silent_from > longest:
                yield Interval(silent_from, line.start)
            silent_from = max(silent_from, line.end)
        if gap.end - silent_from > longest:
            yield Interval(silent_from, gap.end)


def similarity(first: str, second: str) -> float:
    """How much two lines share, 0 to 1: twice the common words over all words (Dice on bags of words).

    Words are compared in lower case, without articles and endings in s, ed, ing. Order does not count: a copy
    is often turned around. Pronouns and prepositions do, since short lines differ by little else: ``He looks
    at her`` and ``She looks at him`` share a half. Under three words only equal lines are alike.
    """
    first_words, second_words = _bag_of_words(first), _bag_of_words(second)
    total = first_words.total() + second_words.total()
    if min(first_words.total(), second_words.total()) < 3:
        return float(first_words == second_words and total > 0)
    common = (first_words & second_words).total()
    return 2 * common / total


def quotations(text: str) -> tuple[tuple[int, int], ...]:
    """Half-open spans of text in quotation marks, marks included; an unclosed one reaches to the end."""
    return tuple(match.span() for match in _QUOTATION.finditer(text))


def unquoted(text: str) -> str:
    """``text`` for word lists, of the same length: quotations are blanks, apostrophes straight."""
    return without_quotations(text).replace("’", "'")


def without_quotations(text: str) -> str:
    """``text`` with quotations, marks included, replaced by as many blanks."""
    for start, end in quotations(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


_QUOTATION = re.compile(
    # German books turn these around: »so« and ›so‹. What begins a quotation stands before a word, what ends
    # it behind a word or its stop; French has blanks within: « ainsi ».
    r"(?<![\w.!?…])»(?=\S)[^«»]*(?:(?<!\s)«|$)|›(?=\S)[^‹›]*(?<!\s)‹"
    r"|(?<![\w.!?…])«[^»]*(?:»|$)|«(?=\S)[^«»]*»|‹[^‹›]*›"
    r"|‚(?:[^‘’]|’(?=\w))*(?:[‘’]|$)"
    r"|“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|\"[^\"]*(?:\"|$)"
    r"|(?<!\w)‘(?:[^’]|’(?=\w))*’(?!\w)|(?<![\w])'(?=\w)(?:[^']|'(?=\w))*[^\s']'(?!\w)"
)
_COMPARED_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s)$")


def _check_speech(interval: Interval, speech: Sequence[Interval], limits: Limits) -> Iterator[Finding]:
    """T1: the line lies over speech. One finding, for the longest overlap."""
    longest, longest_speech = 0.0, None
    for speech_interval in speech:
        overlap = interval.clip(speech_interval)
        if overlap is not None and overlap.duration > longest:
            longest, longest_speech = overlap.duration, speech_interval
    if longest_speech is not None and milliseconds(longest) > milliseconds(limits.overlap):
        message = f"This line ({time_range(interval)}) lies over speech ({time_range(longest_speech)})"
        yield Finding("T1", Level.ERROR, f"{message} for {_tenths(longest)} s")


def _tenths(seconds: float) -> str:
    """Seconds with one decimal, rounded down, so that 1.96 s never reads as the 2 s that a line needs."""
    return f"{milliseconds(seconds) // 100 / 10:.1f}"


def _check_gap(gap: Interval, limits: Limits) -> Iterator[Finding]:
    """T2: the gap is too short for a line. One finding: the error hides the warning."""
    for level, minimum in ((Level.ERROR, limits.gap_error), (Level.WARNING, limits.gap_warning)):
        if milliseconds(gap.duration) < milliseconds(minimum):
            message = f"This gap is {_tenths(gap.duration)} s ({time_range(gap)}); lines need {minimum:g} s"
            yield Finding("T2", level, message)
            return


def check_rate(rate: float, limits: Limits, prefix: str) -> Iterator[Finding]:
    """T3 for ``rate`` words a minute. One finding, whose message begins with ``prefix``."""
    for level, limit in ((Level.ERROR, limits.rate_error), (Level.WARNING, limits.rate_warning)):
        # A rate computed from times may miss the limit by a rounding error.
        if rate > limit + 1e-6:
            yield Finding("T3", level, f"{prefix}{rate:.0f} words a minute, over {limit:g}")
            return


def _check_start(interval: Interval) -> Iterator[Finding]:
    """T6: the line starts before the film, or at 0."""
    if interval.start < 0:
        yield Finding("T6", Level.ERROR, f"This line starts {-interval.start:.3f} s before the film")
    elif milliseconds(interval.start) == 0:
        yield Finding("T6", Level.ERROR, "This line starts at 0, and players show it before they play")


def check_order(previous: Interval, interval: Interval, name: str) -> Iterator[Finding]:
    """T6: the line called ``name`` starts before the one above it, or before that one ends."""
    if interval.start < previous.start:
        start, previous_start = clock_time(interval.start, 3), clock_time(previous.start, 3)
        message = f"This line starts at {start}, earlier than the line above it ({previous_start})"
        yield Finding("T6", Level.ERROR, message, name)
    elif milliseconds(previous.end) > milliseconds(interval.start):
        start, previous_end = clock_time(interval.start, 3), clock_time(previous.end, 3)
        message = f"This line starts at {start}, before the line above it ends ({previous_end})"
        yield Finding("T6", Level.ERROR, message, name)


def check_lead(spoken: Interval, seen_from: float, *, by_hand: bool) -> Iterator[Finding]:
    """T7: the line, spoken at ``spoken``, begins over `MAX_LEAD` before second ``seen_from``, when what it
    describes is seen. Only a warning for a line by hand: a person may mean it so."""
    early = seen_from - spoken.start
    if milliseconds(early) > milliseconds(MAX_LEAD):
        level = Level.WARNING if by_hand else Level.ERROR
        seen_at = clock_time(seen_from, 1)
        message = f"This line is spoken {early:.1f} s before what it describes is seen ({seen_at})"
        yield Finding("T7", level, message)


def check_silence(lines: Sequence[Interval], free: Iterable[Interval], limits: Limits) -> Iterator[Finding]:
    """T5: times of ``free`` over ``limits.max_silence`` seconds without any of ``lines``."""
    for silence in silences(lines, free, limits.max_silence):
        message = f"{silence.duration:.0f} s without speech or AD ({time_range(silence)})"
        yield Finding("T5", Level.WARNING, message, when=silence)


def _check_words(text: str, lists: Sequence[WordList]) -> Iterator[Finding]:
    """Findings of the word lists: words that are an error of a rule are not also a warning of it."""
    plain = unquoted(text)
    findings: list[Finding] = []
    # Errors before warnings, as the words sort.
    for words in sorted(lists, key=lambda words: words.level):
        # A set of letters, not a comparison of spans: a line may hold thousands of findings.
        reported_letters: set[int] = set()
        for finding in findings:
            if finding.rule == words.rule and finding.level != words.level and finding.span:
                reported_letters.update(range(*finding.span))
        for start, end in words.spans(plain):
            if reported_letters.isdisjoint(range(start, end)):
                message = f"{words.says}: {quoted(plain[start:end].strip())}"
                findings.append(Finding(words.rule, Level(words.level), message, span=(start, end)))
    yield from findings


def _check_repetition(text: str, previous: Sequence[str], limits: Limits) -> Iterator[Finding]:
    """L9: the line is like an earlier one. One finding, for the latest such line."""
    history = previous[-limits.history :] if limits.history else ()
    for distance, earlier in enumerate(reversed(history), 1):
        if _AGAIN.search(text) and not _AGAIN.search(earlier):
            continue
        score = similarity(text, earlier)
        # Where both lines quote something, the quotations must be alike too: two titles are not copies.
        quotation, earlier_quotation = _quoted_text(text), _quoted_text(earlier)
        if quotation and earlier_quotation:
            score = min(score, similarity(quotation, earlier_quotation))
        if score >= limits.min_similarity:
            likeness = "is the same as" if _same_words(text, earlier) else "is nearly the same as"
            place = "the line before it" if distance == 1 else f"the line {distance} before it"
            message = f"{likeness} {place}: {quoted(earlier)}"
            yield Finding("L9", Level.WARNING, message)
            return


def _same_words(text: str, other: str) -> bool:
    """Whether two texts have the same words in the same order, whatever marks and capitals they have."""
    return _COMPARED_WORD.findall(text.lower()) == _COMPARED_WORD.findall(other.lower())


def _quoted_text(text: str) -> str:
    """All quotations of a line, joined by blanks."""
    return " ".join(text[start:end] for start, end in quotations(text))


_AGAIN = re.compile(
    r"\b(?:again|another|once more|a second|a third"
    r"|wieder|erneut|nochmals?|noch einmal|ein zweites Mal"
    r"|à nouveau|de nouveau|encore une fois|une deuxième fois"
    r"|de nuevo|otra vez|una segunda vez)\b",
    re.IGNORECASE,
)
"""Marks a new event: ``The horse knocks him down again`` does not repeat the line before."""


@lru_cache(maxsize=64)
def _bag_of_words(text: str) -> Counter[str]:
    """How often each word stands in ``text``: in lower case, without articles and endings."""
    words = [word.lower().replace("’", "'").removesuffix("'s") for word in _COMPARED_WORD.findall(text)]
    return Counter(_ENDING.sub("", word) for word in words if word not in ARTICLES)
