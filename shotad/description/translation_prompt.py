"""Lines to translate: what the engine is asked, what is wrong with its answer, and the cues that come of it.

The words stand in ``prompts/translate/``. The lines are data: each stands in JSON, on a line of its own, so
that nothing in it can pass for the question.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from shotad.core import Interval, Language, Message, Slot, SlotSettings
from shotad.description.language_id import other_language
from shotad.description.templates import block, form_of, material, question, render
from shotad.description.wording import without_quotations
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
    budget_in,
    fit_spoken,
    quotations,
    short_hash,
    similarity,
    spoken_words,
)

_SAME_WORDS = 3
"""A line of fewer words may be the same in both languages by right: a name, a title that is read."""
_ALIKE = 0.5
"""Share of their words from which two lines may well be one sentence in the other language."""
_STEM = 3
"""Letters of a name that case endings leave: ``Anna → Anny``, ``Annan``."""
_MARKS = re.compile(r"[\"“”„«»「」『』‘‚‹›]|(?<!\w)'|'(?!\w)")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong. ``kind``: missing, refused, language, copied, markup, length, name, quote,
    repeated.

    ``text`` is a sentence or two for a model.
    """

    kind: str
    text: str

    @property
    def soft(self) -> bool:
        """Whether the translation may be spoken all the same: it is asked for again once."""
        return self.kind in ("name", "quote")

    @property
    def fits_not(self) -> bool:
        """Whether only its length is wrong: it may be shortened without a model."""
        return self.kind == "length"


MISSING = Fault("missing", "It was left out of the answer. Translate it too.")
REPEATED = Fault("repeated", "You gave the same sentence for another line. Translate what this line says.")


def repeats(text: str, line: str, others: Iterable[tuple[str, str]]) -> bool:
    """Whether ``text``, for ``line``, came for another of ``others`` too, lines with their translations.

    Lines that are alike may come to one sentence, and short ones (``He leaves.``, ``He goes.``) too.
    """
    said = _words_bare(text)
    return len(said) >= _SAME_WORDS and any(
        _words_bare(told) == said and similarity(other, line) < _ALIKE for other, told in others
    )


def _words_bare(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def faults_of(text: str, line: SourceLine, task: Task) -> tuple[Fault, ...]:
    """What is wrong with ``text`` as the translation of ``line``; nothing where it is good."""
    target = task.target
    found: list[Fault] = []
    many = len(without_quotations(line.text).split()) >= _SAME_WORDS
    if (other := other_language(text, target.tag, line.names)) is not None:
        found.append(Fault("language", f"It is in {other}. Write it in {target.name}."))
    elif task.source.code != target.code and many and _letters(text) == _letters(line.text):
        found.append(Fault("copied", f"It is the line itself. Write it in {target.name}."))
    if (markup := MARKUP.search(text)) is not None:
        what = f"It holds {markup[0].strip()!r}. Give the sentence alone, as plain text."
        found.append(Fault("markup", what))
    if spoken_words(text, target.tag) > line.words:
        most = budget_in(target.tag, line.words)
        short = "short ones, " if most.unit == "word" else ""
        what = f"It takes too long to say. Write at most {most}, {short}less if need be."
        found.append(Fault("length", what))
    # Names that are left out or translated; another script spells them in its own letters.
    gone, said = [], _letters(text)
    for name in line.names if _is_latin(text) else ():
        parts = filter(None, map(_letters, name.split()))
        # Any part will do, but for its last letters, which a case may change.
        if _is_latin(name) and not any(part[: max(_STEM, len(part) - 2)] in said for part in parts):
            gone.append(name)
    if gone:
        found.append(Fault("name", f"It must say {' and '.join(gone)}, spelled so."))
    spans = quotations(line.text)
    inner = [line.text[start + 1 : end - 1].strip(" .,!?") for start, end in spans]
    lost = [quote for quote in inner if quote.casefold() not in text.casefold()]
    if lost and task.quotes == "keep":
        what = f"What is read from the screen stays as it is: {' and '.join(lost)}."
        found.append(Fault("quote", what))
    elif spans and task.quotes != "keep" and not quotes(text):
        found.append(Fault("quote", "What is read from the screen must stand in quotation marks."))
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
    """From which language into which, of what, and what the user has to say of it."""

    source: Language
    target: Language
    medium: str = "movie"
    note: str = ""
    quotes: Literal["translate", "keep"] = "translate"


@dataclass(frozen=True, slots=True)
class Around:
    """Lines before, oldest first, each with its translation, and lines after."""

    before: tuple[tuple[str, str], ...] = ()
    after: tuple[str, ...] = ()


def messages(
    lines: Sequence[SourceLine], task: Task, around: Around, wrong: Sequence[tuple[str, str]] = ()
) -> tuple[Message, ...]:
    """The question about ``lines``. ``wrong`` says by id what was wrong with earlier answers to it."""
    source, target, rows = task.source.name, task.target.name, []
    note = render("translate/note", medium=task.medium, note=material(task.note)) if task.note else ""
    for line in lines:
        most = str(budget_in(task.target.tag, line.words))
        rows.append(json.dumps({"id": line.id, "most": most, "line": line.text}, ensure_ascii=False))
    before = [
        render("translate/before-line", line=_quoted(line), translation=_quoted(told))
        for line, told in around.before
    ]
    after = [render("translate/after-line", line=_quoted(line)) for line in around.after]
    again = [render("translate/again-line", id=name, complaint=complaint) for name, complaint in wrong]
    names = ", ".join(dict.fromkeys(name for line in lines for name in line.names))
    any_quoted = any(quotations(line.text) for line in lines)
    user = render(
        "translate/user",
        source=source,
        target=target,
        note=block(note),
        before=block(render("translate/before", lines=material("\n".join(before)))) if before else "",
        lines="\n".join(rows),
        after=block(render("translate/after", lines=material("\n".join(after)))) if after else "",
        names=f"\n{render('translate/names', names=material(names))}" if names else "",
        quotes=f"\n{render(f'translate/quotes-{task.quotes}')}" if any_quoted else "",
        again=block(render("translate/again", complaints="\n".join(again))) if again else "",
        template=json.dumps(dict.fromkeys((line.id for line in lines), "..."), ensure_ascii=False),
    )
    system = render("translate/system", medium=task.medium, source=source, target=target)
    return Message("system", system), question(user)


def schema(lines: Sequence[SourceLine]) -> dict[str, Any]:
    """The JSON schema of an answer: every id with a text."""
    return form_of({line.id: {"type": "string"} for line in lines})


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def cue_of(
    cue: Cue,
    heard: tuple[SourceLine, Mapping[str, Any]] | None,
    task: Task,
    maker: Maker,
    seconds_per_word: float,
) -> Cue:
    """The cue in the other language. ``heard`` is the line and the record of its translation; None for a cue
    that is not heard.

    It starts where the cue does. It ends with its own spoken end, within the line's room; times that a
    person set stay.
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
        room = budget_in(language, line.words)
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
