"""From a film and its spoken lines to a settled mix, or a part of one.

The programme is heard once; then the mix once, where it has a target. A settled mix holds no sound:
programme and voice (takes at the mix's rate, at their level, in their places) are made block by block
whenever asked for. How it and its files came out is told in figures and in plain lines, and against rules A1
(loudness and true peak of each file) and A3 (audible).

An excerpt is a part of a mix as it is in the whole: for hearing one line without rendering a film. Levels
follow from how loud the programme is as a whole and around the line; until it was listened to (`whole`), a
stretch of it must do (`nearby`), and the make-up gain, of which a render hears a trial, is foreseen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from shotad.core import GainPoint, Interval, MixSettings, NoProgress, Progress, Task, reported
from shotad.film import Film, Samples, SoundBlock
from shotad.script import Finding, Level, timecode
from shotad.sound.kinds import Spoken, Take
from shotad.sound.layouts import remixed
from shotad.sound.levels import (
    FOLLOW,
    PEAK_SLACK,
    PROFILES,
    Heard,
    depth_for,
    envelope,
    limit_of,
    reached,
    summed,
    target_of,
)
from shotad.sound.loudness import (
    SILENT,
    Course,
    Limiter,
    Loudness,
    Meter,
    gated,
    limited,
)
from shotad.sound.outputs import Sound
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

    ``speech`` are the seconds in which the film is not lowered. ``audio_track`` None is the film's default
    track. Lines are about as loud as the programme as a whole, and
    follow the scene (`Heard.voice_level`). Raises FilmError for a track that is not there.
    """
    programme = programme_of(film, audio_track)
    progress, duration = progress or NoProgress(), film.info.duration
    with reported(progress, "Measuring the film's sound", duration, "s") as task:
        own = Heard(*Meter(programme.layout, RATE).heard(counted(programme.blocks(), task)))
    recipe = lay(programme, own, spoken, speech, settings)
    dialogue = (*speech, *(take.line.interval for take in recipe.takes))
    limit = limit_of(own, settings)
    target, of_dialogue = target_of(PROFILES[settings.profile], dialogue, duration)
    voice, said = Meter("mono", RATE).heard(recipe.alone())
    if target is not None:
        # Reckoned from how loud programme and voice are by themselves, then corrected by what is heard.
        expected = reached(summed(own.course, recipe.gains, said), dialogue, of_dialogue)
        recipe = replace(recipe, make_up=_gain(target, expected))
        trial = limited(recipe.mixed(), Limiter(limit))
        with reported(progress, "Measuring the mix", duration, "s") as task:
            _, course = Meter(programme.layout, RATE).heard(counted(trial, task))
        rest = _gain(target, reached(course, dialogue, of_dialogue))
        recipe = replace(recipe, make_up=recipe.make_up + rest)
    loud, lines = voice.louder(recipe.make_up), []
    for take in recipe.takes:
        at = take.line.interval
        ducked = own.level_during(at, recipe.gains)
        lines.append(LineLevel(take.line.id, at, take.level, take.around, ducked, take.depth))
    report = MixReport(
        settings.profile, target, of_dialogue, own.loudness, loud, recipe.make_up, limit, tuple(lines)
    )
    return Mix(recipe, limit, report, dialogue)


def _gain(target: float, level: float | None) -> float:
    return 0.0 if level is None else target - level


def counted(blocks: Iterable[SoundBlock], task: Task) -> Iterator[SoundBlock]:
    """The blocks, of which ``task`` counts the seconds."""
    for block in blocks:
        yield block
        task.advance(len(block.samples) / RATE)


def loudness_of(take: Take) -> float | None:
    """Integrated loudness of a take in LUFS, pauses in it left out; None: silence."""
    samples = take.samples
    if take.seconds < LEAST:
        samples = np.tile(samples, int(np.ceil(LEAST / take.seconds)))
    return Meter("mono", take.rate).heard([SoundBlock(0.0, samples)])[0].integrated


def lay(
    programme: Programme,
    own: Heard,
    spoken: Sequence[Spoken],
    speech: Sequence[Interval],
    settings: MixSettings,
    loudness: Callable[[Take], float | None] = loudness_of,
) -> Recipe:
    """Lines at their level and in their place over a programme that was listened to, lowered under them: the
    mix without make-up gain.

    ``loudness`` says how loud a take is by itself, in LUFS.
    """
    takes: list[PlacedTake] = []
    for said in sorted(spoken, key=lambda line: line.start):
        level, loud = own.voice_level(said.interval, settings), loudness(said.take)
        take = place(said, programme.total, 1.0 if loud is None else 10 ** ((level - loud) / 20))
        if take is not None:
            around = own.level_during(said.interval)
            depth = depth_for(level, around, settings)
            takes.append(replace(take, level=level, around=around, depth=depth))
    gains = envelope([take.line.interval for take in takes], speech, [take.depth for take in takes])
    spread = voice_gains(channel_names(programme.layout), settings.channels)
    return Recipe(programme, gains, tuple(takes), spread)


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """All that a mix is made of: the programme and its level, the voice and its place among the channels, and
    the gain in dB on both."""

    programme: Programme
    gains: tuple[GainPoint, ...]
    takes: tuple[PlacedTake, ...]
    spread: Gains
    make_up: float = 0.0

    def mixed(self) -> Iterator[SoundBlock]:
        """Programme and voice, not yet limited: ``float32[n, channels]``."""
        playing = Playing(self.takes)
        factor = np.float32(10 ** (self.make_up / 20))
        seconds = np.array([point.seconds for point in self.gains] or [0.0])
        lowered = np.array([point.decibels for point in self.gains] or [0.0])
        for block in self.programme.blocks():
            first = round(block.seconds * RATE)
            decibels = np.interp((first + np.arange(len(block.samples))) / RATE, seconds, lowered)
            samples = block.samples
            if decibels.any():
                samples = samples * np.asarray(10 ** (decibels / 20), np.float32)[:, None]
            voice = playing.between(first, first + len(samples))
            if voice is not None:
                samples = samples + voice[:, None] * self.spread
            yield SoundBlock(block.seconds, samples if self.make_up == 0 else samples * factor)

    def alone(self) -> Iterator[SoundBlock]:
        """The voice, not yet limited: ``float32[n, 1]``."""
        total, playing = self.programme.total, Playing(self.takes)
        factor = np.float32(10 ** (self.make_up / 20))
        for first in range(self.programme.begin, total, RATE):
            end = min(first + RATE, total)
            voice = playing.between(first, end)
            samples = np.zeros(end - first, np.float32) if voice is None else voice * factor
            yield SoundBlock(first / RATE, samples[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """Programme and audio description together, and the description alone, as long as the film to the sample.

    ``gains`` is the programme's level along film time, ``true_peak`` in dBTP what neither sound passes as it
    is made here (`MixReport.true_peak` is what no finished file may pass). Both can be run any number of
    times; each run reads the film once. ``dialogue`` is when somebody speaks, in the film or over it.
    """

    recipe: Recipe
    true_peak: float
    report: MixReport
    dialogue: tuple[Interval, ...]

    def lower(self, decibels: float) -> Mix:
        """The same with peaks that stay lower, by so many dB."""
        return replace(self, true_peak=self.true_peak - decibels)

    def louder(self, decibels: float) -> Mix:
        return replace(self, recipe=replace(self.recipe, make_up=self.recipe.make_up + decibels))

    def heard(self, loudness: Loudness, course: Course | None) -> FileSound:
        """A finished file that was measured; ``course`` None: the description alone, which has no target."""
        if course is None:
            return FileSound(loudness, False, None)
        return FileSound(loudness, True, reached(course, self.dialogue, self.report.of_dialogue))

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

LEAST = 1.0
"""Seconds of sound that a loudness is taken from; a shorter take is repeated."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedTake:
    """A take, the number of its first sample in the mix, the number after its last, and its factor.

    ``level`` is the loudness of the voice, ``around`` that of the programme meanwhile, LUFS (None: silence),
    ``depth`` by how many dB that is lowered.
    """

    line: Spoken
    first: int
    end: int
    gain: float
    level: float = 0.0
    around: float | None = None
    depth: float = 0.0


def resampled(take: Take) -> Samples:
    """A take at `RATE`: ``float32[round(n * RATE / take.rate)]``, sample 0 at the same moment."""
    if take.rate == RATE:
        return take.samples
    count = max(1, round(take.size * RATE / take.rate))
    from av import AudioFrame, AudioResampler

    frame = AudioFrame.from_ndarray(np.ascontiguousarray(take.samples)[None], format="flt", layout="mono")
    frame.sample_rate = take.rate
    resampler = AudioResampler(format="flt", layout="mono", rate=RATE)
    parts = [out.to_ndarray()[0] for given in (frame, None) for out in resampler.resample(given)]
    samples = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    whole = np.zeros(count, np.float32)
    whole[: min(count, len(samples))] = samples[:count]
    return whole


class Playing:
    """All takes of a mix as one long mono sound that is never whole in memory: asked for one stretch after
    the other."""

    def __init__(self, takes: Sequence[PlacedTake]) -> None:
        self._coming = sorted(takes, key=lambda take: take.first, reverse=True)
        self._sounding: list[tuple[PlacedTake, Samples]] = []

    def between(self, first: int, end: int) -> Samples | None:
        """Samples ``[first, end)``; None: nothing is said. No stretch begins before the last one ended."""
        while self._coming and self._coming[-1].first < end:
            take = self._coming.pop()
            samples = resampled(take.line.take) * np.float32(take.gain)
            samples = samples[: take.end - take.first]
            for seconds, edge in ((FADE_IN, samples), (FADE_OUT, samples[::-1])):
                count = min(round(seconds * RATE), len(samples) // 2)
                edge[:count] *= np.sin(np.pi / 2 * (np.arange(count) + 0.5) / max(1, count)) ** 2
            self._sounding.append((take, samples))
        self._sounding = [pair for pair in self._sounding if pair[0].end > first]
        if not self._sounding:
            return None
        mixed = np.zeros(end - first, np.float32)
        for take, samples in self._sounding:
            begin, stop = max(first, take.first), min(end, take.end)
            if begin < stop:
                mixed[begin - first : stop - first] += samples[begin - take.first : stop - take.first]
        return mixed


def place(line: Spoken, total: int, gain: float) -> PlacedTake | None:
    """A line where it is heard; cut where the film begins or ends, None where it lies outside."""
    first = round(line.start * RATE)
    end = first + max(1, round(line.take.size * RATE / line.take.rate))
    return PlacedTake(line, first, min(end, total), gain) if max(first, 0) < min(end, total) else None


OVER = 4.0
"""LU over the programme under which a line counts as covered (A3): it is then followed with effort."""


@dataclass(frozen=True, slots=True)
class LineLevel:
    """How one line stands in the mix, before the make-up gain, which moves all alike.

    ``voice`` is its loudness in LUFS, ``programme`` that of the film meanwhile as it is, ``ducked`` as it is
    lowered; both None: silence. ``depth`` is how far it was to be lowered, dB. ``over`` is how many LU the
    line stands over the ducked programme; None: over silence.
    """

    id: str
    interval: Interval
    voice: float
    programme: float | None
    ducked: float | None
    depth: float

    @property
    def over(self) -> float | None:
        """LU."""
        return None if self.ducked is None else self.voice - self.ducked


@dataclass(frozen=True, slots=True)
class MixReport:
    """A mix in figures, before it is written. ``programme`` is the film's own sound, ``voice`` all lines by
    themselves (with the make-up gain).

    ``target`` is LUFS, None: as the film; ``of_dialogue``: it is meant of dialogue alone. ``make_up`` is the
    gain in dB on all, ``true_peak`` in dBTP what no file's peaks may pass.
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
    """How the sound in a finished file is heard, decoded as players do. ``mix``: the film's sound is in it;
    else it is the description alone. ``reached`` is what is compared with the target, which for profiles that
    count dialogue is the loudness of dialogue; None: silence, or the description alone."""

    loudness: Loudness
    mix: bool
    reached: float | None


def heard(report: MixReport) -> Sound:
    """What people and programs want to know of a mix, with what is wrong with it."""
    over, findings = [], []
    for line in report.lines:
        if line.over is None:
            continue
        over.append(line.over)
        if line.over < OVER:
            stands = f"the voice at {timecode(line.interval.start)} stands {line.over:.1f} LU over the film"
            what = f"{stands}, under {OVER:g}: let the film be lowered further (mix.duck)"
            findings.append(Finding("A3", Level.ERROR, what, line.id))
    told = ("The film is silent where the voice speaks.",) if report.lines else ()
    if over:
        least, most = f"{min(over):.0f}", f"{max(over):.0f}"
        far = least if least == most else f"{least} to {most}"
        told = (f"The voice is {far} LU louder than the film around it.",)
    return Sound(told, json.loads(json.dumps(asdict(report))), tuple(findings))


def loudness_told(report: MixReport, sound: FileSound, name: str) -> str:
    figures = _lufs(sound.loudness.integrated)
    # What counts for the target, where that is not the loudness of the whole.
    if report.of_dialogue and sound.reached is not None:
        figures += f" ({sound.reached:.1f} LUFS while somebody speaks, which counts)"
    figures += f", peaks {_peak(sound.loudness.true_peak)}."
    if not sound.mix:
        return f"Loudness of the description alone: {name} {figures}"
    target = "as loud as the film" if report.target is None else f"target {report.target:g} LUFS"
    film = _lufs(report.programme.integrated)
    return f"Loudness, {report.profile} ({target}): film {film}, {name} {figures}"


def over_peak(report: MixReport, sound: FileSound) -> float:
    """dB by which a file's peaks are over their limit; less than 0: under it."""
    peak = sound.loudness.true_peak
    return -math.inf if peak is None else peak - report.true_peak


def off_target(report: MixReport, sound: FileSound) -> float:
    """LU by which a file is louder than its target; 0: within what the profile bears, or without target."""
    if report.target is None or sound.reached is None:
        return 0.0
    off = sound.reached - report.target
    return off if abs(off) > PROFILES[report.profile].tolerance + 0.05 else 0.0


def loudness_findings(report: MixReport, sound: FileSound, name: str) -> Iterator[Finding]:
    """A1, of a finished file. With the profile ``source`` there is no target, and peaks may be as high as the
    film's own."""
    profile = PROFILES[report.profile]
    if off_target(report, sound):
        yield Finding(
            "A1",
            Level.ERROR,
            f"{name} is at {sound.reached:.1f} LUFS, not at {report.target:g} "
            f"±{profile.tolerance:g} ({report.profile})",
        )
    if over_peak(report, sound) > PEAK_SLACK:
        what = f"the peaks of {name} reach {_peak(sound.loudness.true_peak)}, over {report.true_peak:.1f}"
        yield Finding("A1", Level.ERROR, f"{what} ({report.profile})")


def _lufs(value: float | None) -> str:
    return "silent" if value is None else f"{value:.1f} LUFS"


def _peak(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f} dBTP"


LEAD = 1.0
"""Seconds that are mixed before an excerpt: what a limiter has lowered is back by then (40 dB a second)."""

TAIL = 0.1
"""Seconds after it: a limiter looks ahead by 0.05."""

AROUND = FOLLOW + 1.0
"""Seconds before and after a line that are listened to while the whole is not known."""

SAMPLES, SAMPLE = 8, 5.0
"""Stretches of a film that tell meanwhile about how loud it is, and their length in seconds."""

PAUSES = -0.55
"""LU by which a line, its pauses counted, lies under its gated loudness (60 lines by the embedded voice)."""


def whole(programme: Programme, pause: Callable[[float], None] = lambda _: None) -> Heard:
    """All of a programme, listened to. ``pause`` is called after each second of it with where it stands, and
    may wait, or raise to end it."""
    meter = Meter(programme.layout, RATE)
    for block in programme.blocks():
        meter.add(block.samples)
        pause(block.seconds)
    return Heard(*meter.result())


def nearby(programme: Programme, around: Interval) -> Heard:
    """What lies around a line, and some `AROUND` seconds more to both sides.

    Its figures stand at the same tenths of a second as those of the whole.
    """
    start = max(0.0, np.floor(around.start - AROUND))
    first, end = round(start * RATE), round((around.end + AROUND) * RATE)
    part = programme.part(first, end)
    return Heard(*Meter(part.layout, RATE).heard(part.blocks()), start)


def sampled(programme: Programme) -> Loudness:
    """About how loud a whole programme is, by stretches evenly over it."""
    size, parts, peaks = round(SAMPLE * RATE), [], []
    for number in range(SAMPLES):
        first = max(0, round((number + 0.5) * programme.total / SAMPLES) - size // 2)
        part = programme.part(first, first + size)
        loudness, course = Meter(part.layout, RATE).heard(part.blocks())
        # The first windows are not full.
        parts.append(course.momentary[3:])
        peaks += [] if loudness.true_peak is None else [loudness.true_peak]
    momentary = np.concatenate(parts)
    top = float(momentary.max(initial=-np.inf))
    return Loudness(gated(momentary), 0.0, max(peaks, default=None), top if top > SILENT else None, None)


def foreseen_make_up(
    own: Heard, lines: Sequence[Interval], speech: Sequence[Interval], settings: MixSettings, duration: float
) -> float:
    """The gain in dB by which the whole mix will come to its profile's target, as far as it can be known
    before all ``lines`` are spoken and the mix was heard; 0 where the film's own loudness is kept.

    Each line is taken to be as loud all through. What a limiter will take away is not in it.
    """
    profile = PROFILES[settings.profile]
    dialogue = (*speech, *lines)
    target, of_dialogue = target_of(profile, dialogue, duration)
    if target is None:
        return 0.0
    if own.start or own.course.middles.size * 0.1 < duration - 1:
        # Of a part it is not known how much of it are lines.
        return 0.0 if own.loudness.integrated is None else target - own.loudness.integrated
    ordered = sorted(lines)
    levels = [own.voice_level(line, settings) for line in ordered]
    pairs = list(zip(ordered, levels, strict=True))
    depths = [depth_for(level, own.level_during(line), settings) for line, level in pairs]
    voice = np.full(own.course.momentary.shape, -np.inf, np.float32)
    for line, level in pairs:
        voice[own.course.within(line.start, line.end)] = level + PAUSES
    gains = envelope(ordered, speech, depths)
    both = summed(own.course, gains, Course(voice))
    expected = reached(both, dialogue, of_dialogue)
    return 0.0 if expected is None else target - expected


Part = Literal["mix", "voice", "programme"]
"""The mix; the voice alone, as loud and in the channels as there; the programme as it is in the film."""


def excerpt(recipe: Recipe, first: int, end: int, true_peak: float, part: Part = "mix") -> Samples:
    """Samples ``[first, end)`` of a mix, ``float32[n, channels]``: of the film's channels, or two where it
    has more, by the downmix of sound files. ``true_peak`` in dBTP is what mix and voice do not pass."""
    programme = recipe.programme
    # From a whole second on, so that blocks are as in the whole.
    begin = max(0, (first - round(LEAD * RATE)) // RATE * RATE)
    if part == "voice":
        programme = replace(programme, film=None, track=None, seeker=None)
    programme = programme.part(begin, end + round(TAIL * RATE))
    blocks: Iterable[SoundBlock] = programme.blocks()
    if part != "programme":
        gains = recipe.gains if part == "mix" else ()
        mixed = replace(recipe, programme=programme, gains=gains).mixed()
        blocks = limited(mixed, Limiter(true_peak))
    if programme.channels > 2:
        blocks = remixed(blocks, programme.layout, "stereo")
    parts = [block.samples for block in blocks]
    sound = np.concatenate(parts)[first - begin : end - begin] if parts else np.zeros((0, 2), np.float32)
    return np.pad(sound, ((0, end - first - len(sound)), (0, 0)))
