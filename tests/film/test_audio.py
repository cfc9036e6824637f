"""Sound stands on film time, whatever the container does, and the centre leads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from shotad.core import FilmError
from shotad.film import SoundBlock, open_film, sound_blocks
from tests.media import FilmSpec, Made, SoundSpec, make_film

RATE = 16000


def _listen(made: Made, track: int | None = None, **options: object) -> tuple[np.ndarray, list[SoundBlock]]:
    with open_film(made.path) as film:
        blocks = list(sound_blocks(film, track, **options))  # type: ignore[arg-type]
    samples = np.concatenate([block.samples for block in blocks]) if blocks else np.zeros(0)
    return samples, blocks


def _onsets(samples: np.ndarray, rate: int = RATE, least: float = 0.1) -> list[float]:
    """Seconds at which sound begins after at least 0.2 s of silence."""
    loud = np.flatnonzero(np.abs(samples) > least)
    if len(loud) == 0:
        return []
    begins = loud[np.r_[True, np.diff(loud) > 0.2 * rate]]
    return [float(begin) / rate for begin in begins]


SOUNDS = {
    "mp4 aac": FilmSpec(sounds=(SoundSpec(),)),
    "mp4 aac 44100": FilmSpec(sounds=(SoundSpec(rate=44100),)),
    "mp4, sound later than picture": FilmSpec(sounds=(SoundSpec(start=0.4),)),
    "mkv, sound later than picture": FilmSpec(suffix=".mkv", sounds=(SoundSpec(start=0.4),)),
    "mkv, late start": FilmSpec(suffix=".mkv", shift=5.0, sounds=(SoundSpec(start=0.4),)),
    "mkv ac3": FilmSpec(suffix=".mkv", sounds=(SoundSpec(start=0.1, codec="ac3"),)),
    "mov pcm": FilmSpec(suffix=".mov", sounds=(SoundSpec(codec="pcm_s16le"),)),
    "transport stream": FilmSpec(suffix=".ts", sounds=(SoundSpec(start=0.2),)),
    "transport stream ac3": FilmSpec(suffix=".ts", sounds=(SoundSpec(start=0.2, codec="ac3"),)),
    "webm": FilmSpec(suffix=".webm", codec="libvpx", sounds=(SoundSpec(start=0.2, codec="libopus"),)),
    "a gap": FilmSpec(suffix=".mkv", frames=75, sounds=(SoundSpec(duration=3.0, gap=(0.7, 1.1), start=0.1),)),
    "a long gap": FilmSpec(
        suffix=".ts",
        frames=150,
        sounds=(SoundSpec(duration=6.0, gap=(0.7, 4.2), beeps=(0.5, 5.0), start=0.2),),
    ),
}


@pytest.mark.parametrize("name", list(SOUNDS))
def test_a_tone_is_heard_at_its_film_second_and_blocks_have_no_gap(name: str) -> None:
    made = make_film(SOUNDS[name])
    sound = made.spec.sounds[0]
    samples, blocks = _listen(made)
    assert _onsets(samples) == pytest.approx(sound.beeps, abs=0.004)
    assert samples.dtype == np.float32
    done = 0
    for block in blocks:
        assert block.seconds == done / RATE
        done += len(block.samples)
    assert all(len(block.samples) == RATE for block in blocks[:-1])
    assert done / RATE == pytest.approx(sound.start + sound.duration, abs=0.05)


def test_the_centre_and_the_default_lead() -> None:
    loud = []
    for channel in range(4):
        sound = SoundSpec(layout="5.1", only_channel=channel, codec="flac", start=0.1)
        samples, _ = _listen(make_film(FilmSpec(suffix=".mkv", sounds=(sound,))))
        loud.append(float(np.abs(samples[int(0.52 * RATE) : int(0.58 * RATE)]).max()))
    assert loud == pytest.approx([0.15, 0.15, 0.5, 0.0], abs=0.02)
    # The default is neither description nor commentary.
    made = make_film(TRACKS)
    assert _onsets(_listen(made)[0]) == pytest.approx([1.1], abs=0.004)
    for track, beep in enumerate((0.3, 0.7, 1.1)):
        assert _onsets(_listen(made, track)[0]) == pytest.approx([beep], abs=0.004)
    # A film without sound gives nothing.
    with open_film(make_film().path) as film:
        assert list(sound_blocks(film)) == []
        with pytest.raises(FilmError, match="it has no sound"):
            sound_blocks(film, 0)
    # What comes twice is heard once and what misses is silent.
    assert _pieces([(0, 30), (20, 30), (60, 5)]) == [*range(50), *[0] * 10, *range(60, 65)]
    assert _pieces([(-5, 10), (250, 3)]) == [*range(5), *[0] * 245, 250, 251, 252]
    assert _pieces([(0, 5), (1000000, 5)]) == [*range(5)]


TRACKS = FilmSpec(
    suffix=".mkv",
    sounds=(
        SoundSpec(beeps=(0.3,), language="eng", title="Audio Description", default=True),
        SoundSpec(beeps=(0.7,), language="fre", title="Director's commentary"),
        SoundSpec(beeps=(1.1,), language="ger"),
    ),
)


def _pieces(pieces: Iterable[tuple[int, int]]) -> list[float]:
    from shotad.film.audio import _blocks

    made = ((at, np.arange(at, at + n, dtype=np.float32)) for at, n in pieces)
    return np.concatenate([b.samples for b in _blocks(iter(made), 100, 10.0)]).tolist()


def test_channels_that_change_on_the_way_stay_those_it_began_with() -> None:
    import av

    from shotad.film.audio import Runs, _blocks

    def frames() -> Iterator[tuple[float, av.AudioFrame]]:
        for second, layout, channels in ((0.0, "stereo", 2), (1.0, "5.1", 6), (2.0, "stereo", 2)):
            samples = np.full((channels, 48000), 0.25, np.float32)
            frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout=layout)
            frame.sample_rate = 48000
            yield second, frame

    runs = Runs(48000, "native")
    pieces = [piece for second, frame in frames() for piece in runs.take(second, frame)]
    blocks = list(_blocks(iter([*pieces, *runs.flush()]), 48000, 3.0))
    assert [block.samples.shape for block in blocks] == [(48000, 2)] * 3
    assert all(np.abs(block.samples[1000:-1000]).min() > 0.1 for block in blocks)
