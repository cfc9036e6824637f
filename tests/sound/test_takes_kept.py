"""Takes that are read when they are asked for, and hold nothing."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from shotad.core import FitSettings, Interval, VoiceError, VoiceSettings
from shotad.film import Samples
from shotad.sound import Keeping, Take
from shotad.sound.fitting import fit
from shotad.sound.kinds import LineToSpeak
from shotad.sound.own_voices import FakeVoice
from shotad.sound.takes import write_take

RATE = 8000


def kept(folder: Path, text: str = "A door opens.") -> Take:
    return write_take(folder / "take.flac", FakeVoice(rate=RATE).speak(text))


def living() -> int:
    """Bytes of all arrays of numbers there are."""
    gc.collect()
    data = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    found = tracemalloc.take_snapshot().filter_traces([data])
    return sum(row.size for row in found.statistics("filename"))


@pytest.mark.parametrize(
    "sound", [np.zeros(0, np.float32), np.zeros(4), np.zeros((2, 2), np.float32)], ids=["none", "64", "2d"]
)
def test_what_is_no_sound_is_refused(sound: Samples) -> None:
    with pytest.raises(ValueError, match="a take"):
        Take(sound, RATE, "v", "t")


def test_a_take_whose_file_goes_or_changes_while_it_is_in_use_is_a_clear_error(tmp_path: Path) -> None:
    take = kept(tmp_path)
    kept(tmp_path, "Another line.")
    with pytest.raises(VoiceError, match=r"take\.flac is gone or was changed"):
        _ = take.samples
    (tmp_path / "take.flac").unlink()
    with pytest.raises(VoiceError, match="gone"):
        _ = take.samples


def test_a_track_of_many_lines_holds_no_samples(tmp_path: Path) -> None:
    """Whether they are spoken now or were before: 30 takes of 2 s at 8000 samples a second are 1.9 MB."""
    texts = [f"Someone opens door number {number}." for number in range(30)]
    lines = [
        LineToSpeak(f"s{i}", text, i * 5.0, Interval(i * 5.0, i * 5.0 + 4), Interval(i * 5.0, i * 5.0 + 4))
        for i, text in enumerate(texts)
    ]
    kept(tmp_path)  # what is loaded once is loaded
    tracemalloc.start()
    try:
        for _ in range(2):
            before = living()
            studio = Keeping(FakeVoice(rate=RATE), tmp_path / "voice", VoiceSettings(name="fake"), "en")
            studio.say_all(texts)
            fitting = fit(lines, studio, FitSettings())
            held = living() - before
            whole = sum(line.take.size * 4 for line in fitting.spoken)
            assert len(fitting.spoken) == 30
            assert whole > 1_500_000
            assert held < 100_000, f"{held} bytes of samples are held, of {whole}"
    finally:
        tracemalloc.stop()
