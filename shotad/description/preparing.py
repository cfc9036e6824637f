"""The first act: from a film to its shots, its speech, and the slots in which AD can be spoken.

Each step is kept in the work folder and made again only when something that changes it has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from shotad.core import (
    Config,
    FileKind,
    Given,
    Interval,
    Progress,
    ScriptError,
    Shot,
    ShotadError,
    SubtitleError,
    UsageError,
    Utterance,
    WeightsError,
    WorkFolder,
    interval_rows,
    key_of,
    read_file_bytes,
    reported,
    seconds,
    shot_rows,
    shots_of,
    slot_rows,
    slots_of,
    time_range,
    utterance_rows,
    utterances_of,
    weights_file,
)
from shotad.film import (
    CONTEXT_REACH,
    HARD_MINIMUM,
    HEARING_WEIGHTS,
    Film,
    Frames,
    HandSlots,
    HeardSpeech,
    Prepared,
    Voices,
    find_speech,
    fixed_slots,
    free_time,
    hand_in_both,
    hand_row,
    hear_speech,
    keep_to,
    mark_slots,
    plan_slots,
    read_hand_slots,
    survey,
    zones_around,
)
from shotad.script import given_shots, slot_cues, timecode
from shotad.sight import TEXT_WEIGHTS, TextReader, credit_moments, find_credits

SHOTS_STEP = "shots/4"
"""The step that finds shots, and its version: raise it with every change of the cuts (see `key_of`)."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """Everything that a step of the first act works with.

    A context manager, which deletes the frames that were kept for the run at its end (`Frames`). Who leaves
    it open leaves them for the run that follows.
    """

    film: Film
    folder: WorkFolder
    config: Config
    given: Given
    frames: Frames
    progress: Progress

    @staticmethod
    def of(film: Film, folder: WorkFolder, config: Config, given: Given, progress: Progress) -> RunContext:
        """The context of a run; given slots are looked at frame by frame, planned ones on the grid."""
        frames = Frames(film, folder, config, exact=given.slots is not None)
        return RunContext(film, folder, config, given, frames, progress)

    @property
    def film_key(self) -> list[Any]:
        return [self.film.info.fingerprint, self.config.film.reader, str(self.film.info.frame_rate)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.frames.__exit__(kind, error, trace)

    def close(self) -> None:
        """Delete the frames that were kept for the run."""
        self.frames.close()


def prepare(context: RunContext) -> Prepared:
    """Film to slots: speech, which says where frames are wanted; one pass over the picture; the slots."""
    spoken = speech_step(context)
    speech = utterances_of(spoken["speech"])
    free = free_time(speech, context.film.info.duration, context.config.speech)
    hand = read_hand_slots(context.folder.path)
    # Where frames will be looked at, as far as the speech shows
    given, duration = context.given, context.film.info.duration
    part = Interval(given.start, min(given.end or duration, duration)) if given.start < duration else None
    wide = [*(gap for gap in free if gap.duration >= HARD_MINIMUM), *hand.added]
    inside = [cut for gap in wide if part and (cut := gap.clip(part))]
    moments = credit_moments(duration) if context.config.slots.find_credits else []
    roll_from = moments[0] if moments else duration
    zones = zones_around(inside, CONTEXT_REACH, end=duration, credits_from=roll_from)
    found = shots_step(context, zones)
    shots, end = shots_of(found["shots"]), float(found["end"])
    # The film may be shorter than its container says.
    check_start(context.given, end, context.film.info.name)
    holes = [Interval(*bounds) for bounds in found["holes"]]
    gaps = free_time(speech, end, context.config.speech, holes)
    # Where the end credits roll, if they are looked for. Kept in ``credits.json``.
    wanted = context.config.slots.find_credits and context.given.slots is None
    key = key_of("credits/4", context.film_key, context.frames.key, end, wanted)

    def find() -> dict[str, Any]:
        if not wanted:
            return {"credits": None}
        for name in TEXT_WEIGHTS:
            weights_file(name, context.progress)
        frames = len(credit_moments(end))
        with reported(context.progress, "Looking for end credits", frames, "frames") as task:
            roll = find_credits(context.frames.pictures, end, TextReader(), task.advance)
        return {"credits": None if roll is None else interval_rows([roll])[0]}

    rolled = context.folder.step("credits", key, find)
    credits_ = Interval(*rolled["credits"]) if rolled["credits"] else None
    keys = tuple(step["key"] for step in (found, spoken, rolled))
    planned = slots_step(context, gaps, shots, end, credits_, voices_of(spoken), keys, hand)
    warnings = [found["damage"], *planned["warnings"]]
    if context.film.clock_jumps:
        times = "once" if context.film.clock_jumps == 1 else f"{context.film.clock_jumps} times"
        what = f"The film's clock jumps {times}, as where recordings were joined"
        warnings.append(f"{what}: all times count on from its beginning, in a described film too.")
    if holes:
        missing = sum(hole.duration for hole in holes)
        longest = max(holes, key=lambda hole: hole.duration)
        where = f"the longest time from {longest.start:.1f} to {longest.end:.1f} s"
        warnings.append(f"The film has no picture for {missing:.0f} s, {where}: no slots are planned there.")
    return Prepared(
        info=context.film.info,
        end=end,
        shots=shots,
        speech=speech,
        gaps=gaps,
        slots=slots_of(planned["slots"]),
        failed=tuple((row["id"], row["reason"]) for row in planned["failed"]),
        warnings=tuple(text for text in warnings if text),
        hand=hand,
    )


def check_start(given: Given, end: float, film: str) -> None:
    """Refuse a start that is not before the film's end, in seconds (0: not known). Raises UsageError."""
    if end > 0 and given.start >= end:
        raise UsageError(
            f"The start {timecode(given.start)} is not before the end of {film}, {timecode(end)}.",
            "Give an earlier time (--from).",
        )


def speech_step(context: RunContext) -> dict[str, Any]:
    """Where people speak: from given or embedded subtitles, compared with the sound; else from the sound.

    Kept in ``speech.json``. With ``speech.source=subtitles`` nobody listens.
    """
    config, given, info = context.config, context.given.subtitles, context.film.info
    settings, content = config.speech, _content(given, "subtitles", SubtitleError)
    key = key_of("speech/4", context.film_key, settings, config.film.audio_track, content)

    def make() -> dict[str, Any]:
        # Before anything is listened to: they may be refused.
        subtitles, detail, notes = _subtitles(context)
        heard: HeardSpeech | None = None
        if settings.source in ("auto", "sound") and info.audio:
            try:
                heard = heard_step(context)
            except WeightsError as trouble:
                if subtitles is None or settings.source == "sound":
                    raise
                notes = (*notes, f"The subtitles were not compared with the sound: {trouble.what}")
        speech = find_speech(heard, settings, subtitles=subtitles, duration=info.duration)
        warnings = [*notes, *speech.notes]
        for warning in warnings:  # now, not only when the run has ended
            context.progress.note(warning)
        return {
            "source": speech.source,
            "detail": detail or speech.detail,
            "warnings": warnings,
            "speech": utterance_rows(speech.utterances),
            **voice_rows(speech.voices),
        }

    return context.folder.step("speech", key, make)


def voice_rows(voices: Voices) -> dict[str, Any]:
    """Where somebody likely sings and shouts, as ``heard.json`` and ``speech.json`` have it."""
    return {"singing": interval_rows(voices.singing), "shouts": interval_rows(voices.shouts)}


def voices_of(record: Mapping[str, Any]) -> Voices:
    """The voices that `voice_rows` wrote into a record."""
    singing, shouts = (tuple(Interval(*pair) for pair in record[name]) for name in ("singing", "shouts"))
    return Voices(singing, shouts)


def _subtitles(context: RunContext) -> tuple[tuple[Utterance, ...] | None, str, tuple[str, ...]]:
    """What the given subtitles say, or those in the film; how they were found; and what is wrong with them.

    None where there are none, or none are wanted. Raises SubtitleError for given ones that cannot be used.
    """
    from shotad.film import check_inside, embedded_track, end_of_sound_and_picture, read_subtitles

    settings, given, info = context.config.speech, context.given.subtitles, context.film.info
    if given is not None:
        subtitles = read_subtitles(given, encoding=settings.encoding, frame_rate=info.frame_rate)
        if settings.source != "sound":
            check_inside(subtitles.utterances, info.duration)
        return subtitles.utterances, f"subtitles {given.name}", subtitles.notes
    if settings.source not in ("auto", "subtitles") or info.path is None:
        return None, "", ()
    track = embedded_track(info.path)
    if track is None:
        return None, "", ()
    subtitles, why = track
    end = end_of_sound_and_picture(info.path)
    try:
        check_inside(subtitles.utterances, min(info.duration, end or info.duration))
    except SubtitleError as trouble:
        # Nobody chose them: the sound can still be listened to.
        return None, "", (f"The subtitles inside the film are not used. {trouble.what}",)
    return subtitles.utterances, why, subtitles.notes


def heard_step(context: RunContext) -> HeardSpeech | None:
    """The speech heard in the sound, a minute of work for two hours of film; None where there is no sound.

    Kept in ``heard.json``, also where subtitles are given and taken away again. Raises WeightsError.
    """
    key = key_of("heard/2", context.film_key, context.config.film.audio_track)

    def make() -> dict[str, Any]:
        for name in HEARING_WEIGHTS:
            weights_file(name, context.progress)
        heard = hear_speech(context.film, context.config.film.audio_track, context.progress)
        if heard is None:
            return {"heard": None, "notes": [], **voice_rows(Voices())}
        rows = {"heard": interval_rows(heard.intervals), "notes": list(heard.notes)}
        return {**rows, **voice_rows(heard.voices)}

    record = context.folder.step("heard", key, make)
    if record["heard"] is None:
        return None
    stretches = tuple(Interval(*pair) for pair in record["heard"])
    return HeardSpeech(stretches, tuple(record["notes"]), voices_of(record))


def shots_step(context: RunContext, zones: Sequence[Interval] = ()) -> dict[str, Any]:
    """The shots: given, or found in one pass, which keeps the frames of ``zones``. In ``shots.json``."""
    film, config, given = context.film, context.config, context.given.shots
    key = key_of(SHOTS_STEP, context.film_key, config.shots, _content(given, "shots", ScriptError))

    def make() -> dict[str, Any]:
        if given is not None:
            rows = given_shots(given, film.info.duration)
            return {
                "film": film.info.name,
                "end": film.info.duration,
                "damage": None,
                "holes": [],
                "shots": rows,
            }
        if config.shots.detector == "learned":
            weights_file("transnetv2", context.progress)
        task = context.progress.task("Finding shots", film.info.duration or None, "s")
        try:
            found = survey(
                film,
                config.shots,
                keeping=partial(context.frames.keeping, zones=zones),
                advance=task.advance,
                decoder=config.film.decoder,
                tell=context.progress.note,
            )
        finally:
            task.done()
        return {
            "film": film.info.name,
            "frames": found.frame_count,
            "source_start": str(film.info.start),
            "end": seconds(found.end),
            "damage": film.damage,
            "holes": interval_rows(film.holes),
            "shots": shot_rows(found.shots, found.cuts),
        }

    return context.folder.step("shots", key, make)


def slots_step(
    context: RunContext,
    gaps: Sequence[Interval],
    shots: Sequence[Shot],
    end: float,
    credits_: Interval | None,
    voices: Voices,
    keys: tuple[str, ...],
    hand: HandSlots,
) -> dict[str, Any]:
    """The slots, given or planned, kept to ``hand``, in ``slots.json``; ``keys`` are of earlier steps.

    Planned ones are marked by the ``voices`` in them. Who gives or adds slots has chosen to have lines there.
    """
    given, settings = context.given.slots, context.config.slots
    own = (hand_row(hand),) if hand else ()
    key = key_of("slots/2", keys, settings, _content(given, "slots", ScriptError), *own)
    film = Interval(0.0, end)

    def make() -> dict[str, Any]:
        if given is not None:
            slots, told, outside = fixed_slots(slot_cues(given), film, settings)
            planned: dict[str, Any] = {}
        else:
            unmarked = plan_slots(gaps, shots, settings, credits=credits_, film=film)
            slots, told, outside = mark_slots(unmarked, voices), [], []
            planned = {"gaps": interval_rows(gaps)}
        failed = [{"id": name, "reason": reason} for name, reason in outside]
        kept, yielded = keep_to(slots, hand, settings)
        counts = [(len(hand.added), "added"), (len(hand.removed), "removed")]
        done = [f"{number} slot{'' if number == 1 else 's'} {what}" for number, what in counts if number]
        if done:
            told.append(f"Kept to what a person did to the slots: {', '.join(done)}.")
        for slot in yielded:
            what = f"The slot {slot.id} ({time_range(slot.interval)}) is left out"
            told.append(f"{what}: a person added one that shares its time.")
        # Of what a person does meanwhile, the page notes here what it adds and takes out.
        noted = hand_in_both(hand, read_hand_slots(context.folder.path))
        by_hand = {"hand": hand_row(noted)} if noted else {}
        return {"failed": failed, "warnings": told, **planned, **by_hand, "slots": slot_rows(kept)}

    return context.folder.step("slots", key, make)


def _content(path: Path | None, kind: FileKind, error: type[ShotadError]) -> str | None:
    """Hash of a given file, so that a changed file is a changed key."""
    if path is None:
        return None
    data = read_file_bytes(path, kind, error, hint="Check the name.")
    return hashlib.sha256(data).hexdigest()
