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
from shotad.review import OpenReview, open_review
from tests.rendering.described import film_with, write_folder
from tests.review.asgi import PORT, WAIT, Answer, Visitor, cookie_of


def in_english(view: Any) -> Any:
    """An answer in which each message of the page is its English text."""
    match view:
        case {"key": str(), "values": {**_values}, "text": str(text)}:
            return text
        case dict():
            return {name: in_english(value) for name, value in view.items()}
        case list():
            return [in_english(value) for value in view]
    return view


class Page(Visitor):
    """The page as a program: acts on the lines that it was shown."""

    def film(self) -> Any:
        return self.get("/api/film").json

    def line(self, name: str) -> Any:
        return next(line for line in self.film()["lines"] if line["id"] == name)

    def act(self, name: str, line: str, args: Mapping[str, Any] | None = None, **more: Any) -> Answer:
        """An act upon the line as it now is, unless ``seen`` says what the page saw (None: nothing)."""
        seen = more.pop("seen", ...)
        seen = self.line(line)["stamp"] if seen is ... and line else seen
        body = {"act": name, "line": line, "args": dict(args or {}), **more}
        return self.ask(body if seen in (None, ...) else {**body, "seen": seen})

    def do(self, name: str, line: str = "", **args: Any) -> Any:
        """What an act changed; it is done upon the line as it now is, and must not be refused."""
        answer = self.act(name, line, args, seen=None)
        assert answer.status == 200, answer.text
        return answer.json

    def refused(self, name: str, line: str = "", **args: Any) -> str:
        """Why an act is refused, with what to do instead."""
        answer = self.act(name, line, args, seen=None)
        assert answer.status == 400, answer.text
        error = answer.json["error"]
        return f"{error['what']} {error['hint']}".strip()

    def ask(self, body: Any) -> Answer:
        """One act as it is written; what came of it has the status that a request of its own would have."""
        answer = self.post("/api/acts", {"tab": "here", "acts": [body]})
        if answer.status != 200:
            return answer
        if "error" in answer.json:
            return replace(answer, status=500, body=json.dumps(answer.json).encode())
        (outcome,) = answer.json["answers"]
        if "changed" in outcome:
            return replace(answer, body=json.dumps(outcome["changed"]).encode())
        status = 400 if outcome["lines"] is None else 409
        refusal = {"error": outcome["refused"], "lines": outcome["lines"]}
        return replace(answer, status=status, body=json.dumps(refusal).encode())

    def start(self, **body: Any) -> str:
        """The id of a job that was begun."""
        answer = self.post("/api/jobs", body)
        assert answer.status == 202, answer.text
        return str(answer.json["id"])

    def job_view(self, job_id: str) -> Any:
        """The job as it is now."""
        return next(job for job in self.get("/api/jobs").json["jobs"] if job["id"] == job_id)

    def ended(self, job_id: str) -> Any:
        """The job when it has ended."""
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            if (job := self.job_view(job_id))["state"] in ("done", "failed", "stopped"):
                return job
            time.sleep(0.02)
        raise AssertionError(f"the job never ended: {job}")

    def job(self, **body: Any) -> Any:
        """A job, begun now, when it has ended."""
        return self.ended(self.start(**body))

    def checked(self) -> Any:
        """The film with the findings of all its lines as they now are."""
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            if (film := self.film())["findings"]["done"]:
                return film
            time.sleep(0.05)
        raise AssertionError("the lines are never checked")

    def findings(self, line: str) -> Any:
        """The findings of a line as it now is."""
        return next(row["findings"] for row in self.checked()["lines"] if row["id"] == line)

    def until_settled(self, line: str) -> Any:
        """Where a line is heard, once the loudness of the whole film is known."""
        until = time.monotonic() + WAIT
        while not (heard := self.get(f"/api/hear/{line}").json)["settled"]:
            assert time.monotonic() < until, "the film is never measured"
            time.sleep(0.05)
        return heard


@contextmanager
def reviewed(
    place: Path,
    *,
    film: Path | None = None,
    run: RunSettings | None = None,
    gone: bool = False,
    port: int = PORT,
    **options: Any,
) -> Iterator[tuple[OpenReview, Page]]:
    """A review of a folder that is written to ``place`` if there is none yet. ``gone``: without its film."""
    film = film or film_with()
    if not (place / "track.json").exists():
        write_folder(place, film)
    with open_review(place, None if gone else film, run, port=port, **options) as review:
        host = f"127.0.0.1:{port}"
        try:
            yield review, Page(review.app, cookie_of(review.app, review.token, host), host)
        finally:
            running = review.stop_jobs(WAIT)
    assert not running, "a job does not end"
