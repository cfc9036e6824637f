"""Voices behind a server, over real HTTP; espeak-ng and piper as programs: stand-ins on the PATH, run as real processes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.sound import (
    CachingStudio,
    Speaker,
    Take,
    make_voice,
    voices,
)
from shotad.sound.takes import write_take
from shotad.sound.voice_engines import kind_class, privacy_notes
from shotad.sound.voice_programs import run_program
from tests.bad_server import Act, BadServer, endless
from tests.endpoint import StoppedTime
from tests.scripted_voices import ESPEAK, PIPER, empty_path, espeak_that, piper_voice, program
from tests.speech_server import coded, refusal, sound, tone, wav

pytest.importorskip("httpx", reason="the endpoint's client is not installed: pip install .[openai]")

KEY = "sk-test-0123456789abcdef"
PIPER_FOLDERS = "SHOTAD_PIPER_VOICES"
"""Environment variable with further folders of piper's voices."""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty PATH, and a home without voices."""
    return empty_path(tmp_path, monkeypatch)


def voice_at(server: BadServer, **settings: Any) -> Speaker:
    return make_voice(VoiceSettings(name="openai:nova", base_url=server.url, **settings), "en")


def patient_voice_at(server: BadServer, time: StoppedTime) -> Speaker:
    """A voice whose pauses between two tries take no time."""
    kind: Any = kind_class("openai")
    voice: Speaker = kind(VoiceSettings(base_url=server.url), "nova", sleep=time.sleep, clock=time.clock)
    return voice


def test_what_is_asked_is_what_the_protocol_says_and_bare_samples_are_read_at_the_rate_told() -> None:
    bare = np.round(tone(0.5, 16000) * 32767).astype("<i2").tobytes()
    with BadServer([sound(tone(0.5)), Act(200, bare, kind="audio/pcm;rate=16000")]) as server:
        take, other = (voice_at(server).speak("Anna runs.") for _ in range(2))
    assert server.requests[0].path == "/v1/audio/speech"
    assert server.requests[0].body == {
        "model": "gpt-4o-mini-tts", "voice": "nova", "input": "Anna runs.", "response_format": "wav",
    }  # fmt: skip
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert (take.rate, take.speed) == (24000, 1.0)
    assert take.seconds == pytest.approx(0.5, abs=0.02)
    assert (other.rate, round(other.seconds, 1)) == (16000, 0.5)


LINE = "A woman climbs the snowy ridge, leaning on a spear."
"""Three seconds of speech."""


def with_size(data: bytes, size: int) -> bytes:
    """A WAV whose head says that so many bytes of samples follow."""
    return data[:40] + size.to_bytes(4, "little") + data[44:]


ONE = wav(tone(3.0))
ANSWERS = {
    "several files": (wav(tone(1.0)) + wav(tone(0.5)) + wav(tone(1.5)), "audio/wav"),
    "several files of unknown length": (with_size(wav(tone(1.5)), 0xFFFFFFFF) * 2, "audio/wav"),
    "several rates": (wav(tone(1.5)) + wav(tone(1.5, 16000), 16000), "audio/wav"),
    "a size of 0": (with_size(ONE, 0), "audio/wav"),
    "a size of -1": (with_size(ONE, 0xFFFFFFFF), "audio/wav"),
    "a size far too large": (with_size(ONE, 0x7FFFF000), "audio/wav"),
    "a size too small": (with_size(ONE, 24000), "audio/wav"),
    "another chunk behind": (ONE + b"LIST\x04\0\0\0INFO", "audio/wav"),
    "a file that is said to be bare": (ONE, "audio/pcm"),
    "bare samples, the high byte first": (
        np.round(tone(3.0) * 9000).astype(">i2").tobytes(), "audio/L16;rate=24000",
    ),
    "several mp3s": (coded("mp3", "libmp3lame", tone(1.5)) * 2, "audio/mpeg"),
    "several flacs": (coded("flac", "flac", tone(1.5)) * 2, "audio/flac"),
    "several opus files": (coded("ogg", "libopus", tone(1.5)) * 2, "audio/ogg"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_read_to_its_end(name: str) -> None:
    body, kind = ANSWERS[name]
    with BadServer([Act(200, body, kind=kind)]) as server:
        take = voice_at(server).speak(LINE)
    assert take.seconds == pytest.approx(3.0, abs=0.12)


def test_a_program_that_writes_several_files_is_read_to_its_end(bin_folder: Path) -> None:
    program(bin_folder, espeak_that("for part in (1.0, 2.0): sys.stdout.buffer.write(spoken(part))"))
    assert espeak("en-gb").speak(LINE).seconds == pytest.approx(3.0, abs=0.1)


BROKEN = {
    "half a line": (wav(tone(0.7)), "cut off"),
    "a file that is cut off": (ONE[: len(ONE) // 2], "cut off: 1.50 of 3.00 s"),
    "an mp3 that is cut off": (coded("mp3", "libmp3lame", tone(3.0))[:4000], "cut off"),
    "a flac that is cut off": (coded("flac", "flac", tone(3.0))[:30000], "cannot be read"),
    "silence": (wav(np.zeros(72000)), "silence"),
    "noise": (wav(np.random.default_rng(0).uniform(-1, 1, 72000)), "noise"),
    "full scale": (wav(np.sign(tone(3.0))), "noise"),
    "no end": (wav(tone(90.0)), "so slowly"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_take_that_cannot_be_whole_is_asked_for_again_and_then_refused(name: str, tmp_path: Path) -> None:
    body, words = BROKEN[name]
    bad, good = Act(200, body), sound(tone(3.0))
    with BadServer([bad, good]) as server:
        studio = CachingStudio(voice_at(server), tmp_path / "good", VoiceSettings(), "en")
        assert studio.say(LINE).seconds == pytest.approx(3.0, abs=0.1)
        assert len(server.requests) == 2
    with BadServer([bad]) as server:
        studio = CachingStudio(voice_at(server), tmp_path / "bad", VoiceSettings(), "en")
        with pytest.raises(VoiceError, match=words):
            studio.say(LINE)
        assert len(server.requests) == 3
    assert not list((tmp_path / "bad").glob("*.flac"))


def test_a_take_that_is_much_faster_than_the_others_is_asked_for_again(tmp_path: Path) -> None:
    lines = [
        f"{LINE[:-1]} of {word}."
        for word in ["oak", "ash", "elm", "yew", "fir", "birch", "larch", "alder", "beech"]
    ]
    answers = [*[sound(tone(4.0))] * 9, sound(tone(1.9)), sound(tone(4.0))]
    with BadServer(answers) as server:
        studio = CachingStudio(voice_at(server), tmp_path, VoiceSettings(), "en")
        for line in lines:
            studio.say(line)
        assert studio.say(LINE).seconds == pytest.approx(4.0, abs=0.1)
        assert len(server.requests) == 11
    # A voice that speaks so each time speaks so.
    with BadServer([*[sound(tone(4.0))] * 9, sound(tone(1.9))]) as server:
        studio = CachingStudio(voice_at(server), tmp_path / "again", VoiceSettings(), "en")
        for line in (*lines, LINE):
            studio.say(line)
        assert studio.say(LINE).seconds == pytest.approx(1.9, abs=0.1)
        assert len(server.requests) == 11


def test_numbers_that_are_long_to_write_and_short_to_say_are_not_too_fast(tmp_path: Path) -> None:
    with BadServer([sound(tone(1.0))]) as server:
        studio = CachingStudio(voice_at(server), tmp_path, VoiceSettings(), "en")
        assert studio.say("20,000,000").seconds == pytest.approx(1.0, abs=0.1)
        assert len(server.requests) == 1


def test_half_a_line_that_was_kept_is_spoken_again(tmp_path: Path) -> None:
    half = Take(np.asarray(tone(0.7), np.float32), 24000)
    with BadServer([sound(tone(3.0))]) as server:
        studio = CachingStudio(voice_at(server), tmp_path, VoiceSettings(), "en")
        studio.say(LINE)
        (kept,) = tmp_path.glob("*.flac")
        write_take(kept, half)
        again = CachingStudio(voice_at(server), tmp_path, VoiceSettings(), "en")
        assert again.say(LINE).seconds == pytest.approx(3.0, abs=0.1)
        assert again.spoken == 1


def test_a_server_without_speed_or_instructions_is_asked_without_from_then_on() -> None:
    acts = [
        refusal(400, "Unrecognized request argument supplied: speed"),
        Act(422, b'{"detail": [{"loc": ["body", "instructions"], "msg": "Extra inputs"}]}'),
        sound(tone(0.5)),
    ]
    with BadServer(acts) as server:
        voice = voice_at(server, instructions="Calm.")
        first, second = voice.speak("Anna runs.", 1.1), voice.speak("Bo sits.", 1.2)
    assert ["speed" in seen.body for seen in server.requests] == [True, False, False, False]
    assert ["instructions" in seen.body for seen in server.requests] == [True, True, False, False]
    assert (first.speed, second.speed) == (1.0, 1.0)


def test_what_may_pass_is_tried_again_as_the_server_asks() -> None:
    time = StoppedTime()
    acts = [refusal(429, "Slow down.", **{"Retry-After": "7"}), refusal(503, "Busy."), sound(tone(0.5))]
    with BadServer(acts) as server:
        patient_voice_at(server, time).speak("Anna runs.")
    assert len(server.requests) == 3
    assert time.slept[0] == 7.0
    assert 0.5 <= time.slept[1] <= 2.0


@pytest.mark.parametrize(("act", "words"), [
    (refusal(401, f"Incorrect API key provided: {KEY}."), "right for this server"),
    (Act(401, '{"error": "No: ' + "".join(f"\\u{ord(one):04x}" for one in KEY) + '"}'), "right for this server"),
    (refusal(404, "The model does not exist."), "may not have the model"),
    (refusal(402, "Billing."), "nothing left"),
    (refusal(400, "Unknown voice nova."), "may not know the voice"),
])  # fmt: skip
def test_what_will_not_pass_is_said_at_once_without_the_key(act: Act, words: str) -> None:
    with BadServer([act]) as server, pytest.raises(VoiceError) as error:
        voice_at(server).speak("Anna runs.")
    assert words in error.value.hint
    assert KEY not in str(error.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("act", [
    Act(200, b"<html>hello</html>", kind="text/html"),
    Act(200, b'{"error": {"message": "no such voice"}}'),
    Act(200, b'{"audio": "none"}'),
])  # fmt: skip
def test_an_answer_without_sound_is_a_clear_error(act: Act) -> None:
    with BadServer([act]) as server, pytest.raises(VoiceError):
        voice_at(server).speak("Anna runs.")


@pytest.mark.parametrize("code", [200, 500])
def test_no_more_is_taken_of_an_endless_answer_than_the_limit(code: int) -> None:
    with BadServer([endless(code)]) as server:
        with pytest.raises(VoiceError, match="more than 32 MiB"):
            patient_voice_at(server, StoppedTime()).speak("A cat.")
        assert server.sent < 48 * len(server.requests) << 20


def test_openai_itself_wants_a_key_and_a_wrong_address_is_told_by_its_setting(monkeypatch):
    with pytest.raises(VoiceError) as error:
        make_voice(VoiceSettings(name="openai", base_url="ftp://x"), "en")
    assert "voice.base_url" in error.value.hint
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(VoiceError, match="wants a key"):
        make_voice(VoiceSettings(name="openai:nova"), "en")


def test_what_leaves_the_machine_is_told_before() -> None:
    away = make_voice(VoiceSettings(name="openai", base_url="http://speech.example/v1"), "de")
    assert privacy_notes(away) == [
        "The lines of the track leave this machine: they are sent to speech.example to be spoken, with the key in "
        "OPENAI_API_KEY.",
        "The connection to speech.example is not encrypted (http).",
    ]
    assert (
        privacy_notes(make_voice(VoiceSettings(name="openai", base_url="http://localhost:9/v1"), "de")) == []
    )


def test_the_identity_names_all_that_changes_the_sound_and_no_secret() -> None:
    def identity(**settings: Any) -> str:
        url = "http://user:secret12@localhost:9/v1"
        return make_voice(VoiceSettings(name="openai", base_url=url, **settings), "en").identity

    assert len({identity(), identity(model="kokoro"), identity(instructions="Calm.")}) == 3
    assert "secret12" not in identity()


TEXT = "A woman climbs the snowy ridge, leaning on a spear."


def command_and_input(folder: Path) -> list[object]:
    """The options with which a program was run last, and what it was given to read."""
    run: list[object] = json.loads((folder / "asked.json").read_text())
    return run


def espeak(which: str) -> Speaker:
    return make_voice(VoiceSettings(name=f"espeak-ng:{which}"), which.partition("-")[0])


def piper() -> Any:
    return make_voice(VoiceSettings(name="piper"), "en")


def error_of(name: str, language: str) -> VoiceError:
    with pytest.raises(VoiceError) as error:
        make_voice(VoiceSettings(name=name), language)
    return error.value


def test_espeak_speaks_what_it_is_given_at_the_pace_that_is_asked(bin_folder: Path) -> None:
    program(bin_folder)
    voice = make_voice(VoiceSettings(name="espeak-ng:de"), "de")
    take = voice.speak("-v ist kein Schalter", 1.2)
    words = ["-v", "de", "-s", "157", "-b", "1", "-z", "--stdin", "--stdout"]
    assert command_and_input(bin_folder) == [words, "-v ist kein Schalter"]
    assert (take.rate, take.speed) == (22050, 157 / 131)
    assert take.seconds == pytest.approx(0.05 * 20 * 175 / 157, abs=0.01)
    assert voice.identity == "espeak-ng:de 1.52.0 131"


def test_an_espeak_that_does_not_tell_its_version_speaks_all_the_same(bin_folder: Path) -> None:
    program(
        bin_folder, ESPEAK.replace('print("eSpeak NG text-to-speech', 'sys.exit("eSpeak NG text-to-speech')
    )
    voice = espeak("de")
    assert voice.identity == "espeak-ng:de  131"
    assert voice.speak("Hallo.").seconds > 0


def test_espeak_knows_its_voices_and_errors_say_who_speaks_a_language(bin_folder: Path) -> None:
    program(bin_folder)
    names = [info.name for info in voices() if info.kind == "espeak-ng"]
    assert names == [f"espeak-ng:{name}" for name in ("de", "en-029", "en-gb", "en-us", "cmn")], (
        "none of mbrola"
    )
    american = make_voice(VoiceSettings(name="espeak-ng:English_(America)+f3"), "en")
    assert american.name == "espeak-ng:en-us+f3"
    for name, language, what, hint in (
        ("espeak-ng:klingon", "en", "no espeak-ng voice called 'klingon'", "English_(America)"),
        ("espeak-ng:de+f 3;x", "de", "no variant", ""),
        ("espeak-ng", "fr", "espeak-ng does not speak 'fr'.", ""),
        (
            "espeak-ng:en-us",
            "de",
            "espeak-ng:en-us does not speak 'de'.",
            "Installed voices for it: espeak-ng:de.",
        ),
    ):
        error = error_of(name, language)
        assert what in error.what
        assert hint in error.hint


def test_programs_that_are_missing_are_listed_with_how_to_get_them(bin_folder: Path) -> None:
    here = {info.name: info for info in voices("de") if info.kind in ("espeak-ng", "piper")}
    assert {name: info.installed for name, info in here.items()} == {"piper": False, "espeak-ng": False}
    assert "Install espeak-ng" in error_of("espeak-ng:de", "de").hint
    assert "Install piper" in error_of("piper", "de").hint
    error = error_of("auto", "de")
    assert error.what == "No voice that speaks 'de' is installed."
    assert "Install espeak-ng" in error.hint


@pytest.mark.parametrize(("speaks", "words"), [
    ("print('no such voice', file=sys.stderr); sys.exit(2)", "no such voice (exit code 2)"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL"),
    ("pass", "gave no sound"),
    ("sys.exit(1)", "it says nothing"),
])  # fmt: skip
def test_a_program_that_fails_is_a_clear_error(bin_folder: Path, speaks: str, words: str) -> None:
    program(bin_folder, espeak_that(speaks))
    with pytest.raises(VoiceError, match="espeak-ng") as error:
        espeak("de").speak("Hallo.")
    assert words in error.value.what


def test_a_program_that_is_gone_or_cannot_be_run_is_a_clear_error(bin_folder: Path) -> None:
    path = program(bin_folder)
    voice = espeak("de")
    path.write_bytes(b"no program")
    with pytest.raises(VoiceError, match="espeak-ng cannot be run"):
        voice.speak("Hallo.")
    path.unlink()
    with pytest.raises(VoiceError, match="no program espeak-ng any more"):
        voice.speak("Hallo.")


def test_a_program_that_hangs_or_speaks_too_few_lines_is_a_clear_error(bin_folder, tmp_path):
    path = program(bin_folder, "import time; time.sleep(60)")
    with pytest.raises(VoiceError, match="took more than 0 s"):
        run_program([str(path)], "", voice="espeak-ng:de", timeout=0.3)
    program(bin_folder, "import sys; sys.stdin.read()", "piper")
    piper_voice(tmp_path / "piper", "en_US-joe-medium", "en_US")
    with pytest.raises(VoiceError, match="piper spoke 0 of 2 lines"):
        piper().speak_all(["One.", "Two."])


def test_piper_speaks_many_lines_in_one_go_each_in_its_place(bin_folder: Path, tmp_path: Path) -> None:
    program(bin_folder, PIPER, "piper")
    model = piper_voice(tmp_path / ".local/share/piper", "en_US-joe-medium", "en_US")
    voice = piper()
    takes = voice.speak_all([TEXT, "Two\nlines.", "And a third."], 1.25)
    assert command_and_input(bin_folder)[1] == [TEXT, "Two lines.", "And a third."]
    command = command_and_input(bin_folder)[0]
    assert isinstance(command, dict)
    assert (command["--model"], command["--length_scale"]) == (str(model), "1.0400")
    lengths = [len(TEXT), 10, 12]
    assert [take.seconds for take in takes] == pytest.approx([0.05 * n * 1.04 for n in lengths], abs=0.01)
    assert voice.name == "piper:en_US-joe-medium"
    assert {(take.rate, take.speed) for take in takes} == {(16000, 1.25)}


def test_piper_voices_are_found_where_people_keep_them_or_by_their_path(bin_folder, tmp_path, monkeypatch):
    program(bin_folder, PIPER, "piper")
    piper_voice(tmp_path / "piper-voices" / "de", "de_DE-thorsten-low", "de_DE")
    own = piper_voice(tmp_path / "mine", "fr_FR-siwis-medium", "fr_FR", speakers=3)
    (tmp_path / "piper-voices" / "half.onnx").write_bytes(b"no description")
    assert [info.name for info in voices("de") if info.kind == "piper"] == ["piper:de_DE-thorsten-low"]
    assert make_voice(VoiceSettings(name=f"piper:{own}#2"), "fr-CA").name == "piper:fr_FR-siwis-medium#2"
    monkeypatch.setenv(PIPER_FOLDERS, str(tmp_path / "mine"))
    assert make_voice(VoiceSettings(name="auto"), "fr").name == "piper:fr_FR-siwis-medium"
    assert "no speaker '3'" in error_of("piper:fr_FR-siwis-medium#3", "fr").what
    assert "no piper voice" in error_of("piper:/nowhere/x.onnx", "fr").what
    assert error_of("piper:de_DE-torsten-low", "de").hint.startswith("Did you mean de_DE-thorsten-low?")
    assert "no piper voice for 'es'" in error_of("piper", "es").what


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed here")
def test_the_real_espeak_speaks_faster_when_it_is_asked_to() -> None:
    voice = make_voice(VoiceSettings(name="espeak-ng"), "en-GB")
    slow, fast = voice.speak(TEXT), voice.speak(TEXT, 1.2)
    assert voice.name == "espeak-ng:en-gb"
    assert 1.5 < slow.seconds < 5
    assert slow.seconds / fast.seconds == pytest.approx(1.2, abs=0.08)
    assert voice.speak(TEXT).samples.tobytes() == slow.samples.tobytes()
