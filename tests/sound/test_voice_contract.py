"""What every voice does, whoever speaks: those that can be had here, and stand-ins for the others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.core.weight_store import cache_folder, is_fetched
from shotad.sound import CachingStudio, Checker, Speaker, Take, make_voice, speak_checked, voices
from shotad.sound.own_voices import VERSION, installed_version
from tests.bad_server import Act, BadServer, Seen
from tests.kokoro_model import use_tiny_kokoro
from tests.scripted_voices import (
    ESPEAK_READS,
    PIPER,
    POWERSHELL,
    SAY,
    empty_path,
    piper_voice,
    program,
)
from tests.speech_server import sound, tone

LINE = "A woman climbs the snowy ridge, leaning on a spear."
LINES = ("Anna runs.", "A man in a long coat opens the door of the old house.", LINE)
CACHE = cache_folder().parent
"""The user's own weights, before a test has another home."""
HAS_KOKORO = is_fetched("kokoro")
REAL_ESPEAK = shutil.which("espeak-ng")


@dataclass
class Place:
    """Where a voice is made ready: a folder of the test, and the only folder of the PATH."""

    folder: Path
    bin: Path
    monkeypatch: pytest.MonkeyPatch
    stack: ExitStack


@dataclass(frozen=True)
class Case:
    """A voice of the contract. ``prepare`` makes it ready, and returns more settings that it needs."""

    name: str
    prepare: Callable[[Place], dict[str, Any]]
    program: str = ""
    """The program that it runs; empty: none."""
    misspelt: str = ""
    """A name that no voice has, like one that there is; empty: any name is a voice's."""
    near: str = ""
    takes_away: Callable[[Place], None] | None = None
    """Makes it a voice that is missing; None: it never is."""
    speaks_german: bool = False


def _fake(place: Place) -> dict[str, Any]:
    return {}


def _hibari(place: Place) -> dict[str, Any]:
    if installed_version() != VERSION:
        pytest.skip(f"hibari-tts {VERSION} is not installed: shotad[voice]")
    return {}


def _espeak(place: Place) -> dict[str, Any]:
    program(place.bin)
    return {}


def _real_espeak(place: Place) -> dict[str, Any]:
    if REAL_ESPEAK is None:
        pytest.skip("espeak-ng is not installed here")
    (place.bin / "espeak-ng").symlink_to(REAL_ESPEAK)
    return {}


def _piper(place: Place) -> dict[str, Any]:
    program(place.bin, PIPER, "piper")
    piper_voice(place.folder / "piper-voices", "en_US-joe-medium", "en_US")
    return {}


def _say(place: Place) -> dict[str, Any]:
    program(place.bin, SAY, "say")
    return {}


def _sapi(place: Place) -> dict[str, Any]:
    program(place.bin, POWERSHELL, "powershell")
    return {}


def _kokoro(place: Place) -> dict[str, Any]:
    program(place.bin, ESPEAK_READS)
    use_tiny_kokoro(place.folder / "kokoro", place.monkeypatch)
    return {}


def _real_kokoro(place: Place) -> dict[str, Any]:
    if not HAS_KOKORO:
        pytest.skip("Kokoro's weights are not here: shotad models pull kokoro")
    place.monkeypatch.setenv("SHOTAD_CACHE", str(CACHE))
    return _real_espeak(place)


def _server(place: Place) -> dict[str, Any]:
    def answer(request: Seen) -> Act:
        seconds = 0.06 * max(len(request.body["input"]), 5) / request.body.get("speed", 1.0)
        return sound(tone(seconds))

    server = place.stack.enter_context(BadServer(answer))
    return {"base_url": server.url}


def _without(name: str) -> Callable[[Place], None]:
    return lambda place: (place.bin / name).unlink()


def _without_weights(place: Place) -> None:
    place.monkeypatch.setenv("SHOTAD_CACHE", str(place.folder / "empty"))


CASES = {
    "fake": Case("fake", _fake, speaks_german=True),
    "hibari": Case("hibari:heart", _hibari, misspelt="hibari:hart", near="heart"),
    "espeak-ng": Case(
        "espeak-ng:en-us", _espeak, "espeak-ng", "espeak-ng:Inglish_(America)", "English_(America)", _without("espeak-ng")
    ),
    "the real espeak-ng": Case("espeak-ng:en-us", _real_espeak, takes_away=_without("espeak-ng")),
    "piper": Case(
        "piper:en_US-joe-medium", _piper, "piper", "piper:en_US-jo-medium", "en_US-joe-medium",
        _without("piper"),
    ),
    "say": Case("say:Samantha", _say, "say", "say:Samanta", "Samantha", _without("say")),
    "sapi": Case(
        "sapi:Microsoft Zira Desktop", _sapi, "powershell", "sapi:Microsoft Zira", "Microsoft Zira Desktop",
        _without("powershell"),
    ),
    "kokoro": Case(
        "kokoro:af_heart", _kokoro, "espeak-ng", "kokoro:af_haert", "af_heart", _without_weights
    ),
    "the real Kokoro": Case("kokoro:af_heart", _real_kokoro, "", "", "", _without_weights),
    "a server": Case("openai:nova", _server, speaks_german=True),
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with ExitStack() as stack:
        yield Place(tmp_path, empty_path(tmp_path, monkeypatch), monkeypatch, stack)


def prepared(case: Case, place: Place) -> VoiceSettings:
    """The settings of a voice that is ready."""
    if case.name.startswith("openai"):
        pytest.importorskip("httpx", reason="the endpoint's client is not installed: pip install .[openai]")
    return VoiceSettings(name=case.name, **case.prepare(place))


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture
def voice(case: Case, place: Place) -> Speaker:
    return make_voice(prepared(case, place), "en")


def assert_is_sound(take: Take) -> None:
    """Sound that can be heard, not clipped, with next to no silence around it."""
    samples = take.samples
    assert samples.dtype == np.float32
    assert 8000 <= take.rate <= 48000
    assert 0.05 < float(np.abs(samples).max()) < 0.99
    assert np.isfinite(samples).all()
    loud = np.flatnonzero(np.abs(samples) > 0.002 * np.abs(samples).max())
    assert loud[0] < 0.15 * take.rate
    assert samples.size - loud[-1] < 0.15 * take.rate


def test_it_speaks_a_sentence(case: Case, voice: Speaker) -> None:
    take = voice.speak(LINE)
    assert voice.name == case.name
    assert_is_sound(take)
    assert 1.5 < take.seconds < 6


def test_it_passes_for_speech_in_that_language(voice: Speaker) -> None:
    assert_is_sound(speak_checked(voice, LINE, 1.0, Checker(voice.name, "en")))


def test_the_same_text_is_the_same_sound(case: Case, place: Place) -> None:
    settings = prepared(case, place)
    first = make_voice(settings, "en")
    takes = [first.speak(LINE), first.speak("Anna runs."), first.speak(LINE)]
    again = make_voice(settings, "en")
    assert again.identity == first.identity
    assert takes[0].key == takes[2].key == again.speak(LINE).key
    assert takes[0].key != takes[1].key


def test_a_higher_speed_is_shorter_and_told(voice: Speaker) -> None:
    usual, fast = voice.speak(LINE), voice.speak(LINE, 1.25)
    assert 1.1 < fast.speed / usual.speed < 1.4
    assert usual.seconds / fast.seconds == pytest.approx(fast.speed / usual.speed, rel=0.1)
    assert_is_sound(fast)


def test_many_lines_in_one_go_are_spoken_each_in_its_place(voice: Speaker) -> None:
    takes = voice.speak_all(LINES)
    assert [take.key for take in takes] == [voice.speak(line).key for line in LINES]


def test_a_long_text_is_spoken_to_its_end(voice: Speaker) -> None:
    sentence = "A man walks down the road and opens a door. "
    one = voice.speak(sentence)
    long = voice.speak(sentence * 14)
    assert long.seconds > 11 * one.seconds
    assert_is_sound(long)


@pytest.mark.parametrize("text", ["", "  ", "…!?", "\n\t", "— —", "🙂"])
def test_a_text_without_a_word_is_a_clear_error(voice: Speaker, text: str) -> None:
    with pytest.raises(VoiceError, match="no word"):
        voice.speak(text)
    with pytest.raises(VoiceError, match="no word"):
        voice.speak_all(["Anna runs.", text])


ODD = {
    "signs of programs": "-v x --voice y $HOME `ls` %PATH% \"quotes\" 'and' \\backslashes\\ run.",
    "orders to voices": "[[rate 500]] [Anna](/zzz/) <break time='9s'/> <b>runs</b> &amp; &lt; runs.",
    "control characters": "Anna\x00\x07 runs\x1b[31m away\x7f.",
    "several lines": "Anna runs.\r\n\r\nBo sits.\nCy\u2028stands.",
    "half a surrogate": "Anna \ud800 runs.",
    "marks of direction": "\u202eAnna\u202c runs \ufeffaway\u200b.",
    "pictures": "🙂 Anna 👩‍👩‍👧 runs 🏃🏽‍♀️ away.",
    "accents put together and apart": "Zoe\u0308 and Zoë meet a naïve façade in Łódź.",
    "signs without an end": "Anna runs" + "." * 100,
    "one endless word": "a" * 100,
    "digits": "1" * 20 + " 3.5 10:30 1,000 50%",
}
ALPHABETS = (
    "她爬上雪山", "Женщина поднимается", "تصعد المرأة", "एक महिला", "여자가", "Μια γυναίκα", "אישה", "ผู้หญิง",
)  # fmt: skip


def test_whatever_it_is_given_it_speaks(voice: Speaker) -> None:
    for name, text in ODD.items():
        take = voice.speak(text)
        assert_is_sound(take)
        # Nothing stops it halfway: it is as long as its words, and some of the odd things are not heard at all.
        words = sum(word.isalpha() for word in text.split())
        assert 0.12 * words < take.seconds < 0.5 * len(text), name
    # The next line is not changed by it.
    assert voice.speak("Anna runs.").seconds < 3


def test_letters_of_other_languages_are_spoken_left_out_or_refused(voice: Speaker) -> None:
    for text in ALPHABETS:
        with suppress(VoiceError):
            assert_is_sound(voice.speak(text))
        take = voice.speak(f"Anna reads {text} aloud.")
        assert take.seconds >= voice.speak("Anna reads aloud.").seconds - 0.3
        left_out = voice.left_out(f"Anna reads {text} aloud.")
        assert not {"Anna", "reads", "aloud"} & set(left_out)


def test_a_name_that_no_voice_has_is_answered_with_near_ones(case: Case, place: Place) -> None:
    settings = prepared(case, place)
    if not case.misspelt:
        pytest.skip("every name is a voice's, or the voice is here twice")
    with pytest.raises(VoiceError, match="There is no .* called") as error:
        make_voice(settings.model_copy(update={"name": case.misspelt}), "en")
    assert case.near in error.value.hint


def test_a_language_that_it_does_not_speak_is_refused_with_a_way_on(case: Case, place: Place) -> None:
    settings = prepared(case, place)
    if case.speaks_german:
        assert make_voice(settings, "de").speaks("de")
        return
    with pytest.raises(VoiceError, match="'de'") as error:
        make_voice(settings, "de")
    assert error.value.hint


def test_a_voice_that_is_missing_is_a_clear_error_before_anything_is_spoken(case: Case, place: Place) -> None:
    settings = prepared(case, place)
    if case.takes_away is None:
        pytest.skip("it is never missing, or is a package of this installation")
    case.takes_away(place)
    kind = case.name.partition(":")[0]
    with pytest.raises(VoiceError) as error:
        make_voice(settings, "en")
    assert kind in error.value.what
    assert error.value.hint
    assert not any(info.installed for info in voices("en") if info.kind == kind)


def test_a_program_that_is_killed_leaves_no_take_and_the_next_run_goes_on(case: Case, place: Place) -> None:
    settings = prepared(case, place)
    if not case.program:
        pytest.skip("it runs no program")
    voice = make_voice(settings, "en")
    path = place.bin / case.program
    whole = path.read_text(encoding="utf-8")
    takes = place.folder / "takes"
    studio = CachingStudio(voice, takes, settings, "en")
    before = studio.say("Anna runs.")
    killed = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    head, _, code = whole.partition("\n")
    path.write_text(f"{head}\n{killed}{code}", encoding="utf-8")
    with pytest.raises(VoiceError, match="ended by SIGKILL"):
        studio.say(LINE)
    assert len(list(takes.iterdir())) == 1
    path.write_text(whole, encoding="utf-8")
    again = CachingStudio(make_voice(settings, "en"), takes, settings, "en")
    assert_is_sound(again.say(LINE))
    assert again.say("Anna runs.").key == before.key
    assert (again.spoken, again.reused) == (1, 1)


def test_the_list_says_of_each_voice_what_it_speaks_and_whether_it_is_here(case: Case, place: Place) -> None:
    voice = make_voice(prepared(case, place), "en")
    kind = case.name.partition(":")[0]
    infos = [info for info in voices("en") if info.kind == kind and info.installed]
    assert infos
    assert all(info.speaks("en") and info.licence for info in infos)
    names = [info.name for info in infos]
    assert voice.name in names or kind in names
    json.dumps(names)
