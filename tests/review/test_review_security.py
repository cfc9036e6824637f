"""The guard of the review page's server. Every check here fails if the one that it is about is taken away."""

from __future__ import annotations

import base64
import os
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from shotad.review import security
from shotad.review.security import Guard, Hosts, Keys, RequestRefused, read_body
from tests.rendering.described import write_folder
from tests.review.asgi import HOST, Visitor, cookie_of
from tests.review.pages import served

SECRET = "what only the page may see"


async def inner(scope: Any, receive: Any, send: Any) -> None:
    """What is guarded: says its secret to whoever gets through; breaks where it is asked to."""
    if scope["path"] == "/break":
        raise KeyError(SECRET)
    headers = [(b"content-type", b"text/plain")]
    if scope["path"] == "/media/kept":
        headers.append((b"cache-control", b"private, no-cache"))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if scope["path"] == "/break-later":
        raise KeyError(SECRET)
    await send({"type": "http.response.body", "body": SECRET.encode()})


@pytest.fixture
def keys() -> Keys:
    return Keys(20123)


@pytest.fixture
def page(keys: Keys) -> Visitor:
    return Visitor(Guard(inner, keys, Hosts()), keys)


# Token and cookie


def test_secrets_have_256_bits_are_new_each_time_and_compared_in_constant_time(monkeypatch, keys):
    each = [(one.token, one.once, cookie_of(one).split("=", 1)[1]) for one in (keys, Keys(), Keys())]
    several = {secret for secrets in each for secret in secrets}
    assert len(several) == 9
    assert all(len(base64.urlsafe_b64decode(secret + "=")) * 8 >= 256 for secret in several)
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(other)
        return one == other

    monkeypatch.setattr(security.hmac, "compare_digest", compare)
    cookie = cookie_of(keys)
    assert keys.opens(keys.token)
    assert keys.opens(keys.once)
    assert keys.knows(cookie)
    for wrong in ("", "x", "ü", "\udc80", "x" * 100_000):
        assert not keys.opens(wrong)
        assert not keys.knows(f"{keys.cookie_name}={wrong}")
    secrets = {keys.token.encode(), keys.once.encode(), cookie.partition("=")[2].encode()}
    assert set(compared) == secrets


def test_the_token_gives_the_cookie_leaves_the_address_and_opens_nothing_but_the_page(page, keys):
    answer = page.get(f"/?token={keys.token}", cookie=None, sec_fetch_site="none")
    assert (answer.status, answer.headers["location"], answer.body) == (303, "/", b"")
    words = [word.strip() for word in answer.headers["set-cookie"].split(";")]
    assert words[0] == cookie_of(keys)
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(words)
    assert keys.token not in str(answer.headers)
    assert page.get("/", cookie=words[0]).status == 200
    for path in (f"/api/film?token={keys.token}", "/?token=wrong", "/?token="):
        assert page.get(path, cookie=None).status == 401
    assert "set-cookie" not in page.get("/?token=wrong", cookie=None).headers
    assert page.post(f"/?token={keys.token}", cookie=None).status == 401
    old = page.get("/?token=of-yesterday")
    assert (old.status, old.headers["location"]) == (303, "/"), "whoever is in just gets the page"
    assert "set-cookie" not in old.headers


def test_cookies_of_other_servers_and_one_set_over_ours_do_not_shut_the_page_out(page, keys):
    other = Keys(20002)
    good, bad = cookie_of(keys), f"{keys.cookie_name}=tossed"
    for both in (f"{good}; {bad}", f"{bad}; {good}", f'theme=dark; {good}; bad={{"x,; {cookie_of(other)}'):
        assert page.get("/", cookie=both).status == 200
    for none in (f"{bad}; {bad}", cookie_of(other)):
        assert page.get("/", cookie=none).status == 401


def test_the_address_that_opens_the_browser_is_good_once_to_its_user_and_for_a_time(page, keys, monkeypatch):
    """Other users of the machine can read it: it is an argument of a program."""

    def opens(token: str) -> int:
        return page.get(f"/?token={token}", cookie=None).status

    monkeypatch.setattr(security, "user_of", lambda client, server: os.getuid() + 1)
    assert [opens(keys.once), opens(keys.token)] == [401, 303], "another gets nothing and uses nothing up"
    monkeypatch.setattr(security, "user_of", lambda client, server: os.getuid())
    assert [opens(keys.once), opens(keys.once), opens(keys.token)] == [303, 401, 303]
    later, now = Keys(), security.time.monotonic()
    monkeypatch.setattr(security.time, "monotonic", lambda: now + 3600)
    assert not later.opens(later.once)
    assert later.opens(later.token)


@pytest.mark.skipif(not security._CONNECTIONS[0].exists(), reason="no /proc/net/tcp: not Linux")
def test_the_user_of_a_connection_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = listener.getsockname()
        with socket.create_connection(server) as client:
            assert security.user_of(client.getsockname(), server) == os.getuid()
            assert security.user_of(client.getsockname(), ("127.0.0.1", 1)) is None
    assert security.user_of(None, server) is None
    assert security.user_of(("127.0.0.1", 1), None) is None


def test_where_connections_are_not_told_no_user_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(security, "_CONNECTIONS", (tmp_path / "none",))
    assert security.user_of(("127.0.0.1", 5), ("127.0.0.1", 6)) is None
    row = "  0: 0100007F:0005 0100007F:0006 {} 00000000:00000000 00:00000000 00000000  1234        0 99\n"
    (tmp_path / "tcp").write_text("head\n" + row.format("06") + row.format("01").replace("1234", "1235"))
    monkeypatch.setattr(security, "_CONNECTIONS", (tmp_path / "tcp",))
    assert security.user_of(("127.0.0.1", 5), ("127.0.0.1", 6)) == 1235


# Host: DNS rebinding


@pytest.mark.parametrize(
    "host", ["127.0.0.1:20123", "127.0.0.1", "localhost:20123", "[::1]:20123", "localhost.:5"]
)
def test_this_server_is_known_by_the_names_of_this_machine(page: Visitor, host: str) -> None:
    assert page.get("/", host=host).status == 200
    assert page.post("/api/acts", host=host, origin=f"http://{host}").status == 200


def test_open_to_others_it_is_known_by_addresses_in_digits_and_its_own_name(monkeypatch):
    monkeypatch.setattr(security.socket, "gethostname", lambda: "Studio.lan.example")
    hosts = Hosts("0.0.0.0")
    own = ("192.168.1.7:20123", "[fe80::1]:20123", "studio.lan.example:20123", "studio", "studio.local:1")
    assert all(hosts.know(name) for name in own)
    assert not any(hosts.know(name) for name in ("evil.example", "studio.evil.example", ""))
    assert not Hosts("127.0.0.1").know("studio")
    assert [Hosts(host).open_to_others for host in ("::1", "192.168.1.7")] == [False, True]


# Who asks


PATHS = ("/", "/web/main.js", "/api/film", "/media/film", "/media/proxy", "/files/x", "/api/events")
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
def test_whoever_is_refused_is_told_nothing_and_changes_nothing(page, status, headers):
    for path in PATHS[1:] if "sec_fetch_site" in headers else PATHS:
        answer = page.get(path, **headers)
        assert (answer.status, SECRET in answer.text) == (status, False)
        assert ("shotad review printed" in answer.text) is (status == 401)
    assert page.post("/api/acts", **headers).status == status
    if status == 403:
        token = page.get(f"/?token={page.keys.token}", **{**headers, "cookie": None})
        assert (token.status, "set-cookie" in token.headers) == (403, False)


def test_a_browser_that_does_not_say_where_from_is_shown_the_page_and_changes_nothing(page: Visitor) -> None:
    for path in PATHS:
        assert page.get(path, origin=None, sec_fetch_site=None).status == 200
        assert page.get(path, origin=f"http://{HOST}").status == 200
    assert page.post("/api/acts", origin=None).status == 403
    assert page.post("/api/acts", sec_fetch_site="none").status == 403
    assert page.get("/media/film", sec_fetch_site="none").status == 200


def test_a_person_may_follow_a_link_to_the_page(page: Visitor, keys: Keys) -> None:
    opened = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert page.get("/", **opened).status == 200
    # The cookie is for this page alone: it would not come along with a redirect from another.
    answer = page.get(f"/?token={keys.token}", cookie=None, **opened)
    assert (answer.status, answer.headers["set-cookie"].partition(";")[0]) == (200, cookie_of(keys))
    assert '<meta http-equiv="refresh" content="0; url=/">' in answer.text
    assert keys.token not in answer.text
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
    assert page.post("/api/acts", **{name: value}).status == status
    assert page.post("/api/acts", content_type="Application/JSON; charset=utf-8").status == 200


@pytest.mark.parametrize("name", [b"host", b"origin", b"content-type", b"content-length", b"x-shotad"])
def test_a_header_that_must_be_there_once_may_not_be_there_twice(keys: Keys, name: bytes) -> None:
    async def doubled(scope: Any, receive: Any, send: Any) -> None:
        more = [pair for pair in scope["headers"] if pair[0] == name]
        await Guard(inner, keys, Hosts())({**scope, "headers": [*scope["headers"], *more]}, receive, send)

    assert Visitor(doubled, keys).post("/api/acts").status == 400


NO_JSON = (b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b'{"a": "\xff"}')


@pytest.mark.parametrize("body", [b"", b"[]", b"{", *NO_JSON, b"[" * 100_000])
def test_json_that_no_page_sends_is_refused(body: bytes) -> None:
    with pytest.raises(RequestRefused) as refused:
        read_body(body)
    assert refused.value.status == 400


# Answers


@pytest.mark.parametrize("path", ["/", "/api/film", "/media/film", "/break"])
@pytest.mark.parametrize("cookie", [True, False])
def test_every_answer_has_all_headers(page: Visitor, path: str, cookie: bool) -> None:
    answer = page.get(path) if cookie else page.get(path, cookie=None)
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
        "cross-origin-embedder-policy": "require-corp", "cache-control": "no-store",
    }  # fmt: skip
    assert {name: headers[name] for name in wanted} == wanted
    kept_from = {word.partition("=")[0] for word in headers["permissions-policy"].split(", ")}
    assert {"camera", "microphone", "geolocation", "display-capture"} <= kept_from
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers
    assert page.get("/media/kept").headers["cache-control"] == "private, no-cache"


def test_a_fault_after_an_answer_has_begun_ends_the_connection_and_one_that_broke_is_no_fault(
    page, keys, caplog
):
    async def breaks(scope: Any, receive: Any, send: Any) -> None:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        Visitor(Guard(breaks, keys, Hosts()), keys).get("/")
    assert caplog.text == ""
    with pytest.raises(KeyError):
        page.get("/break-later")


def test_programs_are_told_in_json_and_people_on_a_page(page: Visitor) -> None:
    refused = page.get("/api/film", cookie=None)
    assert refused.headers["content-type"] == "application/json"
    assert set(refused.json["error"]) == {"what", "hint"}
    people = page.get("/", cookie=None)
    assert people.headers["content-type"] == "text/html; charset=utf-8"
    tags = set(re.findall(r"<(\w+)", people.text))
    assert '<html lang="en">' in people.text
    assert {"title", "h1", "main", "p", "meta"} <= tags
    assert not {"script", "style", "img", "link"} & tags
    assert page.get("/", method="HEAD", cookie=None).body == b""
    error = RequestRefused(400, "<script>alert(1)</script>", "a & b")
    shown = bytes(security.error_answer({"path": "/", "method": "GET"}, 400, error).body).decode()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_neither_token_nor_cookie_nor_traceback_is_in_any_answer(page, keys, caplog):
    own = (keys.token, keys.once, cookie_of(keys).partition("=")[2])
    secrets = (*own, SECRET, "Traceback", "KeyError", ".py")
    answers = [
        page.get(f"/?token={keys.token}x", cookie=None),
        page.get(f"/api/film?token={keys.token}", cookie=None),
        page.get(f"/?token={keys.token}", host="evil.example"),
        page.get(f"/break?token={keys.token}"),
    ]
    assert not any(secret in f"{answer.headers} {answer.text}" for answer in answers for secret in secrets)
    assert answers[-1].status == 500
    assert "KeyError" in caplog.text, "what broke is in the log"
    assert keys.token not in caplog.text


def test_the_secrets_of_a_folder_are_kept_and_only_its_owner_can_read_them(tmp_path: Path) -> None:
    file = tmp_path / "review" / "page-secret"
    first = Keys(7, file)
    assert (first.token, first.set_cookie()) == (Keys(7, file).token, Keys(7, file).set_cookie())
    assert first.once != Keys(7, file).once
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
        file.chmod(0o644)
        assert Keys(7, file).token != first.token, "others may have read it"
        assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("short\nshorter\n")
    second = Keys(7, file)
    assert len(second.token) == len(first.token)
    target = tmp_path / "elsewhere"
    file.rename(target)
    file.symlink_to(target)
    assert Keys(7, file).token != second.token
    assert not file.is_symlink()
    assert Keys(7, tmp_path / "elsewhere" / "x").token, "a folder that cannot be made keeps nothing"
