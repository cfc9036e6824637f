"""A track in another language: its lines translated by an engine, each within its time, into a work folder.

Every line's translation is a record of its own, found again by a hash of all that changes it. The lines
around it are shown to the engine and are no part of the hash: a changed line makes no other stale. What a
person changed in the translation or its scripts stays through every later one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from shotad import __version__
from shotad.core import (
    Config,
    Engine,
    EngineError,
    GivenCast,
    Interval,
    Language,
    NoProgress,
    Progress,
    RecordLog,
    Slot,
    UsageError,
    WorkFolder,
    key_of,
    language_of,
    refuse_special,
    reported,
    slots_of,
)
from shotad.description import translation_prompt as prompt
from shotad.description.conversation import Record, identity_record, is_done, of_other, prompt_record
from shotad.description.engine_pair import Terms, Used, used
from shotad.description.estimate import Estimate, OpenQuestion, estimate
from shotad.description.templates import MATERIAL, check_templates, prompt_hash
from shotad.script import (
    Cue,
    Maker,
    Track,
    derive,
    keep_discarded,
    load_track,
    log_name,
    refuse_lost_translation,
    respeak,
    save_translation,
    track_lock,
    track_name,
    with_edited_scripts,
)
from shotad.sight import load_cast

LINES = 8
"""Lines that are asked for in one request: of more at once some come back joined or left out."""
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

    ``asked`` is how many lines the engine was asked for, ``known`` how many were translated before, ``kept``
    are ids of lines that a person edited in the translation that is there.
    """

    track: Track
    failed: tuple[Cue, ...]
    used: Used
    asked: int
    known: int
    files: tuple[Path, ...] = ()
    kept: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def _planned(
    source: Source, target: str, engine: Engine, config: Config
) -> tuple[prompt.Task, tuple[prompt.SourceLine, ...], dict[str, str]]:
    """What ``engine``, whose identity is final, is to translate; the key of each line's record, by its id.

    Raises UsageError for a wrong language, EngineError for an engine that cannot translate, PromptError.
    """
    prompts = (MATERIAL, "translate")
    check_templates(prompts)
    own, into = between(source.track, target)
    check_translates(engine)
    task = prompt.Task(own, into, config)
    slots = {slot.id: slot for slot in source.slots}
    lines = prompt.wanted_lines(source.track, slots, config.slots, source.names)
    terms = [
        own.tag, into.tag, config.prompt.medium, task.note, config.translate.quotes,
        identity_record(engine.identity), task.sampling, prompt.ATTEMPTS, config.seed, prompt_hash(prompts),
    ]  # fmt: skip
    keys = {o.id: key_of("translate/1", o.id, o.text, o.words, o.names, terms) for o in lines}
    return task, lines, keys


def _groups(
    lines: Sequence[prompt.SourceLine], missing: Sequence[int], said: Mapping[str, str]
) -> Iterator[tuple[Sequence[prompt.SourceLine], prompt.Around]]:
    """The lines at these indices in groups that are asked for together, neighbours, with those around them;
    of those before only the ones whose translation is in ``said``, by id."""
    for _, neighbours in groupby(enumerate(missing), key=lambda pair: pair[1] - pair[0]):
        row = [index for _, index in neighbours]
        for first in row[::LINES]:
            end = min(first + LINES, row[-1] + 1)
            before = lines[max(0, first - BEFORE) : first]
            told = [(line.text, said[line.id]) for line in before if line.id in said]
            yield lines[first:end], (told, [line.text for line in lines[end : end + AFTER]])


def check_translates(engine: Engine) -> None:
    """Raises EngineError for an engine that reads no prompts."""
    if not engine.abilities.converses:
        raise EngineError(
            f"The engine {engine.identity.engine} reads no prompts and cannot translate.",
            "Choose a language model: --engine openai with a server, or paper (docs/engines.md).",
        )


def between(track: Track, target: str) -> tuple[Language, Language]:
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
    log: RecordLog,
    *,
    own: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> TranslationOutcome:
    """The track in the language ``target`` (a tag), line by line, at the same places.

    ``log`` keeps the answers: what is in it is not asked again. ``own`` are translations that a person wrote,
    by the line's id. A line without a usable translation is failed, one that fits in no form dropped, each
    with the reason. Raises what stops a run; what was answered till then is kept.
    """
    (task, lines, keys), own = _planned(source, target, engine, config), own or {}
    known = {name: log.get(key) for name, key in keys.items()}
    missing = [number for number, line in enumerate(lines) if not is_done(known[line.id])]
    said = {name: str(row["text"]) for name, row in known.items() if row and row["text"]} | dict(own)
    made: list[Record] = []
    maker = identity_record(engine.identity)
    with reported(progress or NoProgress(), "Translating", len(missing), "lines") as shown:
        for group, around in _groups(lines, missing, said):
            every, tries = prompt.translated(group, task, around, engine)
            request = prompt.request_for(group, task, around)
            asked = prompt_record(request.messages)
            rows: dict[str, Record] = {}
            for one in every:
                # What was asked and answered for the group stands in the record of its first line.
                head = one is every[0]
                rows[keys[one.line.id]] = {
                    "slot": one.line.id,
                    "line": one.line.text,
                    "budget": one.line.words,
                    "maker": maker,
                    "seed": request.seed,
                    "together": [line.id for line in group],
                    "prompt": asked if head else [],
                    "prompt_hash": key_of(asked),
                    "tries": tries if head else [],
                    "text": one.text if one.usable else "",
                    "faults": [fault.text for fault in one.faults] if one.usable else [],
                    "error": one.why or None,
                }
            for one, record in zip(every, log.add_all(rows), strict=True):
                made.append(record)
                if record["text"] and not own.get(one.line.id):
                    said[one.line.id] = record["text"]
            shown.advance(len(group))
    log.keep(keys.values(), lambda record: of_other(record, maker))
    who = engine.identity
    by = Maker("Translation", who.engine, who.model, who.revision)
    heard = {line.id: (line, log.record(keys[line.id])) for line in lines}
    pace, cues = config.slots.seconds_per_word, source.track.cues
    cues = tuple(prompt.cue_of(cue, heard.get(cue.id), task, by, pace) for cue in cues)
    makers = tuple(dict.fromkeys((*source.track.makers, by)))
    new = replace(
        source.track,
        language=task.target.tag,
        translated_from=task.source.tag,
        makers=makers,
        version=__version__,
        cues=(),
        reviewed_by=(),
    ).with_cues(cues)
    terms = Terms.of(engine, config)
    spent = used([], made, {"stage1": terms, "stage2": terms})
    failed = tuple(cue for cue in new.cues if cue.id in heard and not cue.heard)
    return TranslationOutcome(new, failed, spent, len(missing), len(lines) - len(missing))


def foresee_translation(
    source: Source, target: str, engine: Engine, config: Config, log: RecordLog
) -> Estimate:
    """What `translate_track` with the same arguments would ask. Nothing is sent."""
    task, lines, keys = _planned(source, target, engine, config)
    missing = [number for number, line in enumerate(lines) if not is_done(log.get(keys[line.id]))]
    said = {line.id: line.text for line in lines}  # as long as a translation, about
    questions = []
    for group, around in _groups(lines, missing, said):
        asked, most = prompt.request_for(group, task, around).messages, task.sampling.max_tokens
        likely = min(most, sum(_ANSWER + 2 * line.words for line in group))
        question = OpenQuestion(
            "stage2", asked, answer_tokens=most, attempts=prompt.ATTEMPTS, likely_answer=likely
        )
        questions.append(question)
    terms = Terms.of(engine, config)
    return estimate(questions, {"stage1": terms, "stage2": terms})


_ANSWER = 14
"""Tokens of an id and the signs around a translation, whose words take about two each."""


def read_source(path: Path, cast: GivenCast | None = None) -> Source:
    """The track in ``path``, its slots, edits and names. Raises ScriptError, CastError, EditConflict."""
    track, folder = load_track(path), WorkFolder(path.parent)
    slots = tuple(slots_of((folder.read_json("slots.json") or {}).get("slots", ())))
    track = with_edited_scripts(track, folder, file=path.name)[0]
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
    progress: Progress | None = None,
) -> TranslationOutcome:
    """Translate a track into the language ``target``, and write the new one with its scripts into ``folder``.

    ``engine`` is ready. Raises as `translate_track`, EditConflict for edits of another film or in two files.
    """
    tag = language_of(target).tag
    pace = config.slots.seconds_per_word
    rooms = {slot.id: slot.interval for slot in source.slots}
    previous = _previous(folder, tag, source.track.film.name, rooms, pace, discard_edits=discard_edits)
    log, cues = folder.log_of_records(log_name(tag)), previous.cues if previous is not None else ()
    own = {cue.id: " ".join(cue.text.split()) for cue in cues if cue.edited is not None and cue.heard}
    done = translate_track(source, tag, engine, config, log, own=own, progress=progress)
    with track_lock(folder.path):
        # Whoever edited the translation while it was made keeps what they wrote.
        film_name = source.track.film.name
        previous = _previous(folder, tag, film_name, rooms, pace, discard_edits=discard_edits)
        discarded = ""
        if discard_edits:
            discarded = keep_discarded(previous, folder.path, film_name, file=track_name(tag))
        merged = derive(previous, done.track, discard_edits=discard_edits)
        track = respeak(merged.track, rooms, pace)
        files = save_translation(track, folder)
    # What the user should know of edits that met new translations
    before = {cue.id: cue for cue in (previous.cues if previous is not None else ())}
    now = {cue.id: cue.text for cue in done.track.cues}
    stale = [
        name
        for name in merged.kept
        if name in now and (old := before[name].machine) is not None and old.text != now[name]
    ]
    news = [*filter(None, [discarded]), *merged.news]
    if stale:
        word = "line" if len(stale) == 1 else "lines"
        news.append(
            f"{len(stale)} {word} that a person edited here now translate otherwise: {', '.join(stale)}. "
            "The edits stay; the new translations stand beside them, as machine."
        )
    return replace(done, track=track, files=files, kept=merged.kept, warnings=tuple(news))


def _previous(
    folder: WorkFolder,
    tag: str,
    film_name: str,
    rooms: Mapping[str, Interval],
    pace: float,
    *,
    discard_edits: bool,
) -> Track | None:
    """The translation that is there, with what people changed in its scripts; None where there is none."""
    path = folder.path / track_name(tag)
    refuse_special(path)
    if not path.exists():
        if not discard_edits:
            refuse_lost_translation(folder.path, film_name, tag)
        return None
    track = load_track(path)
    if discard_edits:
        return track
    return with_edited_scripts(track, folder, file=track_name(track.language), times=(rooms, pace))[0]
