"""A review of a small described film, with its page's browser, all in this process."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from shotad.core import RunSettings
from shotad.core.runsettings import read_settings
from shotad.review.events import Tabs
from shotad.review.routes import Review, make_app, open_session, review_of
from shotad.review.security import Hosts, Keys
from tests.rendering.described import film_with, write_folder
from tests.review.asgi import Answer, Visitor

WAIT = 30.0


class Page(Visitor):
    """The page as a program: acts on the lines that it was shown."""

    def film(self) -> Any:
        return self.get("/api/film").json

    def line(self, name: str) -> Any:
        return next(line for line in self.film()["lines"] if line["id"] == name)

    def act(self, name: str, line: str, args: Mapping[str, Any] | None = None, **more: Any) -> Answer:
        """An act upon the line as it now is, unless told what the page saw."""
        seen = more.pop("seen", ...)
        seen = self.line(line)["stamp"] if seen is ... and line else seen
        body = {"act": name, "line": line, "args": dict(args or {}), **more}
        return self.ask(body if seen in (None, ...) else {**body, "seen": seen})

    def ask(self, body: Any) -> Answer:
        """One act as it is written; what came of it has the status that a request of its own would have."""
        answer = self.post("/api/acts", {"tab": "here", "acts": [body]})
        if answer.status != 200:
            return answer
        if "error" in answer.json:
            return replace(answer, status=500, body=json.dumps(answer.json).encode())
        (one,) = answer.json["answers"]
        if "changed" in one:
            return replace(answer, body=json.dumps(one["changed"]).encode())
        status = 400 if one["lines"] is None else 409
        told = {"error": one["refused"], "lines": one["lines"]}
        return replace(answer, status=status, body=json.dumps(told).encode())

    def job(self, **body: Any) -> Any:
        """A job when it has ended."""
        begun = self.post("/api/jobs", body)
        assert begun.status == 202, begun.text
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            jobs = {job["id"]: job for job in self.get("/api/jobs").json["jobs"]}
            if jobs[begun.json["id"]]["state"] in ("done", "failed", "stopped"):
                return jobs[begun.json["id"]]
            time.sleep(0.02)
        raise AssertionError("the job never ended")


@contextmanager
def reviewed(
    place: Path,
    *,
    film: Path | None = None,
    run: RunSettings | None = None,
    gone: bool = False,
    **options: Any,
) -> Iterator[tuple[Review, Page]]:
    """A review of a folder that is written to ``place`` if there is none yet. ``gone``: without its film."""
    film = film or film_with()
    if not (place / "track.json").exists():
        write_folder(place, film)
    keys = Keys(20123)
    tabs = Tabs()
    source = None if gone else film
    session = open_session(place, source, run or read_settings(place), tabs, **options)
    review = review_of(session, source, tabs)
    try:
        yield review, Page(make_app(review, keys, Hosts()), keys)
    finally:
        still = review.jobs.close(WAIT)
        review.close()
        assert not still, "a job does not end"
