"""The files that a render is asked for (`OutputFile`), and its result (`Rendered`): as an object, as JSON,
and as plain lines (`summary`)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from shotad.core.errors import UsageError
from shotad.core.progress import plural
from shotad.core.workfolder import file_stem
from shotad.film import Film
from shotad.script import (
    Cue,
    Finding,
    Level,
    Track,
)
from shotad.script.cue import timecode
from shotad.script.guidelines import finding_of, finding_row
from shotad.script.reasons import in_english, reason_in
from shotad.sound.kinds import OWN_VOICE, Pause
from shotad.sound.spoken_subtitles import SpokenSubtitles

SOUNDS = ("wav", "flac", "mp3", "opus", "m4a")
"""Endings of sound files."""
FILMS = ("mp4", "mkv", "ts", "mov", "webm", "m4v", "m2ts")
"""Endings of films."""
SIDECARS = ("mka",)
"""Endings of sound beside a film."""
OTHERWISE = "mkv"
"""The container for films in one that is not written here: Matroska holds whatever there is."""


class Kind(StrEnum):
    """The kinds of files that a render can make; `MEANINGS` says what each holds."""

    FILM = "film"
    BOTH = "film+text"
    TEXT = "text"
    AD = "ad"
    MIX = "mix"
    SIDECAR = "sidecar"

    @property
    def is_film(self) -> bool:
        """Whether it has a picture."""
        return self in (Kind.FILM, Kind.BOTH, Kind.TEXT)

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings that its files may have, the first where none is asked for."""
        if self is Kind.SIDECAR:
            return SIDECARS
        return FILMS if self.is_film else SOUNDS

    @property
    def is_heard(self) -> bool:
        """Whether the description is heard in it, so that a voice is needed."""
        return self is not Kind.TEXT


MEANINGS = {
    Kind.FILM: "the film with AD as an additional audio track",
    Kind.BOTH: "the film with AD as an audio track and as a text track of descriptions",
    Kind.TEXT: "the film with a text track of descriptions, for players that read it out",
    Kind.AD: "the description alone",
    Kind.MIX: "the film's sound with the description mixed in",
    Kind.SIDECAR: "the mix as an audio track beside the film, for media servers such as Jellyfin and Kodi",
}

_STEMS = {Kind.FILM: "described", Kind.BOTH: "described", Kind.TEXT: "descriptions"}
"""The word for the kind in a file's name, where that is not `Kind.value`."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file to be made."""

    kind: Kind
    path: Path

    @property
    def ending(self) -> str:
        """The file's ending in lower case, without the dot: ``mkv``."""
        return self.path.suffix.lower().lstrip(".")


def parse_wanted(texts: Sequence[str]) -> list[tuple[Kind, str | None]]:
    """``film``, ``film:mkv``, ``ad:mp3`` … as kinds and endings (None: no ending is given).

    Without any text it is ``film``. Raises UsageError for kinds and endings that are not made.
    """
    kinds: list[tuple[Kind, str | None]] = []
    for text in texts or ("film",):
        name, _, ending = text.lower().partition(":")
        ending = ending.lstrip(".")
        if name not in MEANINGS:
            meanings = "; ".join(f"{kind}: {meaning}" for kind, meaning in MEANINGS.items())
            raise UsageError(f"{text!r} is nothing that can be made.", f"There is {meanings}.")
        kind = Kind(name)
        endings = kind.endings
        if ending and ending not in endings:
            raise UsageError(f"{kind} cannot be made as {ending!r}.", f"Choose one of {', '.join(endings)}.")
        kinds.append((kind, ending or None))
    return kinds


def wanted_files(
    kinds: Sequence[tuple[Kind, str | None]],
    film: str,
    folder: Path,
    *,
    out: Path | None = None,
    tag: str = "",
    language: str = "",
    beside: Path | None = None,
) -> tuple[OutputFile, ...]:
    """The path of each file: ``movie.described.mp4``, ``movie.ad.wav`` in ``folder``; with a language as
    ``tag`` ``movie.de.ad.wav``.

    ``kinds`` are those of `parse_wanted`, ``film`` the file name of the film, whose container films keep
    where it is one of `FILMS`. ``out`` is another folder or, for one file alone, its path. A sidecar is named
    after the film and the ``language`` of the description, ``movie.en.ad.mka``. It goes ``beside`` the film's
    file, if that is given and no ``out`` is.
    Raises UsageError for two files with one path, and for an ``out`` that is no folder and no such file.
    """
    if out is not None and out.suffix and not out.is_dir():
        if len(kinds) != 1:
            raise UsageError(f"--out {out} is one file, but {len(kinds)} files are wanted.", "Name a folder.")
        kind, ending = kinds[0]
        endings = kind.endings
        out_ending = out.suffix.lower().lstrip(".")
        if out_ending not in endings or ending not in (None, out_ending):
            name = kind if ending is None else f"{kind}:{ending}"
            raise UsageError(
                f"{name} cannot be written to {out}, neither a folder nor a file of that kind.",
                f"Make the folder first, or end its name in {' or '.join([ending] if ending else endings)}.",
            )
        return (OutputFile(kind, out),)
    stem = f"{file_stem(film)}.{tag}" if tag else file_stem(film)
    film_ending = Path(film).suffix.lower().lstrip(".")
    if film_ending not in FILMS:
        film_ending = OTHERWISE
    files: dict[Path, OutputFile] = {}
    for kind, given_ending in kinds:
        ending = given_ending or (film_ending if kind.is_film else kind.endings[0])
        path = (out or folder) / f"{stem}.{_STEMS.get(kind, kind)}.{ending}"
        if kind is Kind.SIDECAR:
            # Servers look for the film's whole name, and know languages by their short codes.
            film_stem = Path(film).stem if beside is None else beside.stem
            words = [film_stem, language.partition("-")[0].lower(), "ad", ending]
            place = folder if beside is None else beside.parent
            path = (out or place) / ".".join(word for word in words if word)
        if path in files:
            raise UsageError(
                f"{kind} and {files[path].kind} would both be written to {path}.",
                "Give them different endings, or make one of them.",
            )
        files[path] = OutputFile(kind, path)
    return tuple(files.values())


def film_to_lie_beside(film: Film) -> Path | None:
    """The file of a film, beside which others may be written; None where nothing can be written there."""
    path = film.info.path
    if path is None or path.is_dir() or not os.access(path.parent, os.W_OK):
        return None
    return path


MAX_LISTED = 10
"""How many lines of a group a summary lists one by one."""

MAX_QUOTE = 200
"""Characters of a line's text and steps that a summary quotes."""

MIN_SHIFT = 0.05
"""Seconds by which a line must have moved to count as moved."""

FASTER, MOVED = "times faster", "moved "
"""Words by which steps of `shotad.sound.fitted_takes` are recognised."""

_FACTOR = re.compile(rf"(?<![\d.])([\d.]+) {FASTER}")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class MadeFile:
    """One file, made now (``fresh``) or kept as an earlier render made it of the very same parts.

    ``findings`` are what is wrong with it, ``warnings`` what the user should know of it. ``sound`` are the
    figures of its decoded sound (None: there is no voice in it, or it cannot be read back), ``lines`` the
    same in plain sentences.
    """

    output: OutputFile
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    sound: Mapping[str, Any] | None = None
    lines: tuple[str, ...] = ()
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class SoundSummary:
    """How the mix came out: plain lines, all measures by name, and findings by rule A3."""

    lines: tuple[str, ...]
    measures: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def as_json(self) -> Json:
        return {
            "told": list(self.lines),
            "measures": dict(self.measures),
            "findings": [finding_row(finding) for finding in self.findings],
        }

    @staticmethod
    def from_row(row: Mapping[str, Any]) -> SoundSummary:
        """What `as_json` returned, read back."""
        return SoundSummary(tuple(row["told"]), row["measures"], tuple(map(finding_of, row["findings"])))


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of a render.

    Attributes:
        track: The track, with how each line was spoken (`Cue.spoken`).
        voice: Name of the voice. None: nothing was spoken.
        made: The files, each with its path in ``output.path``.
        takes_spoken: Number of lines that were spoken now.
        takes_kept: Number of lines that an earlier render had spoken.
        sound: Measures of the mix, such as its loudness. None: there is no mix.
        pauses: Pauses of the film (extended AD): where and how long, in seconds.
        findings: Broken rules that must hold, such as loudness off its target.
        warnings: Remarks in words.
        files: Side files, such as scripts and lists of pauses.
        edited_lines: Number of lines that people changed in scripts beside the track, by file.
        subtitles: Subtitles that were spoken too. None: none were asked for.
        left_out: Words that are not heard, for the voice has no sound for them, by the id of their line.
        failures: Files that could not be made, with the reason.
    """

    track: Track
    voice: str | None
    made: tuple[MadeFile, ...]
    takes_spoken: int = 0
    takes_kept: int = 0
    sound: SoundSummary | None = None
    pauses: tuple[Pause, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    edited_lines: Mapping[str, int] = field(default_factory=dict)
    subtitles: SpokenSubtitles | None = None
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failures: Mapping[OutputFile, str] = field(default_factory=dict)

    @property
    def spoken(self) -> tuple[Cue, ...]:
        """The lines that were spoken."""
        return tuple(cue for cue in self.track.heard if cue.spoken is not None and cue.spoken.text)

    @property
    def unspoken(self) -> tuple[Cue, ...]:
        """The lines that were not spoken, because they did not fit."""
        return tuple(cue for cue in self.track.heard if cue.spoken is not None and not cue.spoken.text)

    @property
    def changed(self) -> tuple[Cue, ...]:
        """The lines that were spoken in other words than the script's."""
        changed: list[Cue] = []
        for cue in self.spoken:
            script_text = " ".join(cue.text.split())
            if cue.spoken and cue.spoken.text != script_text:
                changed.append(cue)
        return tuple(changed)

    @property
    def recorded(self) -> tuple[Cue, ...]:
        """The lines that are heard in a person's own recording."""
        return tuple(cue for cue in self.spoken if cue.spoken and cue.spoken.voice == OWN_VOICE)

    @property
    def faster(self) -> tuple[Cue, ...]:
        """The lines that are spoken faster than the others, to fit."""
        return tuple(cue for cue in self.spoken if any(FASTER in step for step in _steps(cue)))

    @property
    def moved(self) -> tuple[Cue, ...]:
        """The lines that are heard earlier or later than the script has them."""
        return tuple(cue for cue in self.spoken if _shift(cue) >= MIN_SHIFT)

    @property
    def failed(self) -> bool:
        """Whether a file could not be made, or one has an error that must not be delivered."""
        return bool(self.failures) or any(finding.level is Level.ERROR for finding in self.findings)

    def as_json(self) -> Json:
        """What ``--json`` prints, and ``render.json`` holds."""
        return {
            "voice": self.voice,
            "counts": {
                "spoken": len(self.spoken),
                "fewer_words": len(self.changed),
                "faster": len(self.faster),
                "moved": len(self.moved),
                "not_heard": len(self.unspoken),
                "recorded": len(self.recorded),
                "words_left_out": sum(len(words) for words in self.left_out.values()),
                "takes_spoken_now": self.takes_spoken,
                "takes_kept": self.takes_kept,
            },
            "lines": [
                _row(cue, self.left_out.get(cue.id, ())) for cue in self.track.heard if cue.spoken is not None
            ],
            "subtitles": None if self.subtitles is None else _subtitles_json(self.subtitles),
            "sound": None if self.sound is None else self.sound.as_json(),
            "pauses": [
                {"at": round(pause.at, 3), "length": round(pause.length, 3), "id": pause.cue_id}
                for pause in self.pauses
            ],
            "findings": [finding_row(finding) for finding in self.findings],
            "warnings": list(self.warnings),
            "brought": dict(self.edited_lines),
            "made": [
                {
                    "kind": made_file.output.kind.value,
                    "path": str(made_file.output.path),
                    "fresh": made_file.fresh,
                    "sound": made_file.sound,
                }
                for made_file in self.made
            ],
            "failures": [
                {"kind": output.kind.value, "path": str(output.path), "reason": reason}
                for output, reason in self.failures.items()
            ],
            "files": [str(path) for path in self.files],
        }


def summary(rendered: Rendered) -> str:
    """The result as plain lines for a describer."""
    lines: list[str] = []
    for script, count in rendered.edited_lines.items():
        if count:
            lines.append(f"Taken over from {script}: {plural(count, 'line')}.")
    if rendered.voice is not None:
        lines += _voice_lines(rendered, rendered.voice)
    if rendered.subtitles is not None:
        lines += subtitle_lines(rendered.subtitles)
    if rendered.pauses:
        times = "once" if len(rendered.pauses) == 1 else f"{len(rendered.pauses)} times"
        seconds = sum(pause.length for pause in rendered.pauses)
        lines.append(f"The film pauses {times}, {seconds:.1f} s in all.")
    lines += [f"Note: {warning}" for warning in rendered.warnings]
    lines += _first_rows([f"{finding}" for finding in rendered.findings], "render.json", indent="")
    lines.append("Made:")
    for made_file in rendered.made:
        state = "" if made_file.fresh else " (unchanged)"
        lines.append(f"  {made_file.output.path}: {MEANINGS[made_file.output.kind]}{state}")
    lines += [f"  {path}" for path in rendered.files]
    lines += [f"Not made: {output.path}: {reason}" for output, reason in rendered.failures.items()]
    return "\n".join(lines)


def _voice_lines(rendered: Rendered, voice: str) -> list[str]:
    """The part of a summary on lines, takes and loudness."""
    lines: list[str] = []
    counts = f"Lines: {len(rendered.spoken)} of {len(rendered.track.heard)} spoken by {voice}"
    takes = f"{plural(rendered.takes_spoken, 'take')} spoken now, {rendered.takes_kept} kept from before"
    lines.append(f"{counts}; {takes}.")
    if rendered.recorded:
        lines.append(f"Of these, heard in your own recording: {len(rendered.recorded)}.")
    unheard: list[tuple[Cue, str]] = []
    for cue in rendered.unspoken:
        steps = _steps(cue)
        # The last step is the reason (`shotad.sound.spoken_lines.with_voiced`).
        reason = steps[-1].removeprefix(in_english("reason.not_spoken", reason="")) if steps else "no place"
        unheard.append((cue, f"{cue.text} ({reason})"))
    lines += _titled_rows("Not heard", unheard)
    silent_words = [
        (cue, f"{', '.join(rendered.left_out[cue.id])} ({_quote(cue.spoken.text if cue.spoken else '')})")
        for cue in rendered.spoken
        if cue.id in rendered.left_out
    ]
    lines += _titled_rows("Heard without words that the voice has no sound for", silent_words)
    if silent_words:
        lines.append("Write how such a word is said (--say-as WORD=SAYING), or take it out of the line.")
    shortened: list[tuple[Cue, str]] = []
    for cue in rendered.changed:
        text = _quote(cue.spoken.text if cue.spoken else "")
        # Steps of speed and place have their own lines below.
        steps_to_text = [step for step in _steps(cue) if FASTER not in step and not step.startswith(MOVED)]
        shortened.append((cue, f"{text} ({_quote('; '.join(steps_to_text))})" if steps_to_text else text))
    lines += _titled_rows("Heard in fewer words", shortened)
    if rendered.faster:
        factors: list[float] = []
        for cue in rendered.faster:
            for step in _steps(cue):
                match = _FACTOR.search(step)
                if match:
                    factors.append(float(match[1]))
        count = plural(len(rendered.faster), "line")
        lines.append(f"Spoken faster to fit: {count}, {max(factors, default=1.0):g} times at most.")
    if rendered.moved:
        furthest = max(_shift(cue) for cue in rendered.moved)
        lines.append(f"Moved to fit: {plural(len(rendered.moved), 'line')}, by {furthest:.1f} s at most.")
    for made_file in rendered.made:
        lines += made_file.lines
    if rendered.sound:
        lines += rendered.sound.lines
    return lines


def subtitle_lines(subtitles: SpokenSubtitles) -> list[str]:
    """The part of a summary on spoken subtitles."""
    texts = dict(subtitles.texts)
    counts = f"Subtitles: {len(subtitles.spoken)} of {len(texts)} spoken by {subtitles.voice}"
    lines = [f"{counts}, from {subtitles.source}."]
    faster = [line for line in subtitles.spoken if any(FASTER in step for step in line.steps)]
    if faster:
        lines.append(f"Subtitles spoken faster: {len(faster)}.")
    rows: list[str] = []
    for subtitle in subtitles.unspoken:
        moment = timecode(int(subtitle.id[1:9]) / 1000)
        rows.append(f"{moment}  {_quote(texts[subtitle.id])} ({subtitle.reason})")
    if rows:
        lines.append(f"Subtitles not heard: {len(rows)}.")
        lines += _first_rows(rows, "render.json", indent="  ")
    return lines


def _subtitles_json(subtitles: SpokenSubtitles) -> Json:
    """What the JSON says of spoken subtitles."""
    spoken = {line.id: line for line in subtitles.spoken}
    reasons = {line.id: line.reason for line in subtitles.unspoken}
    rows: list[Json] = []
    for name, text in subtitles.texts:
        line = spoken.get(name)
        rows.append(
            {
                "id": name,
                "text": text,
                "start": None if line is None else round(line.start, 3),
                "end": None if line is None else round(line.interval.end, 3),
                "steps": [] if line is None else list(line.steps),
                "reason": reasons.get(name, ""),
            }
        )
    return {"source": subtitles.source, "voice": subtitles.voice, "lines": rows}


def _titled_rows(title: str, rows: Sequence[tuple[Cue, str]]) -> list[str]:
    """A title with the number of rows, then each text at its cue's time; nothing for no rows."""
    if not rows:
        return []
    texts = [f"{timecode(cue.interval.start)}  {text}" for cue, text in rows]
    return [f"{title}: {len(rows)}.", *_first_rows(texts, "track.json, under voiced", indent="  ")]


def _first_rows(rows: Sequence[str], file: str, *, indent: str) -> list[str]:
    """The first `MAX_LISTED` rows, and in which ``file`` the others are."""
    listed = list(rows[:MAX_LISTED])
    if len(rows) > MAX_LISTED:
        listed.append(f"… {len(rows) - MAX_LISTED} more stand in {file}.")
    return [f"{indent}{row}" for row in listed]


def _quote(text: str) -> str:
    """A text of at most `MAX_QUOTE` characters, cut between words."""
    return text if len(text) <= MAX_QUOTE else f"{text[:MAX_QUOTE].rsplit(' ', 1)[0]} …"


def _steps(cue: Cue) -> tuple[str, ...]:
    """What was done so that the line fits, in English; nothing where it was not spoken."""
    return tuple(reason_in(step, "en") for step in cue.spoken.steps) if cue.spoken else ()


def _shift(cue: Cue) -> float:
    """Seconds between where the script has a line and where it is heard; 0 where it is not heard."""
    interval = cue.spoken.interval if cue.spoken else None
    return 0.0 if interval is None else abs(interval.start - cue.interval.start)


def _row(cue: Cue, left_out: Sequence[str]) -> Json:
    """What the JSON says of a line; ``left_out`` are its words without a sound."""
    spoken = cue.spoken
    interval = spoken.interval if spoken else None
    return {
        "id": cue.id,
        "script": cue.text,
        "spoken": spoken.text if spoken else "",
        "voice": spoken.voice if spoken else "",
        "start": None if interval is None else round(interval.start, 3),
        "end": None if interval is None else round(interval.end, 3),
        "speed": round(spoken.speed, 3) if spoken else None,
        "steps": list(spoken.steps) if spoken else [],
        "pause": round(spoken.pause, 3) if spoken else 0.0,
        "left_out": list(left_out),
    }
