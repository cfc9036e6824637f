"""The film's copy for browsers that cannot play the film, made by a process of its own, at low priority.

The server stays quick, for coding holds Python's lock at every frame, and a copy that is not wanted any more
can be stopped at once. The process reports how far it is; it never outlives who started it, for then there is
nobody to tell.

Where the picture's packets can be taken as they are, they are; otherwise it is encoded small. Either way the
copy's clock is the film's: second 0 is the container's start, and every frame keeps its own second (to 17 µs,
never later).
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import av

from shotad.core import (
    Config,
    FilmInfo,
    ShotadError,
)
from shotad.core.errors import WorkFolderError
from shotad.core.files import (
    inner_folder,
    lock_file,
    read_file,
    refuse_special,
    remove_file,
    remove_leftovers_beside,
    replace_file,
    write_text,
)
from shotad.core.system import yield_process
from shotad.core.workfolder import hash_key, readable_json
from shotad.film import Film, open_film
from shotad.film.audio import choose_track
from shotad.film.frame_cache import STILLS
from shotad.review.events import Json, Tabs
from shotad.review.messages import Message, Sentence, message, sentence_view
from shotad.review.playable import (
    BITS,
    LINES,
    QUALITY,
    PlaybackReport,
    Uncopyable,
    browser_kind,
    copies_picture,
    encode,
    remux,
)

FILM_URL, COPY_URL = "/media/film", "/media/proxy"


class Proxy:
    """Which file the page plays: the film itself, or its copy, once that is made.

    The copy stands in the work folder (``review/proxy.mp4``, with ``proxy.json`` beside it, which names
    which film and settings it is). Thread-safe. Changes are told to the tabs as ``playable``, with `state`.
    """

    def __init__(
        self, film: Path, folder: Path, config: Config, info: FilmInfo, tabs: Tabs | None = None
    ) -> None:
        self._tabs, self._lock = tabs, threading.Lock()
        self.media_type, self.why = browser_kind(info, config)
        """Of the film, and why browsers do not play it; empty where they do."""
        settings = [LINES, QUALITY, BITS, config.film.reader, config.film.audio_track]
        self._order = CopyOrder(
            film.absolute(),
            inner_folder(folder.absolute(), "review") / "proxy.mp4",
            hash_key(PROXY_STEP, info.fingerprint, settings),
            config.film.reader,
            info.frame_rate if info.video_codec == STILLS else None,
            config.film.audio_track,
            # What browsers were thought to play, and one did not, is encoded if a copy is asked for.
            small=not self.why,
        )
        self._known = known_copy(self._order)
        self._child: SpawnProcess | None = None
        self._thread: threading.Thread | None = None
        self._done = 0.0
        self._failed: Sentence = ""
        self._stopped = self._asked = False
        self._was_there = self._order.film.exists()

    @property
    def path(self) -> Path | None:
        return self._order.target if self._known is not None else None

    def state(self) -> Json:
        """What the page plays: ``state`` film, proxy, making, gone or none, ``url``, ``done`` 0 to 1, ``why``
        it is not the film itself, or what is wrong. ``gone``: the film is not where it was."""
        is_there = self._order.film.exists()
        with self._lock:
            if self._known is not None:
                return _view("proxy", COPY_URL, 1.0, self._known.get("damage") or self.why)
            if self._thread is not None:
                return _view("making", None, self._done, self.why)
            if not is_there:
                return _view("gone", None, 0.0, gone_text(self._order.film))
            if not self.why and not self._failed:
                return _view("film", FILM_URL, 1.0, "")
            return _view("none", None, 0.0, self._failed or self.why)

    def start(self) -> None:
        """Have the copy made, in the background; nothing where it is there or being made.

        Asked for a second time although there is one whose picture was copied: a browser has refused it, and
        it is made again, encoded.
        """
        if not self._order.film.exists():
            return
        with self._lock:
            again, self._asked = self._asked, True
            if again and self._known is not None and self._known["picture"] == "copied":
                self._order, self._known = replace(self._order, small=True), None
            if self._known is not None or self._thread is not None or self._stopped:
                return
            self._done, self._failed = 0.0, ""
            self._thread = threading.Thread(target=self._make, name="proxy", daemon=True)
            self._thread.start()
        self._tell()

    def look(self) -> None:
        """See whether the film went or came back, and tell the tabs; a copy that is needed is made then."""
        is_there = self._order.film.exists()
        with self._lock:
            if is_there == self._was_there:
                return
            self._was_there = is_there
            if is_there:
                self._failed = ""
        if is_there and self.why:
            self.start()
        self._tell()

    def stop(self) -> None:
        """Stop making it, at once; what was made so far is thrown away. It cannot be started again."""
        with self._lock:
            self._stopped = True
            if self._child is not None:
                self._child.kill()
        self.wait()

    def wait(self, seconds: float | None = None) -> None:
        """Until the copy is made, or has failed, or that time is over."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _make(self) -> None:
        """Have a process make the copy; ``_failed`` says why it did not, or nothing."""
        context = multiprocessing.get_context("spawn")
        why: Sentence = message("browser.no_copy")
        try:
            receiver, sender = context.Pipe(duplex=False)
            with receiver:
                with self._lock, sender:
                    if self._stopped:
                        why = message("browser.copy_stopped")
                        return
                    child = context.Process(target=_work, args=(self._order, sender), daemon=True)
                    self._child = child
                    child.start()
                with suppress(EOFError):
                    while isinstance(news := receiver.recv(), float):
                        self._done = news
                        self._tell()
                    why = news
                child.join()
        except OSError as error:
            why = message("browser.copy_fails", reason=error.strerror or str(error))
        finally:
            with self._lock:
                self._child, self._thread = None, None
                self._known, self._failed = known_copy(self._order), why
                if why == gone_text(self._order.film):
                    # It may be back before `look` has missed it: then `look` is to find that it came back.
                    self._was_there = False
            self._tell()

    def _tell(self) -> None:
        if self._tabs is not None and not self._stopped:
            self._tabs.send("playable", self.state())


def gone_text(film: Path) -> Message:
    """What people are told of a film that was moved or removed while the page is open."""
    return message("browser.gone", film=str(film))


def _view(state: str, url: str | None, done: float, why: Sentence) -> Json:
    return {"state": state, "url": url, "done": done, "why": sentence_view(why)}


NICE = 15
"""What is added to the niceness of the process: anything else on the machine goes first."""

PROXY_STEP = "proxy/2"
"""The step that makes the copy, and its version: raise it whenever what is made changes (see `hash_key`)."""


@dataclass(frozen=True, slots=True)
class CopyOrder:
    """What to make. ``frame_rate`` is that of numbered frames, ``track`` the number of the audio track
    (None: the film's default). ``small``: the picture is encoded whatever it is."""

    film: Path
    target: Path
    key: str
    reader: str = "pyav"
    frame_rate: Fraction | None = None
    track: int | None = None
    small: bool = False

    @property
    def key_file(self) -> Path:
        """The file that names the film and settings of the copy; written last."""
        return self.target.with_suffix(".json")


def _work(order: CopyOrder, sender: Connection) -> None:
    """Make the copy, in a process of its own: reports the shares done, then why it failed (`gone_text` where
    the film is gone) or nothing."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)
    yield_process(NICE)
    try:
        make_copy(order, sender.send)
    except ShotadError as error:
        sender.send(str(error) if order.film.exists() else gone_text(order.film))
    else:
        sender.send("")


def known_copy(order: CopyOrder) -> dict[str, Any] | None:
    """What is known of the copy that is there, if it is of this order and whole."""
    try:
        record = json.loads(read_file(order.key_file))
        refuse_special(order.target)
        size = order.target.stat().st_size
    except (OSError, WorkFolderError, ValueError):
        return None
    if not isinstance(record, dict) or record.get("key") != order.key or record.get("size") != size:
        return None
    return None if order.small and record.get("picture") == "copied" else record


def make_copy(order: CopyOrder, report: PlaybackReport) -> dict[str, Any]:
    """Make the copy unless it is there; what `known_copy` then gives.

    One process makes it at a time; others wait and find it made. Raises FilmError for a film that cannot
    be read, WorkFolderError where the copy cannot be written.
    """
    try:
        order.target.parent.mkdir(parents=True, exist_ok=True)
        with lock_file(order.target.with_name(f".{order.target.stem}.lock"), timeout=-1):
            record = known_copy(order)
            if record is None:
                remove_leftovers_beside(order.target)
                remove_file(order.key_file)
                with open_film(order.film, reader=order.reader, frame_rate=order.frame_rate) as film:
                    # The quickest way first; the last one always leads there.
                    free = shutil.disk_usage(order.target.parent).free
                    copies = not order.small and copies_picture(film, free)
                    for picture in ["copied", "encoded"] if copies else ["encoded"]:
                        with suppress(Uncopyable), replace_file(order.target) as part:
                            damage = _write(film, order, picture, part, report)
                            size = part.stat().st_size
                            break
                record = {
                    "key": order.key,
                    "film": film.info.name,
                    "size": size,
                    "picture": picture,
                    "sound": "none" if choose_track(film.info, order.track) is None else "encoded",
                    "damage": damage,
                }
                write_text(order.key_file, readable_json(record))
            return record
    except OSError as error:
        raise _unwritable(order.target, error) from None


def _write(film: Film, order: CopyOrder, picture: str, part: Path, report: PlaybackReport) -> str | None:
    """Write the copy in one way; what is damaged, if anything. Raises Uncopyable."""
    # The index of a copy as large as the film stays at its end: to move it would be to write all twice.
    flags = {"movflags": "+faststart"} if picture == "encoded" else {}
    try:
        output = av.open(str(part), "w", format="mp4", options=flags)
        try:
            if picture == "copied":
                damage = remux(film, order.track, output, report)
            else:
                encode(film, order.track, output, report)
                damage = film.damage
        finally:
            # Closing writes what is left; where the disk is full, that fails as well.
            output.close()
    except (av.error.FFmpegError, OSError) as error:
        raise _unwritable(order.target, error) from None
    if picture == "copied":
        with open_film(part) as copy:
            _, why = browser_kind(copy.info)
        if why:
            raise Uncopyable(str(why))
    return damage


def _unwritable(target: Path, error: Exception) -> WorkFolderError:
    reason = getattr(error, "strerror", None) or str(error)
    return WorkFolderError(
        f"The copy of the film for the browser, {target}, cannot be written: {reason}.",
        "Free some space, or see to it that the folder may be written; then open the page again.",
    )
