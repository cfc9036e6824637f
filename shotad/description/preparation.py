"""The first part of a run: from a film to its shots, its speech, and the slots in which AD can be spoken.

Each step is kept in the work folder and made again only when something that changes it has changed. What a
step does stands in a function without a work folder (`find_speech_of_film`, `detect_shots`,
`find_end_credits`, `choose_slots`); what it is kept under stands in the function that asks for it
(`film_speech`, `film_shots`, `film_credits`, `film_slots`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from types import TracebackType
from typing import Any, Self

from shotad.core import (
    Config,
    Interval,
    Progress,
    RunInputs,
    Shot,
    Slot,
    Utterance,
    WorkFolder,
)
from shotad.core.config.film import SpeechSettings
from shotad.core.errors import SubtitleError, WeightsError
from shotad.core.progress import plural, progress_task
from shotad.core.records import seconds
from shotad.core.types import clip_all, time_range
from shotad.core.weight_store import weights_file
from shotad.core.workfolder import hash_key
from shotad.description.film_records import (
    FilmShots,
    FilmSlots,
    credits_of,
    credits_record,
    film_shots_of,
    film_slots_of,
    shots_record,
    slots_record,
    sound_speech_of,
    sound_speech_record,
    speech_of,
    speech_record,
    with_kept_words,
)
from shotad.description.inputs import GivenFile, Inputs, SlotCues, check_start, digest_of
from shotad.film import (
    Film,
    FilmSpeech,
    Frame,
    Frames,
    HandSlots,
    Pictures,
    Prepared,
    SoundSpeech,
    Subtitles,
    VoiceTimes,
    are_in_silence,
    choose_speech,
    detect_shots_in_pass,
    detect_speech,
    fit_subtitles,
    free_time,
    mark_slots,
    plan_slots,
)
from shotad.film.frame_cache import zones_around
from shotad.film.sampling import CONTEXT_REACH
from shotad.film.slot_records import (
    apply_hand_slots,
    hand_row,
    read_hand_slots,
)
from shotad.film.slots import HARD_MINIMUM, fixed_slots
from shotad.film.speech import SPEECH_WEIGHTS
from shotad.script.cue import Script
from shotad.sight import TextReader, find_credits
from shotad.sight.text import TEXT_WEIGHTS, credit_moments

SHOTS_STEP = "shots/4"
"""The step that finds shots, and its version: raise it with every change of the cuts (see `hash_key`)."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """Everything that a step of a run works with.

    A context manager, which deletes the frames that were kept for the run at its end (`Frames`). Without
    ``with`` or `close` they stay for the run that follows.
    """

    film: Film
    folder: WorkFolder
    config: Config
    inputs: Inputs
    frames: Frames
    progress: Progress

    @staticmethod
    def of(
        film: Film, folder: WorkFolder, config: Config, inputs: RunInputs | Inputs, progress: Progress
    ) -> RunContext:
        """The context of a run; given slots are looked at frame by frame, planned ones on the grid.

        ``inputs`` are the names of the files that the user gave, or those files read under the same
        ``config``.
        """
        if isinstance(inputs, RunInputs):
            inputs = Inputs(film.info, config, inputs)
        frames = Frames(film, folder, config, exact=inputs.run_inputs.slots is not None)
        return RunContext(film, folder, config, inputs, frames, progress)

    @property
    def run_inputs(self) -> RunInputs:
        """The names of the files that the user gave, and the part to describe."""
        return self.inputs.run_inputs

    @property
    def film_key(self) -> list[Any]:
        """What stands for the film in keys."""
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
    """Film to slots: speech, which says where frames are wanted; one pass over the picture; the slots.

    Raises UsageError where the part to describe lies behind the picture's end, and what the steps raise.
    """
    speech = film_speech(context)
    hand = read_hand_slots(context.folder.path)
    shots = film_shots(context, zones_looked_at(context, speech, hand))
    # The film may be shorter than its container says.
    check_start(context.run_inputs, shots.end, context.film.info.name)
    roll = film_credits(context, shots.end)
    utterances = speech.utterances
    gaps = free_time(utterances, shots.end, context.config.speech, shots.holes)
    slots = film_slots(context, gaps, shots, roll, speech.voices, hand)
    why_unused = why_subtitles_unused(context, speech)
    found_subtitles = context.run_inputs.subtitles
    return Prepared(
        info=context.film.info,
        end=shots.end,
        shots=shots.shots,
        speech=utterances,
        gaps=gaps,
        slots=slots.slots,
        failed=slots.failed,
        warnings=(*filter(None, [why_unused]), *picture_warnings(context.film, shots), *slots.warnings),
        unused_subtitles=found_subtitles.name if why_unused and found_subtitles is not None else "",
        hand=hand,
    )


def zones_looked_at(context: RunContext, speech: FilmSpeech, hand: HandSlots) -> list[Interval]:
    """Where frames will be looked at, as far as the speech shows: around the pauses in the part to describe,
    and where end credits may roll."""
    config, duration = context.config, context.film.info.duration
    start, end = context.run_inputs.start, context.run_inputs.end
    if start >= duration:
        return []
    part = Interval(start, min(end or duration, duration))
    pauses = free_time(speech.utterances, duration, config.speech)
    possible_slots = [pause for pause in pauses if pause.duration >= HARD_MINIMUM]
    possible_slots += hand.added
    moments = credit_moments(duration) if config.slots.find_credits else []
    credits_from = moments[0] if moments else duration
    slots_in_part = clip_all(possible_slots, part)
    return zones_around(slots_in_part, CONTEXT_REACH, end=duration, credits_from=credits_from)


def picture_warnings(film: Film, shots: FilmShots) -> list[str]:
    """What a person should know of the film's picture and clock."""
    warnings = [shots.damage] if shots.damage else []
    if film.clock_jumps:
        times = "once" if film.clock_jumps == 1 else f"{film.clock_jumps} times"
        warnings.append(
            f"The film's clock jumps {times}, as where recordings were joined: all times count on from its "
            "beginning, in a described film too."
        )
    if shots.holes:
        missing = sum(hole.duration for hole in shots.holes)
        longest = max(shots.holes, key=lambda hole: hole.duration)
        warnings.append(
            f"The film has no picture for {missing:.0f} s, the longest time from {longest.start:.1f} to "
            f"{longest.end:.1f} s: no slots are planned there."
        )
    uncovered = uncovered_parts(shots)
    if uncovered:
        missing = sum(part.duration for part in uncovered)
        longest = max(uncovered, key=lambda part: part.duration)
        warnings.append(
            f"The given shots leave out {missing:.1f} s of {shots.end:.1f} s, the longest time from "
            f"{longest.start:.1f} to {longest.end:.1f} s. What is seen there is shown only for a slot that "
            "lies whole in such a part, as one shot."
        )
    return warnings


LEAST_UNCOVERED = 0.5
"""Seconds without a shot that count: some lists leave out a frame or two at each cut, and at the end."""


def uncovered_parts(shots: FilmShots) -> list[Interval]:
    """The parts of the film that given shots leave out, of `LEAST_UNCOVERED` seconds at least, in order."""
    if shots.frame_count is not None:
        return []
    starts = [0.0, *(shot.interval.end for shot in shots.shots)]
    ends = [*(shot.interval.start for shot in shots.shots), shots.end]
    return [
        Interval(start, end)
        for start, end in zip(starts, ends, strict=True)
        if end - start >= LEAST_UNCOVERED
    ]


# Speech


def film_speech(context: RunContext) -> FilmSpeech:
    """Where people speak, with the words of subtitles, else of a transcript. Kept in ``speech.json``."""
    film, settings, subtitles = context.film, context.config.speech, context.inputs.subtitles
    is_found = context.run_inputs.subtitles_found
    # The sound is listened to only where the record is made, and has a record of its own.
    listen = partial(film_sound_speech, context)

    def make() -> FilmSpeech:
        speech = find_speech_of_film(film, settings, subtitles, listen, context.progress, is_found=is_found)
        return with_kept_words(speech, context.folder, film.info.fingerprint)

    if is_found:
        _note_found_subtitles(context)
    return context.folder.cached("speech", _speech_key(context), make, write=speech_record, read=speech_of)


def _note_found_subtitles(context: RunContext) -> None:
    """Say which subtitles beside the film are taken, or why the file there cannot be."""
    path = context.run_inputs.subtitles
    assert path is not None
    context.progress.note(_unusable(context) or f"Subtitles: {path.name}, beside the film.")


def _unusable(context: RunContext) -> str:
    """Why the subtitles that were found beside the film cannot be read; empty where they can."""
    path, trouble = context.run_inputs.subtitles, context.inputs.subtitle_trouble
    return f"{_unused(path.name)} as its subtitles. {trouble}" if path is not None and trouble else ""


def _unused(name: str) -> str:
    """The beginning of a note on a file beside the film."""
    return f"{name}, beside the film, is not used"


def why_subtitles_unused(context: RunContext, speech: FilmSpeech) -> str:
    """Why the subtitles beside the film cannot be read or do not fit its ``speech``.

    Empty where there are none, or they are used, or the settings want none.
    """
    return _unusable(context) or speech.misfit


def _speech_key(context: RunContext) -> str:
    config = context.config
    digest = digest_of(context.inputs.subtitles)
    # Subtitles that were found give way to the sound where they do not fit it; those that were given do not.
    origin = ("found/2",) if context.run_inputs.subtitles_found and digest else ()
    return hash_key("speech/5", context.film_key, config.speech, config.film.audio_track, digest, *origin)


def film_sound_speech(context: RunContext) -> SoundSpeech | None:
    """The speech in the film's sound, a minute of work for two hours of film; None where there is no sound.

    Kept in ``heard.json``, also where subtitles are given and taken away again. Raises WeightsError.
    """
    track = context.config.film.audio_track
    key = hash_key("heard/2", context.film_key, track)
    make = partial(find_sound_speech, context.film, track, context.progress)
    return context.folder.cached("heard", key, make, write=sound_speech_record, read=sound_speech_of)


def find_speech_of_film(
    film: Film,
    settings: SpeechSettings,
    subtitle_file: GivenFile[Subtitles] | None,
    listen: Callable[[], SoundSpeech | None],
    progress: Progress,
    *,
    is_found: bool = False,
) -> FilmSpeech:
    """Where people speak: from a file of subtitles or embedded ones, compared with the sound; else from the
    sound.

    ``listen`` finds the speech in the sound; with ``speech.source=subtitles`` it is not called. ``is_found``:
    nobody named the file, so that it is left out where it does not fit the sound. Raises SubtitleError for
    subtitles that cannot be used, WeightsError.
    """
    sound_speech: SoundSpeech | None = None
    sound_trouble: WeightsError | None = None
    if settings.source in ("auto", "sound") and film.info.audio:
        try:
            sound_speech = listen()
        except WeightsError as trouble:
            sound_trouble = trouble
    misfit = ""
    if subtitle_file is not None and is_found and sound_speech is not None:
        misfit = _misfit(subtitle_file, sound_speech, film.info.duration)
    if subtitle_file is not None and not misfit:
        content = subtitle_file.content
        subtitles = ChosenSubtitles(content.utterances, f"subtitles {subtitle_file.name}", content.notes)
    else:
        subtitles = embedded_subtitles(film, settings)
    notes = [misfit] if misfit else []
    notes += subtitles.notes
    if sound_trouble is not None:
        if subtitles.utterances is None or settings.source == "sound":
            raise sound_trouble
        notes.append(f"The subtitles were not compared with the sound: {sound_trouble.what}")
    speech = choose_speech(
        sound_speech, settings, subtitles=subtitles.utterances, duration=film.info.duration
    )
    notes += speech.notes
    for note in notes:  # now, not only when the run has ended
        progress.note(note)
    return replace(speech, detail=subtitles.detail or speech.detail, notes=tuple(notes), misfit=misfit)


def _misfit(subtitle_file: GivenFile[Subtitles], sound_speech: SoundSpeech, duration: float) -> str:
    """Why subtitles that nobody named are not used; empty where they fit the sound."""
    times = [utterance.interval for utterance in subtitle_file.content.utterances]
    fit = fit_subtitles(times, sound_speech.intervals, duration)
    unused = f"{_unused(subtitle_file.name)}: "
    voices = [*sound_speech.intervals, *sound_speech.voices.singing]
    if fit.shift is None and are_in_silence(times, voices, duration):
        description = f"{PurePath(subtitle_file.name).stem}.ad{PurePath(subtitle_file.name).suffix}"
        return (
            f"{unused}most of its lines stand where nobody speaks. If it is a description, call it "
            f"{description}. To use it as it is, name it: --subtitles."
        )
    if not fit.problem:
        return ""
    return (
        f"{unused}it does not fit the sound. {fit.problem} "
        "Correct its times, or name it to use it as it is: --subtitles."
    )


@dataclass(frozen=True, slots=True)
class ChosenSubtitles:
    """The subtitles from which speech is taken, how they were found, and what a person should know."""

    utterances: tuple[Utterance, ...] | None = None
    """None where there are no subtitles."""
    detail: str = ""
    notes: tuple[str, ...] = ()


def embedded_subtitles(film: Film, settings: SpeechSettings) -> ChosenSubtitles:
    """The subtitles inside the film; without utterances where there are none, they do not fit, or none are
    wanted."""
    from shotad.film.speech import check_inside
    from shotad.film.subtitles import embedded_track, end_of_sound_and_picture

    path, duration = film.info.path, film.info.duration
    if settings.source not in ("auto", "subtitles") or path is None:
        return ChosenSubtitles()
    track = embedded_track(path)
    if track is None:
        return ChosenSubtitles()
    subtitles, detail = track
    end = end_of_sound_and_picture(path)
    try:
        check_inside(subtitles.utterances, min(duration, end or duration))
    except SubtitleError as trouble:
        # Nobody chose them: the sound can still be listened to.
        return ChosenSubtitles(notes=(f"The subtitles inside the film are not used. {trouble.what}",))
    return ChosenSubtitles(subtitles.utterances, detail, subtitles.notes)


def find_sound_speech(film: Film, track: int | None, progress: Progress) -> SoundSpeech | None:
    """The speech in a sound track of the film; None where there is no sound. Raises WeightsError."""
    for name in SPEECH_WEIGHTS:
        weights_file(name, progress)
    return detect_speech(film, track, progress)


# Shots


def film_shots(context: RunContext, zones: Sequence[Interval] = ()) -> FilmShots:
    """The shots: given, or found in one pass, which keeps the frames of ``zones``. In ``shots.json``."""
    film, config, shot_file = context.film, context.config, context.inputs.shots
    info = film.info
    make: Callable[[], FilmShots]
    if shot_file is not None:
        make = partial(given_film_shots, shot_file.content, info.duration)
    else:
        keeping = partial(context.frames.keeping, zones=zones)
        make = partial(detect_shots, film, config, keeping, context.progress)
    return context.folder.cached(
        "shots",
        _shots_key(context),
        make,
        write=lambda shots: shots_record(shots, info),
        read=film_shots_of,
    )


def _shots_key(context: RunContext) -> str:
    digest = digest_of(context.inputs.shots)
    return hash_key(SHOTS_STEP, context.film_key, context.config.shots, digest)


def given_film_shots(shots: tuple[Shot, ...], duration: float) -> FilmShots:
    """Given shots of a film of ``duration`` seconds (0: not known, then it ends with the last of them)."""
    return FilmShots(shots, duration or shots[-1].interval.end)


def detect_shots(
    film: Film, config: Config, keeping: Callable[[Iterator[Frame]], Iterator[Frame]], progress: Progress
) -> FilmShots:
    """The shots of the film by one pass over its picture; ``keeping`` is given the frames that go by.

    Raises FilmError where no picture can be decoded, WeightsError.
    """
    if config.shots.detector == "learned":
        weights_file("transnetv2", progress)
    task = progress.task("Finding shots", film.info.duration or None, "s")
    try:
        detected = detect_shots_in_pass(
            film,
            config.shots,
            keeping=keeping,
            advance=task.advance,
            decoder=config.film.decoder,
            tell=progress.note,
        )
    finally:
        task.done()
    return FilmShots(
        detected.shots, seconds(detected.end), film.damage, film.holes, detected.cuts, detected.frame_count
    )


# End credits


def film_credits(context: RunContext, end: float) -> Interval | None:
    """Where the end credits of a film that ends at ``end`` s roll, if they do and are looked for.

    Given slots need none. Kept in ``credits.json``.
    """
    make: Callable[[], Interval | None]
    if _looks_for_credits(context):
        make = partial(find_end_credits, context.frames.pictures, end, context.progress)
    else:
        make = _no_credits
    key = _credits_key(context, end)
    return context.folder.cached("credits", key, make, write=credits_record, read=credits_of)


def _no_credits() -> None:
    """The end credits where nobody looks for them."""


def _looks_for_credits(context: RunContext) -> bool:
    return context.config.slots.find_credits and context.run_inputs.slots is None


def _credits_key(context: RunContext, end: float) -> str:
    is_searched = _looks_for_credits(context)
    return hash_key("credits/4", context.film_key, context.frames.key, end, is_searched)


def find_end_credits(pictures: Pictures, end: float, progress: Progress) -> Interval | None:
    """Where the end credits of a film that ends at ``end`` s roll, by the text that is seen; None where none
    do. Raises WeightsError."""
    for name in TEXT_WEIGHTS:
        weights_file(name, progress)
    with progress_task(progress, "Looking for end credits", len(credit_moments(end)), "frames") as task:
        return find_credits(pictures, end, TextReader(), task.advance)


# Slots


def film_slots(
    context: RunContext,
    gaps: Sequence[Interval],
    shots: FilmShots,
    roll: Interval | None,
    voices: VoiceTimes,
    hand: HandSlots,
) -> FilmSlots:
    """The slots, given or planned, kept to what a person did to them (``hand``). Kept in ``slots.json``.

    ``gaps`` are the times without speech, ``roll`` is where end credits roll, ``voices`` where somebody
    sings.
    """
    slot_file, settings = context.inputs.slots, context.config.slots
    step_keys = (_shots_key(context), _speech_key(context), _credits_key(context, shots.end))
    by_hand = (hand_row(hand),) if hand else ()
    kept_description = context.inputs.description
    kept_digest = () if kept_description is None else (("kept", kept_description.digest),)
    key = hash_key("slots/2", step_keys, settings, digest_of(slot_file), *by_hand, *kept_digest)
    make = partial(
        choose_slots,
        None if slot_file is None else slot_file.content,
        gaps,
        shots,
        roll,
        voices,
        hand,
        context.config,
        kept_description,
    )
    return context.folder.cached(
        "slots",
        key,
        make,
        write=lambda slots: slots_record(slots, hand, context.folder.path),
        read=film_slots_of,
    )


def _has_line(slot: Slot, script: Script) -> bool:
    """Whether a line is spoken in a slot."""
    return any(cue.interval.overlaps(slot.interval) for cue in script.cues)


def choose_slots(
    given_slots: SlotCues | None,
    gaps: Sequence[Interval],
    shots: FilmShots,
    roll: Interval | None,
    voices: VoiceTimes,
    hand: HandSlots,
    config: Config,
    kept_description: GivenFile[Script] | None = None,
) -> FilmSlots:
    """The slots: those given, else planned in the ``gaps``, without those in which a line of the description
    ``kept_description`` is spoken; then as ``hand`` says.

    Planned ones are marked by the ``voices`` in them. Given and added ones are not: somebody chose to have
    lines there.
    """
    settings, film = config.slots, Interval(0.0, shots.end)
    if given_slots is not None:
        slots, warnings, failed = fixed_slots(given_slots, film, settings)
    else:
        planned = plan_slots(gaps, shots.shots, settings, credits=roll, film=film)
        slots, warnings, failed = mark_slots(planned, voices), [], []
    if kept_description is not None:
        empty_slots = tuple(slot for slot in slots if not _has_line(slot, kept_description.content))
        if len(empty_slots) < len(slots):
            covered = len(slots) - len(empty_slots)
            covered_slots = f"{covered} of {plural(len(slots), 'slot')}"
            warnings.append(f"{covered_slots} have a line of {kept_description.name} already.")
        slots = empty_slots
    final_slots, replaced = apply_hand_slots(slots, hand, settings)
    changes = []
    for number, verb in ((len(hand.added), "added"), (len(hand.removed), "removed")):
        if number:
            changes.append(f"{number} slot{'' if number == 1 else 's'} {verb}")
    if changes:
        warnings.append(f"Kept to what a person did to the slots: {', '.join(changes)}.")
    for slot in replaced:
        warnings.append(
            f"The slot {slot.id} ({time_range(slot.interval)}) is left out: a person added one that shares "
            "its time."
        )
    planned_in = None if given_slots is not None else tuple(gaps)
    return FilmSlots(final_slots, tuple(failed), tuple(warnings), planned_in)
