"""News for tabs: in order, from any thread, and no tab can hold up or fill up the server."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable
from typing import Any

from shotad.review.events import Tabs, event_stream

WAIT = 10.0


class Browser:
    """The other end of one connection: what it has got, and whether it is still there."""

    def __init__(self, *, takes: bool = True) -> None:
        self.got = bytearray()
        self.status = 0
        self.gone, self.changed = asyncio.Event(), asyncio.Event()
        self.free = asyncio.Event()
        if takes:
            self.free.set()
        self.ended = False

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, data: Any) -> None:
        if data["type"] == "http.response.start":
            self.status = data["status"]
            return
        await self.free.wait()
        self.got += data["body"]
        self.ended = not data["more_body"]
        self.changed.set()

    async def until(self, text: str) -> None:
        async with asyncio.timeout(WAIT):
            while text not in self.got.decode():
                self.changed.clear()
                await self.changed.wait()

    def events(self) -> list[tuple[str, Any]]:
        found = []
        for block in self.got.decode().split("\n\n"):
            lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if "event" in lines:
                found.append((lines["event"], json.loads(lines["data"])))
        return found


def connect(tabs: Tabs, browser: Browser, **options: float) -> asyncio.Task[None]:
    stream = event_stream(tabs, lambda: {"revision": 7}, **options)
    return asyncio.create_task(stream({"type": "http"}, browser.receive, browser.send))


def in_a_loop(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    @functools.wraps(test)
    def run() -> None:
        asyncio.run(asyncio.wait_for(test(), WAIT * 2))

    return run


@in_a_loop
async def test_a_tab_hears_where_it_begins_and_then_all_that_is_told_in_order() -> None:
    tabs, browser = Tabs(), Browser()
    task = connect(tabs, browser)
    await browser.until("hello")
    assert len(tabs) == 1
    for i in range(50):
        tabs.tell("change", {"revision": i})
    await browser.until('"revision":49')
    events = browser.events()
    assert events[0] == ("hello", {"revision": 7})
    assert [data["revision"] for kind, data in events[1:] if kind == "change"] == list(range(50))
    browser.gone.set()
    await task
    assert len(tabs) == 0


@in_a_loop
async def test_a_tab_that_falls_behind_is_told_to_fetch_all_anew_and_let_go() -> None:
    tabs, slow, quick = Tabs(5000), Browser(takes=False), Browser()
    first, second = connect(tabs, slow), connect(tabs, quick)
    await quick.until("hello")
    for i in range(100):
        tabs.tell("change", {"revision": i, "text": "x" * 400})
        await quick.until(f'"revision":{i},')
    slow.free.set()
    async with asyncio.timeout(WAIT):
        await first
    assert [kind for kind, _ in slow.events()] == ["hello", "film"]
    assert slow.ended
    assert [d["revision"] for k, d in quick.events() if k == "change"] == list(range(100))
    assert len(tabs) == 1
    quick.gone.set()
    await second


@in_a_loop
async def test_at_the_end_all_are_told_and_let_go_and_new_ones_turned_away() -> None:
    tabs, browser, late = Tabs(), Browser(), Browser()
    task = connect(tabs, browser)
    await browser.until("hello")
    tabs.tell("change", {"revision": 1})
    tabs.close()
    await task
    assert [kind for kind, _ in browser.events()] == ["hello", "change", "bye"]
    assert browser.ended
    await connect(tabs, late)
    assert late.ended
