"""The cue of a slot from what both stages answered: what is spoken, when, or why nothing is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shotad.core import Config, Slot
from shotad.core.cast import Presence
from shotad.core.config.languages import is_english, language_of
from shotad.core.workfolder import hash_key
from shotad.description import choice
from shotad.description.checks import words_given
from shotad.description.doubt import doubt_signals, estimate_doubt
from shotad.description.english_words import language_fault, letters_of
from shotad.description.sights import sight_of
from shotad.description.slotplan import names_of
from shotad.description.stage_answers import Candidate, Stage1Answer, Stage2Answer
from shotad.engines.answer_log import identity_record, prompt_record
from shotad.film import word_budget
from shotad.script import (
    Cue,
    CueKind,
    CueStatus,
    Maker,
    Provenance,
    count_words,
)
from shotad.script.cast_members import name_keys
from shotad.script.cue import (
    VisibleTime,
    clean_text,
    spoken_interval,
    visible_part,
)
from shotad.script.fit import FittedText, fit_spoken
from shotad.script.pace import budget_in_language_units, has_blanks, spoken_words
from shotad.script.reasons import engine_failure, in_english, reason_in
from shotad.script.rules import (
    BENCHMARK_LIMITS,
    Finding,
    Limits,
    check_line,
    quotations,
)
from shotad.script.track_texts import Texts, texts_in


def cue_of(
    situation: choice.Situation,
    stage1: Stage1Answer,
    stage2: Stage2Answer | None,
    config: Config,
    chooser: choice.Chooser = choice.by_rules,
    *,
    unwritten: str = "",
) -> Cue:
    """The slot's cue from the answers of both stages; ``situation`` gets its description from there.

    ``chooser`` takes one of the candidates that were made to fit. The line starts when what it tells is seen,
    as far as that is known, and is shortened where its slot ends too soon. A cue without a line says why.
    ``unwritten`` is the reason where no line was asked for.
    """
    slot, presence, language = situation.slot, situation.presence, config.language
    texts = texts_in(language)
    unspoken = _cue_without_line(slot, stage1, stage2, language)

    def without_line(reason: str, status: CueStatus = CueStatus.FAILED) -> Cue:
        return replace(unspoken, status=status, reason=reason_in(one_line(reason), language))

    if unwritten:
        return without_line(unwritten, CueStatus.SILENT)
    if stage1.error is not None:
        return without_line(in_english("reason.stage1", error=engine_failure(stage1.error)))
    if stage2 is None:
        return without_line(in_english("reason.stage2", error=in_english("failure.no_record")))
    if stage2.error is not None:
        return without_line(in_english("reason.stage2", error=engine_failure(stage2.error)))
    candidates = spoken_candidates(stage2)
    if not candidates:
        if stage2.is_silent or stage2.reason:
            return without_line(stage2.reason or texts("reason.nothing"), CueStatus.SILENT)
        return without_line(in_english("reason.stage2", error=in_english("failure.no_words")))
    material = words_given(stage1.description.text, stage2.prompt)
    faults = [language_fault(line.text, language, names_of(presence), material) for line in candidates]
    if all(faults):
        error = in_english(
            "failure.line_language",
            fault=faults[0],
            language=language_of(language).name,
            text=candidates[0].text,
        )
        return without_line(in_english("reason.stage2", error=error))

    in_language = [number for number, fault in enumerate(faults) if fault is None]
    lines = _fitted_lines(candidates, in_language, situation, stage1, config)
    if not lines:
        shortest = min(candidates, key=lambda candidate: spoken_words(candidate.text, language))
        sight = _sight(shortest, shortest.text, stage1, presence, config)
        return without_line(_too_long(shortest.text, sight, slot, config), CueStatus.DROPPED)
    situation = replace(situation, description=stage1.description.text)
    line = lines[chooser(lines, situation)]
    if line.residue is not None:
        return without_line(in_english("reason.not_clean", fault=line.residue.message, text=line.text))
    statements = candidates[line.number].statements
    signs = doubt_signals(
        line.text,
        stage1,
        stage2,
        statements=statements,
        unseen=line.unseen,
        presence=presence,
        language=language,
    )
    return replace(
        unspoken,
        interval=line.interval,
        text=line.text,
        kind=_kind_of(line.text, stage1),
        status=CueStatus.SHORTENED if line.fitted.steps else CueStatus.PLACED,
        reason="; ".join(
            (
                *fit_steps(line.fitted, language),
                *_doubts(line, stage1, stage2, texts),
                *(_finding_text(finding, language) for finding in line.findings),
            )
        ),
        candidates=tuple(candidate.text for candidate in candidates),
        chosen=line.number,
        spoken_length=line.interval.duration,
        fit_steps=fit_steps(line.fitted, language),
        seen_from=None if line.sight is None else line.sight.since,
        stored_doubt=estimate_doubt(line.text, signs),
    )


def _cue_without_line(slot: Slot, stage1: Stage1Answer, stage2: Stage2Answer | None, language: str) -> Cue:
    """The slot's cue without a line, with the engines that were asked and a hash of their prompts."""
    answers = [("Stage I", stage1.maker, stage1.prompt)]
    candidates: tuple[str, ...] = ()
    if stage2 is not None:
        answers.append(("Stage II", stage2.maker, stage2.prompt))
        candidates = tuple(clean_text(candidate.text) for candidate in stage2.candidates)
    makers = tuple(Maker(stage, **identity_record(identity)) for stage, identity, _ in answers)
    prompt_hash = hash_key([prompt_record(prompt) for _, _, prompt in answers])
    return Cue(
        id=slot.id,
        slot_id=slot.id,
        interval=slot.interval,
        text="",
        language=language,
        status=CueStatus.FAILED,
        candidates=candidates,
        provenance=Provenance(makers, prompt_hash, stage1.seed),
    )


def spoken_candidates(stage2: Stage2Answer) -> list[Candidate]:
    """The candidates as they can be spoken, each on one line; those without a word are left out."""
    spoken = [replace(candidate, text=one_line(candidate.text)) for candidate in stage2.candidates]
    return [candidate for candidate in spoken if count_words(candidate.text)]


def _fitted_lines(
    candidates: Sequence[Candidate],
    numbers: Sequence[int],
    situation: choice.Situation,
    stage1: Stage1Answer,
    config: Config,
) -> list[choice.FittedLine]:
    """Those of the candidates with these ``numbers`` that fit, or can be made to, each with the time in which
    it is spoken."""
    slot, presence, language = situation.slot, situation.presence, config.language
    pace, history = config.slots.seconds_per_word, config.stage2.history
    lines_before = situation.lines_before[-history:] if history else ()
    lines = []
    for number in numbers:
        candidate = candidates[number]
        fitted = _in_time(candidate, slot, stage1, presence, config)
        if fitted is None:
            continue
        sight = _sight(candidate, fitted.text, stage1, presence, config)
        # What is seen too late to be said in the slot does not move the line.
        in_time = None if sight is None or visible_part(slot.interval, sight.since) is None else sight
        interval = spoken_interval(slot.interval, spoken_words(fitted.text, language), pace, in_time)
        findings = check_line(
            fitted.text,
            interval=interval,
            speech=situation.speech,
            previous=lines_before,
            language=language,
            limits=BENCHMARK_LIMITS if situation.is_benchmark else Limits(),
        )
        lines.append(choice.FittedLine(number, fitted, interval, findings, candidate.unseen, sight))
    return lines


def _sight(
    candidate: Candidate, text: str, stage1: Stage1Answer, presence: Presence, config: Config
) -> VisibleTime | None:
    """When ``text``, a form of the candidate, may start, as far as that is known."""
    pace = config.slots.seconds_per_word
    return sight_of(text, candidate.statements, stage1, pace, config.language, presence)


def _in_time(
    candidate: Candidate, slot: Slot, stage1: Stage1Answer, presence: Presence, config: Config
) -> FittedText | None:
    """The candidate, or the longest whole form of it that can be said in its slot once it is seen."""
    if config.stage2.fit == "none":
        return FittedText(candidate.text)
    max_words = slot.max_words
    while (fitted := fit_spoken(candidate.text, max_words, language=config.language)) is not None:
        sight = _sight(candidate, fitted.text, stage1, presence, config)
        max_words_after_sight = max_words_after(sight, slot, config)
        length = spoken_words(fitted.text, config.language)
        if length <= max_words_after_sight:
            return fitted
        if not max_words_after_sight:
            return None
        # The words that are cut may be those that are seen late: then the others have more time again.
        max_words = max(max_words_after_sight, length - 1)
        if not max_words:
            return None
    return None


def max_words_after(sight: VisibleTime | None, slot: Slot, config: Config) -> int:
    """How many words can be said in a slot once ``sight`` is seen; the slot's budget where that is None."""
    interval = visible_part(slot.interval, None if sight is None else sight.since)
    if interval is None:
        return 0
    return slot.max_words if interval == slot.interval else word_budget(interval.duration, config.slots)


def fit_steps(fitted: FittedText, language: str) -> tuple[str, ...]:
    """What was done to a text to make it fit, in the language of the track."""
    texts = texts_in(language)
    return tuple(texts(f"reason.{step.replace(' ', '_')}") for step in fitted.steps)


def _finding_text(finding: Finding, language: str) -> str:
    """What a rule says of the line; in other languages its name alone: its message is English."""
    return str(finding) if is_english(language) else texts_in(language)("reason.rule", rule=finding.rule)


def _doubts(
    line: choice.FittedLine, stage1: Stage1Answer, stage2: Stage2Answer, texts: Texts
) -> Iterator[str]:
    """What was not seen or not looked for, and names in the line that a model gave by itself."""
    if line.unseen:
        yield texts("reason.unseen", claims=one_line("; ".join(line.unseen)))
    if stage2.unlooked:
        unlooked = in_english("reason.unlooked", error=engine_failure(stage2.unlooked))
        yield reason_in(unlooked, texts.tag)
    words = set(name_keys(line.text))
    names = [name for name in stage1.invented if words & set(name_keys(name))]
    if names:
        yield texts("reason.invented", names=one_line(", ".join(names)))


def one_line(text: str) -> str:
    """Text as it is spoken, without line ends and control characters."""
    return clean_text(text).replace("\n", " ")


def _too_long(text: str, sight: VisibleTime | None, slot: Slot, config: Config) -> str:
    """The reason of a slot for which ``text``, the shortest candidate, is too long."""
    max_words = max_words_after(sight, slot, config)
    late = ""
    if sight is not None and max_words < slot.max_words:
        late = f" after it is seen, at {sight.since:.1f} s"
    if is_english(config.language):
        too_long = f"{count_words(text)} words where {max_words} fit"
        return f"{too_long}{late}, and no whole phrase is short enough: {text}"
    texts = texts_in(config.language)
    unit = "count.words" if has_blanks(config.language) else "count.characters"
    budget = texts.count(unit, budget_in_language_units(config.language, max_words))
    if sight is None or not late:
        return texts("reason.too_long", budget=budget, text=text)
    return texts("reason.too_long_late", budget=budget, seconds=texts.decimal(sight.since), text=text)


def _kind_of(text: str, stage1: Stage1Answer) -> CueKind:
    """Text where the line reads out what stands on the screen."""
    if stage1.facts is None or not quotations(text):
        return CueKind.ACTION
    letters = letters_of(text)
    texts = [letters_of(fact.text) for fact in stage1.facts.texts]
    is_read = any(on_screen and on_screen[:12] in letters for on_screen in texts)
    return CueKind.TEXT if is_read else CueKind.ACTION
