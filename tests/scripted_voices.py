"""Programs that speak, made by a test: small scripts on an empty PATH that take what the real ones take, run as real
processes. Each writes what it was asked for into ``asked.json`` beside itself."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import pytest

SPEAK = """
import array, io, json, math, pathlib, sys, wave
def spoken(seconds, rate=22050):
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        numbers = (round(16000 * math.sin(0.12 * at)) for at in range(round(seconds * rate)))
        file.writeframes(array.array("h", numbers).tobytes())
    return out.getvalue()
"""
"""What they all begin with; ``spoken`` is a WAV file of a tone. numpy would take longer to load than they run."""

ESPEAK_LISTS = f"""{SPEAK}
args = sys.argv[1:]
if args == ["--voices"]:
    print("Pty Language       Age/Gender VoiceName          File                 Other Languages")
    print(" 5  de              --/M      German             gmw/de               ")
    print(" 5  en-029          --/M      English_(Caribbean) gmw/en-029           (en 10)")
    print(" 2  en-gb           --/M      English_(Great_Britain) gmw/en            (en 2)")
    print(" 2  en-us           --/M      English_(America)  gmw/en-US            (en 3)")
    print(" 5  cmn             --/M      Chinese_(Mandarin) sit/cmn              (zh-cmn 5)(zh 5)")
    print(" 8  fr              --/M      french-mbrola-1    mb/mb-fr1            ")
elif args == ["--version"]:
    print("eSpeak NG text-to-speech: 1.52.0  Data at: /usr/share/espeak-ng-data")
else:
"""


def espeak_that(speaks: str) -> str:
    """An espeak-ng with these voices, which is asked to speak and does this."""
    return ESPEAK_LISTS + textwrap.indent(speaks, "    ")


ESPEAK = f"""{ESPEAK_LISTS}
    text = sys.stdin.buffer.read().decode()
    pathlib.Path(__file__).with_name("asked.json").write_text(json.dumps([args, text]))
    data = spoken(0.05 * len(text) * 175 / int(args[args.index("-s") + 1]))
    sys.stdout.buffer.write(data[:4] + b"\\xff\\xff\\xff\\x7f" + data[8:40] + b"\\xff\\xff\\xff\\x7f" + data[44:])
"""

PIPER = f"""{SPEAK}
args = dict(zip(sys.argv[1::2], sys.argv[2::2]))
lines = [line.strip() for line in sys.stdin if line.strip()]
pathlib.Path(__file__).with_name("asked.json").write_text(json.dumps([args, lines]))
for number, line in enumerate(lines, 999):
    seconds = 0.05 * len(line) * float(args["--length_scale"])
    (pathlib.Path(args["--output_dir"]) / f"{{number}}.wav").write_bytes(spoken(seconds, 16000))
"""


SAY = f"""{SPEAK}
args = sys.argv[1:]
if args == ["-v", "?"]:
    print("Albert              en_US    # Hello! My name is Albert.")
    print("Alva                sv_SE    # Hej! Jag heter Alva.")
    print("Anna                de_DE    # Hallo! Ich heiße Anna.")
    print("Anna (Premium)      de_DE    # Hallo! Ich heiße Anna.")
    print("Eddy (Englisch (US)) en_US    # Hello! My name is Eddy.")
    print("Fiona               en-scotland # Hello! My name is Fiona.")
    print("Majed               ar_001   # مرحبًا! اسمي ماجد.")
    print("Samantha            en_US    # Hello! My name is Samantha.")
else:
    text = sys.stdin.buffer.read().decode()
    options = dict(zip(args[:-2:2], args[1::2])) if args[-2:] == ["-f", "-"] else sys.exit("no -f -")
    pathlib.Path(__file__).with_name("asked.json").write_text(json.dumps([args, text]))
    seconds = 0.05 * len(text) * 175 / int(args[args.index("-r") + 1])
    pathlib.Path(args[args.index("-o") + 1]).write_bytes(spoken(seconds))
"""
"""macOS's ``say``; its list is as its manual and people's logs show it."""

POWERSHELL = f"""{SPEAK}
import os
if "-Command" not in sys.argv or "System.Speech" not in sys.argv[-1]:
    sys.exit("no script")
folder = pathlib.Path(os.environ["SHOTAD_SPEECH_FOLDER"])
job = json.loads((folder / "job.json").read_text(encoding="ascii"))
names = {{"Microsoft Hedda Desktop": "de-DE", "Microsoft David Desktop": "en-US", "Microsoft Zira Desktop": "en-US"}}
if not job.get("voice"):
    lines = [f"{{language}}\\t{{name}}\\r\\n" for name, language in names.items()]
    (folder / "voices.txt").write_text("".join(lines), encoding="utf-8", newline="")
elif job["voice"] not in names:
    sys.exit("Cannot set voice. No matching voice is installed or the voice was disabled.")
else:
    pathlib.Path(__file__).with_name("asked.json").write_text(json.dumps([sys.argv[1:-1], job]))
    for number, text in enumerate(job["texts"]):
        seconds = 0.05 * len(text) / 3 ** (job["rate"] / 10)
        (folder / f"{{number:04}}.wav").write_bytes(spoken(seconds))
"""
"""Windows PowerShell, which runs the one script that it is given for voices: it lists, or speaks a job."""

ESPEAK_READS = espeak_that("""
text = sys.stdin.buffer.read().decode()
sounds = "".join("o" if letter.isdigit() else letter for letter in text.lower() if letter.isalnum() or letter.isspace())
print(" " + sounds)
""")
"""An espeak-ng that gives the letters of a text as its sounds, and a digit as ``o``."""


def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the PATH, which is empty, and a home without voices."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "SHOTAD_PIPER_VOICES", "ProgramFiles", "ProgramFiles(x86)"):
        monkeypatch.delenv(name, raising=False)
    return folder


def program(folder: Path, code: str = ESPEAK, name: str = "espeak-ng") -> Path:
    """A program in the folder that runs this code."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
    path.chmod(0o755)
    return path


def piper_voice(folder: Path, stem: str, language: str, speakers: int = 1) -> Path:
    """A file that piper's stand-in takes for a voice."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.onnx"
    path.write_bytes(stem.encode())
    description = {
        "language": {"code": language},
        "num_speakers": speakers,
        "espeak": {"voice": language[:2]},
    }
    path.with_name(f"{stem}.onnx.json").write_text(json.dumps(description), encoding="utf-8")
    return path
