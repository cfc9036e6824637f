"""Files by byte ranges, as players ask for them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from shotad.core import ReviewError
from shotad.review.media import FileAnswer, asked_spans, inside
from tests.review.asgi import Answer, ask

DATA = bytes(range(256)) * 4


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "film.mp4"
    path.write_bytes(DATA)
    return path


def get(path: Path, method: str = "GET", /, **headers: str) -> Answer:
    named: Mapping[str, str] = {name.replace("_", "-"): value for name, value in headers.items()}
    return asyncio.run(ask(FileAnswer(path, "video/mp4"), method, "/media/film", named))


def test_a_whole_file_says_its_length_type_and_that_ranges_can_be_had(film: Path) -> None:
    answer = get(film)
    assert (answer.status, answer.body) == (200, DATA)
    assert answer.headers["content-length"] == "1024"
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["accept-ranges"] == "bytes"


def test_head_is_the_same_without_the_file(film: Path) -> None:
    head, whole = get(film, "HEAD"), get(film)
    assert (head.status, head.body, head.headers) == (200, b"", whole.headers)
    assert get(film, "HEAD", range="bytes=0-9").headers["content-length"] == "1024"


@pytest.mark.parametrize(
    ("header", "first", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, 1024),
        ("bytes=100-199", 100, 200),
        ("bytes=1000-5000", 1000, 1024),
        ("bytes=-24", 1000, 1024),
        ("bytes=-5000", 0, 1024),
        ("BYTES = 5 - 9", 5, 10),
        ("bytes=10-19,20-29", 10, 30),
        ("bytes=20-29, 10-24", 10, 30),
        ("bytes=0-9,5000-", 0, 10),
    ],
)
def test_one_range_is_one_part(film: Path, header: str, first: int, end: int) -> None:
    answer = get(film, range=header)
    assert answer.status == 206
    assert answer.body == DATA[first:end]
    assert answer.headers["content-range"] == f"bytes {first}-{end - 1}/1024"
    assert answer.headers["content-length"] == str(end - first)


@pytest.mark.parametrize("header", ["bytes=1024-", "bytes=9999-10000", "bytes=-0", "bytes=2000-,3000-"])
def test_a_range_of_which_nothing_is_there_is_refused_with_the_size(film: Path, header: str) -> None:
    answer = get(film, range=header)
    assert (answer.status, answer.body) == (416, b"")
    assert answer.headers["content-range"] == "bytes */1024"


@pytest.mark.parametrize(
    "header",
    [
        "frames=0-9",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=9-5",
        "bytes=0x1-5",
        "bytes=1-2-3",
        "bytes=+1-2",
        "bytes=٣-٥".encode().decode("latin-1"),
        "bytes=0-9,x",
        f"bytes=0-{'9' * 5000}",
        "bytes=" + ",".join(f"{i * 3}-{i * 3}" for i in range(200)),
    ],
)
def test_a_range_that_is_none_is_ignored(film: Path, header: str) -> None:
    answer = get(film, range=header)
    assert (answer.status, answer.body) == (200, DATA)


def test_several_ranges_are_parts_each_with_its_place(film: Path) -> None:
    answer = get(film, range="bytes=0-9, 500-599, -4")
    mark = re.fullmatch(r"multipart/byteranges; boundary=(\w+)", answer.headers["content-type"])
    assert mark is not None
    assert answer.status == 206
    assert "content-range" not in answer.headers
    assert int(answer.headers["content-length"]) == len(answer.body)
    parts = answer.body.split(b"--" + mark[1].encode())
    assert (parts[0], parts[-1]) == (b"", b"--\r\n")
    found = {}
    for part in parts[1:-1]:
        head, _, body = part.partition(b"\r\n\r\n")
        place = re.search(rb"Content-Range: bytes (\d+)-(\d+)/1024", head)
        assert place is not None
        found[int(place[1]), int(place[2])] = body.removesuffix(b"\r\n")
    assert found == {(0, 9): DATA[:10], (500, 599): DATA[500:600], (1020, 1023): DATA[1020:]}


def test_an_empty_file_has_no_ranges(tmp_path: Path) -> None:
    path = tmp_path / "empty.wav"
    path.write_bytes(b"")
    assert (get(path).status, get(path).headers["content-length"]) == (200, "0")
    assert get(path, range="bytes=0-").status == 416
    assert get(path, range="bytes=-5").status == 416


def test_what_a_browser_has_already_is_not_sent_again(film: Path) -> None:
    tag = get(film).headers["etag"]
    for header in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = get(film, if_none_match=header)
        assert (answer.status, answer.body) == (304, b"")
        assert answer.headers["etag"] == tag
    assert get(film, if_none_match='"other"').status == 200


def test_a_part_is_sent_only_of_the_file_that_was_begun(film: Path) -> None:
    tag = get(film).headers["etag"]
    assert get(film, range="bytes=0-9", if_range=tag).status == 206
    for other in ('"other"', f"W/{tag}", "Sat, 21 Nov 2026 08:00:00 GMT"):
        assert get(film, range="bytes=0-9", if_range=other).body == DATA
    film.write_bytes(DATA[::-1])
    os.utime(film, ns=(1, 1))
    changed = get(film, range="bytes=0-9", if_range=tag)
    assert (changed.status, changed.body) == (200, DATA[::-1])
    assert changed.headers["etag"] != tag


def test_a_big_film_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    film, size = tmp_path / "big.mkv", 6 << 30
    with film.open("wb") as out:
        out.truncate(size)
        out.seek(size - 3)
        out.write(b"end")
    answer = get(film, range="bytes=-5")
    assert answer.body == b"\0\0end"
    assert answer.headers["content-range"] == f"bytes {size - 5}-{size - 1}/{size}"


def test_who_has_gone_is_sent_nothing_more(tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    film.write_bytes(bytes(8 << 20))
    sent = []

    async def test() -> None:
        gone = asyncio.Event()

        async def receive() -> Any:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(len(message.get("body", b"")))
            if sum(sent) > 1 << 20:
                gone.set()
                await asyncio.sleep(0)

        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        await FileAnswer(film, "video/mp4")(scope, receive, send)

    asyncio.run(test())
    assert 1 << 20 < sum(sent) < 3 << 20


def test_a_file_that_becomes_shorter_ends_the_connection_and_sends_no_wrong_length(film: Path) -> None:
    async def test() -> None:
        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                film.write_bytes(b"short")

        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        await FileAnswer(film, "video/mp4")(scope, receive, send)

    with pytest.raises(ConnectionError):
        asyncio.run(test())


def test_no_file_stays_open(film: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for header in ("bytes=0-9", "bytes=5000-", "bytes=0-1,5-6"):
        get(film, range=header)
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "missing", "."):
        with pytest.raises(ReviewError):
            get(tmp_path / name)


@given(
    st.integers(0, 300), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=1, max_size=8)
)
def test_ranges_are_those_bytes_that_are_asked_for(size: int, asked: list[tuple[int, int]]) -> None:
    pairs = [(min(pair), max(pair)) for pair in asked]
    spans = asked_spans("bytes=" + ",".join(f"{a}-{b}" for a, b in pairs), size)
    assert spans is not None
    assert {i for first, end in spans for i in range(first, end)} == {
        i for a, b in pairs for i in range(a, b + 1) if i < size
    }
    assert all(a[1] < b[0] for a, b in pairwise(spans))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    (place / "export").mkdir(parents=True)
    (place / "film.vtt").write_text("WEBVTT")
    (place / "export" / "film ü “x”.docx").write_text("docx")
    (place / ".lock").write_text("")
    (tmp_path / "secret").write_text("secret")
    (place / "link").symlink_to(tmp_path / "secret")
    (place / "out").symlink_to(tmp_path)
    (place / "a\\b").write_text("elsewhere on other systems")
    os.mkfifo(place / "pipe")
    return place


def test_names_lead_to_files_of_the_folder(folder: Path) -> None:
    assert inside(folder, "film.vtt") == folder / "film.vtt"
    assert inside(folder, "export/film ü “x”.docx").read_text() == "docx"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../secret",
        "export/../../secret",
        "export/../film.vtt",
        "./film.vtt",
        "export//film.vtt",
        "/etc/passwd",
        "//etc/passwd",
        ".lock",
        "link",
        "out/secret",
        "export",
        "export/",
        "pipe",
        "film.vtt/",
        "film.vtt\0",
        "film.vtt\0.png",
        "..\\secret",
        "export\\film.vtt",
        "a\\b",
        "missing",
        "%2e%2e/secret",
        "..%2fsecret",
        "x" * 5000,
        "\ud800",
    ],
)
def test_no_name_leads_anywhere_else(folder: Path, name: str) -> None:
    with pytest.raises(ReviewError, match="no such file"):
        inside(folder, name)
