"""A forced run on a cluster: what earlier runs were told and made is taken away before the first act.

A one-machine run passes over it as it goes; here the acts are in several processes, each of which opens the
work folder as the one before has left it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from shotad.batch.done_file import DONE
from shotad.batch.jobs import FilmJob
from shotad.batch.ray.parts import parts_of
from shotad.batch.storage.places import is_local, join
from shotad.description import LOG
from shotad.sound import RECORD, VOICES

TOLD = ("stage1", "stage2", "choices", "story")
"""Records that come one by one."""


def begin_anew(job: FilmJob, folder: Path) -> None:
    """Take it away from the job's work folder and from ``folder``, its copy on this machine (or itself).

    What was spoken goes only where something is to be rendered: else nothing would be put in its place.
    """
    logs = (*TOLD, LOG) if job.makes else TOLD
    names = [DONE, *([RECORD] if job.makes else []), *(f"{log}{end}" for log in logs for end in _ENDINGS)]
    parts_of(job.folder).remove()
    for name in names:
        (folder / name).unlink(missing_ok=True)
    if job.makes:
        shutil.rmtree(folder / VOICES, ignore_errors=True)
    if not is_local(job.folder):
        _remove_there(job.folder, names, VOICES if job.makes else None)


_ENDINGS = (".jsonl", ".aside.jsonl")


def _remove_there(place: str, names: list[str], below: str | None) -> None:
    from shotad.batch.storage.store import Store

    store = Store(place)
    for name in names:
        if store.find(join(place, name)) is not None:
            store.remove(join(place, name))
    for entry in store.entries(join(place, below)) if below else []:
        store.remove(entry.place)
