"""The film's small copy for browsers that cannot play the film, made by a program of its own:
``python -m shotad.review.proxy``.

It runs in a process of its own, at low priority: the server stays quick, for coding holds Python's lock
at every frame, and a copy that is not wanted any more can be stopped at once. It is told what to do by
one JSON value as its argument, tells how far it is in lines of JSON, and ends when its standard input
does: it never outlives who started it.

Where the film's packets can be taken as they are, they are; otherwise the picture is encoded small. Either
way the copy's clock is the film's: second 0 is the container's start, and every frame keeps its own second
(to 17 µs, never later).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import (
    Config,
    FilmInfo,
    ShotadError,
    WorkFolderError,
    key_of,
    readable_json,
    replacing,
    sweep_beside,
    write_text,
)
from shotad.film import Film, choose_track, open_film
from shotad.review.kinds import Hub, Json
from shotad.review.playable import Playable, browser_kind
from shotad.review.proxy_encoding import (
    BITS,
    LINES,
    QUALITY,
    Report,
    Uncopyable,
    copies_picture,
    copies_sound,
    encode,
    remux,
)

FILM_URL, COPY_URL = "/media/film", "/media/proxy"
SURE = 0.02
"""Share that must be done before it is said how long the rest takes."""

_QUIET = "The work on the copy ended without a word."


class Proxy:
    """Which file the page plays: the film itself, or its copy, once that is made.

    The copy stands in the work folder (``review/proxy.mp4``, with ``proxy.json`` beside it, which tells of
    which film and settings it is). It is made in a process of its own. Thread-safe. Changes are told to the
    hub as ``playable``, with `state`.
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
        return self._order.target if self._known is not None else None

    def state(self) -> Json:
        """What the page plays: ``state`` film, proxy, making or none, ``url``, ``type``, ``done`` 0 to 1,
        ``why`` it is not the film itself, or what is wrong, and ``left``: about how many seconds the making
        still takes, None while that is not known."""
        with self._lock:
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
                [sys.executable, "-P", "-m", "shotad.review.proxy", self._order.to_json()],
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
                    done = float(last["done"])
                    with self._lock:
                        self._done = done
                        worth = done - self._told >= 0.01
                        self._told = done if worth else self._told
                    if worth:
                        self._tell()
                if "failed" in last:
                    why = " ".join(last["failed"]).strip()
        return "" if last is not None and "finished" in last else why

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
    home = str(Path(__file__).resolve().parents[2])
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _news(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


NICE = 15
"""What is added to the niceness of the process: anything else on the machine goes first."""

FORMAT = 2
"""To be raised whenever what is made here changes: older copies are then made anew."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be made. ``frame_rate`` is that of numbered frames, ``track`` the number of the audio track
    (None: the film's default). ``small``: the picture is to be encoded whatever it is."""

    film: Path
    target: Path
    key: str
    reader: str = "pyav"
    frame_rate: Fraction | None = None
    track: int | None = None
    small: bool = False

    @property
    def key_file(self) -> Path:
        """The file that tells of which film and settings the copy is; written last."""
        return self.target.with_suffix(".json")

    def to_json(self) -> str:
        """For the command line; `from_json` reads it."""
        rate = None if self.frame_rate is None else str(self.frame_rate)
        rest = [self.key, self.reader, rate, self.track, self.small]
        return json.dumps([str(self.film), str(self.target), *rest], ensure_ascii=True)

    @staticmethod
    def from_json(text: str) -> Order:
        film, target, key, reader, rate, track, small = json.loads(text)
        fixed = None if rate is None else Fraction(rate)
        return Order(Path(film), Path(target), key, reader, fixed, track, small)


def known_copy(order: Order) -> dict[str, Any] | None:
    """What is known of the copy that is there, if it is of this order and whole."""
    try:
        known = json.loads(order.key_file.read_text(encoding="utf-8"))
        there = order.target.stat().st_size
    except (OSError, ValueError):
        return None
    if not isinstance(known, dict) or known.get("key") != order.key or known.get("size") != there:
        return None
    return None if order.small and known.get("picture") == "copied" else known


def make_copy(order: Order, report: Report) -> dict[str, Any]:
    """Make the copy unless it is there; what `known_copy` then gives.

    One process makes it at a time; others wait and find it made. Raises FilmError for a film that cannot
    be read, WorkFolderError where the copy cannot be written.
    """
    from filelock import FileLock

    try:
        order.target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(order.target.with_name(f".{order.target.stem}.lock")):
            found = known_copy(order)
            if found is None:
                sweep_beside(order.target)
                order.key_file.unlink(missing_ok=True)
                found = _made(order, report)
            return found
    except OSError as error:
        raise _unwritable(order.target, error) from None


def _made(order: Order, report: Report) -> dict[str, Any]:
    with open_film(order.film, reader=order.reader, frame_rate=order.frame_rate) as film:
        for way in _ways(film, order):
            with suppress(Uncopyable), replacing(order.target) as part:
                damage = _write(film, order, way, part, report)
                kind = _checked(part, way)
                size = part.stat().st_size
                break
    known = {
        "key": order.key,
        "film": film.info.name,
        "size": size,
        "picture": way.picture,
        "sound": way.sound,
        "type": kind,
        "damage": damage,
    }
    write_text(order.key_file, readable_json(known))
    return known


@dataclass(frozen=True, slots=True)
class _Way:
    """How picture and sound come into the copy: ``copied`` or ``encoded``; ``none`` where there is none."""

    picture: str
    sound: str


def _ways(film: Film, order: Order) -> Iterator[_Way]:
    """The ways in which a copy can be made, the quickest first; the last one always can."""
    free = shutil.disk_usage(order.target.parent).free
    encoded = "encoded" if choose_track(film.info, order.track) is not None else "none"
    if not order.small and copies_picture(film, free):
        if copies_sound(film, order.track):
            yield _Way("copied", "copied")
        yield _Way("copied", encoded)
    yield _Way("encoded", encoded)


def _write(film: Film, order: Order, way: _Way, part: Path, report: Report) -> str | None:
    """Write the copy in one way; what is damaged, if anything. Raises Uncopyable."""
    import av

    # The index of a copy as large as the film stays at its end: to move it would be to write all twice.
    flags = {"movflags": "+faststart"} if way.picture == "encoded" else {}
    try:
        output = av.open(str(part), "w", format="mp4", options=flags)
        try:
            if way.picture == "copied":
                return remux(film, order.track, output, report, with_sound=way.sound == "copied")
            encode(film, order.track, output, report)
            return film.damage
        finally:
            # Closing writes what is left; where the disk is full, that fails as well.
            output.close()
    except (av.error.FFmpegError, OSError) as error:
        raise _unwritable(order.target, error) from None


def _checked(part: Path, way: _Way) -> str:
    """The media type of the copy. Raises Uncopyable for one of copied packets that browsers do not play."""
    with open_film(part) as copy:
        kind = browser_kind(copy.info)
    if way.picture == "copied" and kind.plays is not True:
        raise Uncopyable(kind.why)
    return kind.media_type


def _unwritable(target: Path, error: Exception) -> WorkFolderError:
    reason = getattr(error, "strerror", None) or str(error)
    return WorkFolderError(
        f"The copy of the film for the browser, {target}, cannot be written: {reason}.",
        "Free some space, or see to it that the folder may be written; then open the page again.",
    )


def main(argument: str) -> int:
    """Make the copy that the JSON ``argument`` orders, and tell of it on standard output."""
    threading.Thread(target=_end_with_caller, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICE)
    order = Order.from_json(argument)
    try:
        known = make_copy(order, lambda done: _tell({"done": round(done, 4)}))
    except ShotadError as error:
        _tell({"failed": [error.what, error.hint]})
        return 1
    _tell({"finished": known})
    return 0


def _tell(news: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


def _end_with_caller() -> None:
    """Wait until who started this process is gone or wants no more, and end."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
