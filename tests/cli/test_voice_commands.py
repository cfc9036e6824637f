"""``shotad render``, ``describe --voice`` and ``shotad voices`` as a person at the terminal meets them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import wave
from pathlib import Path

import av
import pytest

from shotad.sound.voice_engines import VOICE_KINDS
from tests.bad_server import Act, BadServer, Seen
from tests.cli.program import FAKE, Shotad
from tests.disk import largest_file
from tests.kokoro_model import use_tiny_kokoro
from tests.rendering.described import film_with, write_folder
from tests.scripted_voices import ESPEAK_READS, POWERSHELL, SAY, empty_path, program
from tests.speech_server import refusal, sound, tone

FAKE_VOICE = ("--voice", "fake")

needs_client = pytest.mark.skipif(
    importlib.util.find_spec("httpx") is None,
    reason="the endpoint's client is not installed: pip install .[openai]",
)


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return Path(shutil.copy(film_with(), tmp_path / "movie.mp4"))


@pytest.fixture
def place(film: Path) -> Path:
    return write_folder(film.with_suffix(".shotad"), film)


@pytest.fixture(autouse=True)
def _no_server_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def server_voice(server: BadServer) -> tuple[str, ...]:
    """Options for a voice behind this server."""
    return ("--voice", "openai:nova", "--set", f"voice.base_url={server.url}")


def test_what_must_not_go_out_is_exit_code_1(shotad: Shotad, place: Path) -> None:
    assert shotad("render", place, *FAKE_VOICE, "--make", "ad", "--set", "mix.duck=12").code == 0
    said = shotad("render", place, *FAKE_VOICE, "--make", "mix", "--set", "mix.level=-20")
    assert said.code == 1
    assert "error A3" in said.out


@needs_client
def test_describing_is_told_before_the_voice_begins_and_a_container_refused_before_all(
    shotad: Shotad, film: Path
) -> None:
    said = shotad("describe", film, *FAKE, *FAKE_VOICE, "--make", "film:webm")
    assert said.code == 1
    assert "WebM cannot hold" in said.err
    assert not (film.with_suffix(".shotad") / "shots.json").exists()
    with BadServer([refusal(400, "The voice is gone.")]) as server:
        said = shotad("describe", film, *FAKE, *server_voice(server), "--no-sheet")
    assert said.code == 1
    assert "The voice is gone" in said.err
    assert "to be spoken in" in said.out
    assert str(film.with_suffix(".shotad") / "track.json") in said.out


def test_describe_with_a_voice_says_each_thing_once_and_one_json(shotad: Shotad, film: Path) -> None:
    words = ("describe", film, *FAKE, *FAKE_VOICE, "--no-sheet", "--make", "ad")
    plain = shotad(*words).out
    heads = ("Files:", "Made:", "Guideline check:", "Lines: ")
    assert [plain.count(word) for word in heads] == [1, 1, 1, 2]
    assert plain.count(f"Next: shotad review {film.with_suffix('.shotad')}\n") == 1
    told = json.loads(shotad(*words, "--json").out)
    assert told["rendered"]["counts"]["takes_spoken_now"] == 0
    assert shotad(*words, "--quiet").out == ""


@pytest.mark.posix  # a name with quotes
def test_a_film_that_moved_is_asked_for_and_may_be_named(shotad: Shotad, place: Path, film: Path) -> None:
    elsewhere = film.parent / "some where" / 'mö\'vie "1".mp4'
    elsewhere.parent.mkdir()
    film.rename(elsewhere)
    lost = shotad("render", place, *FAKE_VOICE)
    assert (lost.code, "--film FILM" in lost.err) == (1, True)
    found = shotad("render", place, *FAKE_VOICE, "--film", elsewhere, "--out", elsewhere.parent)
    assert found.code == 0, found.err
    assert (elsewhere.parent / "movie.described.mp4").is_file()


@needs_client
def test_a_render_that_was_interrupted_is_exit_code_130_and_keeps_what_was_spoken(
    shotad: Shotad, place: Path
) -> None:
    def answer(request: Seen) -> Act:
        if request.number == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return sound(tone(2.5))

    with BadServer(answer) as server:
        said = shotad("render", place, *server_voice(server), "--make", "ad")
        assert (said.code, "run the same command again" in said.err) == (130, True)
        asked_before = len(server.requests)
        said = shotad("render", place, *server_voice(server), "--make", "ad")
        assert said.code == 0
        spoken = [request.body["input"] for request in server.requests]
    assert asked_before >= 3
    assert len(spoken) == len(set(spoken))


def test_a_file_that_fails_is_told_and_is_exit_code_1(shotad: Shotad, place: Path) -> None:
    with largest_file(1_000_000):
        said = shotad("render", place, *FAKE_VOICE, "--make", "mix", "--make", "film")
    assert said.code == 1
    assert f"Not made: {place / 'movie.mix.wav'}" in said.out
    assert "File too large" in said.out
    assert (place / "movie.described.mp4").is_file()


def test_each_kind_has_a_line_of_plain_words(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, code in (("say", SAY), ("powershell", POWERSHELL)):
        program(tmp_path, code, name)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    said = shotad("voices")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert all(any(line.startswith(kind) for line in lines) for kind in VOICE_KINDS)
    assert "say:Anna (Premium). Speaks de-DE. Licence of the system. Installed." in lines
    assert "sapi:Microsoft Hedda Desktop. Speaks de-DE. Licence of the system. Installed." in lines
    assert "fake. Speaks any language. Apache-2.0. Installed. No words: for tests and trials." in lines
    assert lines[-1].endswith(" installed.")
    assert len(lines) < 60, "a kind with many voices is told in one line"
    assert shotad("voices", "--voice", "fake").out.splitlines()[-1] == "1 voice, 1 installed."


def test_a_text_is_spoken_into_a_file_as_a_line_would_be(shotad: Shotad, tmp_path: Path) -> None:
    out = tmp_path / "x.wav"
    said = shotad("voices", "--say", "Dr. Lee sees SINTEL.", "--voice", "fake", "--out", out)
    assert said.code == 0
    assert said.out.startswith("fake says 'Doctor Lee sees Sintel.' in ")
    assert said.out.rstrip().endswith(str(out))
    with wave.open(str(out)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24000)
        assert 1 < file.getnframes() / 24000 < 4


def test_a_system_without_voices_of_its_own_does_not_list_them(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other programs have these names too: PowerShell elsewhere, and a synthesizer of GNUstep.
    folder = empty_path(tmp_path, monkeypatch)
    for name in ("say", "powershell"):
        program(folder, "import sys; sys.exit('I know no voices')", name)
    assert not {"say", "sapi"} & {line.partition(".")[0] for line in shotad("voices").out.splitlines()}
    for name, system in (("say", "macOS"), ("sapi", "Windows")):
        said = shotad("voices", "--voice", name, "--say", "Anna runs.")
        assert said.code != 0
        assert f"The voices of {system}" in said.err


@pytest.mark.parametrize(("language", "kind", "code", "name"), [
    ("de", "say", SAY, "say:Anna (Premium)"),
    ("de", "powershell", POWERSHELL, "sapi:Microsoft Hedda Desktop"),
    # Scots speak English; neither a joke nor a robot is taken where there is another voice.
    ("en-US", "say", SAY, "say:Samantha"),
    ("ar", "say", SAY, "say:Majed"),
])  # fmt: skip
def test_auto_takes_the_best_voice_of_the_system_for_the_language(
    shotad: Shotad,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    kind: str,
    code: str,
    name: str,
) -> None:
    program(empty_path(tmp_path, monkeypatch), code, kind)
    own = {"say": "say", "powershell": "sapi"}[kind]
    voice = ("--voice", own) if language == "en-US" else ()
    out = tmp_path / "x.wav"
    said = shotad("voices", "--language", language, *voice, "--say", "Anna [[rate 900]] runs.", "--out", out)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"{name} says ")
    asked = json.loads((tmp_path / "bin" / "asked.json").read_text())
    if kind == "say":
        assert asked[0][:4] == ["-v", name.partition(":")[2], "-r", "165"]
        assert "[" not in asked[1], "brackets are orders to it"
    else:
        assert asked[1]["rate"] == 0


def test_a_language_that_the_system_could_have_is_answered_with_where_to_get_it(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(empty_path(tmp_path, monkeypatch), SAY, "say")
    said = shotad("voices", "--language", "sk", "--say", "Ahoj.")
    assert said.code != 0
    assert "System Settings" in said.err


def test_kokoro_is_listed_in_one_line_and_says_what_it_lacks(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = empty_path(tmp_path, monkeypatch)
    use_tiny_kokoro(tmp_path / "kokoro", monkeypatch)
    program(folder, ESPEAK_READS)
    (line,) = (line for line in shotad("voices").out.splitlines() if line.startswith("kokoro"))
    assert line.startswith(
        "kokoro, 41 voices. Speak 6 languages: en, es, fr, hi, it, pt. Apache-2.0. Installed."
    )
    said = shotad("voices", "--language", "pt", "--say", "Olá.", "--out", tmp_path / "x.wav")
    assert said.out.startswith("kokoro:pf_dora says ")
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path / "empty"))
    (line,) = (line for line in shotad("voices").out.splitlines() if line.startswith("kokoro"))
    assert "Not installed. Fetch Kokoro's weights (120 MB): shotad models pull kokoro." in line
    said = shotad("voices", "--voice", "kokoro:pf_dora", "--say", "Olá.")
    assert said.code != 0
    assert "shotad models pull kokoro" in said.err


PLAYS = """
import pathlib, shutil, sys
shutil.copy(sys.argv[-1], pathlib.Path(__file__).with_name("played.wav"))
"""


def test_a_voice_is_heard_at_once_and_no_file_is_left(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, work = empty_path(tmp_path, monkeypatch), tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    words = ("voices", "--say", "Anna runs.", "--voice", "fake", "--play")
    said = shotad(*words)
    assert said.code == 1
    assert "No program that plays sound is installed" in said.err
    assert "--out" in said.err
    # The first has no sound server to talk to, so the second plays.
    program(folder, "import sys; sys.exit('Connection refused')", "paplay")
    said = shotad(*words)
    assert said.code == 1
    assert "Connection refused" in said.err
    program(folder, PLAYS, "aplay")
    said = shotad(*words, "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["file"] is None
    with wave.open(str(folder / "played.wav")) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(
            json.loads(said.out)["seconds"], abs=0.01
        )
    assert list(work.iterdir()) == []
    said = shotad(*words, "--out", "kept.flac")
    assert said.code == 0, said.err
    assert [path.name for path in work.iterdir()] == ["kept.flac"]
    assert shotad("voices", "--play").code == 2


@needs_client
def test_an_endpoint_is_named_by_settings(
    shotad: Shotad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with BadServer([sound(tone(0.5))]) as server:
        options = (*server_voice(server), "--set", "voice.model=kokoro", "--language", "de")
        said = shotad("voices", "--say", "Hallo.", *options)
    assert said.code == 0
    assert [server.requests[0].body[name] for name in ("voice", "model")] == ["nova", "kokoro"]
    with BadServer([refusal(400, "Unknown voice.")]) as server:
        said = shotad("voices", "--say", "Hallo.", *server_voice(server))
    assert said.code == 1
    assert "Unknown voice (status 400)" in said.err


def test_flac_speed_and_lexicon(shotad: Shotad, tmp_path: Path) -> None:
    words, out = tmp_path / "words.txt", tmp_path / "x.flac"
    words.write_text("Sintel = Sin-TELL\n", encoding="utf-8")
    options = ("--voice", "fake", "--speed", "1.25", "--lexicon", words, "--json")
    found = json.loads(shotad("voices", "--say", "Sintel runs.", "--out", out, *options).out)
    assert (found["said"], found["speed"]) == ("Sin-TELL runs.", 1.25)
    with av.open(str(out)) as container:
        assert container.streams.audio[0].codec_context.name == "flac"


def test_a_voice_is_looked_at_only_where_something_is_spoken(
    shotad: Shotad, film: Path, tmp_path: Path
) -> None:
    words = ("describe", film, "--engine", "fake", "--out", tmp_path / "work", "--estimate")
    assert shotad(*words, "--set", "voice.name=hibari:nobody").code == 0
    for asked in (("--voice", "hibari:nobody"), ("--make", "ad", "--set", "voice.name=hibari:nobody")):
        said = shotad(*words, *asked)
        assert said.code != 0
        assert "nobody" in said.err
