"""The embedded Stage II: reads out text on the screen, and says who of the cast appears.

It says what was measured, and of that only what a professional would leave in a script: on film that nobody
had seen these two kinds of statement held, and no others (benchmarks/LOG.md). Everything else that was
measured is material for the describer. No model writes here: the same facts give the same line.

Its few sentences come from `shotad.script.track_texts`, in each language that has texts there. None depends
on whether somebody is a man or a woman.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from textwrap import shorten
from typing import Any, Literal

from shotad.core import (
    Abilities,
    Config,
    Identity,
    Reply,
    Request,
    Usage,
)
from shotad.core.config.languages import language_of
from shotad.core.engine import (
    Facts,
    NamedFace,
    TextFact,
)
from shotad.core.errors import EngineError
from shotad.core.workfolder import hash_key
from shotad.engines.english import (
    Quote,
    bare,
    capital,
    clean,
    fit_quote,
    same_text,
    spoken_length,
    without_cast,
    without_names,
)
from shotad.engines.table import ENGINES, stage_engines
from shotad.film.slots import words_that_fit
from shotad.script.cue import VisibleTime, visible_part
from shotad.script.rules import check_line, quotations, without_quotations
from shotad.script.track_texts import Texts, has_texts, text_languages, texts_in
from shotad.script.worksheet import reading_introduction

REVISION = "14"
"""Raise it with every change that changes a line: records depend on it."""
MIN_CONFIDENCE = 0.975
"""Texts read less surely than this are not said: letters of ornament are misread below it."""
MOST_STATEMENTS = 3
"""Statements in one line; more are not followed by ear."""
MOST_CONSIDERED = 8
"""Statements of which lines are made, the most telling first."""
_TEXTS_OF_LINES = frozenset({"line", "list", "quote", "silent"})
"""How the keys begin of the texts that a reply is made of."""
_UNLIMITED = 60
"""Words to plan for where a request sets no budget."""

StatementKind = Literal["title", "caption", "scene", "people"]
PRIORITY: dict[StatementKind, int] = {"title": 0, "caption": 1, "scene": 2, "people": 3}
"""What is said first where there is no room for all: what listeners miss most, text that nobody reads."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that could be said: an ``introduction`` with a ``quote``, or an introduction alone.

    ``texts`` are those of its language. ``since`` and ``until`` are the film seconds between which what it
    tells is seen; ``names`` are the people it names.
    """

    texts: Texts
    kind: StatementKind
    introduction: str
    shot: int
    since: float
    until: float
    quote: Quote | None = None
    confidence: float = 1.0
    names: tuple[NamedFace, ...] = ()

    @property
    def sentence(self) -> str:
        """``Words appear: "SINTEL."``, ``Thom appears.``"""
        if self.quote is None:
            return f"{self.introduction}."
        return self.texts("line.reads", introduction=self.introduction, quote=self.quote.at_end(self.texts))

    @property
    def addition(self) -> str:
        """What a sentence that goes on with this statement says of it: ``"SINTEL."``, ``Thom and Celia.``"""
        if self.quote is not None:
            return self.quote.at_end(self.texts)
        return f"{self.texts.listed([name.called for name in self.names])}."

    def within(self, text: str) -> str:
        """``text``, which ends with this statement, as the beginning of a sentence that goes on."""
        if self.quote is None:
            return f"{text.removesuffix('.')},"
        return f"{text.removesuffix(self.quote.at_end(self.texts))}{self.quote.within(self.texts)}"

    def continues(self, before: Statement) -> bool:
        """True where both can be one sentence: names after names, or texts with the same introduction."""
        if self.quote is None or before.quote is None:
            return bool(self.names and before.names)
        return self.introduction == before.introduction

    @property
    def rank(self) -> tuple[int, float, str]:
        """The most telling first, then the earliest."""
        return PRIORITY[self.kind], self.since, self.sentence


@dataclass(frozen=True, slots=True)
class NarratedLine:
    """Statements in the order in which they are said, and how many words of the line come before each."""

    text: str
    statements: tuple[Statement, ...]
    words_before: tuple[int, ...]

    @staticmethod
    def of(statements: Sequence[Statement]) -> NarratedLine:
        """The statements in film order, each a sentence of its own.

        A statement that continues the one before it goes on its sentence: ``Words appear: "ONE," then
        "TWO."``, ``Thom appears, then Celia.``
        """
        ordered = sorted(statements, key=lambda statement: (statement.since, statement.rank))
        text, words_before = "", list[int]()
        before: Statement | None = None
        for statement in ordered:
            if before is not None and statement.continues(before):
                addition = statement.addition
                text = statement.texts("line.then", before=before.within(text), next=addition)
            else:
                addition = statement.sentence
                text = f"{text} {addition}".lstrip()
            # Words that are read out are told from their first on, a name from the sentence's beginning.
            told_words = statement.quote.words if statement.quote else addition
            language = statement.texts.tag
            words_before.append(spoken_length(text, language) - spoken_length(told_words, language))
            before = statement
        return NarratedLine(text, tuple(ordered), tuple(words_before))

    def sight(self, seconds_per_word: float) -> VisibleTime:
        """When the line may start so that all is told while it is seen."""
        parts = [
            (words, statement.since, statement.until)
            for words, statement in zip(self.words_before, self.statements, strict=True)
        ]
        sight = VisibleTime.of(parts, seconds_per_word)
        assert sight is not None
        return sight

    def notes(self) -> list[dict[str, Any]]:
        """What the line states, for the record: of each statement its kind, its shot, how sure it is, the
        seconds between which it is seen, the words before it, and the ids of those it names."""
        rows: list[dict[str, Any]] = []
        for statement, words in zip(self.statements, self.words_before, strict=True):
            row: dict[str, Any] = {
                "what": statement.kind,
                "shot": statement.shot,
                "sure": round(statement.confidence, 3),
                "since": round(statement.since, 3),
                "until": round(statement.until, 3),
                "after": words,
            }
            if statement.names:
                row["who"] = [name.id for name in statement.names]
            rows.append(row)
        return rows


@dataclass(slots=True)
class ClipFinding:
    """What can be said of a clip.

    ``unread`` are the texts for which there is no time, each with the reason; ``skipped`` those that need not
    or cannot be read out.
    """

    statements: list[Statement] = field(default_factory=list)
    unread: list[dict[str, str]] = field(default_factory=list)
    skipped: list[tuple[TextFact, str]] = field(default_factory=list)


class Narrator:
    """Composes lines from the observer's facts; the same request gets the same answer."""

    def __init__(self, settings: Config) -> None:
        if not has_texts(settings.language):
            names = [language_of(tag).name for tag in text_languages() if "-" not in tag]
            raise EngineError(
                f"The embedded narrator writes {texts_in('en').listed(names)}, not language = "
                f"{settings.language!r}.",
                "Describe in English, then let a language model translate the track: shotad translate FILM "
                f"--to {settings.language}. Or choose another engine, as --engine openai.",
            )
        stage1_engine = stage_engines(settings).stage1
        if stage1_engine in ENGINES and stage1_engine != "observer":
            raise EngineError(
                f"The embedded narrator writes of what the observer measures, not of the words of "
                f"{stage1_engine}.",
                "Let a language model write (stage2.engine = openai), or take both: --engine embedded.",
                again=False,
            )
        self._seconds_per_word = settings.slots.seconds_per_word
        self._texts = texts_in(settings.language)
        wording = {
            key: text for key, text in self._texts.by_key.items() if key.partition(".")[0] in _TEXTS_OF_LINES
        }
        key = hash_key(self._seconds_per_word, wording)
        self.identity = Identity("narrator", "grammar", f"{REVISION}-{key}")
        self.abilities = Abilities(accepts_images=False, uses_history=True, converses=False)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in order."""
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        # The fields that the answer must have as JSON, one for each line asked for; none for plain text
        fields = list((request.schema or {}).get("properties", {}))
        try:
            facts = Facts.from_json(request.notes)
        except (KeyError, TypeError, ValueError) as error:
            return Reply("", "error", error=f"The facts cannot be read: {type(error).__name__}: {error}")
        finding = self._finding(facts, request)
        lines = self._lines(finding.statements, request)[: max(len(fields), 1)]
        notes: dict[str, Any] = {"unread": finding.unread} if finding.unread else {}
        if not lines:
            return Reply("", "silent", notes={"reason": self._why_silent(finding), **notes})
        notes = {"said": [line.notes() for line in lines], **notes}
        texts = [line.text for line in lines]
        usage = Usage(tokens_out=sum(len(text.split()) for text in texts))
        if not fields:
            return Reply(texts[0], usage=usage, notes=notes)
        answer = dict.fromkeys(fields, "") | dict(zip(fields, texts, strict=False))
        return Reply(json.dumps(answer, ensure_ascii=False), usage=usage, notes=notes)

    def _finding(self, facts: Facts, request: Request) -> ClipFinding:
        """All that could be said of the clip after the last lines, the most telling first."""
        finding = ClipFinding()
        cast = request.scene.presence.cast if request.scene else ()
        lines = [bare(without_cast(line, cast)) for line in request.history]
        quotes = [line[start:end] for line in request.history for start, end in quotations(line)]
        taken: list[str] = []
        texts = [text for text in facts.texts if text.shot in facts.current]
        for text in sorted(texts, key=lambda text: (text.first, text.shot, text.text)):
            words = bare(clean(text.text))
            was_read = any(f" {words} " in f" {line} " for line in lines)
            was_read = was_read or any(same_text(words, quote) for quote in quotes)
            if text.sure < MIN_CONFIDENCE:
                finding.skipped.append((text, self._texts("silent.uncertain")))
            elif not words:
                finding.skipped.append((text, self._texts("silent.no_words")))
            elif any(same_text(words, earlier_words) for earlier_words in taken):
                continue
            elif was_read:
                finding.skipped.append((text, self._texts("silent.was_read")))
            elif text.spoken:
                finding.skipped.append((text, self._texts("silent.is_spoken")))
            else:
                taken.append(words)
                if text.is_for_viewers:
                    self._read_out(text, request, finding)
                else:
                    finding.skipped.append((text, self._texts(f"silent.{text.kind}")))
        finding.statements += new_people(facts, request.history, self._texts)
        finding.statements.sort(key=lambda statement: statement.rank)
        return finding

    def _read_out(self, text: TextFact, request: Request, finding: ClipFinding) -> None:
        """Add what reads the text, or why nothing does, to the finding."""
        introduction = reading_introduction(text.kind, self._texts)
        since = text.first if text.since is None else text.since
        budget = _UNLIMITED if request.budget is None else request.budget
        in_slot = min(budget, self._words_from(since, request))
        words_before = self._length(introduction)
        quote = fit_quote(text.text, in_slot - words_before, self._texts.tag)
        if quote is None:
            needed = words_before + self._length(clean(text.text))
            if needed > budget:
                reason = self._texts("silent.too_long", needed=needed, fitting=budget)
            else:
                reason = self._texts("silent.too_late", needed=needed, fitting=max(in_slot, 0))
            finding.unread.append({"text": text.text, "reason": reason})
            return
        if not quote.whole:
            introduction = self._texts("line.beginning")
        kind: StatementKind = text.kind  # type: ignore[assignment]
        finding.statements.append(
            Statement(self._texts, kind, introduction, text.shot, since, text.last, quote, text.sure)
        )

    def _lines(self, statements: Sequence[Statement], request: Request) -> list[NarratedLine]:
        """The lines that can be said, the most telling first, each different from the others."""
        lines: list[NarratedLine] = []
        most_telling = statements[:MOST_CONSIDERED]
        for size in range(min(MOST_STATEMENTS, len(most_telling)), 0, -1):
            for group in combinations(most_telling, size):
                line = NarratedLine.of(group)
                if self._fits(line, request) and keeps_rules(line, request.history):
                    lines.append(line)
        # A line with the most telling statement goes before one without it, and a fuller one before others.
        lines.sort(key=lambda line: (min(s.rank for s in line.statements), -len(line.statements)))
        return lines

    def _fits(self, line: NarratedLine, request: Request) -> bool:
        """True where the line has no more words than the budget, and all is told while it is seen."""
        words = self._length(line.text)
        if request.budget is not None and words > request.budget:
            return False
        if request.scene is None:
            return True
        sight = line.sight(self._seconds_per_word)
        # To begin when the last of it is seen would tell the first after it is gone.
        together = sight.until is None or len(line.statements) == 1 or sight.since <= sight.until
        return together and words <= self._words_from(sight.since, request)

    def _length(self, text: str) -> int:
        """How many English words take as long to say as the text."""
        return spoken_length(text, self._texts.tag)

    def _words_from(self, second: float, request: Request) -> int:
        """How many words can be said in the slot of something that is seen from ``second`` on."""
        if request.scene is None:
            return _UNLIMITED
        part = visible_part(request.scene.slot, second)
        return 0 if part is None else words_that_fit(part.duration, self._seconds_per_word)

    def _why_silent(self, finding: ClipFinding) -> str:
        if finding.unread:
            return self._texts("silent.not_read_out", why=finding.unread[0]["reason"])
        if finding.statements:
            return self._texts("silent.no_line_fits", line=finding.statements[0].sentence)
        text_reason = self._texts("silent.no_text")
        if finding.skipped:
            # What a viewer is meant to read is missed before a sign in the street is.
            text, why = min(finding.skipped, key=lambda skipped: not skipped[0].is_for_viewers)
            shown = shorten(text.text, 60, placeholder=" …")
            text_reason = self._texts("silent.text", text=shown, why=why)
        return self._texts("silent.and_nobody", why=text_reason)


def new_people(facts: Facts, lines: Sequence[str], texts: Texts) -> list[Statement]:
    """Who of the cast comes in, one statement for each shot in which somebody does.

    Who was named in one of the last ``lines`` is no news.
    """
    statements: list[Statement] = []
    for entrance in facts.entrances:
        names = tuple(name for name in entrance.names if not is_named(name, lines))
        if entrance.shot not in facts.current or not names:
            continue
        called = texts.listed([name.called for name in names])
        sentence = capital(texts.count("line.people", len(names), names=called))
        statements.append(
            Statement(texts, "people", sentence, entrance.shot, entrance.first, entrance.last, names=names)
        )
    return statements


def is_named(name: NamedFace, lines: Sequence[str]) -> bool:
    """True where one of the lines names this person, other than in words that are read out."""
    unquoted = [bare(without_quotations(line)) for line in lines]
    return any(f" {bare(name.called)} " in f" {line} " for line in unquoted)


def keeps_rules(line: NarratedLine, history: Sequence[str]) -> bool:
    """True where the line breaks no rule that `check_line` checks, and copies none of the last lines.

    Names that look like words break none.
    """
    language = line.statements[0].texts.tag
    names = [name for statement in line.statements for name in statement.names]
    if check_line(without_names(line.text, names), language=language):
        return False
    findings = check_line(line.text, previous=history, language=language)
    return all(finding.rule != "L9" for finding in findings)
