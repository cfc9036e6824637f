"""A film in a bucket: fetched and then described, against read by ranges with read-ahead.

Both go against an S3 server of this machine, so what counts is how much is asked for and how often; the time
is that of a network without delay. The engine is the quickest there is: reading weighs as much as it can.

    python benchmarks/storage.py --film FILM [--runs 3] [--block 4] [--keep 3]
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import statistics
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, cast

from shotad.batch.fetching import fetch_film
from shotad.batch.store import Store
from shotad.core import Config, WorkFolder, load_settings
from shotad.description import describe
from shotad.film import open_film

PLACE = "s3://films/film.mp4"
MIB = 1 << 20


class CountedStore(Store):
    """A store that counts what is read from it."""

    requests = amount = 0
    lock = threading.Lock()

    def read(self, place: str, start: int | None = None, end: int | None = None) -> bytes:
        """As the store reads."""
        data = super().read(place, start, end)
        with self.lock:
            CountedStore.requests, CountedStore.amount = self.requests + 1, self.amount + len(data)
        return data


class Ranged(io.RawIOBase):
    """A film read by blocks of an object: ``keep`` of them are held, the next are asked for ahead."""

    name = "film.mp4"

    def __init__(self, block: int, keep: int) -> None:
        self._store, self._block, self._keep = CountedStore(PLACE), block, keep
        found = self._store.find(PLACE)
        assert found is not None
        assert found.size is not None
        self._size, self._at = found.size, 0
        self._held: OrderedDict[int, Future[bytes]] = OrderedDict()
        self._pool = ThreadPoolExecutor(4)

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """As of files."""
        self._at = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence] + offset
        return self._at

    def read(self, count: int = -1) -> bytes:
        """As of files."""
        count = min(self._size - self._at, count if count >= 0 else self._size)
        parts: list[bytes] = []
        while count > 0:
            number, start = divmod(self._at, self._block)
            wanted = self._ask(number)
            for ahead in range(1, self._keep):
                self._ask(number + ahead)
            parts.append(wanted.result()[start : start + count])
            self._at, count = self._at + len(parts[-1]), count - len(parts[-1])
        return b"".join(parts)

    def _ask(self, number: int) -> Future[bytes]:
        start = number * self._block
        end = min(self._size, start + self._block)
        if number not in self._held:
            self._held[number] = self._pool.submit(self._one, start, end)
        self._held.move_to_end(number)
        while len(self._held) > self._keep:
            self._held.popitem(last=False)
        return self._held.get(number) or self._pool.submit(self._one, start, end)

    def _one(self, start: int, end: int) -> bytes:
        return self._store.read(PLACE, start, end) if start < end else b""


def described(source: Path | Ranged) -> None:
    """One run, into a folder that goes."""
    config = load_settings(Config, (), ("engine=fake",))
    film = source if isinstance(source, Path) else cast("BinaryIO", source)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_film(film) as opened,
        WorkFolder(Path(folder)) as work,
    ):
        describe(opened, work, config, sheet=False)


def fetched() -> None:
    """Fetched to the disk, then described."""
    with tempfile.TemporaryDirectory() as folder:
        fetch_film(CountedStore(PLACE), PLACE, Path(folder, "film.mp4"))
        described(Path(folder, "film.mp4"))


def main() -> None:
    """Print time, requests and amount of each way, as ratios to describing the film from the disk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--film", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--block", type=int, default=4, help="MiB of a block")
    parser.add_argument("--keep", type=int, default=3, help="blocks that are kept")
    given = parser.parse_args()
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "key",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    import boto3  # type: ignore[import-untyped]

    client = boto3.client("s3")
    client.create_bucket(Bucket="films")
    client.upload_file(str(given.film), "films", "film.mp4")
    ways: dict[str, Callable[[], None]] = {
        "from the disk": lambda: described(given.film),
        "fetched, then described": fetched,
        f"by ranges of {given.block} MiB": lambda: described(Ranged(given.block * MIB, given.keep)),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    read = {}
    for _ in range(given.runs):
        for name, way in ways.items():
            CountedStore.requests = CountedStore.amount = 0
            begun = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - begun)
            read[name] = (CountedStore.requests, CountedStore.amount / given.film.stat().st_size)
    alone = statistics.median(times["from the disk"])
    for name, taken in times.items():
        ratio, (requests, amount) = statistics.median(taken) / alone, read[name]
        print(f"{name:<26} {ratio:6.2f} times the time, {requests:5} requests, {amount:5.1f} times the film")
    server.stop()


if __name__ == "__main__":
    main()
