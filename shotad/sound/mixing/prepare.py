"""From a film and its spoken lines to a settled mix: the programme is heard once; then the mix once, where it
has a target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from shotad.core import Interval, MixSettings, NoProgress, Progress, reported
from shotad.film import Film, SoundBlock
from shotad.sound.ducking import envelope
from shotad.sound.kinds import Spoken, Take
from shotad.sound.loudness import Course, Loudness, Meter
from shotad.sound.mixing.layouts import channel_names, voice_gains
from shotad.sound.mixing.levels import (
    Dialogue,
    depth_for,
    level_during,
    peak_limit,
    reached,
    summed,
    target_of,
    voice_level,
)
from shotad.sound.mixing.limiter import Limiter, limited
from shotad.sound.mixing.mix import Mix, Recipe
from shotad.sound.mixing.profiles import PROFILES
from shotad.sound.mixing.programme import Programme, programme_of
from shotad.sound.mixing.report import LineLevel, MixReport
from shotad.sound.mixing.takes import Lane, PlacedTake, loudness_of, place


def prepare_mix(
    film: Film,
    spoken: Sequence[Spoken],
    speech: Sequence[Interval],
    settings: MixSettings,
    *,
    audio_track: int | None = None,
    progress: Progress | None = None,
) -> Mix:
    """The mix of a film's sound with its lines; ``speech`` are the seconds in which the film is not lowered.

    ``audio_track`` None is the film's default track. Lines are about as loud as the programme as a whole, and
    follow the scene (`voice_level`). Raises FilmError for a track that is not there.
    """
    programme = programme_of(film, audio_track, settings.rate)
    ear = _Ear(progress or NoProgress(), film.info.duration)
    own = ear.heard("Measuring the film's sound", programme.blocks(), programme.layout, settings.rate)
    laid = lay(programme, own, spoken, speech, settings)
    settled = _settle(laid.recipe, own, Dialogue([*speech, *laid.lines], film.info.duration), settings, ear)
    return replace(settled, report=replace(settled.report, lines=laid.levels(own.course)))


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """A sound that was listened to: how loud it is as a whole, and its course from second ``start`` on."""

    loudness: Loudness
    course: Course
    start: float = 0.0

    def level_during(self, interval: Interval) -> float | None:
        """Its mean loudness in an interval of film time, LUFS; None: silence."""
        return level_during(self.course, self._within(interval))

    def voice_level(self, line: Interval, settings: MixSettings) -> float:
        """LUFS at which a line is spoken over it, at that film time."""
        profile = PROFILES[settings.profile]
        return voice_level(self.loudness, self.course, self._within(line), profile, settings)

    def _within(self, interval: Interval) -> Interval:
        """On the course's time."""
        end = max(interval.end - self.start, 0.001)
        return Interval(min(interval.start - self.start, end - 0.001), end)


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """Lines over a programme: the mix without make-up gain, and for each line the loudness of the programme
    meanwhile, by how many dB that is lowered, and the loudness of the voice."""

    recipe: Recipe
    takes: tuple[PlacedTake, ...]
    around: tuple[float | None, ...]
    depths: tuple[float, ...]
    voices: tuple[float, ...]

    @property
    def lines(self) -> tuple[Interval, ...]:
        """When each is heard."""
        return tuple(take.line.interval for take in self.takes)

    def levels(self, course: Course) -> tuple[LineLevel, ...]:
        """How each line stands over the programme of this course."""
        gains = self.recipe.gains
        return tuple(
            LineLevel(take.line.id, line, voice, around, level_during(course, line, gains), depth)
            for take, line, voice, around, depth in zip(
                self.takes, self.lines, self.voices, self.around, self.depths, strict=True
            )
        )


def lay(
    programme: Programme,
    own: Heard,
    spoken: Sequence[Spoken],
    speech: Sequence[Interval],
    settings: MixSettings,
    loudness: Callable[[Take], float | None] = loudness_of,
) -> Laid:
    """Lines at their level and in their place over a programme that was listened to, lowered under them.

    ``loudness`` tells how loud a take is by itself, in LUFS.
    """
    takes, voices = _placed(spoken, own, settings, programme.total, loudness)
    lines = [take.line.interval for take in takes]
    around = [own.level_during(line) for line in lines]
    depths = [depth_for(voice, level, settings) for voice, level in zip(voices, around, strict=True)]
    gains = envelope(lines, speech, depths)
    spread = voice_gains(channel_names(programme.layout), settings.channels)
    recipe = Recipe(programme, gains, Lane(takes, settings.rate), spread)
    return Laid(recipe, tuple(takes), tuple(around), tuple(depths), tuple(voices))


@dataclass(frozen=True, slots=True, eq=False)
class _Ear:
    """Listens to whole sounds, and says how far it is."""

    progress: Progress
    duration: float

    def heard(self, task: str, blocks: Iterable[SoundBlock], layout: str, rate: int) -> Heard:
        meter = Meter(layout, rate)
        with reported(self.progress, task, self.duration, "s") as counted:
            for block in blocks:
                meter.add(block.samples)
                counted.advance(len(block.samples) / rate)
        return Heard(*meter.result())


def _placed(
    spoken: Sequence[Spoken],
    own: Heard,
    settings: MixSettings,
    total: int,
    loudness: Callable[[Take], float | None],
) -> tuple[list[PlacedTake], list[float]]:
    """The lines that are heard within the film, and at how many LUFS each is spoken."""
    placed, levels = [], []
    for line in sorted(spoken, key=lambda line: line.start):
        level, loud = own.voice_level(line.interval, settings), loudness(line.take)
        take = place(line, settings.rate, total, 1.0 if loud is None else 10 ** ((level - loud) / 20))
        if take is not None:
            placed.append(take)
            levels.append(level)
    return placed, levels


def _settle(recipe: Recipe, own: Heard, dialogue: Dialogue, settings: MixSettings, ear: _Ear) -> Mix:
    """The mix with the make-up gain that brings it to its target.

    The gain is reckoned from how loud programme and voice are by themselves, then corrected by what the
    limited mix is heard to be.
    """
    profile, rate = PROFILES[settings.profile], settings.rate
    limit = peak_limit(own.loudness, profile, settings)
    target, of_dialogue = target_of(profile, dialogue)
    meter = Meter("mono", rate)
    for block in recipe.alone():
        meter.add(block.samples)
    voice = Heard(*meter.result())
    if target is not None:
        expected = reached(summed(own.course, recipe.gains, voice.course), dialogue, of_dialogue)
        recipe = replace(recipe, make_up=_gain(target, expected))
        trial = limited(recipe.mixed(), Limiter(limit, rate))
        heard = ear.heard("Measuring the mix", trial, recipe.programme.layout, rate)
        rest = _gain(target, reached(heard.course, dialogue, of_dialogue))
        recipe = replace(recipe, make_up=recipe.make_up + rest)
    report = MixReport(
        settings.profile,
        target,
        of_dialogue,
        own.loudness,
        voice.loudness.louder(recipe.make_up),
        recipe.make_up,
        limit,
        (),
    )
    return Mix(recipe, limit, report, dialogue)


def _gain(target: float, level: float | None) -> float:
    return 0.0 if level is None else target - level
