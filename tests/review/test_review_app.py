"""The review page's addresses, on a small described film: what they answer, and that nothing else is served."""

from __future__ import annotations

import asyncio
import io
import json
import re
import time
import wave
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shotad
from shotad.core.errors import FilmError
from shotad.review import open_review
from shotad.script import load_track
from tests.rendering.described import STEREO, fake_voice, film_with, write_folder
from tests.review.asgi import WAIT, Answer, Listener
from tests.review.reviewed import Page, reviewed

FIRST, SECOND, THIRD = "s00001000", "s00009000", "s00014000"


WEB = Path(shotad.__file__).parent / "review" / "web"
"""The files of the page."""


@pytest.fixture
def page(place: Path) -> Iterator[Page]:
    with reviewed(place) as (_, page):
        yield page


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page whose lines no test changes."""
    with reviewed(tmp_path_factory.mktemp("untouched") / "film.shotad") as (_, page):
        yield page


# The page and its files


def test_the_page_and_all_its_files_are_served_with_their_types(untouched: Page) -> None:
    answer = untouched.get("/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.body == (WEB / "index.html").read_bytes()
    types = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
    types[".json"] = "application/json"
    for path in (path for path in WEB.rglob("*") if path.is_file()):
        name = path.relative_to(WEB).as_posix()
        file = untouched.get(f"/web/{name}")
        assert (file.status, file.body) == (200, path.read_bytes()), name
        assert file.headers["content-type"].partition(";")[0] == types[path.suffix]


def test_unknown_addresses_and_wrong_methods_are_said_to_be_so(untouched: Page) -> None:
    assert untouched.get("/nowhere").status == 404
    assert "html" in untouched.get("/nowhere").headers["content-type"]
    assert untouched.get("/api/nowhere").json["error"]["what"]
    assert untouched.get("/api/acts").status == 405
    assert untouched.post("/api/film").status == 405
    assert untouched.get("/api/film/").status == 404
    assert untouched.get("/favicon.ico").status == 204
    assert untouched.get("/api/lines/nobody").status == 400
    detail = untouched.get(f"/api/lines/{FIRST}")
    assert (detail.status, detail.json["id"]) == (200, FIRST)
    assert isinstance(detail.json["frames"], list)


# Colours, by computation


def themes() -> dict[str, dict[str, str]]:
    """The colours of both themes by their names."""
    light, rest = (WEB / "style.css").read_text().split("@media (prefers-color-scheme: dark)", 1)
    light_colours, dark_colours = (
        dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", css)) for css in (light, rest.split("box-sizing")[0])
    )
    return {"light": light_colours, "dark": light_colours | dark_colours}


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2.2 has it."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


GROUNDS = ("paper", "ground", "raised", "chosen", "hover", "bad-ground")
TEXT = [
    *((ink, ground) for ink in ("ink", "ink-soft") for ground in GROUNDS),
    *((ink, ground) for ink in ("good", "bad", "edited", "accent") for ground in ("paper", "chosen", "hover")),
    ("bad", "bad-ground"), ("warn", "warn-ground"), ("accent-ink", "accent"),
    ("found-ink", "found"),
]  # fmt: skip
PARTS = [(part, ground) for part in ("edge", "focus") for ground in GROUNDS]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXT, 4.5), (PARTS, 3.0)], ids=["1.4.3", "1.4.11"])
def test_colours_are_apart_enough(theme: str, pairs: list[tuple[str, str]], least: float) -> None:
    """WCAG 1.4.3 is on text, 1.4.11 on borders of fields and the focus ring."""
    colours = themes()[theme]
    contrasts = {pair: round(contrast(*(colours[name] for name in pair)), 2) for pair in pairs}
    assert {pair: value for pair, value in contrasts.items() if value < least} == {}


# Lines and acts


def test_an_act_is_on_the_disk_when_it_is_answered_and_all_tabs_are_told(page, place):
    with Listener(page) as tab:
        answer = page.act("write", FIRST, {"text": "A dog sleeps."})
        told = tab.until("change")
    assert answer.status == 200
    assert answer.json["said"]["text"]
    assert next(line for line in answer.json["lines"] if line["id"] == FIRST)["text"] == "A dog sleeps."
    track = load_track(place / "track.json")
    assert next(cue for cue in track.cues if cue.id == FIRST).text == "A dog sleeps."
    assert told == [answer.json]
    assert answer.json["origin"] == "here"


@pytest.mark.parametrize("body", [
    {},
    {"act": 5},
    {"act": "write", "line": 5},
    {"act": "write", "line": FIRST, "args": []},
    {"act": "write", "line": FIRST, "seen": 5, "args": {"text": "x"}},
    {"act": "write", "line": FIRST, "group": 5, "args": {"text": "x"}},
    {"act": "no such act", "line": FIRST},
    {"act": "write", "line": "nobody", "args": {"text": "x"}},
    {"act": "write", "line": FIRST, "args": {}},
    {"act": "write", "line": FIRST, "args": {"text": 5}},
    {"act": "choose", "line": FIRST, "args": {"number": 0}},
    {"act": "choose", "line": FIRST, "args": {"number": 999}},
    {"act": "choose", "line": FIRST, "args": {"number": True}},
    {"act": "move", "line": FIRST, "args": {"start": "x"}},
    {"act": "add", "line": "", "args": {"start": 1, "end": -5, "text": "x"}},
    {"act": "add_slot", "line": "", "args": {"start": -1, "end": 1}},
    {"act": "remove_slot", "line": "nobody"},
])  # fmt: skip
def test_an_act_that_no_page_asks_for_is_refused_and_changes_nothing(untouched: Page, body: object) -> None:
    before = [line["stamp"] for line in untouched.film()["lines"]]
    answer = untouched.ask(body)
    assert answer.status == 400, answer.text
    assert answer.json["error"]["what"]
    assert [line["stamp"] for line in untouched.film()["lines"]] == before


def test_a_body_that_is_too_long_is_not_read_to_its_end(page: Page) -> None:
    body = json.dumps({"act": "write", "line": FIRST, "args": {"text": "x" * 2_000_000}}).encode()
    assert page.post("/api/acts", body).status == 413
    assert page.post("/api/acts", body, pieces=50, content_length=None).status == 413


def test_who_reviews_is_remembered_for_the_next_time(place: Path) -> None:
    with reviewed(place) as (_, page):
        with Listener(page) as tab:
            assert page.post("/api/reviewer", {"name": "  Ann \t Müller "}).json == {"reviewer": "Ann Müller"}
            assert tab.until("reviewer") == [{"reviewer": "Ann Müller"}]
        page.act("accept", FIRST)
        for name in (5, None, "x" * 200, "A\u202eB", "A\0B"):
            assert page.post("/api/reviewer", {"name": name}).status == 400
    with reviewed(place) as (_, page):
        assert page.film()["reviewer"] == "Ann Müller"
        assert page.line(FIRST)["by"] == "Ann Müller"
    with reviewed(place, reviewer="Bob") as (_, page):
        assert page.film()["reviewer"] == "Bob"


# Media


def test_the_film_is_served_in_ranges_and_pictures_are_kept_until_they_change(untouched: Page) -> None:
    data = film_with().read_bytes()
    part = untouched.get("/media/film", range="bytes=100-199")
    assert (part.status, part.body) == (206, data[100:200])
    head = untouched.get("/media/film", method="HEAD")
    assert (head.status, head.headers["content-length"]) == (200, str(len(data)))
    assert head.headers["content-type"].startswith("video/")
    assert untouched.get("/media/film", range=f"bytes={len(data)}-").status == 416
    assert head.headers["cross-origin-resource-policy"] == "same-origin"
    url = untouched.get(f"/api/lines/{FIRST}").json["material"]["pictures"][0]["url"]
    picture = untouched.get(url)
    assert (picture.status, picture.headers["content-type"]) == (200, "image/jpeg")
    assert picture.body.startswith(b"\xff\xd8")
    assert untouched.get(url, if_none_match=picture.headers["etag"]).status == 304


def test_the_wave_form_shows_where_the_film_is_loud_and_is_kept(place: Path) -> None:
    def peaks_of(page: Page) -> Answer:
        end = time.monotonic() + WAIT
        while (answer := page.get("/media/waveform")).status == 204:
            assert time.monotonic() < end, "the wave form never came"
            time.sleep(0.02)
        return answer

    with reviewed(place) as (_, page):
        answer = peaks_of(page)
        rate = int(answer.headers["x-peaks-a-second"])
        duration = page.film()["film"]["duration"]
        assert len(answer.body) == pytest.approx(duration * rate, abs=rate)
        assert max(answer.body) > min(answer.body)
    with reviewed(place) as (_, page):
        assert page.get("/media/waveform").body == answer.body, "it is not computed again"


def test_a_line_has_the_material_of_its_slot_and_its_pictures_are_served(place: Path) -> None:
    with reviewed(place) as (_, page):
        material = page.get(f"/api/lines/{SECOND}").json["material"]
        (dialogue,) = material["before"]
        assert (dialogue["start"], dialogue["text"]) == (6.0, "Where is the key to the garden?")
        # The slot begins in the third shot, and the fourth begins in it: both are counted from 1.
        assert [(shot["number"], shot["start"]) for shot in material["shots"]] == [(3, 9.0), (4, 12.0)]
        assert [(picture["shot"], round(picture["second"], 1)) for picture in material["pictures"]] == [
            (3, 9.2), (3, 10.6), (4, 12.2),
        ]  # fmt: skip
        answer = page.get(material["pictures"][0]["url"])
        assert (answer.status, answer.body[:2]) == (200, b"\xff\xd8")


NOT_SERVED = {
    "/web/": (
        "../app.py", "%2e%2e/app.py", "%2fetc%2fpasswd", "main.js%00", "", ".", "MAIN.JS", "x" * 4000,
    ),
    "/api/lines/": ("..%2f..%2ftrack.json",),
    "/media/": (
        "shots/999.jpg", "moments/1.jpg", f"moments/{'9' * 9}.jpg", f"shots/{'9' * 400}.jpg", f"frames/{FIRST}/999.jpg", "frames/..%2f..%2fetc/1.jpg",
        "heard/..%2ftrack.json", "heard/x.wav", "proxy", "person/..%2f..%2fx/1.jpg",
    ),
    "/files/": ("", "track.json", "..%2ffilm.mp4", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "track.json%00.vtt"),
}  # fmt: skip


@pytest.mark.parametrize(("root", "name"), [(root, name) for root in NOT_SERVED for name in NOT_SERVED[root]])
def test_nothing_else_is_served(untouched: Page, root: str, name: str) -> None:
    answer = untouched.get(root + name)
    assert answer.status == 404, answer.text
    assert not any(word in answer.text for word in ("Traceback", str(WEB.parent)))


def test_what_cannot_be_heard_is_said_with_what_to_do(page: Page) -> None:
    assert page.get("/api/hear/nobody?kind=mix").status == 400
    assert page.get(f"/api/hear/{FIRST}?kind=everything").status == 400
    heard = page.get(f"/api/hear/{FIRST}?kind=programme")
    assert heard.status == 200, heard.text
    assert (heard.json["start"], heard.json["text"]) == (0.0, "")
    for address in ("sound/everything.wav", "sound/mix.wav?from=21", "sound/mix.wav?from=-1"):
        assert page.get(f"/media/{address}").status in (400, 404), address
    assert page.get("/api/spoken?from=now").status == 400


def test_the_sound_of_the_film_is_sent_in_parts(tmp_path: Path) -> None:
    # A decoder of AAC draws noise by chance.
    film = film_with(suffix=".mkv", sounds=(replace(STEREO, codec="flac"),))
    folder = fake_voice(write_folder(tmp_path / "lossless.shotad", film))
    with reviewed(folder, film=film) as (_, page):
        line = page.get(f"/api/hear/{FIRST}").json
        assert line["line"] == pytest.approx([1.0, 2.665])
        alone = page.get(page.get(f"/api/hear/{FIRST}?kind=voice").json["url"], range="bytes=0-3")
        assert (alone.body, alone.headers["content-type"]) == (b"RIFF", "audio/wav")
        assert "immutable" in alone.headers["cache-control"]
        page.until_settled(FIRST)
        whole = page.get("/media/sound/mix.wav")
        size = 44 + 4 * 20 * 48000
        assert (whole.status, len(whole.body), whole.headers["content-type"]) == (200, size, "audio/wav")
        assert whole.headers["cache-control"] == "no-store"
        with wave.open(io.BytesIO(whole.body)) as file:
            assert (file.getnchannels(), file.getnframes()) == (2, 20 * 48000)
        for wanted, begin, end in (
            ("bytes=0-", 0, size),
            ("bytes=10-99", 10, 100),
            ("bytes=1000003-1000010", 1000003, 1000011),
            ("bytes=-7", size - 7, size),
            (f"bytes={size - 2}-{size * 2}", size - 2, size),
        ):
            part = page.get("/media/sound/mix.wav", range=wanted)
            assert part.status == 206
            assert part.headers["content-range"] == f"bytes {begin}-{end - 1}/{size}"
            assert part.headers["content-length"] == str(end - begin)
            assert part.body == whole.body[begin:end]
        beyond = page.get("/media/sound/mix.wav", range=f"bytes={size}-")
        assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{size}")
        for odd in ("bytes=0-1,4-5", "bytes=9-1", "bytes=-", "letters=0-1"):
            assert page.get("/media/sound/mix.wav", range=odd).status == 200
        head = page.get("/media/sound/mix.wav", method="HEAD")
        assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(size))
        later = page.get("/media/sound/mix.wav?from=13.5", range="bytes=44-")
        assert later.body == whole.body[44 + 4 * round(13.5 * 48000) :]


def test_nothing_more_is_made_for_whoever_has_gone(place: Path) -> None:
    """A player takes the beginning of the sound and leaves: later lines are not spoken for it."""
    with reviewed(fake_voice(place)) as (_, page):

        async def play_the_beginning() -> int:
            has_gone, parts = asyncio.Event(), list[bytes]()

            async def receive() -> Any:
                await has_gone.wait()
                return {"type": "http.disconnect"}

            async def send(message: Any) -> None:
                parts.append(message.get("body", b""))
                if len(parts) > 2:
                    has_gone.set()
                    await asyncio.sleep(0.2)

            await page.app(page.scope("/media/sound/mix.wav"), receive, send)
            return sum(map(len, parts))

        assert 0 < asyncio.run(play_the_beginning()) < 4 * 20 * 48000
        takes = len(list((place / "voice").glob("*.flac")))
        page.get("/media/sound/mix.wav")
        assert takes < len(list((place / "voice").glob("*.flac"))) == 3


# Jobs


@pytest.mark.parametrize("body", [
    {},
    {"kind": "shell"},
    {"kind": "export"},
    {"kind": "export", "formats": "vtt"},
    {"kind": "redo", "lines": [FIRST], "note": 5},
    {"kind": "render", "makes": ["ad:mp3"], "voice": 5},
    {"kind": "render", "makes": ["ad:mp3"], "extended": "yes"},
    {"kind": "merge", "person": "p1"},
])  # fmt: skip
def test_a_job_that_no_page_asks_for_is_not_begun(untouched: Page, body: object) -> None:
    assert untouched.post("/api/jobs", body).status == 400
    assert untouched.get("/api/jobs").json == {"jobs": []}


def test_no_job_writes_or_serves_a_file_outside_the_work_folder(page: Page, place: Path) -> None:
    for makes in (["ad:../../x.mp3"], ["film:/tmp/x"], ["ad:mp3/../../x"]):
        assert page.job(kind="render", makes=makes)["state"] == "failed"
    assert [path.name for path in place.parent.iterdir()] == ["film.shotad"]
    row = page.job(kind="export", formats=["vtt"])["result"]["files"][0]
    (place.parent / "secret").write_text("secret")
    (place / row["path"]).unlink()
    (place / row["path"]).symlink_to(place.parent / "secret")
    assert page.get(row["url"]).status == 404


# A film that is gone


def test_without_its_film_lines_can_be_reviewed_all_the_same_and_another_is_refused(place: Path) -> None:
    with reviewed(place, gone=True) as (_, page):
        film = page.film()
        assert film["playable"]["state"] == "none"
        assert "--film" in film["playable"]["why"]["text"]
        assert page.act("write", SECOND, {"text": "She opens a door."}).status == 200
        assert page.act("accept", SECOND).status == 200
        assert page.get(f"/api/lines/{FIRST}").json["frames"] == []
        material = page.get(f"/api/lines/{FIRST}").json["material"]
        assert (material["pictures"], material["lacks_pictures"]) == ([], True)
        assert [line["start"] for line in material["after"]] == [6.0]
        assert page.job(kind="export", formats=["vtt"])["state"] == "done"
        for path in ("/media/film", "/media/proxy", "/media/waveform", f"/media/frames/{FIRST}/1.jpg"):
            answer = page.get(path)
            assert answer.status == 404
            assert "--film" in answer.json["error"]["hint"]
        assert page.get(f"/api/hear/{FIRST}?kind=mix").status == 400
    with pytest.raises(FilmError, match="is not the film"), open_review(place, film_with(frames=200)):
        pass
