"""``shotad voices``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shotad.cli.options import PATH, Console, console_options, settings_options
from shotad.core import UsageError, load_config

if TYPE_CHECKING:
    from shotad.sound import VoiceInfo

_ENDINGS = (".wav", ".flac")
_MOST = 12
"""Languages that a line names."""
_MOST_LINES = 12
"""Voices of one kind that a list of all names one by one."""


@click.command(name="voices")
@click.option("--language", metavar="CODE", help="Only voices for this language, such as de.")
@click.option("--say", metavar="TEXT", help="Speak this text into a file.")
@click.option("--voice", metavar="NAME", help="Voice: a name from the list, or a kind.")
@click.option("--speed", type=float, metavar="N", help="Speed: 1 is the usual pace of AD, 1.2 is faster.")
@click.option("--lexicon", metavar="FILE", help="Pronunciations: word = as it is said, one per line.")
@click.option("--out", type=PATH, metavar="FILE", help="WAV or FLAC file to write.")
@settings_options
@console_options
def command(console: Console, say: str | None, out: Path | None, **options: Any) -> None:
    """List the voices, and hear them.

    Each line gives a name, languages and licence, and how to install the voice if it is missing. The first
    voice for a language is the one that auto takes. With --say it speaks a text into a file, as it would
    speak a line.
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
    from shotad.sound import kind_class, voices

    found = [info for info in voices(language) if name is None or name in (info.name, info.kind)]
    if name is not None and not found:
        kind_class(name.partition(":")[0])
        raise UsageError(f"There is no voice {name!r}{_for(language)}.", "shotad voices lists them.")
    kinds = dict.fromkeys(info.kind for info in found)
    brief = language is None and name is None
    lines = [line for kind in kinds for line in _lines([i for i in found if i.kind == kind], brief=brief)]
    count = sum(info.installed for info in found)
    lines.append(f"{_counted(len(found), 'voice')}{_for(language)}, {count} installed.")
    console.result("\n".join(lines), {"voices": [asdict(info) for info in found]})


def _for(language: str | None) -> str:
    return f" for {language}" if language else ""


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _lines(found: list[VoiceInfo], *, brief: bool) -> list[str]:
    """A line for each voice of a kind; with ``brief`` one for all where they are many."""
    if not brief or len(found) <= _MOST_LINES:
        return [_line(info) for info in found]
    languages = sorted({language.partition("-")[0] for info in found for language in info.languages})
    kind = found[0].kind
    spoken = f"{_counted(len(languages), 'language')}: {', '.join(languages)}"
    how = f"shotad voices --voice {kind} lists them."
    return [f"{kind}, {_counted(len(found), 'voice')}. Speak {spoken}. {found[0].licence}. Installed. {how}"]


def _line(info: VoiceInfo) -> str:
    """``hibari:heart. Speaks en-US. Apache-2.0. Installed. The embedded voice.``"""
    more = len(info.languages) - _MOST
    spoken = ", ".join(info.languages[:_MOST]) + (f" and {more} more" if more > 0 else "")
    spoken = "any language" if info.languages == ("all",) else spoken
    state = "Installed." if info.installed else "Not installed."
    return " ".join(p for p in (f"{info.name}. Speaks {spoken}. {info.licence}.", state, info.note) if p)


def _say(console: Console, config: Any, text: str, out: Path | None, language: str | None) -> None:
    from shotad.core import write_bytes
    from shotad.sound import flac, make_voice, notice, read_lexicon, said, wav

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
    data = flac(take) if path.suffix.lower() == ".flac" else wav(take.samples, take.rate)
    write_bytes(path, [data])
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
    from shotad.sound import voices

    if ":" not in name:
        return None
    base = name.partition("+")[0]
    info = next((info for info in voices() if info.name == base), None)
    return None if info is None or info.languages == ("all",) else info.languages[0]


def _file_name(voice: str) -> str:
    """``espeak-ng:de+f3 → espeak-ng-de-f3.wav``, in the folder where the command runs."""
    return "-".join("".join(c if c.isalnum() else " " for c in voice).split()) + ".wav"
