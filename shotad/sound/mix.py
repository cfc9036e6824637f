"""From a film and its spoken lines to a mix, or an excerpt of one.

`prepare_mix` measures the film's sound (the programme) once, and the mix once where it has a target. A `Mix`
holds no samples: programme and voice are read and mixed block by block at each use. `mix_result` and
`loudness_findings` report how the mix and its files came out, in figures, plain lines, and by rules A1
(loudness and true peak of each file) and A3 (the voice is audible).

`excerpt` mixes a few seconds as they are in the whole, to play one line without rendering the film. Levels
depend on how loud the programme is as a whole and around the line. Until all of it was measured
(`measure_whole`), the seconds around the line must do (`measure_nearby`), and the make-up gain, which a
render corrects by measuring a trial mix, is estimated (`estimated_make_up`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from shotad.core import (
    Interval,
    NoProgress,
    Progress,
    Task,
)
from shotad.core.config.sound import MixSettings
from shotad.core.progress import progress_task
from shotad.core.types import GainPoint
from shotad.film import Film, Samples, SoundBlock
from shotad.script import Finding, Level
from shotad.script.cue import timecode
from shotad.sound.kinds import Spoken, Take
from shotad.sound.layouts import remixed
from shotad.sound.levels import (
    FOLLOW_SECONDS,
    PEAK_SLACK,
    PROFILES,
    MeasuredSound,
    compared_loudness,
    depth_for,
    envelope,
    loudness_target,
    peak_limit,
    summed_curve,
)
from shotad.sound.loudness import (
    ABSOLUTE_GATE,
    Levels,
    Limiter,
    Loudness,
    LoudnessCurve,
    Meter,
    gated,
    limited,
)
from shotad.sound.outputs import SoundSummary
from shotad.sound.programme import RATE, Gains, Programme, channel_names, programme_of, voice_gains


def prepare_mix(
    film: Film,
    spoken: Sequence[Spoken],
    speech: Sequence[Interval],
    settings: MixSettings,
    *,
    audio_track: int | None = None,
    progress: Progress | None = None,
) -> Mix:
    """The mix of a film's sound with its lines, with the make-up gain that brings it to its target.

    ``speech`` are the film seconds in which the film is not lowered. ``audio_track`` is the number of a
    track, None for the film's default. Lines are about as loud as the programme as a whole, and follow the
    scene (`MeasuredSound.voice_level`). Raises FilmError for a track that is not there.
    """
    programme = programme_of(film, audio_track)
    progress, duration = progress or NoProgress(), film.info.duration
    with progress_task(progress, "Measuring the film's sound", duration, "s") as task:
        meter = Meter(programme.layout, RATE)
        film_sound = MeasuredSound(*meter.measure(counted(programme.blocks(), task)))
    recipe = place_lines(programme, film_sound, spoken, speech, settings)
    dialogue = (*speech, *(take.line.interval for take in recipe.takes))
    limit = peak_limit(film_sound, settings)
    target, of_dialogue = loudness_target(PROFILES[settings.profile], dialogue, duration)
    voice_loudness, voice_course = Meter("mono", RATE).measure(recipe.alone())
    if target is not None:
        # First estimated from the loudness of programme and voice, then corrected by that of the mix: the
        # limiter makes it softer, by how much only the limited mix says.
        expected_course = summed_curve(film_sound.curve, recipe.gains, voice_course)
        expected = compared_loudness(expected_course, dialogue, of_dialogue)
        recipe = replace(recipe, make_up=_gain(target, expected))
        trial = limited(recipe.mixed(), Limiter(limit))
        with progress_task(progress, "Measuring the mix", duration, "s") as task:
            _, trial_course = Meter(programme.layout, RATE).measure(counted(trial, task))
        correction = _gain(target, compared_loudness(trial_course, dialogue, of_dialogue))
        recipe = replace(recipe, make_up=recipe.make_up + correction)
    line_levels: list[LineLevel] = []
    for take in recipe.takes:
        interval = take.line.interval
        ducked = film_sound.level_during(interval, recipe.gains)
        line_levels.append(
            LineLevel(take.line.id, interval, take.level, take.programme_level, ducked, take.depth)
        )
    report = MixReport(
        settings.profile,
        target,
        of_dialogue,
        film_sound.loudness,
        voice_loudness.louder(recipe.make_up),
        recipe.make_up,
        limit,
        tuple(line_levels),
    )
    return Mix(recipe, limit, report, dialogue)


def _gain(target: float, level: float | None) -> float:
    """dB from a level to the target; 0 for silence, which no gain makes louder."""
    return 0.0 if level is None else target - level


def counted(blocks: Iterable[SoundBlock], task: Task) -> Iterator[SoundBlock]:
    """The blocks, while ``task`` counts their seconds."""
    for block in blocks:
        yield block
        task.advance(len(block.samples) / RATE)


def loudness_of(take: Take) -> float | None:
    """Integrated loudness of a take in LUFS, pauses in it left out; None: silence."""
    samples = take.samples
    if take.seconds < MIN_MEASURED:
        samples = np.tile(samples, int(np.ceil(MIN_MEASURED / take.seconds)))
    loudness, _ = Meter("mono", take.rate).measure([SoundBlock(0.0, samples)])
    return loudness.integrated


def place_lines(
    programme: Programme,
    film_sound: MeasuredSound,
    spoken: Sequence[Spoken],
    speech: Sequence[Interval],
    settings: MixSettings,
    loudness: Callable[[Take], float | None] = loudness_of,
) -> Recipe:
    """The mix without make-up gain: lines at their level and in place, the programme lowered under them.

    ``film_sound`` is the measured programme, ``speech`` when it is not lowered (film seconds), ``loudness`` a
    function that returns the loudness of a take by itself, in LUFS.
    """
    takes: list[PlacedTake] = []
    for line in sorted(spoken, key=lambda line: line.start):
        take = place_line(programme, film_sound, line, settings, loudness)
        if take is not None:
            takes.append(take)
    return recipe_of(programme, takes, speech, settings)


def place_line(
    programme: Programme,
    film_sound: MeasuredSound,
    line: Spoken,
    settings: MixSettings,
    loudness: Callable[[Take], float | None] = loudness_of,
) -> PlacedTake | None:
    """One line at its level and in place, as in `place_lines`; None where it lies outside of the film."""
    level = film_sound.voice_level(line.interval, settings)
    take_loudness = loudness(line.take)
    gain = 1.0 if take_loudness is None else 10 ** ((level - take_loudness) / 20)
    take = place(line, programme.total, gain)
    if take is None:
        return None
    programme_level = film_sound.level_during(line.interval)
    depth = depth_for(level, programme_level, settings)
    return replace(take, level=level, programme_level=programme_level, depth=depth)


def recipe_of(
    programme: Programme, takes: Sequence[PlacedTake], speech: Sequence[Interval], settings: MixSettings
) -> Recipe:
    """The mix of lines that are placed, in order, without make-up gain."""
    gains = envelope([take.line.interval for take in takes], speech, [take.depth for take in takes])
    channel_gains = voice_gains(channel_names(programme.layout), settings.channels)
    return Recipe(programme, gains, tuple(takes), channel_gains)


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """What a mix is made of.

    ``gains`` are the programme's level along film time, ``channel_gains`` how loud the voice is in each
    channel, ``make_up`` the gain in dB on both.
    """

    programme: Programme
    gains: tuple[GainPoint, ...]
    takes: tuple[PlacedTake, ...]
    channel_gains: Gains
    make_up: float = 0.0

    def mixed(self) -> Iterator[SoundBlock]:
        """Programme and voice, not yet limited: ``float32[n, channels]``."""
        player = Playing(self.takes)
        for block in self.programme.blocks():
            yield self.mixed_block(block, player)

    def mixed_block(self, block: SoundBlock, player: Playing) -> SoundBlock:
        """A block of the programme with the voice that ``player`` has for it."""
        first = round(block.seconds * RATE)
        samples = block.samples
        if self.gains:
            seconds = (first + np.arange(len(samples))) / RATE
            point_seconds = [point.seconds for point in self.gains]
            decibels = np.interp(seconds, point_seconds, [point.decibels for point in self.gains])
            # Where nothing is changed, samples stay those of the film to the bit.
            if decibels.any():
                samples = samples * np.asarray(10 ** (decibels / 20), np.float32)[:, None]
        voice = player.between(first, first + len(samples))
        if voice is not None:
            samples = samples + voice[:, None] * self.channel_gains
        if self.make_up != 0:
            samples = samples * np.float32(10 ** (self.make_up / 20))
        return SoundBlock(block.seconds, samples)

    def alone(self) -> Iterator[SoundBlock]:
        """The voice, not yet limited: ``float32[n, 1]``."""
        total, player = self.programme.total, Playing(self.takes)
        factor = np.float32(10 ** (self.make_up / 20))
        for first in range(self.programme.begin, total, RATE):
            end = min(first + RATE, total)
            voice = player.between(first, end)
            samples = np.zeros(end - first, np.float32) if voice is None else voice * factor
            yield SoundBlock(first / RATE, samples[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """Programme and audio description together, and the description alone, as long as the film to the sample.

    ``gains`` is the programme's level along film time. ``true_peak`` in dBTP limits both sounds as they are
    made here; `MixReport.true_peak` is what no finished file may pass. Both can be made any number of times,
    and each time the film is read once. ``dialogue`` is when somebody speaks, in the film or over it.
    """

    recipe: Recipe
    true_peak: float
    report: MixReport
    dialogue: tuple[Interval, ...]

    def with_lower_peaks(self, decibels: float) -> Mix:
        """The same mix, with its peaks limited to so many dB less."""
        return replace(self, true_peak=self.true_peak - decibels)

    def louder(self, decibels: float) -> Mix:
        """The same mix with so many dB more make-up gain."""
        return replace(self, recipe=replace(self.recipe, make_up=self.recipe.make_up + decibels))

    def file_sound(self, loudness: Loudness, course: LoudnessCurve | None) -> FileSound:
        """What was measured of a finished file; ``course`` None: the description alone, without a target."""
        if course is None:
            return FileSound(loudness, False, None)
        return FileSound(loudness, True, compared_loudness(course, self.dialogue, self.report.of_dialogue))

    @property
    def layout(self) -> str:
        """ffmpeg's name of the channels, that of the programme; ``stereo`` where the film has no sound."""
        return self.recipe.programme.layout

    @property
    def duration(self) -> float:
        return self.recipe.programme.total / RATE

    @property
    def gains(self) -> tuple[GainPoint, ...]:
        """The programme's level along film time, without the make-up gain."""
        return self.recipe.gains

    def mixed(self) -> Iterator[SoundBlock]:
        """``float32[n, channels]``, sample i of all at ``i / RATE`` film seconds."""
        return limited(self.recipe.mixed(), Limiter(self.true_peak))

    def alone(self) -> Iterator[SoundBlock]:
        """``float32[n]``: the description alone, mono, as loud as in the mix; silence elsewhere."""
        for block in limited(self.recipe.alone(), Limiter(self.true_peak)):
            yield SoundBlock(block.seconds, block.samples[:, 0])


FADE_IN, FADE_OUT = 0.003, 0.010
"""Seconds over which a take comes up and goes, so that a cut in it does not click. Short enough that the
first sound of a word stays sharp and is found at its place."""

MIN_MEASURED = 1.0
"""Seconds of sound that a loudness is taken from; a shorter take is repeated."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedTake:
    """A line's take in the mix: samples ``[first, end)``, multiplied by ``gain``.

    ``level`` is the loudness of the voice and ``programme_level`` that of the programme meanwhile, LUFS
    (None: silence); ``depth`` by how many dB the programme is lowered.
    """

    line: Spoken
    first: int
    end: int
    gain: float
    level: float = 0.0
    programme_level: float | None = None
    depth: float = 0.0


def resampled(take: Take) -> Samples:
    """A take at `RATE`: ``float32[round(n * RATE / take.rate)]``, sample 0 at the same moment."""
    if take.rate == RATE:
        return take.samples
    from av import AudioFrame, AudioResampler

    frame = AudioFrame.from_ndarray(np.ascontiguousarray(take.samples)[None], format="flt", layout="mono")
    frame.sample_rate = take.rate
    resampler = AudioResampler(format="flt", layout="mono", rate=RATE)
    frames = [*resampler.resample(frame), *resampler.resample(None)]  # None: what it still holds
    parts = [resampled_frame.to_ndarray()[0] for resampled_frame in frames]
    samples = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    # The resampler gives some samples more or fewer than the take lasts.
    size = max(1, round(take.size * RATE / take.rate))
    exact = np.zeros(size, np.float32)
    exact[: min(size, len(samples))] = samples[:size]
    return exact


class Playing:
    """All takes of a mix as one mono sound, which is asked for part by part and never whole in memory."""

    def __init__(self, takes: Sequence[PlacedTake]) -> None:
        # The next one last, so that it is popped.
        self._waiting = sorted(takes, key=lambda take: take.first, reverse=True)
        self._loaded: list[tuple[PlacedTake, Samples]] = []

    def add(self, take: PlacedTake) -> None:
        """Take in one more, of which nothing that was asked for already holds a part."""
        self._waiting.append(take)
        self._waiting.sort(key=lambda waiting: waiting.first, reverse=True)

    def between(self, first: int, end: int) -> Samples | None:
        """Samples ``[first, end)``; None: nobody speaks. ``first`` must not lie before the last ``end``."""
        while self._waiting and self._waiting[-1].first < end:
            take = self._waiting.pop()
            samples = resampled(take.line.take) * np.float32(take.gain)
            samples = samples[: take.end - take.first]
            _fade_edges(samples)
            self._loaded.append((take, samples))
        self._loaded = [(take, samples) for take, samples in self._loaded if take.end > first]
        if not self._loaded:
            return None
        voice = np.zeros(end - first, np.float32)
        for take, samples in self._loaded:
            begin, stop = max(first, take.first), min(end, take.end)
            if begin < stop:
                voice[begin - first : stop - first] += samples[begin - take.first : stop - take.first]
        return voice


def _fade_edges(samples: Samples) -> None:
    """Fade ``float32[n]`` in and out, in place."""
    for seconds, edge in ((FADE_IN, samples), (FADE_OUT, samples[::-1])):
        count = min(round(seconds * RATE), len(samples) // 2)
        edge[:count] *= np.sin(np.pi / 2 * (np.arange(count) + 0.5) / max(1, count)) ** 2


def place(line: Spoken, total: int, gain: float) -> PlacedTake | None:
    """A line at its samples in a mix of ``total`` samples; None where it lies outside of the film.

    A line that the film's end cuts off ends there.
    """
    first = round(line.start * RATE)
    end = first + max(1, round(line.take.size * RATE / line.take.rate))
    if max(first, 0) >= min(end, total):
        return None
    return PlacedTake(line, first, min(end, total), gain)


SAME_LOUDNESS = 0.5
"""LU that nobody hears between two versions of a film: the tolerance of EBU R 128."""

MIN_OVER = 4.0
"""LU over the programme under which a line counts as covered (A3): it is then followed with effort."""


@dataclass(frozen=True, slots=True)
class LineLevel:
    """Levels of one line and of the film under it, before the make-up gain, which moves all alike.

    ``voice`` is the line's loudness in LUFS, ``programme`` that of the film meanwhile and ``ducked`` the same
    after it was lowered; both None: silence. ``depth`` is by how many dB the film was to be lowered.
    """

    id: str
    interval: Interval
    voice: float
    programme: float | None
    ducked: float | None
    depth: float

    @property
    def over(self) -> float | None:
        """By how many LU the line is louder than the lowered film; None: the film is silent."""
        return None if self.ducked is None else self.voice - self.ducked


@dataclass(frozen=True, slots=True)
class MixReport:
    """A mix in figures, before it is written.

    ``programme`` is the film's own sound, ``voice`` all lines by themselves, with the make-up gain.
    ``target`` is LUFS, None: as loud as the film; ``of_dialogue``: the target is that of dialogue alone.
    ``make_up`` is the gain in dB on all, ``true_peak`` in dBTP what no file's peaks may pass.
    """

    profile: str
    target: float | None
    of_dialogue: bool
    programme: Loudness
    voice: Loudness
    make_up: float
    true_peak: float
    lines: tuple[LineLevel, ...]


@dataclass(frozen=True, slots=True)
class FileSound:
    """What was measured of the sound in a finished file, decoded as players do.

    ``mix``: the film's sound is in it; else it is the description alone. ``reached`` is what is compared with
    the target, for profiles that count dialogue the loudness of dialogue; None: silence, or the description
    alone.
    """

    loudness: Loudness
    mix: bool
    reached: float | None


def mix_result(report: MixReport) -> SoundSummary:
    """How a mix came out: a plain line, all figures as JSON holds them, and findings by rule A3."""
    over_film: list[float] = []
    findings: list[Finding] = []
    for line in report.lines:
        if line.over is None:
            continue
        over_film.append(line.over)
        if line.over < MIN_OVER:
            level = f"the voice at {timecode(line.interval.start)} stands {line.over:.1f} LU over the film"
            message = f"{level}, under {MIN_OVER:g}: let the film be lowered further (mix.duck)"
            findings.append(Finding("A3", Level.ERROR, message, line.id))
    sentences = ("The film is silent where the voice speaks.",) if report.lines else ()
    if over_film:
        least, most = f"{min(over_film):.0f}", f"{max(over_film):.0f}"
        difference = least if least == most else f"{least} to {most}"
        sentences = (f"The voice is {difference} LU louder than the film around it.",)
    # By way of JSON, so that tuples are lists, as in a record that was read back.
    measures = json.loads(json.dumps(asdict(report)))
    return SoundSummary(sentences, measures, tuple(findings))


def loudness_sentence(report: MixReport, sound: FileSound, name: str) -> str:
    """The loudness of the file ``name`` in a plain sentence, with the target and the film's loudness."""
    figures = _lufs(sound.loudness.integrated)
    # What counts for the target, where that is not the loudness of the whole.
    if report.of_dialogue and sound.reached is not None:
        figures += f" ({sound.reached:.1f} LUFS while somebody speaks, which counts)"
    figures += f", peaks {_peak(sound.loudness.true_peak)}."
    if not sound.mix:
        return f"Loudness of the description alone: {name} {figures}"
    if report.target is None:
        target = _beside_film(report.programme.integrated, sound.loudness.integrated)
    else:
        target = f"target {report.target:g} LUFS"
    film = _lufs(report.programme.integrated)
    return f"Loudness, {report.profile} ({target}): film {film}, {name} {figures}"


def _beside_film(film: float | None, mix: float | None) -> str:
    """How loud a mix without a target is beside the film, in words: lines make it louder, and the limiter
    softer."""
    if film is None or mix is None or abs(mix - film) < SAME_LOUDNESS:
        return "as loud as the film"
    return f"{abs(mix - film):.1f} LU {'louder' if mix > film else 'softer'} than the film"


def over_peak(report: MixReport, sound: FileSound) -> float:
    """dB by which a file's peaks are over their limit; negative: under it."""
    peak = sound.loudness.true_peak
    return -math.inf if peak is None else peak - report.true_peak


def off_target(report: MixReport, sound: FileSound) -> float:
    """LU by which a file is louder than its target; 0: within the profile's tolerance, or no target."""
    if report.target is None or sound.reached is None:
        return 0.0
    difference = sound.reached - report.target
    # Half of the last digit that is shown: what reads as within the tolerance counts as within it.
    return difference if abs(difference) > PROFILES[report.profile].tolerance + 0.05 else 0.0


def loudness_findings(report: MixReport, sound: FileSound, name: str) -> Iterator[Finding]:
    """Findings by rule A1 on a finished file. With the profile ``source`` there is no target, and peaks may
    be as high as the film's own."""
    profile = PROFILES[report.profile]
    if off_target(report, sound):
        yield Finding(
            "A1",
            Level.ERROR,
            f"{name} is at {sound.reached:.1f} LUFS, not at {report.target:g} "
            f"±{profile.tolerance:g} ({report.profile})",
        )
    if over_peak(report, sound) > PEAK_SLACK:
        message = f"the peaks of {name} reach {_peak(sound.loudness.true_peak)}, over {report.true_peak:.1f}"
        yield Finding("A1", Level.ERROR, f"{message} ({report.profile})")


def _lufs(value: float | None) -> str:
    return "silent" if value is None else f"{value:.1f} LUFS"


def _peak(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f} dBTP"


EXCERPT_LEAD = 1.0
"""Seconds that are mixed before an excerpt: what a limiter has lowered is back by then (40 dB a second)."""

EXCERPT_TAIL = 0.1
"""Seconds that are mixed after an excerpt: a limiter looks ahead by 0.05."""

NEARBY = FOLLOW_SECONDS + 1.0
"""Seconds before and after a line that are measured while the whole is not known."""

SAMPLE_COUNT, SAMPLE_SECONDS = 8, 5.0
"""Parts of a film by which its loudness is estimated while the whole is not known, and their length."""

PAUSES_IN_LINES = -0.55
"""LU by which a line, its pauses counted, lies under its gated loudness (60 lines by the embedded voice)."""


def measure_whole(programme: Programme, pause: Callable[[float], None] = lambda _: None) -> MeasuredSound:
    """All of a programme, measured. ``pause`` is called after each second of it with the second at which that
    began; it may wait, or raise to end the measurement."""
    meter = Meter(programme.layout, RATE)
    for block in programme.blocks():
        meter.add(block.samples)
        pause(block.seconds)
    return MeasuredSound(*meter.result())


def measure_nearby(programme: Programme, around: Interval) -> MeasuredSound:
    """The programme around a line, measured with `NEARBY` seconds more to both sides.

    Its figures stand at the same tenths of a second as those of the whole.
    """
    start = max(0.0, np.floor(around.start - NEARBY))
    first, end = round(start * RATE), round((around.end + NEARBY) * RATE)
    part = programme.part(first, end)
    loudness, course = Meter(part.layout, RATE).measure(part.blocks())
    return MeasuredSound(loudness, course, start)


def estimate_loudness(programme: Programme) -> Loudness:
    """About how loud a whole programme is, by short parts evenly over it."""
    size = round(SAMPLE_SECONDS * RATE)
    momentary_parts: list[Levels] = []
    peaks: list[float] = []
    for number in range(SAMPLE_COUNT):
        middle = round((number + 0.5) * programme.total / SAMPLE_COUNT)
        first = max(0, middle - size // 2)
        part = programme.part(first, first + size)
        loudness, course = Meter(part.layout, RATE).measure(part.blocks())
        # The first windows are not full.
        momentary_parts.append(course.momentary[3:])
        if loudness.true_peak is not None:
            peaks.append(loudness.true_peak)
    momentary = np.concatenate(momentary_parts)
    highest = float(momentary.max(initial=-np.inf))
    return Loudness(
        integrated=gated(momentary),
        range=0.0,
        true_peak=max(peaks, default=None),
        momentary=highest if highest > ABSOLUTE_GATE else None,
        short_term=None,
    )


def estimated_make_up(
    film_sound: MeasuredSound,
    lines: Sequence[Interval],
    speech: Sequence[Interval],
    settings: MixSettings,
    duration: float,
) -> float:
    """The make-up gain in dB that the whole mix will need for its profile's target, estimated before all
    ``lines`` are spoken and the mix was measured; 0 where the film's own loudness is kept.

    Each line is taken to be equally loud throughout, and the limiter to take nothing away.
    """
    profile = PROFILES[settings.profile]
    dialogue = (*speech, *lines)
    target, of_dialogue = loudness_target(profile, dialogue, duration)
    if target is None:
        return 0.0
    course = film_sound.curve
    if film_sound.start or course.middles.size * 0.1 < duration - 1:
        # Only a part was measured. How much of the whole are lines is not known from it.
        return _gain(target, film_sound.loudness.integrated)
    ordered = sorted(lines)
    depths: list[float] = []
    voice = np.full(course.momentary.shape, -np.inf, np.float32)
    for line in ordered:
        level = film_sound.voice_level(line, settings)
        depths.append(depth_for(level, film_sound.level_during(line), settings))
        voice[course.within(line.start, line.end)] = level + PAUSES_IN_LINES
    gains = envelope(ordered, speech, depths)
    mix_course = summed_curve(course, gains, LoudnessCurve(voice))
    return _gain(target, compared_loudness(mix_course, dialogue, of_dialogue))


MIX_AROUND = 2.0
"""Seconds around a block within which a line may lower the programme in it: the ramps beside a line, and the
hold between two, are shorter."""


def stream_mix(
    programme: Programme,
    first: int,
    takes_between: Callable[[float, float], Sequence[PlacedTake]],
    speech: Sequence[Interval],
    settings: MixSettings,
    *,
    make_up: float,
    true_peak: float,
) -> Iterator[Samples]:
    """Samples of a mix from number ``first`` to its end, in blocks of a second at most, made as they are
    asked for: what `excerpt` gives of the same lines.

    ``takes_between(start, end)`` are all lines that sound between two film seconds, in order; it is asked
    block by block, so a line may be spoken when its time comes. A line must be the same each time.
    """
    begin = max(0, (first - round(EXCERPT_LEAD * RATE)) // RATE * RATE)
    part = programme.part(begin, programme.total)
    mixed = _mixed_as_asked(part, takes_between, speech, settings, make_up)
    return _from_number(limited(mixed, Limiter(true_peak)), part, first - begin)


def stream_programme(programme: Programme, first: int) -> Iterator[Samples]:
    """Samples of the film's own sound from number ``first`` to its end, as `excerpt` gives them."""
    begin = max(0, (first - round(EXCERPT_LEAD * RATE)) // RATE * RATE)
    part = programme.part(begin, programme.total)
    return _from_number(part.blocks(), part, first - begin)


def _mixed_as_asked(
    programme: Programme,
    takes_between: Callable[[float, float], Sequence[PlacedTake]],
    speech: Sequence[Interval],
    settings: MixSettings,
    make_up: float,
) -> Iterator[SoundBlock]:
    player = Playing(())
    playing: set[str] = set()
    for block in programme.blocks():
        end = block.seconds + len(block.samples) / RATE
        takes = takes_between(block.seconds - MIX_AROUND, end + MIX_AROUND)
        for take in takes:
            if take.line.id not in playing:
                playing.add(take.line.id)
                player.add(take)
        near_speech: list[Interval] = []
        if takes:
            # The gaps in which these lines lie are bounded by what is spoken just beside them.
            first_sound = takes[0].line.interval.start - MIX_AROUND
            last_sound = max(take.line.interval.end for take in takes) + MIX_AROUND
            near_speech = [talk for talk in speech if talk.end > first_sound and talk.start < last_sound]
        recipe = replace(recipe_of(programme, takes, near_speech, settings), make_up=make_up)
        yield recipe.mixed_block(block, player)


def _from_number(blocks: Iterable[SoundBlock], programme: Programme, skip: int) -> Iterator[Samples]:
    """Blocks in two channels at most, without the first ``skip`` samples."""
    if programme.channels > 2:
        blocks = remixed(blocks, programme.layout, "stereo")
    for block in blocks:
        samples = block.samples[skip:]
        skip = max(0, skip - len(block.samples))
        if len(samples):
            yield samples


Part = Literal["mix", "voice", "programme"]
"""The mix; the voice alone, as loud and in the channels as there; the programme as it is in the film."""


def excerpt(recipe: Recipe, first: int, end: int, true_peak: float, part: Part = "mix") -> Samples:
    """Samples ``[first, end)`` of a mix, ``float32[n, channels]``: of the film's channels, or two where it
    has more, by the downmix of sound files. ``true_peak`` in dBTP is what mix and voice do not pass."""
    programme = recipe.programme
    # From a whole second on, so that blocks are as in the whole.
    begin = max(0, (first - round(EXCERPT_LEAD * RATE)) // RATE * RATE)
    if part == "voice":
        # Silence in the programme's channels.
        programme = replace(programme, film=None, track=None, seeker=None)
    programme = programme.part(begin, end + round(EXCERPT_TAIL * RATE))
    blocks: Iterable[SoundBlock] = programme.blocks()
    if part != "programme":
        gains = recipe.gains if part == "mix" else ()
        mixed = replace(recipe, programme=programme, gains=gains).mixed()
        blocks = limited(mixed, Limiter(true_peak))
    if programme.channels > 2:
        blocks = remixed(blocks, programme.layout, "stereo")
    parts = [block.samples for block in blocks]
    samples = np.concatenate(parts)[first - begin : end - begin] if parts else np.zeros((0, 2), np.float32)
    # Silence beyond the film's end, so that the excerpt has the length that was asked for.
    return np.pad(samples, ((0, end - first - len(samples)), (0, 0)))
