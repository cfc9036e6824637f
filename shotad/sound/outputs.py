"""What a render is asked to make, and what it came to: for people, for programs, and for ``shotad lint``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from shotad.core import UsageError, plural, stem_of
from shotad.script import Cue, Finding, Level, Track, finding_of, finding_row, timecode
from shotad.sound.kinds import Pause

SOUNDS = ("wav", "flac", "mp3", "opus", "m4a")
"""Endings of sound files."""
FILMS = ("mp4", "mkv", "ts", "mov", "webm", "m4v", "m2ts")
"""Endings of films."""
OTHERWISE = "mkv"
"""The container for films of kinds that are not written: it holds whatever there is."""


class Kind(StrEnum):
    FILM = "film"
    BOTH = "film+text"
    TEXT = "text"
    AD = "ad"
    MIX = "mix"

    @property
    def is_film(self) -> bool:
        """Whether it has a picture."""
        return self in (Kind.FILM, Kind.BOTH, Kind.TEXT)

    @property
    def is_heard(self) -> bool:
        """Whether a voice is needed for it."""
        return self is not Kind.TEXT


MEANINGS = {
    Kind.FILM: "the film with AD as an additional audio track",
    Kind.BOTH: "the film with AD as an audio track and as a text track of descriptions",
    Kind.TEXT: "the film with a text track of descriptions, for players that read it out",
    Kind.AD: "the description alone",
    Kind.MIX: "the film's sound with the description mixed in",
}

_STEMS = {Kind.FILM: "described", Kind.BOTH: "described", Kind.TEXT: "descriptions"}
"""What a file's name says of its kind, where that is not the kind's own word."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file to be made."""

    kind: Kind
    path: Path

    @property
    def ending(self) -> str:
        """That of its name, without the dot: ``mkv``."""
        return self.path.suffix.lower().lstrip(".")


def parse_wanted(texts: Sequence[str]) -> list[tuple[Kind, str | None]]:
    """``film``, ``film:mkv``, ``ad:mp3`` … as kinds and endings (None: to be chosen). Raises UsageError."""
    found: list[tuple[Kind, str | None]] = []
    for text in texts or ("film",):
        name, _, ending = text.lower().partition(":")
        ending = ending.lstrip(".")
        if name not in MEANINGS:
            known = "; ".join(f"{kind}: {meaning}" for kind, meaning in MEANINGS.items())
            raise UsageError(f"{text!r} is nothing that can be made.", f"There is {known}.")
        kind = Kind(name)
        endings = FILMS if kind.is_film else SOUNDS
        if ending and ending not in endings:
            raise UsageError(f"{kind} cannot be made as {ending!r}.", f"Choose one of {', '.join(endings)}.")
        found.append((kind, ending or None))
    return found


def wanted_files(
    asked: Sequence[tuple[Kind, str | None]],
    film: str,
    folder: Path,
    *,
    out: Path | None = None,
    tag: str = "",
) -> tuple[OutputFile, ...]:
    """Where each result goes: ``movie.described.mp4``, ``movie.ad.wav`` in ``folder``; with
    ``tag`` (a language) ``movie.de.ad.wav``. ``out`` is another folder, or the very file where there is one.

    Films keep the container of the source where it is one that is written. Raises UsageError for two results
    with one name, and for an ``out`` that cannot be meant.
    """
    if out is not None and out.suffix and not out.is_dir():
        if len(asked) != 1:
            raise UsageError(f"--out {out} is one file, but {len(asked)} files are wanted.", "Name a folder.")
        kind, ending = asked[0]
        own, endings = out.suffix.lower().lstrip("."), FILMS if kind.is_film else SOUNDS
        if own not in endings or ending not in (None, own):
            what = kind if ending is None else f"{kind}:{ending}"
            raise UsageError(
                f"{what} cannot be written to {out}, neither a folder nor a file of that kind.",
                f"Make the folder first, or end its name in {' or '.join([ending] if ending else endings)}.",
            )
        return (OutputFile(kind, out),)
    stem = f"{stem_of(film)}{tag and '.'}{tag}"
    own = Path(film).suffix.lower().lstrip(".")
    found: dict[Path, OutputFile] = {}
    for kind, ending in asked:
        otherwise = (own if own in FILMS else OTHERWISE) if kind.is_film else "wav"
        path = (out or folder) / f"{stem}.{_STEMS.get(kind, kind)}.{ending or otherwise}"
        if path in found:
            raise UsageError(
                f"{kind} and {found[path].kind} would both be written to {path}.",
                "Give them different endings, or make one of them.",
            )
        found[path] = OutputFile(kind, path)
    return tuple(found.values())


LISTED = 10
"""How many lines of one fate are listed one by one."""

LONGEST = 200
"""Characters of a line's words and steps that are told."""

NOTICED = 0.05
"""Seconds of a way worth a word."""

FASTER, MOVED = "times faster", "moved "
"""How the ladder's steps are known (`shotad.sound.fitting`)."""

_FACTOR = re.compile(rf"(?<![\d.])([\d.]+) {FASTER}")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """One file, made now (``fresh``) or left as an earlier run made it of the very same parts.

    ``findings`` are what is wrong with it, ``warnings`` what the user should know of it; ``sound`` are the
    figures of what is heard in it, decoded (None: there is no voice in it, or it cannot be read back),
    ``told`` the same in plain lines.
    """

    wanted: OutputFile
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    sound: Mapping[str, Any] | None = None
    told: tuple[str, ...] = ()
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class Sound:
    """How the mix came out: plain lines for people, its measures, what is wrong with it (A3)."""

    told: tuple[str, ...]
    measures: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def as_json(self) -> Json:
        return {
            "told": list(self.told),
            "measures": dict(self.measures),
            "findings": [finding_row(finding) for finding in self.findings],
        }

    @staticmethod
    def of(row: Mapping[str, Any]) -> Sound:
        return Sound(tuple(row["told"]), row["measures"], tuple(map(finding_of, row["findings"])))


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered track. ``anew`` counts takes that the voice spoke in this run, ``kept`` those it had spoken.

    ``brought`` counts lines that people changed in scripts beside the track, by file; ``files`` are side
    files. ``failures`` are files that could not be made, with the reason.
    """

    track: Track
    voice: str | None
    made: tuple[Made, ...]
    anew: int = 0
    kept: int = 0
    sound: Sound | None = None
    pauses: tuple[Pause, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    brought: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[OutputFile, str] = field(default_factory=dict)

    @property
    def spoken(self) -> tuple[Cue, ...]:
        return tuple(cue for cue in self.track.heard if cue.spoken is not None and cue.spoken.text)

    @property
    def unspoken(self) -> tuple[Cue, ...]:
        """The lines that found no place."""
        return tuple(cue for cue in self.track.heard if cue.spoken is not None and not cue.spoken.text)

    @property
    def changed(self) -> tuple[Cue, ...]:
        """The lines that are heard in other words than the script's."""
        return tuple(
            cue for cue in self.spoken if cue.spoken and cue.spoken.text != " ".join(cue.text.split())
        )

    @property
    def faster(self) -> tuple[Cue, ...]:
        """The lines that are spoken faster than the others, to fit."""
        return tuple(cue for cue in self.spoken if any(FASTER in step for step in _steps(cue)))

    @property
    def moved(self) -> tuple[Cue, ...]:
        """The lines that are heard earlier or later than the script has them."""
        return tuple(cue for cue in self.spoken if _way(cue) >= NOTICED)

    @property
    def failed(self) -> bool:
        """Whether a file could not be made, or one was made that must not go out."""
        return bool(self.failures) or any(finding.level is Level.ERROR for finding in self.findings)

    def as_json(self) -> Json:
        """For programs, and what is kept as ``render.json``."""
        return {
            "voice": self.voice,
            "counts": {
                "spoken": len(self.spoken),
                "fewer_words": len(self.changed),
                "faster": len(self.faster),
                "moved": len(self.moved),
                "not_heard": len(self.unspoken),
                "takes_spoken_now": self.anew,
                "takes_kept": self.kept,
            },
            "lines": [_row(cue) for cue in self.track.heard if cue.spoken is not None],
            "sound": None if self.sound is None else self.sound.as_json(),
            "pauses": [
                {"at": round(pause.at, 3), "length": round(pause.length, 3), "id": pause.cue_id}
                for pause in self.pauses
            ],
            "findings": [finding_row(finding) for finding in self.findings],
            "warnings": list(self.warnings),
            "brought": dict(self.brought),
            "made": [
                {
                    "kind": one.wanted.kind.value,
                    "path": str(one.wanted.path),
                    "fresh": one.fresh,
                    "sound": one.sound,
                }
                for one in self.made
            ],
            "failures": [
                {"kind": wanted.kind.value, "path": str(wanted.path), "reason": reason}
                for wanted, reason in self.failures.items()
            ],
            "files": [str(path) for path in self.files],
        }


def summary(rendered: Rendered) -> str:
    """What a describer wants to know, as plain lines."""
    lines = [f"Taken over from {name}: {plural(n, 'line')}." for name, n in rendered.brought.items() if n]
    if rendered.voice is not None:
        told = f"Lines: {len(rendered.spoken)} of {len(rendered.track.heard)} spoken by {rendered.voice}"
        lines.append(f"{told}; {plural(rendered.anew, 'take')} spoken now, {rendered.kept} kept from before.")
        whys = [(cue, (_steps(cue)[-1:] or ("no place",))[0]) for cue in rendered.unspoken]
        rows = [(cue, f"{cue.text} ({why.removeprefix('not spoken: ')})") for cue, why in whys]
        lines += _listed("Not heard", rows)
        rows = []
        for cue in rendered.changed:
            # What is heard, and by which steps it came to that.
            heard = _short(cue.spoken.text if cue.spoken else "")
            steps = [step for step in _steps(cue) if FASTER not in step and not step.startswith(MOVED)]
            rows.append((cue, f"{heard} ({_short('; '.join(steps))})" if steps else heard))
        lines += _listed("Heard in fewer words", rows)
        if rendered.faster:
            found = (_FACTOR.search(step) for cue in rendered.faster for step in _steps(cue))
            fastest = max((float(match[1]) for match in found if match), default=1.0)
            number = plural(len(rendered.faster), "line")
            lines.append(f"Spoken faster to fit: {number}, {fastest:g} times at most.")
        if rendered.moved:
            furthest = max(_way(cue) for cue in rendered.moved)
            lines.append(f"Moved to fit: {plural(len(rendered.moved), 'line')}, by {furthest:.1f} s at most.")
        lines += [told for one in rendered.made for told in one.told]
        lines += rendered.sound.told if rendered.sound else ()
    if rendered.pauses:
        times = "once" if len(rendered.pauses) == 1 else f"{len(rendered.pauses)} times"
        lines.append(f"The film pauses {times}, {sum(p.length for p in rendered.pauses):.1f} s in all.")
    lines += [f"Note: {warning}" for warning in rendered.warnings]
    lines += _first([f"{finding}" for finding in rendered.findings], "render.json", "")
    lines.append("Made:")
    for one in rendered.made:
        state = "" if one.fresh else " (unchanged)"
        lines.append(f"  {one.wanted.path}: {MEANINGS[one.wanted.kind]}{state}")
    lines += [f"  {path}" for path in rendered.files]
    lines += [f"Not made: {wanted.path}: {reason}" for wanted, reason in rendered.failures.items()]
    return "\n".join(lines)


def _listed(title: str, rows: Sequence[tuple[Cue, str]]) -> list[str]:
    told = [f"{timecode(cue.interval.start)}  {text}" for cue, text in rows]
    return [f"{title}: {len(rows)}.", *_first(told, "track.json, under voiced", "  ")] if rows else []


def _first(rows: Sequence[str], where: str, indent: str) -> list[str]:
    more = [] if len(rows) <= LISTED else [f"… {len(rows) - LISTED} more stand in {where}."]
    return [f"{indent}{row}" for row in [*rows[:LISTED], *more]]


def _short(text: str) -> str:
    """No more of a text than is needed to know it."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(' ', 1)[0]} …"


def _steps(cue: Cue) -> tuple[str, ...]:
    return cue.spoken.steps if cue.spoken else ()


def _way(cue: Cue) -> float:
    at = cue.spoken.interval if cue.spoken else None
    return 0.0 if at is None else abs(at.start - cue.interval.start)


def _row(cue: Cue) -> Json:
    spoken = cue.spoken
    at = spoken.interval if spoken else None
    return {
        "id": cue.id,
        "script": cue.text,
        "spoken": spoken.text if spoken else "",
        "start": None if at is None else round(at.start, 3),
        "end": None if at is None else round(at.end, 3),
        "speed": round(spoken.speed, 3) if spoken else None,
        "steps": list(spoken.steps) if spoken else [],
        "pause": round(spoken.pause, 3) if spoken else 0.0,
    }
