"""The sound of a film on film time, mono for listening to speech, or with its channels for mixing.

`sound_blocks` hears the whole from second 0. `SoundSeeker` hears a stretch without what lies before it,
sample for sample as a whole pass has it. A whole pass counts samples from where its run of sound began; a
timestamp says where it is only to the container's tick, 1 ms in Matroska. So after a seek the count is
found again: coders give frames of one size, and a timestamp says which of them a frame is. The resampler
too is begun at a sample at which that of a whole pass had just the same phase.

What a coder remembers of the sound before has faded when the stretch begins. Only noise that a decoder draws
by chance (AAC's noise substitution, AC-3's dither) is other noise, as loud and in the same place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from shotad.core import AudioTrack, FilmError, FilmInfo
from shotad.film.container import Media, only, packets_of
from shotad.film.reader import Film

if TYPE_CHECKING:
    from av import AudioFrame, AudioLayout
    from av.audio.stream import AudioStream
    from av.container import InputContainer

Samples = npt.NDArray[np.float32]
"""``float32[n]`` mono or ``float32[n, channels]``, full scale at -1 and 1."""

Layout = Literal["mono", "stereo", "native"]

SLACK = 0.020
"""Seconds by which a timestamp may differ from the count of samples. Matroska rounds to the ms; a
greater difference is a gap, filled with silence, or an overlap, of which the later part is left out."""

WANDERING = {"vorbis": 0.1}
"""The same for coders whose timestamps follow the ends of frames of changing length: those of Vorbis in WebM
wander by 20.3 ms at 44.1 kHz, more at lower rates, where not one sample is missing."""

RUNAWAY = 60.0
"""Seconds beyond the film's duration after which a timestamp is not believed any more."""

_SIDE, _REAR = 0.3, 0.1


@dataclass(frozen=True, slots=True, eq=False)
class SoundBlock:
    """A stretch of sound: ``samples[i]`` is heard at ``seconds + i / rate``.

    Blocks follow each other without gap from second 0: block k begins where block k-1 ends.
    """

    seconds: float
    samples: Samples


def sound_blocks(
    film: Film, track: int | None = None, rate: int = 16000, layout: Layout = "mono"
) -> Iterator[SoundBlock]:
    """The sound of ``film`` from second 0, in blocks of one second (the last is shorter).

    Sample number i of the whole stands at ``i / rate`` film seconds: where a track begins late or has
    gaps there is silence. ``track`` None is `FilmInfo.default_audio`; a film without sound gives
    nothing. ``mono`` is `mono_weights`, ``stereo`` ffmpeg's own downmix, ``native`` as it is
    (where channels change on the way, as in recordings from the air, those it begins with). What cannot be
    decoded is silence. Raises FilmError for a track that is not there.
    """
    chosen = choose_track(film.info, track)
    if chosen is None or film.media is None:
        return iter(())
    return _blocks(_pieces(film.media, film.info, chosen, rate, layout), rate, film.info.duration)


def choose_track(info: FilmInfo, track: int | None) -> AudioTrack | None:
    """The track of that number; for None the default one, or None where there is no sound."""
    if track is None:
        return info.default_audio
    found = next((t for t in info.audio if t.number == track), None)
    if found is None:
        there = "; ".join(str(t) for t in info.audio) or "none: it has no sound"
        raise FilmError(f"{info.name} has no audio track {track}.", f"Audio tracks: {there}.")
    return found


def mono_weights(channels: Sequence[str]) -> Samples:
    """How much each channel counts in mono, by ffmpeg's channel names (``FL``, ``FC`` …).

    With a centre, where film dialogue is: centre 1, left and right 0.3 (−10 dB), other channels
    0.1 (−20 dB), bass effects (LFE) 0. Without a centre: the mean of all but LFE.
    """
    bass = np.array([name.startswith("LFE") for name in channels])
    if "FC" not in channels or len(channels) == 1:
        heard = ~bass if not bass.all() else bass
        return np.asarray(heard / heard.sum(), np.float32)
    front = {"FC": 1.0, "FL": _SIDE, "FR": _SIDE}
    weights = [front.get(name, _REAR) for name in channels]
    return np.asarray(np.where(bass, 0, weights), np.float32)


_UNNAMED = {
    3: ["FL", "FR", "FC"],
    5: ["FL", "FR", "FC", "BL", "BR"],
    6: ["FL", "FR", "FC", "LFE", "BL", "BR"],
    7: ["FL", "FR", "FC", "LFE", "BC", "SL", "SR"],
    8: ["FL", "FR", "FC", "LFE", "BL", "BR", "SL", "SR"],
}
"""Names where the file gives only a number of channels: the order of WAVE and of ffmpeg's defaults."""


def _channel_names(frame: AudioFrame) -> list[str]:
    names = [channel.name for channel in frame.layout.channels]
    known = all(name.isalnum() and not name.isdigit() for name in names) and len(set(names)) == len(names)
    if known and not frame.layout.name.endswith("channels"):
        return names
    return _UNNAMED.get(len(names), [f"C{i}" for i in range(len(names))])


Piece = tuple[int, Samples]
"""Samples, and the number on film time of the first of them; it may be negative."""


def _pieces(media: Media, info: FilmInfo, track: AudioTrack, rate: int, layout: Layout) -> Iterator[Piece]:
    container = media.open()
    try:
        stream = container.streams.audio[track.number]
        only(container, stream)
        runs = Runs(rate, layout, WANDERING.get(track.codec, SLACK))
        for seconds, frame in timed(stream, info.start):
            yield from runs.take(seconds, frame)
        yield from runs.flush()
    finally:
        container.close()


def timed(stream: AudioStream, start: Fraction) -> Iterator[tuple[float | None, AudioFrame]]:
    """Every frame of a stream from where its container stands, with its film second; None: it has none.

    ``start`` is `FilmInfo.start`. What cannot be decoded is passed over.
    """
    import av

    base = stream.time_base or Fraction(1, 1_000_000)
    up, down = base.numerator * start.denominator, base.denominator * start.denominator
    zero = start.numerator * base.denominator
    packets = packets_of(stream.container, stream)  # type: ignore[arg-type]
    while True:
        try:
            packet = next(packets, None)
        except (av.error.FFmpegError, OSError):
            packet = None
        try:
            for frame in stream.decode(packet):
                pts = frame.pts
                yield (None if pts is None else (pts * up - zero) / down), frame
        except av.error.EOFError:
            return
        except av.error.FFmpegError:
            pass
        if packet is None or packet.size == 0:
            return


def kind_of(frame: AudioFrame) -> tuple[int, str, str]:
    """What must stay the same within a run."""
    return frame.sample_rate, frame.layout.name, frame.format.name


class Runs:
    """Resamples frames in runs without a gap, each run with a resampler of its own."""

    def __init__(
        self, rate: int, layout: Layout, slack: float = SLACK, first: AudioLayout | None = None
    ) -> None:
        """``first`` is the layout of the track's first frame, where that is not the first to be taken."""
        self._rate, self._layout, self._slack = rate, layout, slack
        self._kind: tuple[int, str, str] | None = None
        self._begin, self._given, self._position = 0.0, 0, 0
        self._first = first

    def take(self, seconds: float | None, frame: AudioFrame) -> Iterator[Piece]:
        """What can be given after one more frame."""
        kind = kind_of(frame)
        expected = self._begin + self._given / frame.sample_rate
        jumps = seconds is not None and abs(seconds - expected) > self._slack
        if self._kind != kind or jumps:
            yield from self.flush()
            self._start(expected if seconds is None else seconds, frame, kind)
        self._given += frame.samples
        frame.pts = None
        yield from self._resample(frame)

    def resume(self, begin: float, given: int, frame: AudioFrame) -> None:
        """Go on in a run that began at second ``begin``, ``given`` samples of which lie before ``frame``."""
        self._start(begin, frame, kind_of(frame))
        self._given = given
        self._position += round(Fraction(given * self._rate, frame.sample_rate))

    def flush(self) -> Iterator[Piece]:
        """What the resampler still holds."""
        if self._kind is not None:
            yield from self._resample(None)
        self._kind = None

    def _start(self, seconds: float, frame: AudioFrame, kind: tuple[int, str, str]) -> None:
        from av import AudioResampler

        self._kind, self._begin, self._given = kind, seconds, 0
        self._position = round(seconds * self._rate)
        self._first = self._first or frame.layout
        layout: str | AudioLayout = self._first if self._layout == "native" else frame.layout
        layout = "stereo" if self._layout == "stereo" else layout
        # Interleaved: of eight planes and more PyAV 18.1 reads one too many, and crashes.
        # Large frames out: each costs Python's time.
        size = max(1, self._rate // 4)
        self._resampler = AudioResampler(format="flt", layout=layout, rate=self._rate, frame_size=size)
        self._weights = mono_weights(_channel_names(frame)) if self._layout == "mono" else None

    def _resample(self, frame: AudioFrame | None) -> Iterator[Piece]:
        for out in self._resampler.resample(frame):
            if out is None or out.samples == 0:
                continue
            woven = out.to_ndarray().reshape(out.samples, -1).astype(np.float32, copy=False)
            samples = woven if self._weights is None else woven @ self._weights
            yield self._position, samples
            self._position += out.samples


def _blocks(pieces: Iterator[Piece], rate: int, duration: float) -> Iterator[SoundBlock]:
    """One-second blocks without gap from sample 0; what comes twice is left out the second time."""
    done, held = 0, _Block(rate)
    for position, samples in pieces:
        if position > (duration + RUNAWAY) * rate:
            break
        fresh = samples[max(0, done - position) :]
        if len(fresh) == 0:
            continue
        begin = max(done, position)
        while done < begin + len(fresh):
            filled = held.put(begin - done, fresh, max(0, done - begin))
            done += filled
            if held.full:
                yield held.take(done)
    if held.used:
        yield held.take(done)


class _Block:
    """A block being filled."""

    def __init__(self, rate: int) -> None:
        self._rate, self._data, self.used = rate, np.zeros((0,), np.float32), 0

    @property
    def full(self) -> bool:
        """True where not one sample more fits."""
        return self.used == self._rate

    def put(self, silence: int, samples: Samples, skip: int) -> int:
        """Add ``silence`` zeros (where above 0), else ``samples[skip:]``, as much as fits: how many."""
        if self.used == 0:
            self._data = np.zeros((self._rate, *samples.shape[1:]), np.float32)
        room = self._rate - self.used
        count = min(room, silence) if silence > 0 else min(room, len(samples) - skip)
        if silence <= 0:
            self._data[self.used : self.used + count] = samples[skip : skip + count]
        self.used += count
        return count

    def take(self, done: int) -> SoundBlock:
        """The block, which ends before sample number ``done``; a new one is begun."""
        block = SoundBlock((done - self.used) / self._rate, self._data[: self.used])
        self.used = 0
        return block


NEAR = 10.0
"""Seconds from the film's beginning up to which nothing is sought."""

PREROLL = 0.5
"""Seconds decoded before a stretch at least. Opus asks for 0.08; MP3 has nine frames to draw on, 0.24."""

SETTLE = 4
"""Frames after a seek that are left out: the first may be broken or have no true time."""

LEADS = (2.0, 10.0, 45.0, 180.0)
"""Seconds before a stretch that are sought, one after the other, until enough lies before it: how sound and
picture are interwoven, and how far apart one can begin to read, differs."""

FRAMES = 48
"""Frames by which a track is known, and a place in it where they differ in length."""

ODD = 3
"""Frames of another length that a track may begin with."""

Timed = tuple[float | None, "AudioFrame"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a track's first run begins: its second, the samples before its frames get to be of one ``size``
    (0: they never do), its samples a second, what its frames are, and their layout.

    For frames that differ in length: ``grid`` divides all their lengths, ``ends`` tells that timestamps
    follow the ends of frames, and ``anchor`` is the second of the run's begin by all of them together.
    """

    seconds: float
    before: int
    size: int
    rate: int
    kind: tuple[int, str, str]
    layout: AudioLayout
    grid: int = 1
    ends: bool = False
    anchor: float = 0.0

    def given(self, seconds: float, tick: float) -> int | None:
        """How many samples of the run lie before the frame of this second, where frames have one size; None:
        it is not of that run. ``tick`` is the container's, in seconds.
        """
        exact = (seconds - self.seconds) * self.rate
        off = tick * self.rate * 1.01
        if 2 * off < self.size:
            count = self.before + round((exact - self.before) / self.size) * self.size
            return count if abs(count - exact) <= off else None
        return round(exact) if abs(exact - round(exact)) < 0.01 else None

    def given_of(self, frames: Sequence[Timed]) -> int | None:
        """The same for the first of frames that differ in length."""
        middle, _ = _middle(frames, self.rate, ends=self.ends)
        exact = (middle - self.anchor) * self.rate
        count = round(exact / self.grid) * self.grid
        return count if abs(count - exact) <= max(self.grid / 3, 1.0) else None

    def step(self, rate: int) -> int:
        """Samples after which a resampler to ``rate`` comes back to the same phase."""
        return self.rate // math.gcd(self.rate, rate)


class SoundSeeker:
    """One audio track of a film, to be heard from anywhere. May be used by several threads."""

    def __init__(self, film: Film, track: int, rate: int, layout: Layout = "native") -> None:
        """``track`` is the number of one that is there, ``rate`` and ``layout`` as for `sound_blocks`.

        Raises FilmError where it is not there, ValueError for a film that is no file.
        """
        chosen = choose_track(film.info, track)
        if chosen is None or film.media is None:
            raise ValueError(f"{film.info.name} has no sound to be sought")
        self._media, self._info, self._number = film.media, film.info, track
        self._rate, self._layout = rate, layout
        self._slack = WANDERING.get(chosen.codec, SLACK)

    def between(self, first: int, end: int) -> Samples | None:
        """Samples ``[first, end)`` of the whole, ``float32[n, channels]`` (mono: ``float32[n]``).

        Where the track has none there is silence; None: there is nothing but that. Raises FilmError.
        """
        made: Samples | None = None
        done = first
        for position, samples in self._pieces(first):
            if position >= end:
                break
            # As in a whole pass, what comes twice is left out the second time.
            skip = max(0, done - position)
            part = samples[skip : max(skip, end - position)]
            if len(part) == 0:
                continue
            if made is None:
                made = np.zeros((end - first, *samples.shape[1:]), np.float32)
            at = position + skip - first
            made[at : at + len(part)] = part
            done = first + at + len(part)
            if done >= end:
                break
        return made

    @cached_property
    def origin(self) -> Origin | None:
        """Where its first run begins; None: nothing can be decoded."""
        container = self._media.open()
        try:
            frames = list(itertools.islice(self._frames(container), FRAMES))
        finally:
            container.close()
        return _origin_of(frames, self._slack)

    def _pieces(self, first: int) -> Iterator[Piece]:
        """From a moment before sample number ``first``."""
        wanted = first / self._rate
        origin = self.origin if wanted > NEAR else None
        leads = [lead for lead in LEADS if wanted - lead > NEAR / 2]
        begun: float | None = None
        for lead in leads if origin else []:
            container = self._media.open()
            try:
                frames = self._sought(container, wanted - lead)
                head = next(frames, None)
                if head is None or head[0] is None:
                    continue
                # Sought from far apart and found the same: there is nothing between.
                if head[0] <= wanted - PREROLL or head[0] == begun:
                    yield from self._run(itertools.chain([head], frames), origin)
                    return
                begun = head[0]
            finally:
                container.close()
        container = self._media.open()
        try:
            yield from self._run(self._frames(container), None)
        finally:
            container.close()

    def _frames(self, container: InputContainer) -> Iterator[Timed]:
        stream = container.streams.audio[self._number]
        only(container, stream)
        return timed(stream, self._info.start)

    def _sought(self, container: InputContainer, second: float) -> Iterator[Timed]:
        import av

        try:
            # Before the other tracks are left out: containers find places by their pictures.
            container.seek(round((second + float(self._info.start)) * 1_000_000))
        except (av.error.FFmpegError, OSError):
            return iter(())
        return itertools.islice(self._frames(container), SETTLE, None)

    def _run(self, frames: Iterator[Timed], origin: Origin | None) -> Iterator[Piece]:
        runs = Runs(self._rate, self._layout, self._slack, origin.layout if origin else None)
        if origin is not None:
            frames = self._resumed(frames, origin, runs)
        for seconds, frame in frames:
            yield from runs.take(seconds, frame)
        yield from runs.flush()

    def _resumed(self, frames: Iterator[Timed], origin: Origin, runs: Runs) -> Iterator[Timed]:
        """The frames from the first place on at which a run of the whole pass can be gone on with."""
        held = list(itertools.islice(frames, 1 if origin.size else FRAMES))
        given = _given(held, origin)
        frames = itertools.chain(held, frames)
        if given is None:
            yield from frames
            return
        for seconds, frame in frames:
            missing = -given % origin.step(self._rate)
            if kind_of(frame) != origin.kind:
                yield seconds, frame
                break
            if missing < frame.samples:
                rest = _without(frame, missing)
                given += frame.samples - rest.samples
                runs.resume(origin.seconds, given, rest)
                yield None, rest
                break
            given += frame.samples
        yield from frames


def _given(frames: Sequence[Timed], origin: Origin) -> int | None:
    """How many samples of the run of ``origin`` lie before the first of frames; None: it is another run."""
    if not frames or any(kind_of(frame) != origin.kind for _, frame in frames):
        return None
    seconds, frame = frames[0]
    if not origin.size:
        return origin.given_of(frames)
    return None if seconds is None else origin.given(seconds, _tick(frame))


def _without(frame: AudioFrame, count: int) -> AudioFrame:
    """A frame without its first samples; of very many channels the whole frame, off by a part of a sample."""
    from av import AudioFrame

    channels = len(frame.layout.channels)
    # Of eight planes and more PyAV 18.1 reads one too many, and crashes.
    if count == 0 or (frame.format.is_planar and channels >= 8):
        return frame
    sound: Any = frame.to_ndarray()[:, count * (1 if frame.format.is_planar else channels) :]
    rest = AudioFrame.from_ndarray(np.ascontiguousarray(sound), frame.format.name, frame.layout.name)
    rest.sample_rate, rest.time_base = frame.sample_rate, frame.time_base
    return rest


def _tick(frame: AudioFrame) -> float:
    base = frame.time_base
    return float(base) if base else 1e-6


def _origin_of(frames: Sequence[Timed], slack: float) -> Origin | None:
    """The run in which the last of these frames lies."""
    if not frames or frames[0][0] is None:
        return None
    first, begin, expected = 0, frames[0][0], frames[0][0]
    for number, (seconds, frame) in enumerate(frames):
        jumps = seconds is not None and abs(seconds - expected) > slack
        if number and (jumps or kind_of(frame) != kind_of(frames[first][1])):
            first, begin = number, expected if seconds is None else seconds
            expected = begin
        expected += frame.samples / frame.sample_rate
    run, head = frames[first:], frames[first][1]
    sizes = [frame.samples for _, frame in run]
    size, before = _size_of(sizes)
    plain = Origin(begin, before, size, head.sample_rate, kind_of(head), frames[0][1].layout)
    if size:
        return plain
    by_starts, by_ends = (_middle(run, head.sample_rate, ends=ends) for ends in (False, True))
    ends = by_ends[1] < by_starts[1]
    anchor = (by_ends if ends else by_starts)[0]
    return replace(plain, grid=math.gcd(*sizes), ends=ends, anchor=anchor)


def _size_of(sizes: Sequence[int]) -> tuple[int, int]:
    """The length that all frames have but for the first few, and the samples before; 0 and 0: they differ."""
    size = sizes[-1]
    same = sum(1 for _ in itertools.takewhile(size.__eq__, reversed(sizes)))
    return (size, sum(sizes[:-same])) if len(sizes) - same <= ODD and same > ODD else (0, 0)


def _middle(frames: Sequence[Timed], rate: int, *, ends: bool) -> tuple[float, float]:
    """The second at which the first of frames that follow each other begins, by the timestamps of all: the
    middle between the earliest and the latest that they tell, and how far these lie apart."""
    told, done = [], 0
    for seconds, frame in frames:
        if seconds is not None:
            told.append(seconds - (done + (frame.samples if ends else 0)) / rate)
        done += frame.samples
    return (min(told) + max(told)) / 2, max(told) - min(told)
