"""Voices by name, ``KIND`` or ``KIND:WHICH``. A module is imported only when its kind is asked for."""

from __future__ import annotations

import importlib
from typing import cast

from shotad.core import VoiceError, VoiceSettings
from shotad.sound.voice_engines.base import Kind, Speaker, VoiceInfo, nearness, plain_language, unknown

KINDS = {
    "espeak-ng": "shotad.sound.voice_engines.espeak:Espeak",
    "fake": "shotad.sound.voice_engines.fake:FakeVoice",
    "hibari": "shotad.sound.voice_engines.hibari:HibariVoice",
    "openai": "shotad.sound.voice_engines.endpoint:EndpointVoice",
    "piper": "shotad.sound.voice_engines.piper:Piper",
}
"""Kind → ``module:Class``, see `shotad.sound.voice_engines.base.Kind`."""

AUTO = "auto"
BY_ITSELF = ("hibari", "piper", "espeak-ng")
"""Kinds that ``auto`` takes from, the best first: none that sends lines away, none that is for tests."""

_EASIEST = ("hibari", "espeak-ng", "piper", "openai")
"""Kinds in the order of how little it takes to get them."""
_WAYS = 2
"""Ways to get a voice that an error names at most."""

_LISTED = 8
"""Voices that an error names at most."""


def make_voice(settings: VoiceSettings, language: str) -> Speaker:
    """The voice that the settings ask for, ready to speak ``language``.

    ``auto`` is the embedded voice if it speaks the language, else a program that is installed. Raises
    VoiceError for a name that is unknown, a voice that is not installed, and one that does not speak the
    language; the error says which do.
    """
    name = settings.name.strip()
    kind, _, which = name.partition(":")
    if name in ("", AUTO):
        kind, which = _chosen(language), ""
    voice = kind_class(kind).named(which, language, settings)
    if not voice.speaks(language):
        raise VoiceError(f"The voice {voice.name} does not speak {language!r}.", who_speaks(language))
    return voice


def voices(language: str | None = None) -> list[VoiceInfo]:
    """All voices that are known, in the order of ``auto``; with a ``language`` those that speak it.

    Loads no model and contacts no other machine.
    """
    found = sorted((info for kind in KINDS for info in kind_class(kind).known()), key=_rank)
    if language is None:
        return found
    speaking = [info for info in found if info.speaks(language)]
    return sorted(speaking, key=lambda info: (_rank(info), -_nearness(info, language)))


def kind_class(kind: str) -> Kind:
    """The class of a kind, or one written out as ``module.Class`` of a package that is not ours."""
    if kind not in KINDS:
        raise unknown("voice or kind of voices", kind, sorted([AUTO, *KINDS]))
    module, _, attribute = KINDS[kind].partition(":")
    return cast(Kind, getattr(importlib.import_module(module), attribute))


def who_speaks(language: str) -> str:
    """A hint: which voices that are installed speak a language; else what to install, the easiest first."""
    able = [info for info in voices(language) if info.kind != "fake"]
    here = [info.name for info in able if info.installed and info.kind in BY_ITSELF]
    if here:
        more = f", and {len(here) - _LISTED} more (shotad voices)" if len(here) > _LISTED else ""
        return f"Installed voices for it: {', '.join(here[:_LISTED])}{more}."
    able = [info for info in able if info.kind in _EASIEST and not info.installed]
    ways = dict.fromkeys(info.note for info in sorted(able, key=lambda info: _EASIEST.index(info.kind)))
    return " ".join([" Or: ".join(list(ways)[:_WAYS]), "shotad voices lists all."]).strip()


def notice(voice: Speaker) -> list[str]:
    """Plain lines for before the first word is spoken: what leaves this machine; none where all stays."""
    if not voice.sends_to:
        return []
    lines = [f"The lines of the track leave this machine: they are sent to {voice.sends_to} to be spoken."]
    if getattr(voice, "is_open", False):
        lines.append(f"The connection to {voice.sends_to} is not encrypted (http).")
    return lines


def _rank(info: VoiceInfo) -> int:
    return [*BY_ITSELF, "openai", "fake"].index(info.kind)


def _nearness(info: VoiceInfo, language: str) -> int:
    return max(nearness(known, language) for known in info.languages)


def _chosen(language: str) -> str:
    for kind in BY_ITSELF:
        if any(info.installed and info.speaks(language) for info in kind_class(kind).known()):
            return kind
    raise VoiceError(f"No voice that speaks {plain_language(language)!r} is installed.", who_speaks(language))
