"""The sound of a film on film time, mono for listening to speech, or with its channels for mixing.

`sound_blocks` hears the whole from second 0. `SoundSeeker` hears a stretch without what lies before it: the
sound that a whole pass has there, in its place to the container's tick (1 ms in Matroska).
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from shotad.core import FilmInfo
from shotad.core.errors import FilmChanged, FilmError
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.types import AudioTrack
from shotad.film.container import (
    Media,
    audio_track,
    exact_start,
    find_media,
    media_duration,
    packets_of,
    skip_other_streams,
    timeline_of,
)
from shotad.film.reader import Film

if TYPE_CHECKING:
    from av import AudioFrame, AudioLayout
    from av.audio.stream import AudioStream

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

GUARD = 0.25
"""Seconds for which a mono downmix is compared with its channels at a time: about a syllable."""
GUARD_REACH = 4
"""Windows to each side that are taken into account: a second, since between words the channels say little."""
CANCELLED, CANCELLED_AROUND, SOUND = 0.6, 0.8, 1.2
"""Power of a downmix, as a share of what channels with nothing in common would have: below the first in one
window, or below the second in all within reach unless one is above the third by itself, channels cancel each
other. Of the supplied films, 700 windows, 9 are below, none with speech; with their right channel inverted
all speech is found again where it was, with the first limit alone 60 % of it."""
_SILENT_POWER = 1e-7
"""Mean square, -70 dB of full scale: below it there is only noise of converters."""
_UNRELATED = 0.3
"""Correlation of two channels under which they have nothing in common."""


@dataclass(frozen=True, slots=True, eq=False)
class SoundBlock:
    """A stretch of sound: ``samples[i]`` is heard at ``seconds + i / rate``.

    Blocks follow each other without gap from second 0: block k begins where block k-1 ends.
    """

    seconds: float
    samples: Samples


def sound_blocks(
    film: Film,
    track: int | None = None,
    rate: int = 16000,
    layout: Layout = "mono",
    check: DownmixCheck | None = None,
) -> Iterator[SoundBlock]:
    """The sound of ``film`` from second 0, in blocks of one second (the last is shorter).

    Sample number i of the whole stands at ``i / rate`` film seconds: where a track begins late or has
    gaps there is silence. ``track`` None is `FilmInfo.default_audio`; a film without sound gives
    nothing. ``mono`` is by `mono_weights`, without channels that cancel each other (`MonoDownmix`),
    ``stereo`` ffmpeg's own downmix, ``native`` as it is (where channels change on the way, as in recordings
    from the air, those it begins with). What cannot be decoded is silence. ``check`` is filled with what was
    found out about the channels of a mono downmix. Raises FilmError for a track that is not there.
    """
    chosen = choose_track(film.info, track)
    if chosen is None or film.media is None:
        return iter(())
    pieces = _pieces(film.media, film.info.start, chosen, rate, layout, check)
    return _decoded_ahead(_blocks(pieces, rate, film.info.duration))


@dataclass(frozen=True, slots=True)
class SoundFile:
    """A file that has sound, with or without a picture.

    ``start`` is the container's start time, exact, from which its seconds are counted; ``duration`` is in
    seconds.
    """

    media: Media
    start: Fraction
    duration: float
    audio: tuple[AudioTrack, ...]

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.media.name

    def blocks(self, track: AudioTrack, rate: int = 16000, layout: Layout = "mono") -> Iterator[SoundBlock]:
        """The sound of a track, as `sound_blocks`."""
        pieces = _pieces(self.media, self.start, track, rate, layout, None)
        return _decoded_ahead(_blocks(pieces, rate, self.duration))


def open_sound(path: Path) -> SoundFile:
    """A file of sound, or of film, for its sound. Raises FilmError without readable sound."""
    media = find_media(path, "sound file")
    try:
        container = media.open()
    except FilmChanged:
        raise
    except FilmError:
        raise FilmError(
            f"{media.name} cannot be read as sound.", "Give a sound file, or a film whose sound is meant."
        ) from None
    with container:
        start = exact_start(container)
        tracks = tuple(audio_track(number, stream) for number, stream in enumerate(container.streams.audio))
        duration = media_duration(media, container, start)
    if not tracks:
        raise FilmError(f"{media.name} has no sound.", "Name a file with sound.")
    return SoundFile(media, start, duration, tracks)


BLOCKS_AHEAD = 4
"""Blocks that are decoded while one is used."""


def _decoded_ahead(blocks: Iterator[SoundBlock]) -> Iterator[SoundBlock]:
    """``blocks``, decoded in a thread of their own, so that who listens to one need not wait for the next."""
    thread = ThreadPoolExecutor(1, "decoding sound")
    try:
        coming = deque(thread.submit(next, blocks, None) for _ in range(BLOCKS_AHEAD))
        while (block := coming.popleft().result()) is not None:
            coming.append(thread.submit(next, blocks, None))
            yield block
    finally:
        thread.shutdown(cancel_futures=True)


def choose_track(info: FilmInfo, track: int | None) -> AudioTrack | None:
    """The track of that number; for None the default one, or None where there is no sound."""
    if track is None:
        return info.default_audio
    chosen = next((t for t in info.audio if t.number == track), None)
    if chosen is None:
        tracks_here = "; ".join(str(t) for t in info.audio) or "none: it has no sound"
        raise FilmError(f"{info.name} has no audio track {track}.", f"Audio tracks: {tracks_here}.")
    return chosen


def mono_weights(channels: Sequence[str]) -> Samples:
    """How much each channel counts in mono, by ffmpeg's channel names (``FL``, ``FC`` …).

    With a centre, where film dialogue is: centre 1, left and right 0.3 (−10 dB), other channels
    0.1 (−20 dB), bass effects (LFE) 0. Without a centre: the mean of all but LFE.
    """
    bass = np.array([name.startswith("LFE") for name in channels])
    if "FC" not in channels or len(channels) == 1:
        counted = bass if bass.all() else ~bass
        return np.asarray(counted / counted.sum(), np.float32)
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
    are_channel_names = all(name.isalnum() and not name.isdigit() for name in names) and len(
        set(names)
    ) == len(names)
    if are_channel_names and not frame.layout.name.endswith("channels"):
        return names
    return _UNNAMED.get(len(names), [f"C{i}" for i in range(len(names))])


SoundPiece = tuple[int, Samples]
"""Samples, and the number on film time of the first of them; it may be negative."""


@dataclass(slots=True)
class DownmixCheck:
    """How the channels of a track go together in mono, in windows of `GUARD` seconds that are not silent."""

    sounding: int = 0
    """Windows with sound."""
    cancelling: int = 0
    """Of them those in which channels cancelled each other, and were turned round."""
    both: int = 0
    """Of them those in which each of two channels sounded."""
    unrelated: int = 0
    """Of those the ones in which they had nothing in common: languages, or a voice and noise."""

    @property
    def is_inverted(self) -> bool:
        """Whether channels cancel each other for more than moments: a fault that others hear as well."""
        return self.cancelling >= max(8, 0.05 * self.sounding)

    @property
    def is_two_programmes(self) -> bool:
        """Whether two channels go their own ways all the time, as in films of two languages, one in each."""
        return self.unrelated >= max(8, 0.8 * self.both)


@dataclass(frozen=True, slots=True, eq=False)
class _Window:
    """Sound between two multiples of `GUARD` on film time."""

    position: int
    channels: Samples
    mono: Samples
    products: npt.NDArray[np.float64]
    """``float64[channels, channels]``: how much of the mono's power each pair of channels adds, or takes."""

    @property
    def share(self) -> float:
        return _power_share(self.products)


def _power_share(products: npt.NDArray[np.float64]) -> float:
    unrelated = float(np.trace(products))
    return float(products.sum()) / unrelated if unrelated > 0 else 1.0


class MonoDownmix:
    """Mixes channels to mono, ``channels @ weights``, so that none can cancel another.

    In stereo with one channel inverted (a cable soldered the wrong way round, a fault of an encoder) what
    both have in common is gone from their mean, and that is the dialogue. There each channel is taken with
    the sign that adds to a strong one. Windows stand at multiples of their length on film time, so that
    sound that was sought is mixed as in a whole pass, given `CONTEXT` seconds before it.
    """

    CONTEXT = GUARD * (GUARD_REACH + 1)

    def __init__(self, rate: int, weights: Samples, check: DownmixCheck | None = None) -> None:
        self._weights = weights
        self._size = max(1, round(GUARD * rate))
        self._check = check or DownmixCheck()
        self._position = 0
        self._held: list[tuple[Samples, Samples]] = []
        self._held_samples = 0
        self._windows: list[_Window] = []
        self._next = 0
        """Which of the windows is given next; those before it are only there for their neighbours."""

    def add(self, position: int, channels: Samples) -> Iterator[SoundPiece]:
        """What can be given after these samples, which follow those before: mono, a second later."""
        if self._held_samples == 0:
            self._position = position
        self._held.append((channels, channels @ self._weights))
        self._held_samples += len(channels)
        end = self._position + self._held_samples
        self._cut(end - end % self._size)
        while len(self._windows) > self._next + GUARD_REACH:
            yield self._give()

    def flush(self) -> Iterator[SoundPiece]:
        """All that is left, after which another run may begin."""
        self._cut(self._position + self._held_samples)
        while self._next < len(self._windows):
            yield self._give()
        self._windows, self._next = [], 0

    def _cut(self, end: int) -> None:
        """Makes windows of what is held before sample number ``end``."""
        if end <= self._position:
            return
        channels = np.concatenate([piece for piece, _ in self._held])
        mono = np.concatenate([piece for _, piece in self._held])
        while self._position < end:
            until = min(end, self._position - self._position % self._size + self._size)
            count = until - self._position
            # Without an offset, which two channels would seem to have in common.
            weighted = (channels[:count] - channels[:count].mean(axis=0)) * self._weights
            products = (weighted.T @ weighted).astype(np.float64)
            self._windows.append(_Window(self._position, channels[:count], mono[:count], products))
            channels, mono = channels[count:], mono[count:]
            self._position = until
        self._held = [(channels, mono)]
        self._held_samples = len(mono)

    def _give(self) -> SoundPiece:
        window = self._windows[self._next]
        around = sum(
            (
                near.products
                for near in self._windows[max(0, self._next - GUARD_REACH) : self._next + GUARD_REACH + 1]
            ),
            start=np.zeros_like(window.products),
        )
        self._next += 1
        if self._next > GUARD_REACH:
            self._windows.pop(0)
            self._next -= 1
        cancels_around = _power_share(around) < CANCELLED_AROUND and window.share < SOUND
        cancels = window.share < CANCELLED or cancels_around
        self._count(window, cancels)
        if not cancels:
            return window.position, window.mono
        products = around if cancels_around else window.products
        powers = np.diag(products)
        # The first of the strong ones, not the strongest: of two that are alike always the same, so that the
        # sign does not change from window to window.
        leading = int(np.argmax(powers >= 0.25 * powers.max()))
        signs = np.where(products[leading] < 0, -1, 1)
        return window.position, np.asarray(window.channels @ (self._weights * signs), np.float32)

    def _count(self, window: _Window, cancels: bool) -> None:
        samples = max(1, len(window.mono))
        if float((window.channels**2).sum()) / samples < _SILENT_POWER:
            return
        self._check.sounding += 1
        self._check.cancelling += cancels
        if len(self._weights) == 2:
            powers = np.diag(window.products) / samples
            common = abs(float(window.products[0, 1])) / samples
            if powers.min() > _SILENT_POWER:
                self._check.both += 1
                self._check.unrelated += common < _UNRELATED * float(np.sqrt(powers.prod()))


def _pieces(
    media: Media, start: Fraction, track: AudioTrack, rate: int, layout: Layout, check: DownmixCheck | None
) -> Iterator[SoundPiece]:
    with media.open() as container:
        stream = container.streams.audio[track.number]
        skip_other_streams(container, stream)
        runs = Runs(rate, layout, WANDERING.get(track.codec, SLACK), check=check)
        for seconds, frame in timed(stream, start):
            yield from runs.take(seconds, frame)
        yield from runs.flush()


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
        except (av.error.FFmpegError, OSError) as error:
            if is_out_of_memory(error):
                raise
            packet = None
        try:
            for frame in stream.decode(packet):
                pts = frame.pts
                yield (None if pts is None else (pts * up - zero) / down), frame
        except av.error.EOFError:
            return
        except av.error.FFmpegError as error:
            if is_out_of_memory(error):
                raise
        if packet is None or packet.size == 0:
            return


class Runs:
    """Resamples frames in runs without a gap, each run with a resampler of its own."""

    def __init__(
        self,
        rate: int,
        layout: Layout,
        slack: float = SLACK,
        first: AudioLayout | None = None,
        check: DownmixCheck | None = None,
    ) -> None:
        """``first`` is the layout of the track's first frame, where that is not the first to be taken;
        ``check`` as for `sound_blocks`."""
        self._rate, self._layout, self._slack = rate, layout, slack
        self._kind: tuple[int, str, str] | None = None
        self._begin, self._given, self._position = 0.0, 0, 0
        self._first = first
        self._check = check
        self._downmix: MonoDownmix | None = None

    def take(self, seconds: float | None, frame: AudioFrame) -> Iterator[SoundPiece]:
        """What can be given after one more frame."""
        from av import AudioResampler

        kind = frame.sample_rate, frame.layout.name, frame.format.name
        expected = self._begin + self._given / frame.sample_rate
        jumps = seconds is not None and abs(seconds - expected) > self._slack
        if self._kind != kind or jumps:
            yield from self.flush()
            self._kind, self._given = kind, 0
            self._begin = expected if seconds is None else seconds
            self._position = round(self._begin * self._rate)
            self._first = self._first or frame.layout
            layout: str | AudioLayout = self._first if self._layout == "native" else frame.layout
            layout = "stereo" if self._layout == "stereo" else layout
            # Interleaved: of eight planes and more PyAV 18.1 reads one too many, and crashes.
            # Large frames out: each costs Python's time.
            size = max(1, self._rate // 4)
            self._resampler = AudioResampler(format="flt", layout=layout, rate=self._rate, frame_size=size)
            if self._layout == "mono":
                self._downmix = MonoDownmix(self._rate, mono_weights(_channel_names(frame)), self._check)
        self._given += frame.samples
        frame.pts = None
        yield from self._resample(frame)

    def flush(self) -> Iterator[SoundPiece]:
        """What the resampler still holds."""
        if self._kind is not None:
            yield from self._resample(None)
            if self._downmix is not None:
                yield from self._downmix.flush()
        self._kind = None

    def _resample(self, frame: AudioFrame | None) -> Iterator[SoundPiece]:
        for out in self._resampler.resample(frame):
            if out is None or out.samples == 0:
                continue
            woven = out.to_ndarray().reshape(out.samples, -1).astype(np.float32, copy=False)
            if self._downmix is None:
                yield self._position, woven
            else:
                yield from self._downmix.add(self._position, woven)
            self._position += out.samples


def _blocks(pieces: Iterator[SoundPiece], rate: int, duration: float) -> Iterator[SoundBlock]:
    """One-second blocks without gap from sample 0; the last is shorter."""
    done, held = 0, np.zeros(0, np.float32)
    for samples in _gapless(pieces, rate, duration):
        held = np.concatenate([held, samples]) if len(held) else samples
        while len(held) >= rate:
            yield SoundBlock(done / rate, held[:rate])
            done, held = done + rate, held[rate:]
    if len(held):
        yield SoundBlock(done / rate, held)


def _gapless(pieces: Iterator[SoundPiece], rate: int, duration: float) -> Iterator[Samples]:
    """All samples from number 0 on, silence where there are none; what comes twice is left out the second
    time."""
    done = 0
    for position, samples in pieces:
        if position > (duration + RUNAWAY) * rate:
            return
        fresh = samples[max(0, done - position) :]
        if len(fresh) == 0:
            continue
        for start in range(done, position, rate):
            yield np.zeros((min(rate, position - start), *samples.shape[1:]), np.float32)
        done = max(done, position) + len(fresh)
        yield fresh


PREROLL = 0.5
"""Seconds decoded before a stretch at least. Opus asks for 0.08; MP3 has nine frames to draw on, 0.24."""

SETTLE = 4
"""Frames after a seek that are left out: the first may be broken or have no true time."""

LEADS = (2.0, 10.0, 45.0, 180.0)
"""Seconds before a stretch that are sought, one after the other, until enough lies before it: how sound and
picture are interwoven, and how far apart one can begin to read, differs."""

Timed = tuple[float | None, "AudioFrame"]


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
        self._context = MonoDownmix.CONTEXT if layout == "mono" else 0.0

    def between(self, first: int, end: int) -> Samples | None:
        """Samples ``[first, end)`` of the whole, ``float32[n, channels]`` (mono: ``float32[n]``).

        Where the track has none there is silence; None: there is nothing but that. Raises FilmError.
        """
        sound: Samples | None = None
        for position, samples in self.pieces(first, end):
            if sound is None:
                sound = np.zeros((end - first, *samples.shape[1:]), np.float32)
            sound[position - first : position - first + len(samples)] = samples
        return sound

    def pieces(self, first: int, end: int) -> Iterator[SoundPiece]:
        """What the track has of samples ``[first, end)``, in order, decoded as it is asked for.

        Raises FilmError.
        """
        done = first
        for position, samples in self._pieces(first / self._rate - self._context):
            if position >= end:
                return
            # As in a whole pass, what comes twice is left out the second time.
            skip = max(0, done - position)
            part = samples[skip : max(skip, end - position)]
            if len(part) == 0:
                continue
            done = position + skip + len(part)
            yield position + skip, part
            if done >= end:
                return

    @cached_property
    def _first(self) -> AudioLayout | None:
        """The layout of the track's first frame; None: nothing can be decoded."""
        _, frame = next(self._frames(None), (None, None))
        return None if frame is None else frame.layout

    def _pieces(self, second: float) -> Iterator[SoundPiece]:
        """From a moment before that second on; from the track's begin where it cannot be sought."""
        runs = Runs(self._rate, self._layout, self._slack, self._first)
        begun: float | None = None
        for lead in [lead for lead in LEADS if second > lead]:
            frames: Iterator[Timed] = itertools.islice(self._frames(second - lead), SETTLE, None)
            head = next(frames, None)
            if head is None or head[0] is None:
                continue
            # Sought from far apart and found the same: there is nothing between.
            if head[0] <= second - PREROLL or head[0] == begun:
                frames = itertools.chain([head], frames)
                break
            begun = head[0]
        else:
            frames = self._frames(None)
        for seconds, frame in frames:
            yield from runs.take(seconds, frame)
        yield from runs.flush()

    def _frames(self, second: float | None) -> Iterator[Timed]:
        """The track's frames from a second on, or from its begin; none where it cannot be sought."""
        import av

        with self._media.open() as container:
            # A film whose clock jumps is read from its beginning.
            if second is not None and timeline_of(container) is not None:
                return
            if second is not None:
                try:
                    # Before the other tracks are left out: containers find places by their pictures.
                    container.seek(round((second + float(self._info.start)) * 1_000_000))
                except (av.error.FFmpegError, OSError):
                    return
            stream = container.streams.audio[self._number]
            skip_other_streams(container, stream)
            yield from timed(stream, self._info.start)
