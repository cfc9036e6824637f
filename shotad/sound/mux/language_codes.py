"""Languages of tracks by the codes that containers carry: ISO 639-2, in one of its two forms."""

from __future__ import annotations

from functools import cache

from shotad.core import UsageError, language_of, languages
from shotad.sound.mux.containers import Container


def track_language(language: str, container: Container) -> str:
    """A BCP 47 tag or a code as the container has it: ``de-CH`` is ``ger`` in Matroska, ``deu`` elsewhere.

    A tag that is not known gives ``und``; a code of three letters stays as it is where it is not known.
    """
    short = _short().get(language.lower(), language)
    try:
        known = language_of(short)
    except UsageError:
        return language if len(language) == 3 else "und"
    return known.bibliographic if container.muxer in ("matroska", "webm") else known.alpha3


def same_language(one: str, other: str) -> bool:
    """Whether two codes or tags mean one language: ``ger``, ``deu`` and ``de-CH`` do."""
    return _plain(one) == _plain(other)


def _plain(language: str) -> str:
    base = language.lower().replace("_", "-").partition("-")[0]
    return _short().get(base, "" if base == "und" else base)


@cache
def _short() -> dict[str, str]:
    """Code of three letters → the short one."""
    known = [language_of(code) for code in languages()]
    return {code: each.code for each in known for code in (each.bibliographic, each.alpha3)}
