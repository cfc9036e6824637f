"""Kokoro on a tiny model of the same inputs and outputs: what of a text reaches it, and in which spelling."""

from __future__ import annotations

import ctypes.util
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from shotad.core import load_config
from shotad.core.config.sound import VoiceSettings
from shotad.core.errors import VoiceError
from shotad.sound import Speaker, make_voice
from shotad.sound.kokoro_voice import spelled_sounds
from shotad.sound.phonemes import find_reader, read_sounds
from shotad.sound.spoken_subtitles import subtitle_voice
from tests.kokoro_model import use_tiny_kokoro
from tests.scripted_voices import ESPEAK_READS, empty_path, espeak_that, program

REAL_ESPEAK = shutil.which("espeak-ng")
LIBRARY = ctypes.util.find_library("espeak-ng")

TELLS = espeak_that("""
text = sys.stdin.buffer.read().decode()
asked = pathlib.Path(__file__).with_name("asked.txt")
with asked.open("a", encoding="utf-8") as file:
    file.write(f"{args[-1]}: {text}\\n")
print("(^e^n)" + text.lower() + "(^f^r)")
""")
"""An espeak-ng that notes each clause with its language, and gives the letters in another language's brackets."""


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty PATH, with the tiny model as the only weights."""
    use_tiny_kokoro(tmp_path / "kokoro", monkeypatch)
    return empty_path(tmp_path, monkeypatch)


def voice(name: str = "kokoro:ff_siwis", language: str = "fr") -> Speaker:
    return make_voice(VoiceSettings(name=name), language)


def sounds_of(text: str) -> float:
    """How many sounds a voice was given for a text, by the length of its tone; ``bababa`` are six."""
    speaker = voice()
    six, twelve = (speaker.speak(reference).seconds for reference in ("bababa", "babababababa"))
    return 6 + 6 * (speaker.speak(text).seconds - six) / (twelve - six)


@pytest.mark.parametrize(("text", "clauses", "sounds"), [
    ("ab cd", ["ab cd"], "ab cd"),
    ("ab, cd. ef", ["ab", "cd", "ef"], "ab, cd. ef"),
    ("“ab”, cd (ef)!", ["ab", "cd ef"], "ab, cd ef!"),
    ("ab — cd; ef: gh… ij?", ["ab", "cd", "ef", "gh", "ij"], "ab— cd; ef: gh… ij?"),
    # Signs within a word or a number, and behind an initial, are no pauses.
    ("J. ab 3.5 at 10:30", ["J. ab 3.5 at 10:30"], "j. ab 3.5 at 10:30"),
    ("ab.ab ab-ab", ["ab.ab ab-ab"], "ab.ab ab-ab"),
    ("ab?! ... cd", ["ab", "cd"], "ab. cd"),
])  # fmt: skip
def test_clauses_are_read_one_by_one_and_keep_their_signs(
    bin_folder: Path, text: str, clauses: list[str], sounds: str
) -> None:
    program(bin_folder, TELLS)
    reader = find_reader()
    assert reader is not None
    assert read_sounds(text, "fr-fr", reader, "kokoro:ff_siwis") == sounds
    asked = (bin_folder / "asked.txt").read_text(encoding="utf-8").splitlines()
    assert asked == [f"fr-fr: {clause}" for clause in clauses]


@pytest.mark.parametrize(("name", "language", "espeak"), [
    ("kokoro:af_heart", "en", "en-us"), ("kokoro:bf_emma", "en", "en-gb"), ("kokoro", "en-GB", "en-gb"),
    ("kokoro", "es-MX", "es"), ("kokoro", "hi", "hi"), ("kokoro", "it", "it"), ("kokoro", "pt-PT", "pt-br"),
])  # fmt: skip
def test_each_voice_is_read_to_in_its_own_language(
    bin_folder: Path, name: str, language: str, espeak: str
) -> None:
    program(bin_folder, TELLS)
    voice(name, language).speak("abab")
    assert (bin_folder / "asked.txt").read_text(encoding="utf-8") == f"{espeak}: abab\n"


def test_the_model_gets_a_number_for_each_sound_that_it_knows_and_no_other(bin_folder: Path) -> None:
    program(bin_folder, ESPEAK_READS)
    # Start and end are silent, and g and ü are no sounds of it: those are written ɡ and y.
    assert sounds_of("bagübagü") == pytest.approx(4, abs=0.5)
    with pytest.raises(VoiceError, match="has no sound for 'ggg'"):
        voice().speak("ggg")


def test_a_text_of_more_sounds_than_the_model_takes_is_given_in_parts(bin_folder: Path) -> None:
    program(bin_folder, ESPEAK_READS.replace('print(" " + sounds)', 'print(" ".join([sounds] * 60))'))
    short, long = (voice().speak(text).seconds for text in ("ba", "babababa"))
    # 60 times 3 sounds with the blanks between them, and 60 times 9, which is more than 510.
    assert long / short == pytest.approx(3, abs=0.05)


@pytest.mark.parametrize(("espeak", "language", "own"), [
    ("klˈa^ɪmz hˈa^ʊs bˈɔ^ɪ sˈe^ɪ d^ʒˈʌd^ʒ t^ʃˈɜːt^ʃ", "en-US", "klˈImz hˈWs bˈY sˈA ʤˈʌʤ ʧˈɜɹʧ"),
    ("ɡˈo^ʊ wˈɔːɾɚ bˈʌʔn\u0329 ˈo^ʊpm\u0329", "en-US", "ɡˈO wˈɔTəɹ bˈʌtn ˈOpᵊm"),
    ("ɡˈə^ʊ hˈe^ə nˈi^ə wˈɔːtə", "en-GB", "ɡˈQ hˈɛː nˈɪə wˈɔːtə"),
    ("ʁˈɑ̃dʁ t^sˈa e ɔ", "fr-FR", "ʁˈɑ̃dʁ ʦˈa e ɔ"),
])  # fmt: skip
def test_sounds_are_spelled_as_the_model_was_trained(espeak: str, language: str, own: str) -> None:
    assert spelled_sounds(espeak, language) == own


@pytest.mark.skipif(
    REAL_ESPEAK is None or LIBRARY is None, reason="espeak-ng and its library are not installed"
)
@pytest.mark.parametrize(("language", "text"), [
    ("en-us", "A woman climbs the snowy ridge, leaning on a spear. It is 3.5 miles."),
    ("fr-fr", "Une femme gravit la crête, appuyée sur une lance."),
    ("pt-br", "Uma mulher sobe a montanha."),
])  # fmt: skip
def test_the_library_in_a_process_of_its_own_reads_as_the_program_does(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, text: str
) -> None:
    assert REAL_ESPEAK is not None
    told = subprocess.run([REAL_ESPEAK, "--version"], capture_output=True, text=True, check=True).stdout
    data = Path(told.rpartition("Data at:")[2].strip())
    # The wheel, as it lies when it is installed: the library with its data beside it.
    site = tmp_path / "site"
    package = site / "espeakng_loader"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    folders = (data.parent, data.parents[1] / "lib", Path("/usr/lib"), Path("/usr/local/lib"))
    found = next((folder / str(LIBRARY) for folder in folders if (folder / str(LIBRARY)).is_file()), None)
    if found is None:
        pytest.skip("the library of espeak-ng is not where its data is")
    (package / "libespeak-ng.so").symlink_to(found)
    (package / "espeak-ng-data").symlink_to(data)
    about = site / "espeakng_loader-0.2.4.dist-info" / "METADATA"
    about.parent.mkdir()
    about.write_text("Metadata-Version: 2.1\nName: espeakng-loader\nVersion: 0.2.4\n", encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    library = find_reader()
    assert library is not None
    assert library.version == "espeakng-loader 0.2.4"
    by_library = read_sounds(text, language, library, "kokoro")
    (bin_folder / "espeak-ng").symlink_to(REAL_ESPEAK)
    by_program = find_reader()
    assert by_program is not None
    assert by_program.version != library.version
    assert by_library == read_sounds(text, language, by_program, "kokoro")
    with pytest.raises(VoiceError, match="does not know the language xx"):
        read_sounds(text, "xx", library, "kokoro")


def test_without_a_reader_it_is_refused_with_what_to_do(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    with pytest.raises(VoiceError, match="needs espeak-ng") as error:
        voice()
    assert "shotad[kokoro]" in error.value.hint


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_damaged_file_of_voices_is_a_clear_error(
    bin_folder: Path, tmp_path: Path, content: bytes | None
) -> None:
    program(bin_folder, ESPEAK_READS)
    (voices,) = (tmp_path / "kokoro").rglob("voices-v1.0.bin")
    if content is None:
        np.savez(voices.with_suffix(".npz"), af_heart=np.zeros((510, 1, 256), np.float32))
        voices.with_suffix(".npz").replace(voices)
    else:
        voices.write_bytes(content)
    with pytest.raises(VoiceError, match="cannot be read") as error:
        voice()
    assert "shotad models pull kokoro" in error.value.hint


def test_subtitles_are_not_read_by_a_voice_that_sounds_like_that_of_the_description(bin_folder: Path) -> None:
    program(bin_folder, ESPEAK_READS)
    chosen = subtitle_voice(load_config(), "en-US", "hibari:heart")
    # af_heart is whom the embedded voice was made to sound like.
    assert chosen.name == "kokoro:af_bella"
