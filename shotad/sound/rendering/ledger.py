"""``render.json``: which files were made of what, so that one whose parts are all as they were is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from shotad import __version__
from shotad.core import key_of
from shotad.script import finding_of, finding_row, to_json
from shotad.sound.rendering.making import Product, tags_of, written_lines
from shotad.sound.rendering.materials import Materials
from shotad.sound.rendering.outputs import Kind, Wanted
from shotad.sound.rendering.rendered import Failure, Json, Made, Rendered, Sound
from shotad.sound.rendering.voicing import Voicing

RECORD = "render.json"
FORMAT = 2
"""Raised when files are made in another way; those of before are then made anew."""


class Ledger:
    """What a run has made, and what of that still stands. Every file is noted as soon as it is made."""

    def __init__(self, materials: Materials, voicing: Voicing | None, *, force: bool = False) -> None:
        self._materials, self._voicing = materials, voicing
        self._name = f"render.{materials.track.language}.json" if materials.is_translation else RECORD
        before = {} if force else materials.folder.read_json(self._name) or {}
        self._rows: dict[str, Json] = {self._place(row): row for row in _rows_of(before)}
        self._beside: dict[str, Any] = {} if force else _beside_of(before)
        self._fresh: set[str] = set()
        self._heard = _heard_key(materials, voicing)
        self._voice_before = before.get("voice")
        kept = before.get("sound")
        same = isinstance(kept, dict) and kept.get("key") == self._heard and voicing is not None
        self.sound: Sound | None = Sound.of(kept) if same and kept else None
        """How the mix came out: this run's, or an earlier one's of the very same lines; None: not known."""

    def has(self, wanted: Wanted) -> bool:
        """Whether the file is there, untouched, and made of just what it would be made of now."""
        row = self._rows.get(str(wanted.path.absolute()))
        return row is not None and row["key"] == self._key(wanted) and row["state"] == _state(wanted.path)

    def add(self, product: Product) -> None:
        """Note a file that was made."""
        wanted = product.wanted
        path = str(wanted.path.absolute())
        self._fresh.add(path)
        self._rows[path] = {
            "path": path,
            "within": self._within(wanted.path),
            "kind": wanted.kind.value,
            "key": self._key(wanted),
            "state": _state(wanted.path),
            "findings": [finding_row(finding) for finding in product.findings],
            "warnings": list(product.warnings),
            "sound": None if product.sound is None else asdict(product.sound),
            "told": list(product.told),
        }
        self._write({})

    def has_beside(self, path: Path, sound: Path) -> bool:
        """Whether a side file is there, untouched, and made of the track and the ``sound`` of now."""
        state = _state(path)
        return state is not None and self._beside.get(path.name) == [self._script_key(sound), state]

    def add_beside(self, path: Path, sound: Path) -> None:
        """Note a side file that was written."""
        self._beside[path.name] = [self._script_key(sound), _state(path)]

    def heard(self, sound: Sound) -> None:
        """Note how the mix came out."""
        self.sound = sound

    def rendered(
        self,
        wanted: Sequence[Wanted],
        files: Sequence[Path],
        failures: Sequence[Failure] = (),
        notes: Sequence[str] = (),
    ) -> Rendered:
        """What the run came to; it is kept as ``render.json``."""
        voicing, track = self._voicing, self._materials.track
        rows = [self._rows[str(one.path.absolute())] for one in wanted]
        findings = [finding_of(row) for made in rows for row in made["findings"]]
        done = Rendered(
            track=track,
            voice=None if voicing is None else voicing.voice,
            made=tuple(
                Made(one, str(one.path.absolute()) in self._fresh, row["sound"], tuple(row["told"]))
                for one, row in zip(wanted, rows, strict=True)
            ),
            anew=0 if voicing is None else voicing.anew,
            kept=0 if voicing is None else voicing.kept,
            sound=self._sound_of(rows),
            pauses=() if voicing is None else voicing.pauses,
            findings=(*(self.sound.findings if self.sound else ()), *findings),
            warnings=tuple(
                dict.fromkeys((*notes, *self._other_voice(), *(t for made in rows for t in made["warnings"])))
            ),
            files=tuple(files),
            brought=dict(self._materials.brought),
            failures=tuple(failures),
        )
        self._write(done.as_json())
        return done

    def _sound_of(self, rows: Sequence[Json]) -> Sound | None:
        """How the mix came out, with the figures of the first file that has it."""
        if self.sound is None:
            return None
        sounds = (row["sound"] for row in rows if row["sound"] and row["sound"]["mix"])
        first = next(sounds, {"loudness": None, "reached": None})
        measures = {**self.sound.measures, "mix": first["loudness"], "reached": first["reached"]}
        return replace(self.sound, measures=measures)

    def _other_voice(self) -> Iterator[str]:
        before, voicing = self._voice_before, self._voicing
        if voicing is not None and isinstance(before, str) and before != voicing.voice:
            yield f"The render before was spoken by {before}, this one by {voicing.voice}."

    def _write(self, more: Json) -> None:
        present = [{**row, "path": path} for path, row in self._rows.items() if Path(path).exists()]
        sound = None if self.sound is None else {"key": self._heard, **self.sound.as_json()}
        record = {**more, "sound": sound, "made": present, "beside": self._beside}
        self._materials.folder.write_json(self._name, record)

    def _within(self, path: Path) -> str | None:
        """Where a file lies in the work folder, which may be moved; None: elsewhere."""
        folder = self._materials.folder.path.absolute()
        return str(path.absolute().relative_to(folder)) if path.absolute().is_relative_to(folder) else None

    def _place(self, row: Json) -> str:
        within = row.get("within")
        return row["path"] if within is None else str(self._materials.folder.path.absolute() / within)

    def _script_key(self, sound: Path) -> str:
        return key_of(FORMAT, __version__, sound.name, self._heard, to_json(self._materials.track))

    def _key(self, wanted: Wanted) -> str:
        config, track = self._materials.config, self._materials.track
        voice = "" if self._voicing is None else self._voicing.voice
        parts: list[Any] = [FORMAT, __version__, wanted.kind.value, tags_of(track, voice, wanted.kind)]
        if wanted.kind.is_film:
            parts += [config.container, config.extended, track.language]
        if wanted.kind is Kind.TEXT:
            lines = [[at.start, at.end, text] for at, text in written_lines(track)]
            return key_of(*parts, self._materials.prepared.info.fingerprint, lines)
        return key_of(*parts, self._heard)


def _heard_key(materials: Materials, voicing: Voicing | None) -> str:
    """All that changes what is heard: the film, every take and its place, the settings of the mix."""
    lines = () if voicing is None else voicing.fitting.spoken
    takes = [[line.id, round(line.start, 6), line.take.key, line.take.rate] for line in lines]
    pauses = [] if voicing is None else [[p.at, p.length, p.cue_id] for p in voicing.pauses]
    config = materials.config
    speech = [[one.start, one.end] for one in materials.speech]
    film = [materials.prepared.info.fingerprint, config.film.audio_track]
    return key_of(FORMAT, film, takes, pauses, speech, config.mix)


def _rows_of(record: Mapping[str, Any]) -> Iterable[Json]:
    """Rows of an earlier run that can be read; a damaged one is as if there were none."""
    rows = record.get("made")
    wanted = {"path", "key", "state", "findings", "warnings", "sound", "told"}
    return (
        [row for row in rows if isinstance(row, dict) and wanted <= row.keys()]
        if isinstance(rows, list)
        else []
    )


def _beside_of(record: Mapping[str, Any]) -> dict[str, Any]:
    found = record.get("beside")
    return dict(found) if isinstance(found, dict) else {}


def _state(path: Path) -> list[int] | None:
    """By which a file is known to be untouched: its size and when it was last written, in ns."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]
