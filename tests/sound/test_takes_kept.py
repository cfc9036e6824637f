"""Takes that are read when they are asked for, and hold nothing."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shotad.core import FitSettings, Interval, VoiceError, VoiceSettings
from shotad.film import Samples
from shotad.sound import Keeping, Take
from shotad.sound.fake_voice import FakeVoice
from shotad.sound.fitting import fit
from shotad.sound.kinds import Line
from shotad.sound.takes import Kept, read_take, write_take

RATE = 8000


class Counted:
    """A recording that counts how often it is read."""

    size, key = 1600, "k"

    def __init__(self) -> None:
        self.reads = 0

    def read(self) -> Samples:
        self.reads += 1
        return np.full(self.size, 0.5, np.float32)


def kept(folder: Path, text: str = "A door opens.") -> Take:
    return write_take(folder / "take.flac", FakeVoice(rate=RATE).speak(text))


def living() -> int:
    """Bytes of all arrays of numbers there are."""
    gc.collect()
    data = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    found = tracemalloc.take_snapshot().filter_traces([data])
    return sum(row.size for row in found.statistics("filename"))


def test_all_but_the_samples_is_known_without_reading() -> None:
    sound = Counted()
    take = Take(sound, RATE, "v", "He walks.", 1.1)
    other = replace(take, text="She walks.")
    faster = replace(take, sound=np.zeros(10, np.float32), speed=2.0)
    told = (take.seconds, take.size, take.rate, take.voice, take.text, take.speed, take.key)
    assert told == (0.2, 1600, RATE, "v", "He walks.", 1.1, "k")
    assert (other.text, other.seconds, other.sound is sound) == ("She walks.", 0.2, True)
    assert (faster.text, faster.size, faster.speed) == ("He walks.", 10, 2.0)
    assert sound.reads == 0
    assert float(take.samples.sum()) == float(other.samples.sum()) == 800
    assert sound.reads == 2, "read anew each time, not held"


def test_takes_of_one_sound_have_one_key() -> None:
    one, other = np.full(100, 0.25, np.float32), np.full(100, 0.5, np.float32)
    assert Take(one, RATE, "v", "a").key == Take(one.copy(), RATE, "w", "b").key
    assert Take(one, RATE, "v", "a").key != Take(other, RATE, "v", "a").key


@pytest.mark.parametrize(
    "sound", [np.zeros(0, np.float32), np.zeros(4), np.zeros((2, 2), np.float32)], ids=["none", "64", "2d"]
)
def test_what_is_no_sound_is_refused(sound: Samples) -> None:
    with pytest.raises(ValueError, match="a take"):
        Take(sound, RATE, "v", "t")


def test_an_empty_recording_is_refused() -> None:
    sound = Counted()
    sound.size = 0
    with pytest.raises(ValueError, match="must have samples"):
        Take(sound, RATE, "v", "t")


def test_a_take_as_it_is_kept_is_the_one_that_is_read(tmp_path: Path) -> None:
    new = kept(tmp_path)
    again = read_take(tmp_path / "take.flac", "fake", "A door opens.")
    assert again is not None
    assert isinstance(again.sound, Kept)
    assert (new.key, new.size, new.rate, new.speed) == (again.key, again.size, again.rate, again.speed)
    assert np.array_equal(new.samples, again.samples)
    assert new.samples.size == new.size


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
        Line(f"s{i}", text, i * 5.0, Interval(i * 5.0, i * 5.0 + 4), Interval(i * 5.0, i * 5.0 + 4))
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


def test_the_checked_file_of_a_line_is_not_read_again_until_its_samples_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shotad.sound import takes as takefile

    read: list[Path] = []
    decoded = takefile._decoded

    def noted(path: Path) -> object:
        read.append(path)
        return decoded(path)

    monkeypatch.setattr(takefile, "_decoded", noted)
    studio = Keeping(FakeVoice(rate=RATE), tmp_path / "voice", VoiceSettings(name="fake"), "en")
    one, other = studio.say("A door opens."), studio.say("A door opens.")
    assert one.key == other.key
    count = len(read)  # it looked once whether there is one
    assert count == 1
    assert np.array_equal(one.samples, other.samples)
    assert len(read) == count + 2
    again = Keeping(FakeVoice(rate=RATE), tmp_path / "voice", VoiceSettings(name="fake"), "en")
    for _ in range(3):
        again.say("A door opens.")
    assert (again.spoken, again.taken, len(read)) == (0, 1, count + 3)
