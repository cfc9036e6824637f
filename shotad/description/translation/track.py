"""A track in another language: its lines translated by an engine, each within its time, into a work folder.

The translated track says of each line which line it translates and under which terms. What stands there for
the same line under the same terms stays; only the other lines are asked for, so a changed line makes no other
stale, although an engine is shown the lines around it. Every answer is kept with those of the run: a run that
was killed asks the same questions again and is answered from memory. Old answers are never dropped here,
because they are those of a run and of other languages too, and any of them may have been paid for.

What a person changed in the translation or its scripts stays through every later one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from shotad import __version__
from shotad.core import (
    Config,
    Engine,
    Interval,
    NoProgress,
    Progress,
    RecordLog,
    Reply,
    Request,
    Slot,
    Usage,
    WorkFolder,
)
from shotad.core.config.languages import Language, language_of
from shotad.core.errors import EngineError, UsageError
from shotad.core.files import refuse_special
from shotad.core.progress import progress_task
from shotad.core.records import slots_of
from shotad.core.runsettings import GivenCast
from shotad.core.workfolder import hash_key
from shotad.description.counting_engine import CountedRequest, CountingEngine, EstimateMemory
from shotad.description.engine_pair import EngineUsage, Terms, engine_usage
from shotad.description.estimate import Estimate, estimate_counted
from shotad.description.templates import MATERIAL, check_templates, prompt_hash
from shotad.description.translation import prompt
from shotad.engines import (
    AnswerLog,
    AskingPool,
    Memory,
)
from shotad.engines.answer_log import ANSWERS_RECORD, identity_record, prompt_record
from shotad.script import (
    Cue,
    Maker,
    Track,
    load_track,
    merge_edits,
    track_lock,
)
from shotad.script.edits import update_spoken_ends
from shotad.script.rules import quotations
from shotad.script.track_files import (
    keep_discarded,
    refuse_lost_translation,
    save_translation,
    translation_file_name,
    with_edited_scripts,
)
from shotad.sight import load_cast

BEFORE, AFTER = 4, 2
"""Lines around those asked for that are shown, the earlier with translation: so that words stay the same."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is translated: the track as people left it, its film's slots, the names of its people."""

    track: Track
    slots: tuple[Slot, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TranslationOutcome:
    """The track in the other language, the lines that have no translation, and what it took.

    ``asked_lines`` is how many lines the engine was asked for, ``known_lines`` how many were translated
    before. ``edited_ids`` are those of lines that a person edited in the translation; they stay as they are.
    """

    track: Track
    failed: tuple[Cue, ...]
    used: EngineUsage
    asked_lines: int
    known_lines: int
    files: tuple[Path, ...] = ()
    edited_ids: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a run has to translate.

    ``terms`` are by the line's id, as in `Translation`, and so are ``standing``, the lines whose translation
    stays, ``failures``, how often the others failed before, and ``by_people``, what a person wrote instead.
    ``missing`` are indices into ``lines``.
    """

    task: prompt.Task
    lines: tuple[prompt.SourceLine, ...]
    terms: Mapping[str, str]
    standing: Mapping[str, prompt.TranslatedLine]
    failures: Mapping[str, int]
    by_people: Mapping[str, str]
    missing: tuple[int, ...]

    @property
    def texts(self) -> dict[str, str]:
        """Translations that there are, by the line's id, as engines are shown them."""
        return {line_id: line.text for line_id, line in self.standing.items()} | dict(self.by_people)


def _plan(
    source: Source, target: str, engine: Engine, config: Config, previous: Track | None, *, anew: bool
) -> _Plan:
    """What ``engine``, whose identity is final, is to translate beyond what stands in ``previous``.

    Raises UsageError for a wrong language, EngineError for an engine that cannot translate, PromptError.
    """
    prompts = (MATERIAL, "translate")
    check_templates(prompts)
    language, target_language = translation_languages(source.track, target)
    check_translates(engine)
    task = prompt.Task(language, target_language, config)
    slots = {slot.id: slot for slot in source.slots}
    lines = prompt.lines_to_translate(source.track, slots, config.slots, source.names)
    settings = [
        language.tag, target_language.tag, config.prompt.medium, task.note, config.translate.quotes,
        identity_record(engine.identity), task.sampling, prompt.ATTEMPTS, config.seed, prompt_hash(prompts),
    ]  # fmt: skip
    terms = {line.id: hash_key("translate/1", line.max_words, line.names, settings) for line in lines}
    cues = {cue.id: cue for cue in previous.cues} if previous is not None else {}
    standing: dict[str, prompt.TranslatedLine] = {}
    failures: dict[str, int] = {}
    for line in lines:
        cue = cues.get(line.id)
        translation = cue.translation if cue is not None else None
        if cue is None or translation is None:
            continue
        if (translation.line, translation.terms) != (line.text, terms[line.id]):
            continue
        if not translation.text:
            failures[line.id] = translation.failures
        elif not anew:
            prompt_hash_of_line, seed = "", 0
            if cue.provenance:
                prompt_hash_of_line, seed = cue.provenance.prompt_hash, cue.provenance.seed
            standing[line.id] = prompt.TranslatedLine(
                line, translation.text, translation.terms, prompt_hash_of_line, seed
            )
    # Where a person edited the translation, engines are shown their words.
    by_people = {
        cue.id: " ".join(cue.text.split()) for cue in cues.values() if cue.edited is not None and cue.heard
    }
    missing = tuple(number for number, line in enumerate(lines) if line.id not in standing)
    return _Plan(task, lines, terms, standing, failures, by_people, missing)


def _groups(
    plan: _Plan, texts: Mapping[str, str], size: int
) -> Iterator[tuple[Sequence[prompt.SourceLine], prompt.Around]]:
    """The lines to translate in groups of up to ``size`` neighbours that are asked for together, with those
    around them; of those before only the ones whose translation is in ``texts``, by id, when the group is
    drawn."""
    lines = plan.lines
    for _, neighbours in groupby(enumerate(plan.missing), key=lambda pair: pair[1] - pair[0]):
        indices = [index for _, index in neighbours]
        for first in indices[::size]:
            end = min(first + size, indices[-1] + 1)
            before = lines[max(0, first - BEFORE) : first]
            lines_before = [(line.text, texts[line.id]) for line in before if line.id in texts]
            lines_after = [line.text for line in lines[end : end + AFTER]]
            yield lines[first:end], (lines_before, lines_after)


def check_translates(engine: Engine) -> None:
    """Raises EngineError for an engine that reads no prompts."""
    if not engine.abilities.converses:
        raise EngineError(
            f"The engine {engine.identity.engine} reads no prompts and cannot translate.",
            "Choose a language model: --engine openai with a server, or paper (docs/engines.md).",
        )


def translation_languages(track: Track, target: str) -> tuple[Language, Language]:
    """The track's language and the other one. Raises UsageError where they are the same, or are none."""
    source, into = language_of(track.language), language_of(target)
    if source.tag == into.tag:
        raise UsageError(f"The track is in {into.name} ({into.tag}) already.", "Name another language.")
    return source, into


def translate_track(
    source: Source,
    target: str,
    engine: Engine,
    config: Config,
    memory: Memory | None = None,
    *,
    previous: Track | None = None,
    anew: bool = False,
    progress: Progress | None = None,
) -> TranslationOutcome:
    """The track in the language ``target`` (a tag), line by line, at the same places.

    ``memory`` keeps the engine's replies. ``previous`` is the translation as it stands, with people's edits:
    what it has of the same lines under the same terms is not asked again, unless all is made ``anew``. A line
    without a usable translation is failed, one that fits in no form dropped, each with the reason. Raises
    what stops a run; what was answered till then is kept in ``memory``.
    """
    plan = _plan(source, target, engine, config, previous, anew=anew)
    translated = dict(plan.standing)
    texts = plan.texts
    # One group after the other: each is shown the translations before it.
    with (
        AskingPool({"stage2": engine}, memory) as pool,
        progress_task(progress or NoProgress(), "Translating", len(plan.missing), "lines") as shown,
    ):
        asked_lines = 0
        for group, around in _groups(plan, texts, config.translate.lines):
            calls_before = pool.usage["stage2"].calls
            for result in _translate_group(pool, plan, group, around):
                line_id = result.line.id
                translated[line_id] = result
                if result.text and line_id not in plan.by_people:
                    texts[line_id] = result.text
            # A group that was answered from memory asked nobody.
            if pool.usage["stage2"].calls > calls_before:
                asked_lines += len(group)
            shown.advance(len(group))
    identity = engine.identity
    maker = Maker("Translation", identity.engine, identity.model, identity.revision)
    pace = config.slots.seconds_per_word
    cues = [prompt.cue_of(cue, translated.get(cue.id), plan.task, maker, pace) for cue in source.track.cues]
    track = replace(
        source.track,
        language=plan.task.target.tag,
        translated_from=plan.task.source.tag,
        makers=tuple(dict.fromkeys((*source.track.makers, maker))),
        version=__version__,
        cues=(),
        reviewed_by=(),
    ).with_cues(cues)
    used = engine_usage(pool.usage, {"stage2": Terms.of(engine, config)})
    failed = tuple(cue for cue in track.cues if cue.id in translated and not cue.heard)
    return TranslationOutcome(track, failed, used, asked_lines, len(plan.lines) - asked_lines)


def _translate_group(
    pool: AskingPool, plan: _Plan, group: Sequence[prompt.SourceLine], around: prompt.Around
) -> list[prompt.TranslatedLine]:
    """The lines of a group as ``pool``'s engine translates them. Raises what stops a run."""
    failures = plan.failures.get(group[0].id, 0)
    drafts = prompt.translate_lines(pool, group, plan.task, around, failures)
    first_request = prompt.request_for(group, plan.task, around, failures=failures)
    question_hash = hash_key(prompt_record(first_request.messages))
    translated = []
    for draft in drafts:
        line_id = draft.line.id
        translated.append(
            prompt.TranslatedLine(
                draft.line,
                draft.text if draft.is_usable else "",
                plan.terms[line_id],
                question_hash,
                first_request.seed,
                draft.failure,
                0 if draft.is_usable else plan.failures.get(line_id, 0) + 1,
            )
        )
    return translated


def estimate_translation(
    folder: WorkFolder,
    source: Source,
    target: str,
    engine: Engine,
    config: Config,
    *,
    discard_edits: bool = False,
    anew: bool = False,
) -> Estimate:
    """What `translate_into` with the same arguments would ask. Nothing is sent, and nothing written.

    ``folder`` need not be open. Raises as `translate_into`.
    """
    tag = language_of(target).tag
    previous = _previous(folder, tag, source, config, discard_edits=discard_edits)
    plan = _plan(source, tag, engine, config, previous, anew=anew)
    log = RecordLog(folder.path / f"{ANSWERS_RECORD}.jsonl")
    answers = AnswerLog(log, _purpose(tag), anew=anew)
    placeholders = {line.id: _placeholder(line) for line in plan.lines}
    usable_reply = partial(_usable_reply, placeholders)
    lines = config.translate.lines
    likely = _count_requests(plan, lines, CountingEngine(engine, "stage2", usable_reply), answers)
    # At worst no answer can be used, and each line is asked for alone until no attempt is left.
    most = _count_requests(plan, lines, CountingEngine(engine, "stage2", _unusable_reply), answers)
    return estimate_counted(likely, most, {"stage2": Terms.of(engine, config)})


def _count_requests(plan: _Plan, lines: int, engine: CountingEngine, answers: Memory) -> list[CountedRequest]:
    """The requests of a translation with up to ``lines`` lines each, as they are counted by ``engine``;
    ``answers`` are of earlier runs."""
    texts = plan.texts
    with AskingPool({"stage2": engine}, EstimateMemory(answers)) as pool:
        for group, around in _groups(plan, texts, lines):
            count_before = len(engine.requests)
            translated = _translate_group(pool, plan, group, around)
            is_known = len(engine.requests) == count_before
            for result in translated:
                line = result.line
                if line.id not in plan.by_people:
                    # A line stands for a translation that is still to come: it is about as long.
                    texts[line.id] = result.text if is_known else line.text
    return engine.requests


def _usable_reply(placeholders: Mapping[str, str], request: Request) -> Reply:
    """Placeholders for the lines of a question, counted as two tokens for each word that fits."""
    ids = (request.schema or {})["properties"]
    text = json.dumps({line_id: placeholders[line_id] for line_id in ids}, ensure_ascii=False)
    tokens = TOKENS_AROUND_LINE * len(ids) + 2 * (request.budget or 0)
    return Reply(text, usage=Usage(0, tokens))


def _placeholder(line: prompt.SourceLine) -> str:
    """A translation in which nothing is wrong, in whatever language: a number, names, and what is quoted."""
    quotes = [line.text[start:end] for start, end in quotations(line.text)]
    return " ".join(["7", *line.names, *quotes])


def _unusable_reply(request: Request) -> Reply:
    return Reply("", usage=Usage(0, request.sampling.max_tokens))


TOKENS_AROUND_LINE = 14
"""Tokens of an id and the signs around a translation."""


def read_track_to_translate(path: Path, cast: GivenCast | None = None) -> Source:
    """The track in ``path``, its slots, edits and names. Raises ScriptError, CastError, EditConflict."""
    track, folder = load_track(path), WorkFolder(path.parent)
    slots = tuple(slots_of((folder.read_json("slots.json") or {}).get("slots", ())))
    track = with_edited_scripts(track, folder, track_file_name=path.name)[0]
    # Those without a name are told by looks, which are translated.
    members = load_cast(cast.path, key=cast.key, photos=cast.photos) if cast is not None else ()
    return Source(track, slots, tuple(dict.fromkeys(member.says for member in members if member.says)))


def translate_into(
    folder: WorkFolder,
    source: Source,
    target: str,
    engine: Engine,
    config: Config,
    *,
    discard_edits: bool = False,
    anew: bool = False,
    progress: Progress | None = None,
) -> TranslationOutcome:
    """Translate a track into the language ``target``, and write the new one with its scripts into ``folder``.

    ``engine`` is ready. ``anew``: every line is translated again; people's edits stay. Raises as
    `translate_track`, EditConflict for edits of another film or in two files.
    """
    tag = language_of(target).tag
    previous = _previous(folder, tag, source, config, discard_edits=discard_edits)
    memory = AnswerLog(folder.log_of_records(ANSWERS_RECORD), _purpose(tag), anew=anew)
    outcome = translate_track(
        source, tag, engine, config, memory, previous=previous, anew=anew, progress=progress
    )
    with track_lock(folder.path):
        # Edits of the translation that were made meanwhile stay.
        previous = _previous(folder, tag, source, config, discard_edits=discard_edits)
        discarded = ""
        if discard_edits:
            film_name = source.track.film.name
            discarded = keep_discarded(
                previous, folder.path, film_name, track_file_name=translation_file_name(tag)
            )
        merged = merge_edits(previous, outcome.track, discard_edits=discard_edits)
        track = update_spoken_ends(merged.track, _slot_times(source), config.slots.seconds_per_word)
        files = save_translation(track, folder)
    # What the user should know of edits that met new translations
    cues_before = {cue.id: cue for cue in (previous.cues if previous is not None else ())}
    texts = {cue.id: cue.text for cue in outcome.track.cues}
    stale = []
    for cue_id in merged.kept:
        machine = cues_before[cue_id].machine
        if machine is not None and cue_id in texts and machine.text != texts[cue_id]:
            stale.append(cue_id)
    warnings = [*filter(None, [discarded]), *merged.warnings]
    if stale:
        word = "line" if len(stale) == 1 else "lines"
        warnings.append(
            f"{len(stale)} {word} that a person edited here now translate otherwise: {', '.join(stale)}. "
            "The edits stay; the new translations stand beside them, as machine."
        )
    return replace(outcome, track=track, files=files, edited_ids=merged.kept, warnings=tuple(warnings))


def _purpose(tag: str) -> str:
    """Of the answers in the log; see `AnswerLog`."""
    return f"translate.{tag}"


def _slot_times(source: Source) -> dict[str, Interval]:
    return {slot.id: slot.interval for slot in source.slots}


def _previous(
    folder: WorkFolder, tag: str, source: Source, config: Config, *, discard_edits: bool
) -> Track | None:
    """The translation that is there, with what people changed in its scripts; None where there is none.

    With ``discard_edits`` it is the track as its file has it; the edits are thrown away later.
    """
    path = folder.path / translation_file_name(tag)
    refuse_special(path)
    if not path.exists():
        if not discard_edits:
            refuse_lost_translation(folder.path, source.track.film.name, tag)
        return None
    track = load_track(path)
    if discard_edits:
        return track
    times = (_slot_times(source), config.slots.seconds_per_word)
    return with_edited_scripts(
        track, folder, track_file_name=translation_file_name(track.language), times=times
    )[0]
