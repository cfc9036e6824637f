"""Lines to translate: what an engine is asked, what is wrong with its answers, and the cues that come of it.

The words stand in ``prompts/translate.j2``. The lines are data: each is JSON on a separate row.

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

from shotad.core import (
    Config,
    Interval,
    Message,
    Reply,
    Request,
    Slot,
)
from shotad.core.config.film import SlotSettings
from shotad.core.config.languages import Language
from shotad.core.config.words import SamplingSettings
from shotad.core.errors import (
    RefusalError,
    ScriptError,
    quoted,
)
from shotad.description.answer_text import is_error_report, is_nothing, without_markup, without_thoughts
from shotad.description.answers import contains_refusal, is_refusal, unescaped, unescaped_json
from shotad.description.checks import Complaint
from shotad.description.cues import fit_steps
from shotad.description.english_words import language_fault, without_quotations
from shotad.description.seeds import slot_seed
from shotad.description.templates import form_of, note_of, prompt_messages
from shotad.engines import AskingPool
from shotad.film import word_budget
from shotad.script import (
    Cue,
    CueKind,
    CueStatus,
    EditField,
    Maker,
    Provenance,
    Track,
    Translation,
)
from shotad.script.cue import clean_text, short_hash
from shotad.script.fit import fit_spoken, with_native_punctuation
from shotad.script.pace import (
    budget_text,
    has_blanks,
    spoken_words,
)
from shotad.script.reasons import SEPARATOR, engine_failure, in_english, reason_in
from shotad.script.rules import (
    MARKUP,
    quotations,
    similarity,
)
from shotad.script.track_texts import texts_in

ATTEMPTS = 3
"""How often a line is asked for at most, where its translation cannot be used."""
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


def repeats(text: str, line: str, translations: Iterable[tuple[str, str]]) -> bool:
    """Whether ``text``, the translation of ``line``, is also that of a different line.

    ``translations`` are the other lines, each with its translation. Lines that are alike may have the same
    one, and so may short lines.
    """
    words = _bare_words(text)
    if len(words) < _SAME_WORDS:
        return False
    for other_line, translation in translations:
        if _bare_words(translation) == words and similarity(other_line, line) < _ALIKE:
            return True
    return False


def _bare_words(text: str) -> list[str]:
    """The words in small letters, without punctuation."""
    return re.findall(r"\w+", text.casefold())


def faults_of(text: str, line: SourceLine, task: Task) -> tuple[Complaint, ...]:
    """What is wrong with ``text`` as the translation of ``line``; nothing where it is good."""
    target = task.target
    faults: list[Complaint] = []
    is_long = len(without_quotations(line.text).split()) >= _SAME_WORDS
    if (fault := language_fault(text, target.tag, line.names, line.text)) is not None:
        faults.append(Complaint("language", f"It is {fault}. Write it in {target.name}."))
    elif task.source.code != target.code and is_long and _letters(text) == _letters(line.text):
        faults.append(Complaint("copied", f"It is the line itself. Write it in {target.name}."))
    if (markup := MARKUP.search(text)) is not None:
        advice = f"It holds {markup[0].strip()!r}. Give the sentence alone, as plain text."
        faults.append(Complaint("markup", advice))
    if spoken_words(text, target.tag) > line.max_words:
        max_words = budget_text(target.tag, line.max_words)
        short = "short ones, " if has_blanks(target.tag) else ""
        advice = f"It takes too long to say. Write at most {max_words}, {short}less if need be."
        faults.append(Complaint("length", advice))
    # Names that are left out or translated; another script spells them in its own letters.
    lost_names = []
    letters = _letters(text)
    for name in line.names if _is_latin(text) else ():
        parts = filter(None, map(_letters, name.split()))
        # Any part will do, but for its last letters, which a case may change.
        is_said = any(part[: max(_STEM, len(part) - 2)] in letters for part in parts)
        if _is_latin(name) and not is_said:
            lost_names.append(name)
    if lost_names:
        faults.append(Complaint("name", in_english("fault.name", names=texts_in("en").listed(lost_names))))
    spans = quotations(line.text)
    screen_texts = [line.text[start + 1 : end - 1].strip(" .,!?") for start, end in spans]
    lost_texts = [quote for quote in screen_texts if quote.casefold() not in text.casefold()]
    if lost_texts and task.config.translate.quotes == "keep":
        advice = in_english("fault.screen_text", texts=texts_in("en").listed(lost_texts))
        faults.append(Complaint("quote", advice))
    elif spans and task.config.translate.quotes != "keep" and not quotes(text):
        faults.append(Complaint("quote", in_english("fault.quotation")))
    return tuple(faults)


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
    """A line of the track that is spoken.

    ``available`` is the time in which its translation may be spoken, from the line's own start; ``max_words``
    is how many English words fit into it, ``names`` are those of people that stand in the line.
    """

    cue: Cue
    available: Interval
    max_words: int
    names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.cue.id

    @property
    def text(self) -> str:
        """The line as one line."""
        return " ".join(self.cue.text.split())


def lines_to_translate(
    track: Track, slots: Mapping[str, Slot], settings: SlotSettings, names: Sequence[str] = ()
) -> tuple[SourceLine, ...]:
    """The spoken lines in order. ``slots`` are those of the film by id, as far as they are known."""
    patterns = {name: rf"(?<!\w){re.escape(name)}(?!\w)" for name in names if name}
    next_starts = [cue.interval.start for cue in track.heard[1:]] + [track.film.duration]
    lines = []
    for cue, next_start in zip(track.heard, next_starts, strict=True):
        slot, start, end = slots.get(cue.slot_id or ""), cue.interval.start, cue.interval.end
        if slot is not None and not is_timed(cue) and slot.interval.contains(start):
            # It may be spoken up to the end of its slot, but not into the line that follows.
            end = max(end, min(slot.interval.end, max(next_start, end)))
        available = Interval(start, end)
        # A whole slot has the budget that it was planned with.
        if slot is not None and available == slot.interval:
            max_words = slot.max_words
        else:
            max_words = word_budget(available.duration, settings)
        names_in_line = [name for name in patterns if re.search(patterns[name], cue.text, re.IGNORECASE)]
        lines.append(SourceLine(cue, available, max_words, tuple(names_in_line)))
    return tuple(lines)


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
        max_words = budget_text(task.target.tag, line.max_words)
        rows.append({"id": line.id, "most": max_words, "line": line.text})
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
    if is_error_report(body) and not contains_refusal(body):
        raise ScriptError(f"No translation can be read: {quoted(text)}.", _RETRY)
    pairs: list[tuple[str, str]] = []
    for line_id in ids:
        # An id and its text in JSON: whole, broken, or cut off behind it; also as an object with the id
        key = rf"[\"']?{re.escape(line_id)}[\"']?\s*+(?:[:=]\s*+|,\s*+\"\w+\"\s*+:\s*+)"
        # Of an id that stands twice the last counts: a model corrects itself.
        for match in re.finditer(rf'{key}"((?:[^"\\]|\\.)*+)"', body, re.DOTALL):
            pairs.append((line_id, unescaped(match[1])))
    lines = [line.strip() for line in body.replace("```", "\n").splitlines() if line.strip()]
    if not pairs and len(ids) == len(lines) == 1 and not re.search(r"[{}\[\]]", lines[0]):
        # Nothing but a line, where a single one was asked for
        pairs.append((ids[0], re.sub(rf"^{re.escape(ids[0])}\s*[:=]\s*", "", lines[0])))
    translations: dict[str, str] = {}
    for line_id, answer in pairs:
        translation = one_line(answer)
        if translation and not is_nothing(translation) and not is_refusal(translation):
            translations[line_id] = translation
    if translations:
        return translations
    if contains_refusal(body):
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
class Draft:
    """A line that is being translated: the best translation so far with its faults, and the last one."""

    line: SourceLine
    text: str = ""
    faults: tuple[Complaint, ...] = (MISSING,)
    last_text: str = ""
    last_faults: tuple[Complaint, ...] = ()
    """Empty: no answer could be judged yet."""
    error: str = ""
    """Why there was no answer, as the engine says it."""
    is_given_up: bool = False
    is_repaired: bool = False
    """Whether it was asked for again because of faults that may stay."""

    @property
    def is_usable(self) -> bool:
        """Whether the translation can be spoken, if only shortened."""
        return bool(self.text) and not _badness(self.faults)[0]

    @property
    def is_open(self) -> bool:
        """Whether to ask for it again."""
        hard, long, soft = _badness(self.faults)
        return not self.is_given_up and bool(hard or long or (soft and not self.is_repaired))

    @property
    def failure(self) -> str:
        """Why there is no translation, for people; empty where there is one."""
        if self.is_usable:
            return ""
        if self.error and not self.last_text:
            return engine_failure(self.error)
        why = in_english(_WHY[(self.last_faults or (MISSING,))[0].rule])
        if not self.last_text:
            return why
        return SEPARATOR.join((why, in_english("failure.answer", text=quoted(self.last_text))))

    def take(self, text: str, faults: tuple[Complaint, ...]) -> None:
        """Note another translation, and keep it where it is the best so far."""
        self.last_text, self.last_faults = text, faults
        if not self.text or _badness(faults) < _badness(self.faults):
            self.text, self.faults = text, faults


_WHY = {
    "missing": "failure.translation_missing",
    "refused": "failure.translation_refused",
    "language": "failure.translation_language",
    "copied": "failure.translation_copied",
    "markup": "failure.translation_markup",
    "length": "failure.translation_long",
    "name": "failure.translation_name",
    "repeated": "failure.translation_repeated",
    "quote": "failure.translation_quote",
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
    failures: int = 0,
) -> Request:
    """The question about ``lines`` as an engine gets it; ``wrong`` as in `messages`.

    ``failures`` is how many runs before found no translation of the first line. It changes the seed: the same
    question would be answered from memory, as badly as before.
    """
    again = f"/again {failures}" if failures else ""
    name = f"{lines[0].id}/translate/{task.target.tag}{again}/{attempt}"
    return Request(
        slot_id=lines[0].id,
        messages=messages(lines, task, around, wrong),
        budget=sum(line.max_words for line in lines),
        sampling=task.sampling,
        seed=slot_seed(task.config.seed, name),
        schema=form_of({line.id: {"type": "string"} for line in lines}),
    )


def translate_lines(
    pool: AskingPool, lines: Sequence[SourceLine], task: Task, around: Around, failures: int = 0
) -> list[Draft]:
    """A few lines with their best translations, as the engine of Stage II in ``pool`` has them.

    ``failures`` as in `request_for`. Raises what stops a run.
    """
    drafts = [Draft(line) for line in lines]
    one_by_one = False
    for attempt in range(ATTEMPTS):
        open_drafts = [draft for draft in drafts if draft.is_open]
        if not open_drafts:
            break
        groups = [[draft] for draft in open_drafts] if one_by_one else [open_drafts]
        requests = []
        for group in groups:
            wrong = _wrong_before(group)
            lines_asked = [draft.line for draft in group]
            requests.append(request_for(lines_asked, task, around, wrong, attempt, failures))
        replies = pool.ask_together("stage2", requests)
        for group, reply in zip(groups, replies, strict=True):
            is_read = _take_reply(group, reply, task, around, drafts)
            one_by_one = one_by_one or not is_read
    return drafts


def _wrong_before(group: Sequence[Draft]) -> list[tuple[str, str]]:
    """What was wrong with the last answers for these lines, by id; notes that they are asked for again."""
    wrong = []
    for draft in group:
        if draft.last_faults:
            draft.is_repaired = True
            answer = f"You wrote {quoted(draft.last_text)}. " if draft.last_text else ""
            faults = " ".join(dict.fromkeys(fault.text for fault in draft.last_faults))
            wrong.append((draft.line.id, answer + faults))
    return wrong


def _take_reply(
    group: Sequence[Draft], reply: Reply, task: Task, around: Around, drafts: Sequence[Draft]
) -> bool:
    """Take what a reply holds for the lines of ``group``; whether it could be read. ``drafts``: all that
    are translated together, which must not all get the same sentence."""
    if reply.error is not None:
        # What fails for several lines may go well for each, so only a line that fails alone is given up.
        for draft in group:
            draft.error = reply.error
            draft.is_given_up = len(group) == 1
        return False
    try:
        if reply.finish == "refused":
            raise RefusalError(reply.text or "refused")
        answers = read_answer(reply.text, [draft.line.id for draft in group])
    except ScriptError as trouble:
        fault = _REFUSED if isinstance(trouble, RefusalError) else _UNREADABLE
        for draft in group:
            draft.take("", (fault,))
        return False
    texts = {draft.line.id: draft.text for draft in drafts}
    for draft in group:
        answer = unwrapped(answers.get(draft.line.id, ""), draft.line.text)
        texts[draft.line.id] = with_native_punctuation(answer, task.target.tag)
    for draft in group:
        text = texts[draft.line.id]
        faults = faults_of(text, draft.line, task) if text else (MISSING,)
        translations = list(around[0])
        for neighbour in drafts:
            if neighbour.line.id != draft.line.id:
                translations.append((neighbour.line.text, texts[neighbour.line.id]))
        if text and repeats(text, draft.line.text, translations):
            faults = (REPEATED, *faults)
        draft.take(text, faults)
    return True


@dataclass(frozen=True, slots=True)
class TranslatedLine:
    """A line and its whole translation, made now or in an earlier run; empty where there is none, and then
    ``failure`` says why. ``terms`` and ``failures`` are as in `Translation`; ``prompt_hash`` and ``seed`` are
    of the question."""

    line: SourceLine
    text: str
    terms: str
    prompt_hash: str = ""
    seed: int = 0
    failure: str = ""
    failures: int = 0


def cue_of(
    cue: Cue, translated: TranslatedLine | None, task: Task, maker: Maker, seconds_per_word: float
) -> Cue:
    """The cue in the other language; ``translated`` is None for one that is not heard.

    It starts where the cue does and ends with its own words, within the time that it has; a person's times
    stay.
    """
    language = task.target.tag
    unspoken = Cue(
        id=cue.id,
        slot_id=cue.slot_id,
        interval=cue.interval,
        text="",
        kind=cue.kind,
        language=language,
        status=cue.status if translated is None else CueStatus.FAILED,
        reason=reason_in(cue.reason, language),
    )
    if translated is None:
        return unspoken
    line, text = translated.line, translated.text
    makers_before = cue.provenance.makers if cue.provenance is not None else ()
    unspoken = replace(
        unspoken,
        provenance=Provenance((*makers_before, maker), translated.prompt_hash, translated.seed),
        translation=Translation(line.text, text, translated.terms, translated.failures),
    )
    if not text:
        return replace(
            unspoken,
            reason=reason_in(in_english("reason.not_translated", error=translated.failure), language),
        )
    fitted = fit_spoken(text, line.max_words, language=language)
    if fitted is None:
        max_words = budget_text(language, line.max_words)
        reason = reason_in(in_english("reason.translation_long", budget=max_words, text=text), language)
        return replace(unspoken, status=CueStatus.DROPPED, reason=reason, candidates=(text,))
    length = max(1, spoken_words(fitted.text, language)) * seconds_per_word
    available = line.available
    spoken = Interval(available.start, min(available.end, available.start + length))
    interval = cue.interval if is_timed(cue) else spoken
    steps = fit_steps(fitted, task.target.tag)
    faults = [
        reason_in(fault.text, language) for fault in faults_of(text, line, task) if fault.rule != "length"
    ]
    return replace(
        unspoken,
        interval=interval,
        text=fitted.text,
        # A line that was cut before what it reads from the screen reads nothing any more.
        kind=CueKind.ACTION if quotes(text) and not quotes(fitted.text) else cue.kind,
        status=CueStatus.SHORTENED if fitted.steps else CueStatus.PLACED,
        reason=SEPARATOR.join((*steps, *faults)),
        candidates=(text,),
        chosen=0,
        spoken_length=min(length, interval.duration),
        fit_steps=steps,
        seen_from=cue.seen_from,
        stored_doubt=None if cue.doubt is None else replace(cue.doubt, stamp=short_hash(fitted.text)),
    )
