"""``shotad voices``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from shotad.cli.options import PATH, Console, console_options, settings_options
from shotad.core import load_config
from shotad.core.errors import UsageError
from shotad.core.progress import plural

_ENDINGS = (".wav", ".flac")
_MOST = 12
"""Languages that a line names."""
_MOST_LINES = 12
"""Voices of one kind that a list of all names one by one."""


@click.command(name="voices")
@click.option("--language", metavar="CODE", help="Only voices for this language, such as de.")
@click.option("--say", metavar="TEXT", help="Speak this text into a file, or aloud with --play.")
@click.option("--play", is_flag=True, help="Play what is spoken; a file is written only with --out.")
@click.option("--voice", metavar="NAME", help="Voice: a name from the list, or a kind.")
@click.option("--speed", type=float, metavar="N", help="Speed: 1 is the usual pace of AD, 1.2 is faster.")
@click.option("--lexicon", metavar="FILE", help="Pronunciations: word = as it is said, one per line.")
@click.option("--out", type=PATH, metavar="FILE", help="WAV or FLAC file to write.")
@settings_options
@console_options
def command(console: Console, say: str | None, play: bool, out: Path | None, **options: Any) -> None:
    """List the voices, and hear them.

    Each line gives a name, languages and licence, and how to install the voice if it is missing. The first
    voice for a language is the one that auto takes. With --say it speaks a text as it would speak a line,
    into a file, or aloud with --play.
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
        _say(console, config, say, out, play, options["language"])
    elif out is not None or play or options["speed"] is not None or options["lexicon"]:
        raise UsageError("There is nothing to speak.", "Give a text: --say TEXT.")
    else:
        _list(console, options["language"], options["voice"])


def _list(console: Console, language: str | None, name: str | None) -> None:
    from shotad.sound import voices
    from shotad.sound.voice_engines import kind_class

    whom, lines = f" for {language}" if language else "", []
    shown = [info for info in voices(language) if name is None or name in (info.name, info.kind)]
    if name is not None and not shown:
        kind_class(name.partition(":")[0])
        raise UsageError(f"There is no voice {name!r}{whom}.", "shotad voices lists them.")
    for kind, installed in dict.fromkeys((info.kind, info.installed) for info in shown):
        alike = [info for info in shown if (info.kind, info.installed) == (kind, installed)]
        if language is None and name is None and len(alike) > _MOST_LINES:
            codes = sorted({code.partition("-")[0] for info in alike for code in info.languages})
            spoken = f"{plural(len(codes), 'language')}: {', '.join(codes)}"
            state = "Installed." if installed else f"Not installed. {alike[0].note}"
            how = f"shotad voices --voice {kind} lists them."
            lines.append(
                f"{kind}, {plural(len(alike), 'voice')}. Speak {spoken}. {alike[0].licence}. {state} {how}"
            )
            continue
        for info in alike:
            # ``hibari:heart. Speaks en-US. Apache-2.0. Installed. The embedded voice.``
            more = len(info.languages) - _MOST
            spoken = ", ".join(info.languages[:_MOST]) + (f" and {more} more" if more > 0 else "")
            spoken = "any language" if info.languages == ("all",) else spoken
            state = "Installed." if info.installed else "Not installed."
            lines.append(f"{info.name}. Speaks {spoken}. {info.licence}. {state} {info.note}".rstrip())
    count = sum(info.installed for info in shown)
    lines.append(f"{plural(len(shown), 'voice')}{whom}, {count} installed.")
    console.result("\n".join(lines), {"voices": [asdict(info) for info in shown]})


def _say(
    console: Console, config: Any, text: str, out: Path | None, play: bool, language: str | None
) -> None:
    from shotad.core.files import write_bytes
    from shotad.sound import (
        Checker,
        make_voice,
        read_lexicon,
        speak_checked,
        voices,
    )
    from shotad.sound.player import play_take
    from shotad.sound.pronunciation import spoken_text
    from shotad.sound.takes import flac, wav
    from shotad.sound.voice_engines import privacy_notes

    if not any(c.isalnum() for c in text):
        raise UsageError(f"There is no word in {text!r}.", "Give a text: --say TEXT.")
    if out is not None and out.suffix.lower() not in _ENDINGS:
        raise UsageError(f"{out} is no .wav and no .flac file.", "Name one: --out voice.wav.")
    # The language that a voice's name itself asks for; none where it speaks several, or none is named
    name = config.voice.name.partition("+")[0]
    languages = (info.languages for info in voices() if info.name == name) if ":" in name else iter(())
    own = next(languages, ("all",))
    spoken = language or (config.language if own == ("all",) else own[0])
    lexicon = read_lexicon(config.voice.lexicon)
    voice = make_voice(config.voice, spoken)
    for line in privacy_notes(voice):
        console.note(line)
    sent = spoken_text(text, spoken, lexicon, voice.reads)
    take = speak_checked(voice, sent, config.voice.speed, Checker(voice.name, spoken))
    # ``espeak-ng:de+f3 → espeak-ng-de-f3.wav``, in the folder where the command runs
    words = "".join(c if c.isalnum() else " " for c in voice.name).split()
    path = out or (None if play else Path("-".join(words) + ".wav"))
    if path is not None:
        data = flac(take) if path.suffix.lower() == ".flac" else wav(take.samples, take.rate)
        write_bytes(path, [data])
    value = {
        "voice": voice.name,
        "language": spoken,
        "said": sent,
        "seconds": round(take.seconds, 3),
        "rate": take.rate,
        "speed": round(take.speed, 3),
        "file": None if path is None else str(path),
    }
    place = "." if path is None else f": {path}"
    console.result(f"{voice.name} says {sent!r} in {take.seconds:.1f} s{place}", value)
    if play:
        play_take(take)
