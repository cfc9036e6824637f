"""Lines to translate: what an engine is asked, what is wrong with its answers, and the cues that come of it.

The words stand in ``prompts/translate.j2``. The lines are data: each stands in JSON on a line of its own.

A few lines are asked for together until each has a translation that can be used, or no attempt is left.
Only what was wrong is asked for again, with what was wrong; after an answer that could not be read, or a
refusal, one by one. Answers are read by id, out of JSON, broken JSON, or a bare line where one was asked for.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shotad.core import (
    Config,
    Engine,
    Interval,
    Language,
    Message,
    RefusalError,
    Reply,
    Request,
    SamplingSettings,
    ScriptError,
    Slot,
    SlotSettings,
    quoted,
)
from shotad.description.answer_text import is_error_report, is_nothing, without_markup, without_thoughts
from shotad.description.answers import is_refusal, refuses, unescaped, unescaped_json
from shotad.description.checks import Complaint
from shotad.description.conversation import ask_all, slot_seed, try_record
from shotad.description.templates import form_of, note_of, prompt_messages
from shotad.description.wording import other_language, without_quotations
from shotad.film import word_budget
from shotad.script import (
    MARKUP,
    Cue,
    CueKind,
    CueStatus,
    EditField,
    Maker,
    Provenance,
    Track,
    budget_text,
    clean_text,
    fit_spoken,
    has_blanks,
    own_signs,
    quotations,
    short_hash,
    similarity,
    spoken_words,
)

ATTEMPTS = 3
"""How often a line is asked for, where its translation cannot be used."""
TOKENS = 2048
"""Of an answer, or more where Stage II's may be longer, as of models that think first."""
_SAME_WORDS = 3
"""A line of fewer words may be the same in both languages by right: a name, a title that is read."""
_ALIKE = 0.5
"""Share of their words from which two lines may well be one sentence in the other language."""
_STEM = 3
"""Letters of a name that case endings leave: ``Anna → Anny``, ``Annan``."""
_MARKS = re.compile(r"[\"“”„«»「」『』‘‚‹›]|(?<!\w)'|'(?!\w)")


_SOFT = ("name", "quote")
"""Rules of a translation that may be spoken all the same if it breaks them: it is asked for again once."""

_UNREADABLE = Complaint("missing", "Your answer did not have the form asked for.")
_REFUSED = Complaint("refused", "This is audio description of a published film. Translate it in plain words.")
MISSING = Complaint("missing", "It was left out of the answer. Translate it too.")
REPEATED = Complaint(
    "repeated", "You gave the same sentence for another line. Translate what this line says."
)


def repeats(text: str, line: str, others: Iterable[tuple[str, str]]) -> bool:
    """Whether ``text``, for ``line``, came for others too; lines that are alike or short may come to one."""
    said = _words_bare(text)
    return len(said) >= _SAME_WORDS and any(
        _words_bare(told) == said and similarity(other, line) < _ALIKE for other, told in others
    )


def _words_bare(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def faults_of(text: str, line: SourceLine, task: Task) -> tuple[Complaint, ...]:
    """What is wrong with ``text`` as the translation of ``line``; nothing where it is good."""
    target = task.target
    found: list[Complaint] = []
    many = len(without_quotations(line.text).split()) >= _SAME_WORDS
    if (other := other_language(text, target.tag, line.names)) is not None:
        found.append(Complaint("language", f"It is in {other}. Write it in {target.name}."))
    elif task.source.code != target.code and many and _letters(text) == _letters(line.text):
        found.append(Complaint("copied", f"It is the line itself. Write it in {target.name}."))
    if (markup := MARKUP.search(text)) is not None:
        what = f"It holds {markup[0].strip()!r}. Give the sentence alone, as plain text."
        found.append(Complaint("markup", what))
    if spoken_words(text, target.tag) > line.words:
        most = budget_text(target.tag, line.words)
        short = "short ones, " if has_blanks(target.tag) else ""
        what = f"It takes too long to say. Write at most {most}, {short}less if need be."
        found.append(Complaint("length", what))
    # Names that are left out or translated; another script spells them in its own letters.
    gone, said = [], _letters(text)
    for name in line.names if _is_latin(text) else ():
        parts = filter(None, map(_letters, name.split()))
        # Any part will do, but for its last letters, which a case may change.
        if _is_latin(name) and not any(part[: max(_STEM, len(part) - 2)] in said for part in parts):
            gone.append(name)
    if gone:
        found.append(Complaint("name", f"It must say {' and '.join(gone)}, spelled so."))
    spans = quotations(line.text)
    inner = [line.text[start + 1 : end - 1].strip(" .,!?") for start, end in spans]
    lost = [quote for quote in inner if quote.casefold() not in text.casefold()]
    if lost and task.config.translate.quotes == "keep":
        what = f"What is read from the screen stays as it is: {' and '.join(lost)}."
        found.append(Complaint("quote", what))
    elif spans and task.config.translate.quotes != "keep" and not quotes(text):
        found.append(Complaint("quote", "What is read from the screen must stand in quotation marks."))
    return tuple(found)


def quotes(text: str) -> bool:
    """Whether something in the text stands in quotation marks, of whatever language."""
    return _MARKS.search(text) is not None


def _is_latin(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return sum("LATIN" in unicodedata.name(char, "") for char in letters) * 2 > len(letters)


def _letters(text: str) -> str:
    """Letters and digits in small letters, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in plain if char.isalnum())


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A heard line of the track.

    ``room`` is the time in which its translation may be spoken, from the line's own start; ``words`` is how
    many English words fit into it, ``names`` are those of people that stand in the line.
    """

    cue: Cue
    room: Interval
    words: int
    names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.cue.id

    @property
    def text(self) -> str:
        """The line as one line."""
        return " ".join(self.cue.text.split())


def wanted_lines(
    track: Track, slots: Mapping[str, Slot], settings: SlotSettings, names: Sequence[str] = ()
) -> tuple[SourceLine, ...]:
    """The heard lines in order. ``slots`` are those of the film by id, as far as they are known."""
    heard, found = track.heard, []
    patterns = {name: rf"(?<!\w){re.escape(name)}(?!\w)" for name in names if name}
    starts = [cue.interval.start for cue in heard[1:]]
    for cue, following in zip(heard, [*starts, track.film.duration], strict=True):
        slot, start, end = slots.get(cue.slot_id or ""), cue.interval.start, cue.interval.end
        if slot is not None and not is_timed(cue) and slot.interval.contains(start):
            # It may be spoken up to the end of its slot, but not into the line that follows.
            end = max(end, min(slot.interval.end, max(following, end)))
        room = Interval(start, end)
        whole = slot is not None and room == slot.interval
        words = slot.max_words if slot is not None and whole else word_budget(room.duration, settings)
        told = (name for name in patterns if re.search(patterns[name], cue.text, re.IGNORECASE))
        found.append(SourceLine(cue, room, words, tuple(told)))
    return tuple(found)


def is_timed(cue: Cue) -> bool:
    """Whether the times of a line are a person's."""
    fields = cue.edited.fields if cue.edited is not None else ()
    return EditField.TIME in fields or EditField.ADDED in fields


@dataclass(frozen=True, slots=True)
class Task:
    """From which language into which, and under which settings."""

    source: Language
    target: Language
    config: Config = field(default_factory=Config)

    @property
    def note(self) -> str:
        """What the user has to say of the film."""
        return note_of(self.config.prompt)

    @property
    def sampling(self) -> SamplingSettings:
        return SamplingSettings(max_tokens=max(TOKENS, self.config.stage2.sampling.max_tokens))


Around = tuple[Sequence[tuple[str, str]], Sequence[str]]
"""Lines before, oldest first, each with its translation, and lines after."""


def messages(
    lines: Sequence[SourceLine], task: Task, around: Around, wrong: Sequence[tuple[str, str]] = ()
) -> tuple[Message, ...]:
    """The question about ``lines``. ``wrong`` says by id what was wrong with earlier answers to it."""
    rows = []
    for line in lines:
        most = budget_text(task.target.tag, line.words)
        rows.append({"id": line.id, "most": most, "line": line.text})
    reads_screen = any(quotations(line.text) for line in lines)
    lines_before, lines_after = around
    return prompt_messages(
        "translate",
        medium=task.config.prompt.medium,
        source=task.source.name,
        target=task.target.name,
        note=task.note,
        lines_before=lines_before,
        lines=rows,
        lines_after=lines_after,
        names=list(dict.fromkeys(name for line in lines for name in line.names)),
        quotes=task.config.translate.quotes if reads_screen else "",
        wrong=wrong,
        answer_form=json.dumps(dict.fromkeys((line.id for line in lines), "..."), ensure_ascii=False),
    )


_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"))
_RETRY = "Run again: only what is missing is asked for."


def read_answer(text: str, ids: Sequence[str]) -> dict[str, str]:
    """The translations in an answer by the ``ids`` asked for. Raises RefusalError, ScriptError for none."""
    body = unescaped_json(without_thoughts(text))
    if is_error_report(body) and not refuses(body):
        raise ScriptError(f"No translation can be read: {quoted(text)}.", _RETRY)
    pairs: list[tuple[str, str]] = []
    for name in ids:
        # An id and its text in JSON: whole, broken, or cut off behind it; also as an object with the id
        after = rf"[\"']?{re.escape(name)}[\"']?\s*+(?:[:=]\s*+|,\s*+\"\w+\"\s*+:\s*+)"
        if (match := re.search(rf'{after}"((?:[^"\\]|\\.)*+)"', body, re.DOTALL)) is not None:
            pairs.append((name, unescaped(match[1])))
    lines = [line.strip() for line in body.replace("```", "\n").splitlines() if line.strip()]
    if not pairs and len(ids) == len(lines) == 1 and not re.search(r"[{}\[\]]", lines[0]):
        # Nothing but a line, where a single one was asked for
        pairs.append((ids[0], re.sub(rf"^{re.escape(ids[0])}\s*[:=]\s*", "", lines[0])))
    found = {name: line for name, said in pairs if (line := one_line(said))}
    found = {name: line for name, line in found.items() if not is_nothing(line) and not is_refusal(line)}
    if found:
        return found
    if refuses(body):
        raise RefusalError(f"The model refused to translate: {quoted(text)}.", _RETRY)
    raise ScriptError(f"No translation can be read: {quoted(text)}.", _RETRY)


def one_line(text: str) -> str:
    """A translation as it can be spoken: one line, without HTML and Markdown."""
    return " ".join(clean_text(without_markup(text)).split())


def unwrapped(text: str, source: str) -> str:
    """The translation without quotation marks around the whole of it, where the line has none."""
    bare = source.strip()
    if any(bare.startswith(first) and bare.endswith(last) for first, last in _PAIRS):
        return text
    for first, last in _PAIRS:
        inner = text[1:-1]
        wrapped = len(text) > 2 and text[0] == first and text[-1] == last
        if wrapped and first not in inner and last not in inner:
            return inner.strip()
    return text


@dataclass(slots=True)
class Attempted:
    """How far a line has come: its best translation so far, what is wrong with it, what was wrong last."""

    line: SourceLine
    text: str = ""
    faults: tuple[Complaint, ...] = (MISSING,)
    last: tuple[Complaint, ...] = ()
    """Empty: not asked yet."""
    said: str = ""
    """What came last."""
    error: str = ""
    """Why there was no answer: the engine's own word."""
    given_up: bool = False
    softly: bool = False
    """Whether it was asked for again because of faults that may stay."""

    @property
    def usable(self) -> bool:
        """Whether the translation can be spoken, if only shortened."""
        return bool(self.text) and not _badness(self.faults)[0]

    @property
    def why(self) -> str:
        """Why there is no translation, for people; empty where there is one."""
        if self.usable:
            return ""
        if self.error and not self.said:
            return self.error
        told = f": {quoted(self.said)}" if self.said else ""
        return f"{_WHY[(self.last or (MISSING,))[0].rule]}{told}"

    @property
    def open(self) -> bool:
        """Whether to ask for it again."""
        hard, long, soft = _badness(self.faults)
        return not self.given_up and bool(hard or long or (soft and not self.softly))

    def take(self, text: str, faults: tuple[Complaint, ...]) -> None:
        """Note another translation, and keep it where it is the best so far."""
        self.last, self.said = faults, text
        if not self.text or _badness(faults) < _badness(self.faults):
            self.text, self.faults = text, faults


_WHY = {
    "missing": "the answers held no translation of it",
    "refused": "the model refused to translate it",
    "language": "the translation is in another language",
    "copied": "the line came back untranslated",
    "markup": "the translation holds markup",
    "length": "the translation is too long",
    "name": "a name is missing",
    "repeated": "the same sentence came for other lines",
    "quote": "what is read from the screen is missing",
}


def _badness(faults: Sequence[Complaint]) -> tuple[int, int, int]:
    """How many of the faults no line may have, how many a cut can mend, and how many may stay."""
    long = sum(fault.rule == "length" for fault in faults)
    soft = sum(fault.rule in _SOFT for fault in faults)
    return len(faults) - long - soft, long, soft


def request_for(
    lines: Sequence[SourceLine],
    task: Task,
    around: Around,
    wrong: Sequence[tuple[str, str]] = (),
    attempt: int = 0,
) -> Request:
    """The question about ``lines`` as an engine gets it; ``wrong`` as in `messages`."""
    return Request(
        slot_id=lines[0].id,
        messages=messages(lines, task, around, wrong),
        budget=sum(line.words for line in lines),
        sampling=task.sampling,
        seed=slot_seed(task.config.seed, f"{lines[0].id}/translate/{task.target.tag}/{attempt}"),
        schema=form_of({line.id: {"type": "string"} for line in lines}),
    )


def translated(
    lines: Sequence[SourceLine], task: Task, around: Around, engine: Engine
) -> tuple[list[Attempted], list[dict[str, Any]]]:
    """A few lines with their best translations, and the calls made. Raises what stops a run."""
    every, tries, apart = [Attempted(line) for line in lines], list[dict[str, Any]](), False
    for attempt in range(ATTEMPTS):
        open_ = [one for one in every if one.open]
        if not open_:
            break
        groups = [[one] for one in open_] if apart else [open_]
        requests = []
        for group in groups:
            wrong = []
            for one in group:
                if one.last:
                    one.softly = True
                    said = f"You wrote {quoted(one.said)}. " if one.said else ""
                    faults = " ".join(dict.fromkeys(fault.text for fault in one.last))
                    wrong.append((one.line.id, said + faults))
            requests.append(request_for([one.line for one in group], task, around, wrong, attempt))
        for group, reply in zip(groups, ask_all(engine, requests), strict=True):
            complaints, is_read = _answered(group, reply, task, around, every)
            tries.append(try_record(reply, complaints))
            apart = apart or not is_read
    return every, tries


def _answered(
    group: Sequence[Attempted], reply: Reply, task: Task, around: Around, every: Sequence[Attempted]
) -> tuple[list[str], bool]:
    """Takes what a reply holds: what is wrong with it, and whether it could be read. ``every``: all lines."""
    if reply.error is not None:
        # What fails for several lines may go well for each, so only a line that fails alone is given up.
        for one in group:
            one.error = reply.error
            one.given_up = len(group) == 1
        return [], False
    try:
        if reply.finish == "refused":
            raise RefusalError(reply.text or "refused")
        found = read_answer(reply.text, [one.line.id for one in group])
    except ScriptError as trouble:
        fault = _REFUSED if isinstance(trouble, RefusalError) else _UNREADABLE
        for one in group:
            one.take("", (fault,))
        return [trouble.what], False
    complaints = []
    texts = {
        one.line.id: own_signs(unwrapped(found.get(one.line.id, ""), one.line.text), task.target.tag)
        for one in group
    }
    told = {one.line.id: (one.line.text, texts.get(one.line.id, one.text)) for one in every}
    for one in group:
        text = texts[one.line.id]
        faults = faults_of(text, one.line, task) if text else (MISSING,)
        others = [pair for name, pair in told.items() if name != one.line.id]
        if text and repeats(text, one.line.text, [*around[0], *others]):
            faults = (REPEATED, *faults)
        one.take(text, faults)
        complaints += [f"{one.line.id}: {fault.text}" for fault in faults]
    return complaints, True


def cue_of(
    cue: Cue,
    heard: tuple[SourceLine, Mapping[str, Any]] | None,
    task: Task,
    maker: Maker,
    seconds_per_word: float,
) -> Cue:
    """The cue in the other language. ``heard``: the line and its record; None for a cue that is not heard.

    It starts where the cue does and ends with its own words, within its room; a person's times stay.
    """
    language = task.target.tag
    unspoken = Cue(
        id=cue.id,
        slot_id=cue.slot_id,
        interval=cue.interval,
        text="",
        kind=cue.kind,
        language=language,
        status=cue.status if heard is None else CueStatus.FAILED,
        reason=cue.reason,
    )
    if heard is None:
        return unspoken
    line, record = heard
    before = cue.provenance.makers if cue.provenance is not None else ()
    made = Provenance((*before, maker), record["prompt_hash"], record["seed"])
    if record["error"]:
        return replace(unspoken, reason=f"Not translated: {record['error']}", provenance=made)
    text = str(record["text"])
    fitted = fit_spoken(text, line.words, language=language)
    if fitted is None:
        room = budget_text(language, line.words)
        reason = f"The translation is longer than the {room} that fit: {text}"
        dropped = CueStatus.DROPPED
        return replace(unspoken, status=dropped, reason=reason, candidates=(text,), provenance=made)
    length = max(1, spoken_words(fitted.text, language)) * seconds_per_word
    spoken = Interval(line.room.start, min(line.room.end, line.room.start + length))
    interval = cue.interval if is_timed(cue) else spoken
    faults = [fault for fault in record["faults"] if not fault.startswith("It takes too long")]
    return replace(
        unspoken,
        interval=interval,
        text=fitted.text,
        # A line that was cut before what it reads from the screen reads nothing any more.
        kind=CueKind.ACTION if quotes(text) and not quotes(fitted.text) else cue.kind,
        status=CueStatus.SHORTENED if fitted.steps else CueStatus.PLACED,
        reason="; ".join((*fitted.steps, *faults)),
        candidates=(text,),
        chosen=0,
        spoken_length=min(length, interval.duration),
        fit_steps=fitted.steps,
        provenance=made,
        seen_from=cue.seen_from,
        doubted=None if cue.doubt is None else replace(cue.doubt, stamp=short_hash(fitted.text)),
    )
