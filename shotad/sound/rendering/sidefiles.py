"""Files beside the sound: the script as it was recorded, and where the film waits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from shotad.core.wholefiles import write_text
from shotad.core.workfolder import stem_of
from shotad.script.dapt import write_dapt
from shotad.script.dapt_sound import Recording
from shotad.sound.extended.kinds import Extension
from shotad.sound.extended.players import pauses_file, pauses_json, pauses_vtt
from shotad.sound.rendering.ledger import Ledger
from shotad.sound.rendering.making import Workshop
from shotad.sound.rendering.outputs import Kind, Wanted


def write_side_files(workshop: Workshop, ledger: Ledger, made: list[Wanted]) -> tuple[Path, ...]:
    """What goes with the files ``made``: beside the description alone its DAPT script ``asRecorded``, which
    names that file and holds the ducking; beside a film that pauses, its pauses for players."""
    return tuple(_files(workshop, ledger, made))


def _files(workshop: Workshop, ledger: Ledger, made: list[Wanted]) -> Iterator[Path]:
    voicing, materials = workshop.voicing, workshop.materials
    if voicing is None:
        return
    alone = next((one.path for one in made if one.kind is Kind.AD), None)
    if alone is not None and not voicing.pauses:
        place = alone.with_name(f"{alone.stem}.recorded.dapt.xml")
        if not ledger.has_beside(place, alone):
            recording = Recording(os.path.basename(alone), workshop.mix(workshop.sounds_as).gains)
            write_text(place, write_dapt(materials.track, recording))
            ledger.add_beside(place, alone)
        yield place
    if voicing.pauses:
        extension = Extension(voicing.fitting, voicing.pauses)
        told = pauses_file(materials.film.info, extension, materials.track.language, voicing.voice)
        stem = stem_of(materials.track.film.name)
        for name, text in (
            (f"{stem}.pauses.json", pauses_json(told)),
            (f"{stem}.pauses.vtt", pauses_vtt(told)),
        ):
            place = materials.folder.path / name
            write_text(place, text)
            yield place
