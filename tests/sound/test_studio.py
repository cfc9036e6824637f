"""Lines are spoken once and kept; takes are read when they are asked for, and hold nothing."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from shotad.core import load_config
from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.sound import CachingStudio, Lexicon, Take, fit_track, read_lexicon
from shotad.sound.own_voices import FakeVoice
from shotad.sound.takes import read_take, write_take
from tests.runs import Heard
from tests.sound.fitted import cue, prepared_of, track_of

LINES = [f"Line {word} is spoken." for word in ("one", "two", "three", "four", "five")]


class Slow(FakeVoice):
    """A voice that may speak two lines at once, and says whether it did."""

    def __init__(self) -> None:
        super().__init__()
        self.at_once = 2
        self._both = threading.Barrier(2)

    def speak(self, text: str, speed: float = 1.0) -> Take:
        self._both.wait(timeout=20)
        return super().speak(text, speed)


class Together(FakeVoice):
    """A voice that speaks several lines in one go."""

    together = 3

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[int] = []

    def speak_all(self, texts: Sequence[str], speed: float = 1.0) -> list[Take]:
        self.groups.append(len(texts))
        return [self.speak(text, speed) for text in texts]


def studio(folder: Path, voice: FakeVoice | None = None, **settings: object) -> CachingStudio:
    voice_settings = VoiceSettings.model_validate({"name": "fake", **settings})
    return CachingStudio(voice or FakeVoice(), folder / "voice", voice_settings, "en")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "voice").iterdir())


def test_all_that_changes_a_take_changes_its_name(tmp_path: Path) -> None:
    text = "Sintel runs."
    lexicon = Lexicon({"Sintel": "Sin-TELL"})
    with_lexicon = CachingStudio(FakeVoice(), tmp_path / "voice", VoiceSettings(name="fake"), "en", lexicon)
    studios = (
        studio(tmp_path),
        studio(tmp_path, FakeVoice("deep")),
        studio(tmp_path, speed=1.1),
        with_lexicon,
    )
    for number, one_studio in enumerate(studios, 1):
        one_studio.say(text)
        assert len(files(tmp_path)) == number
    studio(tmp_path).say(" Sintel  runs. ")
    assert len(files(tmp_path)) == len(studios)


@pytest.mark.parametrize("harm", ["half", "flipped", "empty", "other"])
def test_a_damaged_take_is_spoken_anew(tmp_path: Path, harm: str) -> None:
    whole = studio(tmp_path).say(LINES[0])
    path = tmp_path / "voice" / files(tmp_path)[0]
    data = path.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 0x55]) + data[middle + 1 :]
    path.write_bytes({"half": data[:middle], "flipped": flipped, "empty": b"", "other": b"RIFF"}[harm])
    voice = FakeVoice()
    again = studio(tmp_path, voice).say(LINES[0])
    assert len(voice.calls) == 1
    assert np.array_equal(again.samples, whole.samples)
    assert read_take(path) is not None


def test_several_lines_are_spoken_at_once_or_in_one_go_and_each_once(tmp_path: Path) -> None:
    voice, progress = Slow(), Heard()
    speaking = studio(tmp_path / "slow", voice)
    speaking.say_all([*LINES[:4], LINES[0]], progress=progress)
    assert sorted(text for text, _ in voice.calls) == sorted(LINES[:4])
    assert (progress.totals, progress.advanced, speaking.spoken) == ([4], [4], 4)
    many = Together()
    together = studio(tmp_path, many)
    together.say_all(LINES)
    assert many.groups == [3, 2]
    together.say(LINES[4])
    assert together.spoken == 5
    alone = studio(tmp_path / "other").say(LINES[3])
    assert np.array_equal(alone.samples, together.say(LINES[3]).samples)


def test_takes_that_no_line_uses_are_swept_and_what_is_spoken_before_an_error_is_kept(tmp_path: Path) -> None:
    with pytest.raises(VoiceError):
        studio(tmp_path).say_all([LINES[0], "…", LINES[1]])
    assert len(files(tmp_path)) == 1
    studio(tmp_path).say_all(LINES)
    (tmp_path / "voice" / ".tmp-killed").write_bytes(b"half")
    (tmp_path / "voice" / "notes.txt").write_text("mine")
    later = studio(tmp_path)
    later.say_all(LINES[:2])
    later.remove_unused()
    assert len(files(tmp_path)) == 3
    assert files(tmp_path)[-1] == "notes.txt"
    again = studio(tmp_path)
    again.say_all(LINES[:2])
    assert (again.spoken, again.reused) == (0, 2)


def test_the_lexicon_s_file_goes_before_the_cast_s(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# how we say it\nProog = Proohg  # long o\nSintel = Sin-TELL\n", encoding="utf-8")
    cast = Lexicon({"Sintel": "SIN-tul", "Emo": "EE-mo"})
    studio_with_both = CachingStudio(
        FakeVoice(), tmp_path, VoiceSettings(name="fake", lexicon=str(file)), "en", cast
    )
    assert studio_with_both.sent("Sintel, Proog and Emo.") == "Sin-TELL, Proohg and EE-mo."


@pytest.mark.parametrize(("content", "words"), [
    (b"Sintel\n", "line 1: there is no '='"),
    (b"a = ay\na = eh\n", "line 2: 'a' stands twice"),
    (b"Sintel = [x](/y/)\n", "cannot be said"),
    (b"Sintel = 5\n", "no letter"),
    (b"= x\n", "is no word"),
    (b"\xff\xfe\x00", "is not UTF-16, as which it is marked"),
])  # fmt: skip
def test_a_lexicon_that_cannot_be_meant_is_told_with_its_line(tmp_path, content, words):
    file = tmp_path / "words.txt"
    file.write_bytes(content)
    with pytest.raises(VoiceError) as error:
        read_lexicon(str(file))
    assert words in str(error.value)


RATE = 8000


def kept(folder: Path, text: str = "A door opens.") -> Take:
    return write_take(folder / "take.flac", FakeVoice(rate=RATE).speak(text))


def living() -> int:
    """Bytes of all arrays of numbers there are."""
    gc.collect()
    data = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    arrays = tracemalloc.take_snapshot().filter_traces([data])
    return sum(row.size for row in arrays.statistics("filename"))


def test_what_is_no_sound_is_refused() -> None:
    for sound in (np.zeros(0, np.float32), np.zeros((2, 2), np.float32)):
        with pytest.raises(ValueError, match="a take"):
            Take(sound, RATE)


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
    track = track_of(*(cue(number * 5.0 + 1, number * 5.0 + 5, text) for number, text in enumerate(texts)))
    prepared, config = prepared_of(track), load_config()
    kept(tmp_path)  # what is loaded once is loaded
    tracemalloc.start()
    try:
        for _ in range(2):
            before = living()
            studio = CachingStudio(FakeVoice(rate=RATE), tmp_path / "voice", VoiceSettings(name="fake"), "en")
            studio.say_all(texts)
            fitting = fit_track(track, [], prepared, studio, config)
            held = living() - before
            size = sum(line.take.size * 4 for line in fitting.spoken)
            assert len(fitting.spoken) == 30
            assert size > 1_500_000
            assert held < 100_000, f"{held} bytes of samples are held, of {size}"
    finally:
        tracemalloc.stop()
