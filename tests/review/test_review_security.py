"""The guard of the review page. Every check here fails if the one that it is about is taken away."""

from __future__ import annotations

import asyncio
import base64
import hmac
import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

from shotad.core.errors import WorkFolderError
from shotad.review import OpenReview, open_review
from tests.rendering.described import LINES, write_folder
from tests.review.asgi import HOST, PORT, Visitor, cookie_of
from tests.review.pages import served
from tests.review.reviewed import Page, reviewed

SECRET = "what only the log may tell"
CONNECTIONS = Path("/proc/net/tcp")
ACCEPT = {"tab": "t", "acts": [{"act": "accept", "line": "s00001000"}]}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenReview, Page]]:
    with reviewed(tmp_path_factory.mktemp("guarded") / "film.shotad") as (review, page):
        yield review, page


@pytest.fixture
def review(opened: tuple[OpenReview, Page]) -> OpenReview:
    return opened[0]


@pytest.fixture
def page(opened: tuple[OpenReview, Page]) -> Page:
    return opened[1]


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What serves the files of the page breaks, which no part of the guard expects."""

    def fail(self: StaticFiles, path: str) -> Any:
        raise KeyError(SECRET)

    monkeypatch.setattr(StaticFiles, "lookup_path", fail)


def value_of(cookie: str) -> str:
    return cookie.partition("=")[2]


# Token and cookie


def test_secrets_have_256_bits_are_new_each_time_and_compared_in_constant_time(tmp_path, monkeypatch):
    secrets: list[str] = []
    for number in range(3):
        place = write_folder(tmp_path / f"{number}.shotad")
        with open_review(place, None, port=PORT) as review:
            cookie = cookie_of(review.app, review.token)
            secrets += [review.token, review.token_for_once, value_of(cookie)]
    assert len(set(secrets)) == 9
    assert all(len(base64.urlsafe_b64decode(secret + "=")) * 8 >= 256 for secret in secrets)
    compared: list[bytes] = []

    def compare(offered: bytes, secret: bytes) -> bool:
        compared.append(secret)
        return offered == secret

    monkeypatch.setattr(hmac, "compare_digest", compare)
    with open_review(place, None, port=PORT) as review:
        page = Visitor(review.app, cookie)
        assert page.get(f"/?token={review.token_for_once}", cookie=None).status == 303
        assert page.get("/").status == 200
        for wrong in ("", "x", "%FC", "x" * 100_000):
            assert page.get(f"/?token={wrong}", cookie=None).status == 401
            assert page.get("/", cookie=f"shotad-{PORT}={wrong}").status == 401
        own = {review.token, review.token_for_once, value_of(cookie)}
    assert {secret.encode() for secret in own} <= set(compared)


def test_the_token_gives_the_cookie_leaves_the_address_and_opens_nothing_but_the_page(page, review):
    answer = page.get(f"/?token={review.token}", cookie=None, sec_fetch_site="none")
    assert (answer.status, answer.headers["location"], answer.body) == (303, "/", b"")
    words = [word.strip() for word in answer.headers["set-cookie"].split(";")]
    assert words[0] == page.cookie
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(words)
    assert review.token not in str(answer.headers)
    assert page.get("/", cookie=words[0]).status == 200
    for path in (f"/api/film?token={review.token}", "/?token=wrong", "/?token="):
        assert page.get(path, cookie=None).status == 401
    assert "set-cookie" not in page.get("/?token=wrong", cookie=None).headers
    assert page.post(f"/?token={review.token}", cookie=None).status == 401
    old = page.get("/?token=of-yesterday")
    assert (old.status, old.headers["location"]) == (303, "/"), "whoever is in just gets the page"
    assert "set-cookie" not in old.headers


def test_cookies_of_other_servers_and_one_set_over_ours_do_not_shut_the_page_out(page):
    good, bad, other = page.cookie, f"shotad-{PORT}=tossed", f"shotad-20002={value_of(page.cookie)}"
    for both in (f"{good}; {bad}", f"{bad}; {good}", f'theme=dark; {good}; bad={{"x,; {other}'):
        assert page.get("/", cookie=both).status == 200
    for none in (f"{bad}; {bad}", other):
        assert page.get("/", cookie=none).status == 401


class Entry:
    """Somebody who opens an address with a token on a real connection, as its user is known from that."""

    def __init__(self, review: OpenReview, client: Any, server: Any) -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await review.app({**scope, "client": client, "server": server}, receive, send)

        self._visitor = Visitor(app, "")

    def opens(self, token: str) -> bool:
        answer = self._visitor.get(f"/?token={token}", cookie=None)
        assert answer.status in (303, 401)
        return answer.status == 303


@pytest.fixture
def connection() -> Iterator[tuple[Any, Any]]:
    """The addresses of both ends of a connection within this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = listener.getsockname()
        with socket.create_connection(server) as client:
            yield client.getsockname(), server


@pytest.fixture
def own_review(tmp_path: Path) -> Iterator[OpenReview]:
    """A review of its own, whose token for once is still good."""
    with open_review(write_folder(tmp_path / "film.shotad"), None, port=PORT) as review:
        yield review


@pytest.mark.posix  # users have numbers
@pytest.mark.skipif(not CONNECTIONS.exists(), reason="no /proc/net/tcp: not Linux")
def test_the_address_that_opens_the_browser_is_good_once_and_to_its_user(own_review, connection, monkeypatch):
    """Other users of the machine can read it: it is an argument of a program."""
    person = Entry(own_review, *connection)
    once, token, user = own_review.token_for_once, own_review.token, os.getuid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: user + 1)
        assert [person.opens(once), person.opens(token)] == [False, True]
    assert [person.opens(once), person.opens(once), person.opens(token)] == [True, False, True], (
        "another got nothing and used nothing up"
    )


def test_the_address_that_opens_the_browser_is_good_for_a_time(own_review, monkeypatch):
    person = Entry(own_review, None, None)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 3600)
    assert [person.opens(own_review.token_for_once), person.opens(own_review.token)] == [False, True]


@pytest.mark.posix  # users have numbers
def test_an_established_connection_of_another_user_is_found_among_older_ones(own_review, monkeypatch):
    row = "  0: 0100007F:0005 0100007F:0006 {} 00000000:00000000 00:00000000 00000000  {}        0 99\n"
    other = os.getuid() + 1
    table = "head\n" + row.format("06", os.getuid()) + row.format("01", other)
    read_text = Path.read_text

    def read_table(path: Path, *args: Any, **options: Any) -> str:
        return table if path == CONNECTIONS else read_text(path, *args, **options)

    monkeypatch.setattr(Path, "read_text", read_table)
    person = Entry(own_review, ("127.0.0.1", 5), ("127.0.0.1", 6))
    assert not person.opens(own_review.token_for_once)


@pytest.mark.parametrize("known", ["no client", "no server", "another port", "no table"])
def test_where_it_is_not_known_which_user_asks_the_address_is_good(
    own_review, connection, monkeypatch, known
):
    client, server = connection
    client, server = {
        "no client": (None, server), "no server": (client, None), "another port": (client, ("127.0.0.1", 1)),
        "no table": (client, server),
    }[known]  # fmt: skip
    read_text = Path.read_text

    def refuse_table(path: Path, *args: Any, **options: Any) -> str:
        if path.is_relative_to(CONNECTIONS.parent) and known == "no table":
            raise PermissionError
        return read_text(path, *args, **options)

    user = os.getuid()
    monkeypatch.setattr(Path, "read_text", refuse_table)
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert Entry(own_review, client, server).opens(own_review.token_for_once)


# Host: DNS rebinding


@pytest.mark.parametrize(
    "host", ["127.0.0.1:20123", "127.0.0.1", "localhost:20123", "[::1]:20123", "localhost.:5"]
)
def test_this_server_is_known_by_the_names_of_this_machine(page: Visitor, host: str) -> None:
    assert page.get("/", host=host).status == 200
    assert page.post("/api/acts", {"acts": []}, host=host, origin=f"http://{host}").status == 200


def test_open_to_others_it_is_known_by_addresses_in_digits_and_its_own_name(tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Studio.lan.example")
    place = write_folder(tmp_path / "film.shotad")
    own = ("192.168.1.7:20123", "[fe80::1]:20123", "studio.lan.example:20123", "studio", "studio.local:1")
    with open_review(place, None, address="0.0.0.0", port=PORT) as review:
        assert review.open_to_others
        page = Visitor(review.app, cookie_of(review.app, review.token))
        assert {page.get("/", host=name).status for name in own} == {200}
        strange = ("evil.example", "studio.evil.example", "")
        assert {page.get("/", host=name).status for name in strange} == {403}
    for address, open_to_others in (("127.0.0.1", False), ("::1", False), ("192.168.1.7", True)):
        with open_review(place, None, address=address, port=PORT) as review:
            page = Visitor(review.app, cookie_of(review.app, review.token))
            assert review.open_to_others is open_to_others
            assert page.get("/", host="studio").status == (200 if open_to_others else 403)


# Who asks


SERVED = ("/", "/web/main.js", "/api/film", "/media/film")
PATHS = (*SERVED, "/media/proxy", "/files/x", "/api/events")
COOKIES = (None, "", "shotad-20123=", "shotad-20123=wrong", "other=x")
STRANGE = (
    "evil.example:20123", "127.0.0.1.evil.example:20123", "localhost.evil.example", "192.168.1.7:20123",
    "0.0.0.0:20123", "127.0.0.1:20123@evil.example", "[::2]:20123", "2130706433", "127.0.0.1:port",
)  # fmt: skip
ORIGINS = ("null", "", "http://evil.example", "http://127.0.0.1:8888", "http://127.0.0.1:20123/")
REFUSED: list[tuple[int, dict[str, str | None]]] = [
    *((401, {"cookie": cookie}) for cookie in COOKIES),
    *((403, {"host": host, "origin": f"http://{host}"}) for host in (None, "", *STRANGE)),
    *((403, {"origin": origin}) for origin in ORIGINS),
    # No Origin comes with a picture or a film that another page shows; this does. "same-site" is another server on
    # this machine: cookies know no ports.
    *((403, {"sec_fetch_site": site}) for site in ("cross-site", "same-site")),
]


@pytest.mark.parametrize(("status", "headers"), REFUSED)
def test_whoever_is_refused_is_told_nothing_and_changes_nothing(page, review, status, headers):
    before = page.film()["revision"]
    for path in PATHS[1:] if "sec_fetch_site" in headers else PATHS:
        answer = page.get(path, **headers)
        assert (answer.status, LINES[1.0] in answer.text) == (status, False)
        assert len(answer.body) < 1000
        assert ("shotad review printed" in answer.text) is (status == 401)
    assert page.post("/api/acts", ACCEPT, **headers).status == status
    assert page.film()["revision"] == before
    if status == 403:
        entered = page.get(f"/?token={review.token}", **{**headers, "cookie": None})
        assert (entered.status, "set-cookie" in entered.headers) == (403, False)


def test_a_browser_that_does_not_say_where_from_is_shown_the_page_and_changes_nothing(page: Visitor) -> None:
    for path in SERVED:
        assert page.get(path, origin=None, sec_fetch_site=None).status == 200
        assert page.get(path, origin=f"http://{HOST}").status == 200
    assert page.post("/api/acts", ACCEPT, origin=None).status == 403
    assert page.post("/api/acts", ACCEPT, sec_fetch_site="none").status == 403
    assert page.get("/media/film", sec_fetch_site="none").status == 200


def test_a_person_may_follow_a_link_to_the_page(page: Visitor, review: OpenReview) -> None:
    opened = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert page.get("/", **opened).status == 200
    # The cookie is for this page alone: it would not come along with a redirect from another.
    answer = page.get(f"/?token={review.token}", cookie=None, **opened)
    assert (answer.status, answer.headers["set-cookie"].partition(";")[0]) == (200, page.cookie)
    assert '<meta http-equiv="refresh" content="0; url=/">' in answer.text
    assert review.token not in answer.text
    assert "set-cookie" not in page.get("/?token=x", cookie=None, **opened).headers
    assert page.get("/api/film", **opened).status == 403
    assert page.get("/", sec_fetch_site="cross-site", sec_fetch_mode="no-cors").status == 403


@pytest.mark.slow
def test_a_link_on_another_page_lets_a_browser_in(browser: Any, tmp_path: Path) -> None:
    context = browser.new_context()
    with served(write_folder(tmp_path / "movie.shotad")) as address:
        page = context.new_page()
        page.route(
            "http://chat.example/",
            lambda route: route.fulfill(content_type="text/html", body=f'<a href="{address}">x</a>'),
        )
        page.goto("http://chat.example/")
        page.click("a")
        page.wait_for_selector(".row", timeout=120_000)
        assert page.url == address.partition("?")[0]
        context.close()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "X"])
def test_other_methods_are_not_understood(page: Visitor, method: str) -> None:
    assert page.get("/api/film", method=method).status == 405
    assert page.get("/api/film", method=method, cookie=None, origin="http://evil.example").status == 405


# What may be sent


SENT = {
    ("x_shotad", 403): (None, "", "Page", "1", "page, page"),  # a header that no form can send
    ("content_type", 415): (None, "", "text/plain", "multipart/form-data; boundary=x"),
    ("content_length", 413): ("1000001", "9" * 400, "-1", "+5", "1e3", "x", "²"),
}


@pytest.mark.parametrize(
    ("name", "status", "value"), [(*key, value) for key, values in SENT.items() for value in values]
)
def test_a_change_needs_the_header_of_the_page_json_and_no_more_than_a_page_sends(page, name, status, value):
    assert page.post("/api/acts", ACCEPT, **{name: value}).status == status
    assert page.post("/api/acts", {"acts": []}, content_type="Application/JSON; charset=utf-8").status == 200


@pytest.mark.parametrize("name", [b"host", b"origin", b"content-type", b"content-length", b"x-shotad"])
def test_a_header_that_must_be_there_once_may_not_be_there_twice(page: Page, name: bytes) -> None:
    async def doubled(scope: Any, receive: Any, send: Any) -> None:
        more = [pair for pair in scope["headers"] if pair[0] == name]
        await page.app({**scope, "headers": [*scope["headers"], *more]}, receive, send)

    assert replace(page, app=doubled).post("/api/acts", ACCEPT).status == 400


NO_JSON = (b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b'{"a": "\xff"}')


@pytest.mark.parametrize("body", [b"", b"[]", b"{", *NO_JSON, b"[" * 100_000])
def test_json_that_no_page_sends_is_refused(page: Page, body: bytes) -> None:
    assert page.post("/api/acts", body).status == 400


# Answers


@pytest.mark.parametrize("path", ["/", "/api/film", "/media/film", "/web/main.js"])
@pytest.mark.parametrize("cookie", [True, False])
def test_every_answer_has_all_headers(page: Visitor, breaks: None, path: str, cookie: bool) -> None:
    answer = page.get(path) if cookie else page.get(path, cookie=None)
    assert answer.status == (401 if not cookie else 500 if "main.js" in path else 200)
    headers = answer.headers
    policy = {word.split()[0]: word.split()[1:] for word in headers["content-security-policy"].split("; ")}
    assert policy == {
        "default-src": ["'none'"],
        **{f"{kind}-src": ["'self'"] for kind in ("script", "style", "img", "media", "connect")},
        **{name: ["'none'"] for name in ("base-uri", "form-action", "frame-ancestors", "trusted-types")},
        "require-trusted-types-for": ["'script'"],
    }
    wanted = {
        "x-content-type-options": "nosniff", "x-frame-options": "DENY", "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
        "cache-control": "private, no-cache" if answer.status == 200 and "media" in path else "no-store",
    }  # fmt: skip
    assert {name: headers[name] for name in wanted} == wanted
    kept_from = {word.partition("=")[0] for word in headers["permissions-policy"].split(", ")}
    assert {"camera", "microphone", "geolocation", "display-capture"} <= kept_from
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_a_connection_that_broke_is_no_fault(page: Page, caplog: pytest.LogCaptureFixture) -> None:
    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        asyncio.run(page.app(page.scope("/api/film"), receive, send))
    assert caplog.text == ""


def test_a_fault_of_the_guard_itself_lets_nobody_in_and_tells_nothing(page, monkeypatch, caplog):
    def fail(offered: bytes, secret: bytes) -> bool:
        raise KeyError(SECRET)

    monkeypatch.setattr(hmac, "compare_digest", fail)
    answer = page.get("/api/film")
    assert (answer.status, SECRET in answer.text) == (500, False)
    assert SECRET in caplog.text


def test_a_fault_after_an_answer_has_begun_ends_the_connection(page, monkeypatch, caplog):
    async def begin_and_break(self: FileResponse, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise KeyError(SECRET)

    monkeypatch.setattr(FileResponse, "__call__", begin_and_break)
    with pytest.raises(KeyError):
        page.get("/")
    assert SECRET in caplog.text


def test_programs_are_told_in_json_and_people_on_a_page(page: Visitor) -> None:
    refused = page.get("/api/film", cookie=None)
    assert refused.headers["content-type"] == "application/json"
    assert {"what", "hint"} <= set(refused.json["error"])
    people = page.get("/", cookie=None)
    assert people.headers["content-type"] == "text/html; charset=utf-8"
    tags = set(re.findall(r"<(\w+)", people.text))
    assert '<html lang="en">' in people.text
    assert {"title", "h1", "main", "p", "meta"} <= tags
    assert not {"script", "style", "img", "link"} & tags
    assert page.get("/", method="HEAD", cookie=None).body == b""


def test_neither_token_nor_cookie_nor_traceback_is_in_any_answer(page, review, breaks, caplog):
    own = (review.token, review.token_for_once, value_of(page.cookie))
    secrets = (*own, SECRET, "Traceback", "KeyError", ".py")
    answers = [
        page.get(f"/?token={review.token}x", cookie=None),
        page.get(f"/api/film?token={review.token}", cookie=None),
        page.get(f"/?token={review.token}", host="evil.example"),
        page.get(f"/web/style.css?token={review.token}"),
    ]
    assert not any(secret in f"{answer.headers} {answer.text}" for answer in answers for secret in secrets)
    assert answers[-1].status == 500
    assert review.token not in caplog.text


def test_a_fault_that_comes_again_and_again_is_logged_once(
    tmp_path: Path, breaks: None, caplog: pytest.LogCaptureFixture
) -> None:
    with reviewed(tmp_path / "film.shotad", gone=True) as (_, page):
        answers = [page.get("/web/main.js") for _ in range(20)]
    assert {answer.status for answer in answers} == {500}
    assert "A fault of shotad itself" in answers[0].json["error"]["what"]
    assert len(caplog.records) == 1
    assert SECRET in caplog.text, "what broke is in the log"


def test_secrets_that_somebody_else_wrote_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sends a work folder knows what lies in it."""
    place = write_folder(tmp_path / "film.shotad")

    def token() -> str:
        with open_review(place, None, port=PORT) as review:
            return review.token

    of_sender = token()
    monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "of-another-user"))
    of_receiver = token()
    assert of_sender != of_receiver == token()


@pytest.mark.posix  # users have numbers
def test_the_secrets_of_a_folder_are_kept_and_only_its_owner_can_read_them(tmp_path: Path) -> None:
    place = write_folder(tmp_path / "film.shotad")
    file = place / "review" / "page-secret"

    def secrets() -> tuple[str, str, str]:
        """Token, cookie and token for once of the folder, opened anew."""
        with open_review(place, None, port=PORT) as review:
            return review.token, cookie_of(review.app, review.token), review.token_for_once

    first, second = secrets(), secrets()
    assert first[:2] == second[:2]
    assert first[2] != second[2]
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
        file.chmod(0o644)
        assert secrets()[0] != first[0], "others may have read it"
        assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("short\nshorter\n")
    third = secrets()
    assert len(third[0]) == len(first[0])
    target = tmp_path / "elsewhere"
    file.rename(target)
    file.symlink_to(target)
    assert secrets()[0] != third[0]
    assert not file.is_symlink()
    file.unlink()
    file.parent.rename(tmp_path / "moved")
    file.parent.write_text("a file where the folder should be")
    with pytest.raises(WorkFolderError, match="is a file, not a folder"):
        secrets()
