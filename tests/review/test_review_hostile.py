"""Values that no page sends, at every address of the review page: a clear refusal, never a fault of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.rendering.described import fake_voice, write_folder
from tests.review.asgi import HOST
from tests.review.reviewed import reviewed

LINE = "s00001000"
LONGEST_ANSWER = 1500
"""Bytes of a refusal: it repeats no more than the beginning of a value."""

NUMBERS = (0, -1, 1.5, 1e308, -1e308, 5e-324, 2**63, 10**400, -(10**400), True)
OTHERS = (None, "", "x", "nan", "\0", "../../etc/passwd", "x" * 20_000, [], [None], [[1]], {}, {"a": 1})
VALUES = (*NUMBERS, *OTHERS)
READ_BY = {
    "number": ("choose",), "text": ("write", "add"), "start": ("move", "add", "add_slot"),
    "end": ("move", "add", "add_slot"), "start_by": ("move",), "end_by": ("move",), "by": ("shift",),
    "at": ("split",),
}  # fmt: skip
"""Acts that read an argument."""
GOOD: dict[str, Any] = {"text": "Some words.", "start": 3.0, "end": 4.0, "by": 0.1, "at": 3, "number": 1}
JOBS = {
    "redo": {"lines": [LINE], "note": "", "over_edits": False},
    "export": {"formats": ["vtt"]},
    "render": {"makes": ["nothing"], "voice": "", "profile": "", "extended": False},
    "name": {"person": "x", "name": "", "descriptor": "", "pronoun": "", "nameless": False},
    "merge": {"person": "x", "into": "y"},
}
NO_JSON = (
    b"", b"null", b"1", b"[]", b"{", b"\xff", b"\0", b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1e999}',
    b"[" * 100_000, b'{"a":' * 50_000, b'{"a": "\\ud800"}', b'{"a": ' + b"1" * 5000 + b"}", b" " * 2_000_000,
)  # fmt: skip
ADDRESSES = (
    "/{}", "/api/{}", "/api/events?{}", "/api/lines/{}", "/api/hear/{}", "/api/hear/s00001000?kind={}", "/media/heard/{}",
    "/media/frames/{}/1.jpg", "/media/frames/s00001000/{}.jpg", "/media/frames/s00001000/1.jpg?painted={}",
    "/media/moments/{}.jpg", "/media/person/{}/1.jpg", "/media/person/x/{}.jpg", "/files/{}", "/web/{}",
)  # fmt: skip
PLACES = (
    "x", "%00", "..%2f..%2fetc%2fpasswd", "../x", "%ff", "%ed%a0%80", "1" * 5000, "9" * 20, "9" * 9, "-1",
    "1e308", "%2e%2e", "a/b", "%0a", "h", "x" * 10_000,
)  # fmt: skip
RANGES = (
    "bytes=0-", "bytes=-1", "bytes=99999999999-", f"bytes={'1' * 5000}-", "bytes=x", "x", "bytes=5-1",
    "bytes=" + ",".join(["0-1"] * 3000), "bytes=--1",
)  # fmt: skip


class Attacker:
    """Has the page's cookie, sends what it likes, and looks at each answer."""

    def __init__(self, client: TestClient, headers: dict[str, str]) -> None:
        self.client, self.headers = client, headers

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        answer = self.client.request(method, path, content=data, headers={**self.headers, **headers})
        told = f"{method} {path[:100]} {data[:200]!r} {headers}"[:500]
        assert answer.status_code < 500, told
        assert "Traceback" not in answer.text, told
        if answer.status_code >= 400:
            assert len(answer.content) < LONGEST_ANSWER, told
        return answer

    def post(self, path: str, body: Any) -> Any:
        return self.ask("POST", path, body)

    def act(self, name: str, args: Any, more: Any = None) -> Any:
        """What came of one act, which is never an error of the server; None where it was refused as none.
        What it changed is taken back."""
        asked = {"act": name, "line": LINE, "args": args, **(more or {})}
        answer = self.post("/api/acts", {"tab": "t", "acts": [asked]})
        if answer.status_code == 400:
            assert answer.json()["error"]["what"]
            return None
        assert "error" not in answer.json(), asked
        (came,) = answer.json()["answers"]
        if "refused" in came:
            assert 5 < len(came["refused"]["what"]) < 300, asked
        else:
            self.post("/api/acts", {"tab": "t", "acts": [{"act": "undo"}]})
        return came


@pytest.fixture(scope="module")
def attacker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacker]:
    # Some of what is sent begins a render, which must not load a real voice.
    folder = fake_voice(write_folder(tmp_path_factory.mktemp("hostile") / "film.shotad"))
    with reviewed(folder) as (_, page):
        client = TestClient(page.app, base_url=f"http://{HOST}")
        more = {"origin": f"http://{HOST}", "x-shotad": "page", "content-type": "application/json"}
        yield Attacker(client, {"cookie": page.cookie, **more})


@pytest.mark.parametrize("key", READ_BY)
def test_arguments_of_acts(attacker: Attacker, key: str) -> None:
    for act in READ_BY[key]:
        for value in VALUES:
            args = {key: value} if act == "move" else {**GOOD, key: value}
            came = attacker.act(act, args)
            is_far = isinstance(value, (int, float)) and abs(value) > 1e9
            if is_far and key != "text":
                wanted = f"{key} must be a number from -1,000,000,000 to 1,000,000,000, got "
                assert came["refused"]["what"].startswith(wanted)


def test_every_act_without_arguments_and_with_odd_ones(attacker: Attacker) -> None:
    hint = attacker.act("nothing", {})["refused"]["hint"]
    acts = hint.removeprefix("There are ").removesuffix(".").split(", ")
    assert len(acts) > 20
    for act in (*acts, "undo", "redo", "nothing", "x" * 5000):
        attacker.act(act, {})
        attacker.act(act, dict.fromkeys(READ_BY))


def test_what_surrounds_an_act(attacker: Attacker) -> None:
    for key in ("act", "line", "args", "seen", "group", "tab", "number"):
        for value in VALUES:
            attacker.act("accept", {}, {key: value})
    deep: Any = json.loads("[" * 800 + "]" * 800)
    for value in (*VALUES, deep):
        attacker.post("/api/acts", {"tab": value, "acts": []})
        attacker.post("/api/acts", {"tab": "t", "acts": value})
        attacker.post("/api/acts", {"tab": "t", "acts": [value]})
        attacker.act("write", {"text": value, "more": value})
        attacker.post("/api/reviewer", {"name": value})
        attacker.post("/api/proxy", {"error": value})


@pytest.mark.parametrize("kind", JOBS)
def test_what_jobs_are_asked(attacker: Attacker, kind: str) -> None:
    for key in JOBS[kind]:
        for value in VALUES:
            attacker.post("/api/jobs", {"kind": kind, **JOBS[kind], key: value})
    for value in VALUES:
        attacker.post("/api/jobs", {"kind": value})


@pytest.mark.parametrize(
    "path", ["/api/acts", "/api/reviewer", "/api/proxy", "/api/jobs", "/api/jobs/j1/stop"]
)
def test_bodies_that_are_no_json_of_the_page(attacker: Attacker, path: str) -> None:
    for body in NO_JSON:
        answer = attacker.post(path, body)
        assert answer.status_code in (400, 413)
        assert answer.json()["error"]["what"]


@pytest.mark.parametrize("path", ["/api/acts", "/api/jobs", "/api/film", "/"])
def test_a_body_of_100_mb_is_not_taken_in(attacker: Attacker, path: str) -> None:
    taken = 0

    def body() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield b" " * 1_000_000

    method = "POST" if path in ("/api/acts", "/api/jobs") else "GET"
    answer = attacker.client.request(method, path, content=body(), headers=attacker.headers)
    assert answer.status_code == (413 if method == "POST" else 200)
    told = attacker.ask("POST", path, b"{}", **{"content-length": "100000000"})
    assert told.status_code == 413


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses(attacker: Attacker, address: str) -> None:
    for place in PLACES:
        # An event stream ends with its connection, and this client waits for the end.
        methods = ("HEAD",) if "events" in address else ("GET", "HEAD")
        for method in methods:
            attacker.ask(method, address.format(place))


@pytest.mark.parametrize("path", ["/media/film", "/", "/web/main.js"])
def test_ranges_and_conditions(attacker: Attacker, path: str) -> None:
    for told in RANGES:
        attacker.ask("GET", path, range=told)
    for name in ("if-none-match", "if-range", "if-modified-since"):
        for value in ("x" * 5000, '"', "*", "Mon, 99 Foo 99999999999 00:00:00 GMT"):
            attacker.ask("GET", path, **{name: value, "range": "bytes=0-1"})
