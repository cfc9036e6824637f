"""The film's small copy for browsers that cannot play the film: when it is made, and how far it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.core import Config, FilmInfo, key_of
from shotad.film import open_film
from shotad.review.kinds import Hub, Json
from shotad.review.pictures.encoding import BITS, LINES, QUALITY
from shotad.review.pictures.playable import Playable, browser_kind
from shotad.review.pictures.proxymaking import FORMAT, Order, known_copy

FILM_URL, COPY_URL = "/media/film", "/media/proxy"
SURE = 0.02
"""Share that must be done before it is said how long the rest takes."""

_QUIET = "The work on the copy ended without a word."


class Proxy:
    """Which file the page plays: the film itself, or its copy, once that is made.

    The copy stands in the work folder (``review/proxy.mp4``, with ``proxy.json`` beside it, which tells of
    which film and settings it is). It is made in a process of its own, see
    `shotad.review.pictures.proxymaking`. Thread-safe. Changes are told to the hub as ``playable``, with
    `state`.
    """

    def __init__(
        self,
        film: Path,
        folder: Path,
        config: Config,
        hub: Hub | None = None,
        *,
        info: FilmInfo | None = None,
    ) -> None:
        self._hub, self._lock = hub, threading.Lock()
        self._info = info if info is not None else _look(film, config)
        self.kind: Playable = browser_kind(self._info, config)
        # What browsers were thought to play, and one did not, is encoded if a copy is asked for.
        self._order = _order(film, folder, config, self._info, small=self.kind.plays is not False)
        self._known = known_copy(self._order)
        self._child: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._done, self._why, self._told = 0.0, "", -1.0
        self._begun = 0.0
        self._stopped = self._asked = False

    @property
    def path(self) -> Path | None:
        """The copy, if it is whole."""
        return self._order.target if self._known is not None else None

    def state(self) -> Json:
        """What the page plays: ``state`` film, proxy, making or none, ``url``, ``type``, ``done`` 0 to 1,
        ``why`` it is not the film itself, or what is wrong, and ``left``: about how many seconds the making
        still takes, None while that is not known."""
        with self._lock:
            return self._state()

    def _state(self) -> Json:
        if self._known is not None:
            damage = self._known.get("damage") or ""
            return _view("proxy", COPY_URL, str(self._known["type"]), 1.0, damage or self.kind.why)
        if self._thread is not None:
            return {**_view("making", None, "", self._done, self.kind.why), "left": self._left()}
        if self.kind.plays is not False and not self._why:
            return _view("film", FILM_URL, self.kind.media_type, 1.0, "")
        return _view("none", None, "", 0.0, self._why or self.kind.why)

    def _left(self) -> float | None:
        """Seconds that the making still takes, as it has gone so far."""
        if self._done < SURE:
            return None
        return round((time.monotonic() - self._begun) / self._done * (1 - self._done), 1)

    def start(self) -> None:
        """Have the copy made, in the background; nothing where it is there or being made.

        Asked for a second time although there is one whose picture was copied: a browser has refused it, and
        it is made anew, encoded.
        """
        with self._lock:
            again, self._asked = self._asked, True
            if again and self._known is not None and self._known["picture"] == "copied":
                self._order, self._known = replace(self._order, small=True), None
            if self._known is not None or self._thread is not None or self._stopped:
                return
            self._done, self._why, self._told = 0.0, "", -1.0
            self._begun = time.monotonic()
            self._thread = threading.Thread(target=self._make, name="proxy", daemon=True)
            self._thread.start()
        self._tell()

    def stop(self) -> None:
        """Stop making it, at once; what was made so far is thrown away. It cannot be started again."""
        with self._lock:
            self._stopped = True
            child, thread = self._child, self._thread
            if child is not None:
                child.kill()
        if thread is not None:
            thread.join()

    def wait(self, seconds: float | None = None) -> None:
        """Until the copy is made, or has failed, or that time is over."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _make(self) -> None:
        why = ""
        try:
            why = self._run()
        except OSError as error:
            why = f"The copy of the film for the browser cannot be made: {error.strerror or error}."
        with self._lock:
            self._child, self._thread = None, None
            self._known, self._why = known_copy(self._order), why
        self._tell()

    def _run(self) -> str:
        """Have a process make the copy; why it did not, or nothing."""
        with self._lock:
            if self._stopped:
                return "It was stopped."
            # -P: nothing is imported from the folder that the server happens to run in.
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", "shotad.review.pictures.proxymaking", self._order.to_json()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=_environment(),
            )
            child = self._child
        why, last = _QUIET, None
        with child:
            assert child.stdout is not None
            for line in child.stdout:
                last = _news(line)
                if "done" in last:
                    self._advance(float(last["done"]))
                if "failed" in last:
                    why = " ".join(last["failed"]).strip()
        return "" if last is not None and "finished" in last else why

    def _advance(self, done: float) -> None:
        with self._lock:
            self._done = done
            worth = done - self._told >= 0.01
            self._told = done if worth else self._told
        if worth:
            self._tell()

    def _tell(self) -> None:
        if self._hub is not None and not self._stopped:
            self._hub.tell("playable", self.state())


def _view(state: str, url: str | None, media_type: str, done: float, why: str) -> Json:
    return {"state": state, "url": url, "type": media_type, "done": done, "why": why, "left": None}


def _look(film: Path, config: Config) -> FilmInfo:
    with open_film(film, reader=config.film.reader) as opened:
        return opened.info


def _order(film: Path, folder: Path, config: Config, info: FilmInfo, *, small: bool) -> Order:
    rate = info.frame_rate if info.video_codec == "stills" else None
    settings = [LINES, QUALITY, BITS, config.film.reader, config.film.audio_track]
    key = key_of(f"proxy/{FORMAT}", info.fingerprint, settings)
    target = folder.absolute() / "review" / "proxy.mp4"
    return Order(film.absolute(), target, key, config.film.reader, rate, config.film.audio_track, small)


def _environment() -> dict[str, str]:
    """That of this process, with the package where this one has it from."""
    home = str(Path(__file__).resolve().parents[3])
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _news(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
