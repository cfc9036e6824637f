"""From Stage II's answers to cues: the line that fits, when it is spoken, and why not if not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shotad.core import (
    NOBODY,
    Config,
    Facts,
    Interval,
    Presence,
    Slot,
    description_of,
    is_english,
    key_of,
    language_of,
)
from shotad.description.choice import Around, ByRules, Chooser, Line, Situation
from shotad.description.evidence import Rows, sight_of
from shotad.description.language_id import other_language
from shotad.film import word_budget
from shotad.script import (
    Cue,
    CueKind,
    CueStatus,
    Fitted,
    Maker,
    Provenance,
    Sight,
    budget_in,
    check_line,
    clean_text,
    count_words,
    fit_spoken,
    in_sight,
    keys_of,
    spoken_interval,
    spoken_words,
)

__all__ = ["SILENT", "Around", "Line", "cue_of", "one_line"]

Answers = tuple[Mapping[str, Any], Mapping[str, Any] | None]
"""The records of Stage I and Stage II."""

SILENT = "nothing worth saying was found"


def cue_of(
    slot: Slot,
    stage1: Mapping[str, Any],
    stage2: Mapping[str, Any] | None,
    config: Config,
    around: Around,
    chooser: Chooser | None = None,
    said: Sequence[str] = (),
    presence: Presence = NOBODY,
) -> Cue:
    """The slot's cue from the records of both stages.

    ``chooser`` takes one of the candidates that were made to fit (None: `ByRules`); ``said`` are all lines
    heard so far in the film, oldest first (empty: those of ``around``); ``presence`` is who of the cast is on
    the frames. The line starts when what it tells is seen, as far as that is known, and is shortened where
    its slot ends too soon. A cue without a line says why.
    """
    answers = (stage1, stage2)
    error = stage1["error"] or (stage2 or {}).get("error")
    if error or stage2 is None:
        stage = "Stage I" if stage1["error"] else "Stage II"
        return _without_line(
            slot, answers, config, CueStatus.FAILED, f"{stage} failed: {error or 'no record'}"
        )
    drafts = _drafts(stage2)
    candidates = [draft.text for draft in drafts]
    if not candidates:
        return _lineless(slot, answers, config)
    if (strange := _in_another_language(candidates, config)) is not None:
        return _without_line(slot, answers, config, CueStatus.FAILED, strange)

    def sight(text: str, rows: Rows) -> Sight | None:
        return sight_of(text, rows, stage1, config.slots.seconds_per_word, config.language, presence)

    lines = _fitting(drafts, slot, config, around, sight)
    if not lines:
        shortest = min(drafts, key=lambda draft: spoken_words(draft.text, config.language))
        seen = sight(shortest.text, shortest.said)
        reason = _too_long(shortest.text, seen, slot, config)
        return _without_line(slot, answers, config, CueStatus.DROPPED, reason)
    description = description_of(slot.id, stage1).text
    situation = Situation(slot, tuple(said or around.before), description, around)
    line = lines[(chooser or ByRules()).choose(lines, situation)]
    if line.residue is not None:
        reason = f"no clean line: {line.residue.message}: {line.text}"
        return _without_line(slot, answers, config, CueStatus.FAILED, reason)
    return Cue(
        id=slot.id,
        slot_id=slot.id,
        interval=line.interval,
        text=line.text,
        kind=_kind(line.text, stage1),
        language=config.language,
        status=CueStatus.SHORTENED if line.fitted.steps else CueStatus.PLACED,
        reason="; ".join(
            (
                *line.fitted.steps,
                *_not_seen(line),
                *_not_looked(stage2),
                *_invented(line, stage1),
                *map(str, line.findings),
            )
        ),
        candidates=tuple(candidates),
        chosen=line.number,
        spoken_length=line.interval.duration,
        fit_steps=line.fitted.steps,
        provenance=_provenance(stage1, stage2),
        seen_from=None if line.sight is None else line.sight.since,
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """A candidate as it can be spoken, what the frames do not show of it, and the narrator's notes on it."""

    text: str
    unseen: tuple[str, ...]
    said: Rows


def _drafts(stage2: Mapping[str, Any]) -> list[_Draft]:
    noted: Mapping[str, Sequence[str]] = stage2.get("unseen") or {}
    said: Sequence[Rows] = (stage2.get("notes") or {}).get("said", ())
    found = [
        _Draft(one_line(text), tuple(noted.get(str(at), ())), said[at] if at < len(said) else ())
        for at, text in enumerate(stage2["candidates"])
    ]
    return [draft for draft in found if count_words(draft.text)]


def _fitting(
    drafts: Sequence[_Draft],
    slot: Slot,
    config: Config,
    around: Around,
    sight: Callable[[str, Rows], Sight | None],
) -> list[Line]:
    """Those of the candidates that fit, or can be made to. ``sight`` tells when a line may start."""
    lines = []
    for number, draft in enumerate(drafts):
        fitted = _in_time(draft, slot, config, sight)
        foreign = not is_english(config.language) and other_language(draft.text, config.language)
        if fitted is not None and not foreign:
            seen = sight(fitted.text, draft.said)
            interval = _spoken(fitted.text, slot, seen, config)
            findings = check_line(
                fitted.text,
                interval=interval,
                speech=around.speech,
                previous=around.before,
                language=config.language,
                limits=around.limits,
            )
            lines.append(Line(number, fitted, interval, findings, draft.unseen, seen))
    return lines


def _in_time(
    draft: _Draft, slot: Slot, config: Config, sight: Callable[[str, Rows], Sight | None]
) -> Fitted | None:
    """The candidate, or the longest whole form of it that can be said in its slot once it is seen."""
    if config.stage2.fit == "none":
        return Fitted(draft.text)
    words = slot.max_words
    while (fitted := fit_spoken(draft.text, words, language=config.language)) is not None:
        room = _words_from(sight(fitted.text, draft.said), slot, config)
        if spoken_words(fitted.text, config.language) <= room:
            return fitted
        # What is left out may be what comes late: then the rest has more time again.
        words = max(room, spoken_words(fitted.text, config.language) - 1) if room else 0
        if not words:
            return None
    return None


def _words_from(seen: Sight | None, slot: Slot, config: Config) -> int:
    """How many words can be said in a slot of what is ``seen`` then."""
    room = in_sight(slot.interval, None if seen is None else seen.since)
    if room is None:
        return 0
    return slot.max_words if room == slot.interval else word_budget(room.duration, config.slots)


def _spoken(text: str, slot: Slot, seen: Sight | None, config: Config) -> Interval:
    if seen is not None and in_sight(slot.interval, seen.since) is None:
        seen = None
    words = spoken_words(text, config.language)
    return spoken_interval(slot.interval, words, config.slots.seconds_per_word, seen)


def _in_another_language(candidates: Sequence[str], config: Config) -> str | None:
    """Why no line can be spoken, where all are plainly in another language than the one wanted."""
    if is_english(config.language):
        return None
    found = [other_language(text, config.language) for text in candidates]
    if not all(found):
        return None
    wanted = language_of(config.language).name
    return f"Stage II failed: the line is in {found[0]}, not in {wanted}: {candidates[0]}"


def _not_seen(line: Line) -> tuple[str, ...]:
    return (f"not seen in the frames: {one_line('; '.join(line.unseen))}",) if line.unseen else ()


def _not_looked(stage2: Mapping[str, Any]) -> tuple[str, ...]:
    why = stage2.get("unlooked")
    return (f"the second look at the frames failed: {one_line(why)}",) if why else ()


def _invented(line: Line, stage1: Mapping[str, Any]) -> tuple[str, ...]:
    """Names in the line that a model gave by itself."""
    words = set(keys_of(line.text))
    names = [name for name in stage1.get("invented", ()) if words & set(keys_of(name))]
    return (f"named by the model alone: {one_line(', '.join(names))}",) if names else ()


def _lineless(slot: Slot, answers: Answers, config: Config) -> Cue:
    """Silent where the engine said so, failed where it only gave no line."""
    record = answers[1] or {}
    reason = record["notes"].get("reason")
    if record.get("finish") == "silent" or reason:
        return _without_line(slot, answers, config, CueStatus.SILENT, str(reason or SILENT))
    trouble = "Stage II failed: its answer holds no line that can be spoken"
    return _without_line(slot, answers, config, CueStatus.FAILED, trouble)


def _without_line(slot: Slot, answers: Answers, config: Config, status: CueStatus, reason: str) -> Cue:
    stage1, stage2 = answers
    candidates = tuple(clean_text(text) for text in (stage2 or {}).get("candidates", ()))
    return Cue(
        id=slot.id,
        slot_id=slot.id,
        interval=slot.interval,
        text="",
        language=config.language,
        status=status,
        reason=one_line(reason),
        candidates=candidates,
        provenance=_provenance(stage1, stage2),
    )


def one_line(text: str) -> str:
    """Text as it is spoken, without line ends and control characters."""
    return clean_text(text).replace("\n", " ")


def _too_long(text: str, seen: Sight | None, slot: Slot, config: Config) -> str:
    words = _words_from(seen, slot, config)
    late = ""
    if seen is not None and words < slot.max_words:
        late = f" after what it tells is seen, at {seen.since:.1f} s"
    if not is_english(config.language):
        room = budget_in(config.language, words)
        return f"longer than the {room} that fit{late}, and no whole phrase is short enough: {text}"
    return f"{count_words(text)} words where {words} fit{late}, and no whole phrase is short enough: {text}"


def _kind(text: str, stage1: Mapping[str, Any]) -> CueKind:
    """Text where the line reads out what stands on the screen."""
    notes = stage1["notes"]
    if "current" not in notes or '"' not in text:
        return CueKind.ACTION
    said = _letters(text)
    read = any(
        _letters(fact.text)[:12] in said for fact in Facts.from_json(notes).texts if _letters(fact.text)
    )
    return CueKind.TEXT if read else CueKind.ACTION


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _provenance(stage1: Mapping[str, Any], stage2: Mapping[str, Any] | None) -> Provenance:
    records = [("Stage I", stage1), ("Stage II", stage2)]
    makers = tuple(Maker(stage, **record["maker"]) for stage, record in records if record is not None)
    prompts = [record["prompt"] for _, record in records if record is not None]
    return Provenance(makers, key_of(prompts), stage1["seed"])
