"""Makes a film's small copy for the browser, as a program of its own:
``python -m shotad.review.pictures.proxymaking``.

It runs in a process of its own, at low priority: the server stays quick, for coding holds Python's lock
at every frame, and a copy that is not wanted any more can be stopped at once. It is told what to do by
one JSON value as its argument, tells how far it is in lines of JSON, and ends when its standard input
does: it never outlives who started it.

Where the film's packets can be taken as they are, they are (`remuxing`); otherwise the picture is encoded
small (`encoding`). Either way the copy's clock is the film's: second 0 is the container's start, and every
frame keeps its own second (to 17 µs, never later).
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import ShotadError, WorkFolderError, readable_json, replacing, sweep_beside, write_text
from shotad.film import Film, choose_track, open_film
from shotad.review.pictures.encoding import Report, encode
from shotad.review.pictures.playable import browser_kind
from shotad.review.pictures.remuxing import Uncopyable, copies_picture, copies_sound, remux

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
        """What `to_json` wrote."""
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
    with _written(order.target):
        output = av.open(str(part), "w", format="mp4", options=flags)
        try:
            if way.picture == "copied":
                return remux(film, order.track, output, report, with_sound=way.sound == "copied")
            encode(film, order.track, output, report)
            return film.damage
        finally:
            # Closing writes what is left; where the disk is full, that fails as well.
            output.close()


def _checked(part: Path, way: _Way) -> str:
    """The media type of the copy. Raises Uncopyable for one of copied packets that browsers do not play."""
    with open_film(part) as copy:
        kind = browser_kind(copy.info)
    if way.picture == "copied" and kind.plays is not True:
        raise Uncopyable(kind.why)
    return kind.media_type


class _written:  # noqa: N801  reads as a word where it is used
    """Turns ffmpeg's errors of writing into ours."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, ShotadError):
            return
        from av.error import FFmpegError

        if isinstance(error, FFmpegError | OSError):
            raise _unwritable(self._target, error) from None


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
