"""``shotad voices``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.console import Console
from shotad.cli.options import console_options, settings_options
from shotad.config import load_config
from shotad.errors import UsageError

if TYPE_CHECKING:
    from shotad.sound.voices.base import VoiceInfo

_ENDINGS = (".wav", ".flac")
_MOST = 12
"""Languages that a line names."""


@click.command(name="voices")
@click.option("--language", metavar="CODE", help="Voices that speak it, the one that auto takes first: de.")
@click.option("--say", metavar="TEXT", help="Speak a text into a file.")
@click.option("--voice", metavar="NAME", help="Who speaks it: a name of the list, or its kind.")
@click.option("--speed", type=float, metavar="N", help="How fast: 1 is the voice's own pace, 1.2 faster.")
@click.option("--lexicon", metavar="FILE", help="How words are said: word = as it is said, one a line.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to: a .wav or .flac file."
)
@settings_options
@console_options
def command(console: Console, say: str | None, out: Path | None, **options: Any) -> None:
    """List the voices, and hear them.

    A line for each: its name, its languages, its licence, and how to get it where it is not installed. With
    --say a text is spoken as a line of a track would be, into a file.
    """
    config = load_config(
        options["config"],
        options["assignments"],
        language=options["language"],
        voice__name=options["voice"],
        voice__speed=options["speed"],
        voice__lexicon=options["lexicon"],
    )
    if say is not None:
        _say(console, config, say, out, options["language"])
    elif out is not None or options["speed"] is not None or options["lexicon"]:
        raise UsageError("There is nothing to speak.", "Give a text: --say TEXT.")
    else:
        _list(console, options["language"], options["voice"])


def _list(console: Console, language: str | None, name: str | None) -> None:
    from shotad.sound.voices import KINDS, kind_class, voices

    found = [info for info in voices(language) if _is_meant(info, name)]
    if name is not None and not found:
        kind_class(name.partition(":")[0] if name not in KINDS else name)
    lines = [_line(info) for info in found]
    count = sum(info.installed for info in found)
    of = f" for {language}" if language else ""
    lines.append(f"{len(found)} {'voice' if len(found) == 1 else 'voices'}{of}, {count} installed.")
    console.result("\n".join(lines), {"voices": [_row(info) for info in found]})


def _is_meant(info: VoiceInfo, name: str | None) -> bool:
    return name is None or name in (info.name, info.kind)


def _line(info: VoiceInfo) -> str:
    """``hibari:heart. Speaks en-US. Apache-2.0. Installed. The embedded voice.``"""
    named = ", ".join(info.languages[:_MOST])
    more = len(info.languages) - _MOST
    spoken = (
        "any language" if info.languages == ("all",) else named + (f" and {more} more" if more > 0 else "")
    )
    state = "Installed." if info.installed else "Not installed."
    return " ".join(p for p in (f"{info.name}. Speaks {spoken}. {info.licence}.", state, info.note) if p)


def _row(info: VoiceInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "kind": info.kind,
        "languages": list(info.languages),
        "licence": info.licence,
        "installed": info.installed,
        "note": info.note,
    }


def _say(console: Console, config: Any, text: str, out: Path | None, language: str | None) -> None:
    from shotad.sound.saying import said
    from shotad.sound.studio import read_lexicon
    from shotad.sound.voices import make_voice, notice
    from shotad.sound.voices.takefile import flac, wav
    from shotad.workfolder import write_bytes

    if not any(c.isalnum() for c in text):
        raise UsageError(f"There is no word in {text!r}.", "Give a text: --say TEXT.")
    if out is not None and out.suffix.lower() not in _ENDINGS:
        raise UsageError(f"{out} is no .wav and no .flac file.", "Name one: --out voice.wav.")
    spoken = language or _language_of(config.voice.name) or config.language
    lexicon = read_lexicon(config.voice.lexicon)
    voice = make_voice(config.voice, spoken)
    for line in notice(voice):
        console.note(line)
    sent = said(text, spoken, lexicon, voice.reads)
    take = voice.speak(sent, config.voice.speed)
    path = out or Path(_file_name(voice.name))
    write_bytes(path, [(flac if path.suffix.lower() == ".flac" else wav)(take)])
    value = {
        "voice": voice.name,
        "language": spoken,
        "said": sent,
        "seconds": round(take.seconds, 3),
        "rate": take.rate,
        "speed": round(take.speed, 3),
        "file": str(path),
    }
    console.result(f"{voice.name} says {sent!r} in {take.seconds:.1f} s: {path}", value)


def _language_of(name: str) -> str | None:
    """The language that a voice's name itself asks for; None where it speaks several, or none is named."""
    from shotad.sound.voices import voices

    if ":" not in name:
        return None
    base = name.partition("+")[0]
    info = next((info for info in voices() if info.name == base), None)
    return None if info is None or info.languages == ("all",) else info.languages[0]


def _file_name(voice: str) -> str:
    """``espeak-ng:de+f3 → espeak-ng-de-f3.wav``, in the folder where the command runs."""
    return "-".join("".join(c if c.isalnum() else " " for c in voice).split()) + ".wav"
