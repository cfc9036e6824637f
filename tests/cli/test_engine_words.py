"""Engines in one word: the small model, and servers of this machine, which are found, and never cut a prompt
silently."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shotad.core import Config, Engine, Request
from shotad.core.errors import EngineError
from shotad.core.settings import build_settings
from shotad.engines import best_preset, make_engine, running_servers, stage_engines
from tests.bad_server import Act, BadServer, Pages, Seen, answer
from tests.cli.program import FAKE, Shotad
from tests.endpoint import SCHEMA, request
from tests.media import FilmSpec, SoundSpec, make_film

pytest.importorskip("httpx", reason="the extra openai is not installed")

SEES, BLIND = "qwen2.5vl:7b", "llama3.1:latest"
WORD = f"ollama:{SEES}"
PICTURE = 500
"""Tokens of a frame, as this Ollama counts; a word is one."""


class Ollama:
    """A scripted Ollama. ``says_so``: what it does with a prompt that is longer than its context: newer ones
    refuse it, older ones leave half of it and tell nobody. ``shown`` is what else it tells of a model.
    ``asked`` are the requests to chat."""

    def __init__(self, longest: int = 131_072, *, says_so: bool = True, **shown: Any) -> None:
        self.asked: list[dict[str, Any]] = []
        self._longest, self._says_so, self._shown = longest, says_so, shown

    def answer(self, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        able = {SEES: ["completion", "vision", "thinking"], BLIND: ["completion"]}
        if path == "/api/tags":
            return 200, {"models": [{"name": name, "capabilities": able[name]} for name in able]}
        if body["model"] not in able:
            return 404, {"error": f"model '{body['model']}' not found"}
        if path == "/api/show":
            sizes = {"qwen25vl.context_length": self._longest, "qwen25vl.block_count": 28}
            return 200, {
                "capabilities": able[body["model"]], "model_info": sizes, "details": {"family": "qwen"},
                **self._shown,
            }  # fmt: skip
        assert path == "/api/chat", path
        self.asked.append(dict(body))
        context = body["options"]["num_ctx"]
        pictures = sum(len(turn.get("images", ())) for turn in body["messages"])
        tokens = sum(len(turn["content"].split()) for turn in body["messages"]) + pictures * PICTURE
        if tokens > context and self._says_so:
            return 400, {"error": f"request ({tokens} tokens) exceeds the available context size ({context})"}
        said = '{"summarized_AD": "A woman opens a door."}' if "format" in body else "A woman opens a door."
        read = context // 2 + 2 if tokens > context else tokens
        message = {"role": "assistant", "content": said, "thinking": "Let me see."}
        return 200, {
            "message": message, "done": True, "done_reason": "stop", "prompt_eval_count": read, "eval_count": 6,
        }  # fmt: skip


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[Pages], str]]:
    """Serves what a function answers, and gives the address. No other server is looked for, nothing is chosen."""

    def forget() -> None:
        running_servers.cache_clear()
        best_preset.cache_clear()

    with ExitStack() as stack:

        def start(answers: Pages) -> str:
            server = stack.enter_context(BadServer(pages=answers))
            forget()
            return server.url.removesuffix("/v1")

        monkeypatch.setenv("SHOTAD_CONFIG", str(tmp_path / "config"))
        monkeypatch.setattr("shotad.engines.table.PATIENCE", 20.0)  # the machine may be busy
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        yield start
    forget()


@pytest.fixture
def ollama(serve: Callable[[Pages], str], monkeypatch: pytest.MonkeyPatch) -> Ollama:
    server = Ollama()
    monkeypatch.setenv("OLLAMA_HOST", serve(server.answer).removeprefix("http://"))
    return server


def with_a_tiny_model(model: Path, place: Path, *more: str) -> tuple[object, ...]:
    """``describe`` of a film with sound in two slots, with a model of random weights in Stage I."""
    film = make_film(FilmSpec(frames=200, cuts=(100,), sounds=(SoundSpec(duration=8.0),))).path
    (place / "slots.csv").write_text("start,end\n0.2,3.8\n4.2,7.8\n")
    own = (f"stage1.model={model}", "compute.device=cpu", "compute.precision=float32", "stage1.attempts=1",
           "stage1.sampling.max_tokens=8", "frames.min_pixels=784", "frames.max_pixels=20000", *more)  # fmt: skip
    settings = (word for one in own for word in ("--set", one))
    out = ("--slots", place / "slots.csv", "--out", place / "film.shotad", "--no-sheet")
    return ("describe", film, *FAKE, *settings, *out)


def stage1_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "stage1.jsonl").read_text().splitlines()]


def engine(word: str = WORD, **more: Any) -> Engine:
    return make_engine("ollama", build_settings(Config, {"engine": word, **more}), "stage1")


def test_a_film_is_described_in_one_word(ollama: Ollama, shotad: Shotad, tmp_path: Path) -> None:
    film, folder = make_film(FilmSpec(frames=200, cuts=(100,))).path, tmp_path / "film.shotad"
    run = shotad("describe", film, *FAKE, "--engine", WORD, "--out", folder, "--no-sheet")
    assert run.code == 0, run.err
    (script,) = folder.glob("*.ad.vtt")
    assert "A woman opens a door." in script.read_text(encoding="utf-8")
    assert "leave this machine" not in run.err
    assert "No server answers" not in run.err
    looks, writes = ollama.asked[0], ollama.asked[-1]
    assert {one["model"] for one in ollama.asked} == {SEES}
    assert len(looks["messages"][-1]["images"]) == 32
    assert writes["format"]["required"] == ["summarized_AD"]
    for one in ollama.asked:
        assert (one["stream"], one["think"], one["truncate"], one["shift"]) == (False, False, False, False)
    # 12,288 tokens were too few for 32 frames; from then on one length for both stages: Ollama loads a model anew for
    # another.
    lengths = [one["options"]["num_ctx"] for one in ollama.asked]
    assert (lengths[0], set(lengths[1:])) == (12_288, {24_576})


def test_a_server_that_is_not_there_is_told_before_the_film_is_read(ollama, shotad, tmp_path, monkeypatch):
    film, folder = make_film(FilmSpec(frames=200, cuts=(100,))).path, tmp_path / "film.shotad"
    arguments = ("describe", film, *FAKE, "--engine", WORD, "--out", folder, "--no-sheet")
    assert shotad(*arguments).code == 0
    asked = len(ollama.asked)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    told = "No server answers at 127.0.0.1:9 yet."
    again = shotad(*arguments)
    assert (again.code, len(ollama.asked)) == (0, asked), "all is kept: nobody is needed"
    fresh = shotad(*arguments, "--force", "--set", "openai.retries=0")
    assert fresh.code == 1
    assert fresh.err.index(told) < fresh.err.index("Connection refused")
    assert told in again.err


@pytest.mark.parametrize("says_so", [True, False], ids=["refuses", "cuts silently"])
def test_a_prompt_that_does_not_fit_gets_a_longer_context_or_fails(serve, says_so):
    roomy, small = Ollama(40_000, says_so=says_so), Ollama(12_000, says_so=says_so)
    places = [{"openai": {"base_url": f"{serve(one.answer)}/v1"}} for one in (roomy, small)]
    (fits,) = engine(**places[0]).generate([request(frames=32)])
    assert fits.text == "A woman opens a door."
    assert [one["options"]["num_ctx"] for one in roomy.asked] == [12_288, 24_576]
    (fails,) = engine(**places[1]).generate([request(frames=32)])
    assert fails.text == ""
    assert "longer than the maximum context of 12000 tokens" in fails.notes["problem"]
    assert "frames.inside" in (fails.error or "")


@pytest.mark.parametrize(
    ("model", "says"), [(BLIND, "takes no images"), ("nothing", f"It has: {SEES}, {BLIND}.")]
)
def test_a_model_that_cannot_do_it_stops_the_run(ollama: Ollama, model: str, says: str) -> None:
    with pytest.raises(EngineError) as caught:
        engine(f"ollama:{model}").generate([request(frames=2)])
    assert says in f"{caught.value.what} {caught.value.hint}"
    assert not ollama.asked


def test_stage_two_may_have_a_model_that_sees_nothing(ollama: Ollama) -> None:
    config = build_settings(Config, {"engine": WORD, "stage2": {"model": BLIND}})
    (reply,) = make_engine("ollama", config, "stage2").generate([request(schema=True)])
    assert json.loads(reply.text) == {"summarized_AD": "A woman opens a door."}
    (asked,) = ollama.asked
    assert (asked["model"], "think" in asked, asked["format"]["properties"]) == (
        BLIND,
        False,
        SCHEMA["properties"],
    )


def with_times(frames: int, text: str = "What is seen?") -> Request:
    return replace(request(text, frames=frames), timed=True)


def test_each_image_stands_behind_its_time_where_a_model_has_no_renderer(serve):
    """Ollama puts all images before the text that has no marks for them (server/prompt.go)."""
    plain, rendering = Ollama(), Ollama(renderer="qwen3-vl-instruct")
    texts = []
    for server in (plain, rendering):
        made = engine(openai={"base_url": serve(server.answer)})
        made.generate([with_times(2, "What is seen? A sign says [img-0] and [img].")])
        turn = server.asked[0]["messages"][-1]
        assert len(turn["images"]) == 2
        texts.append(" ".join(turn["content"].split()))
    said = "What is seen? A sign says [ img-0] and [ img]."
    assert texts == [
        f"Frame 1, at 0.0 s: [img] Frame 2, at 1.0 s: [img] {said}",
        f"Frame 1, at 0.0 s: Frame 2, at 1.0 s: {said}",
    ]
    # Without times nothing stands before an image.
    made = engine(openai={"base_url": serve(plain.answer)})
    made.generate([request(frames=2)])
    assert plain.asked[-1]["messages"][-1]["content"] == "What is seen?"


def test_models_of_ollama_think_as_little_as_they_can(serve):
    plain, gpt_oss = Ollama(), Ollama(details={"family": "gptoss"})
    for server, settings, think in (
        (plain, {}, False),
        (gpt_oss, {}, "low"),
        (plain, {"thinking": "server"}, None),
        (plain, {"extra": {"think": "high", "keep_alive": "1h", "options": {"top_k": 9}}}, "high"),
    ):
        made = engine(openai={"base_url": serve(server.answer), **settings})
        made.generate([request()])
        assert server.asked[-1].get("think") == think
    assert (plain.asked[-1]["keep_alive"], plain.asked[-1]["options"]["top_k"]) == ("1h", 9)
    assert plain.asked[-1]["options"]["num_ctx"] == 8192, "what shotad sets stays beside it"


def test_an_ollama_that_knows_no_low_is_asked_without_and_its_thought_is_named(serve):
    server, asked = Ollama(details={"family": "gptoss"}), []

    def answer(path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        if path != "/api/chat":
            return server.answer(path, body)
        asked.append((body.get("think"), body["options"]["num_predict"]))
        if "think" in body:
            what = "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool"
            return 400, {"error": what}
        message = {"role": "assistant", "content": "", "thinking": "Let me see."}
        return 200, {"message": message, "done_reason": "length", "prompt_eval_count": 9, "eval_count": 512}

    (reply,) = engine(openai={"base_url": serve(answer)}).generate([request()])
    assert asked == [("low", 512), (None, 512), (None, 2048)]
    assert "2048 tokens went into thought" in (reply.error or "")


def test_a_model_of_ollama_that_takes_one_image_gets_one(serve):
    server, shown = Ollama(), []

    def answer(path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        if path == "/api/chat":
            shown.append(len(body["messages"][-1]["images"]))
            if shown[-1] > 1:
                what = "this model only supports one image while more than one image requested"
                return 400, {"error": what}
        return server.answer(path, body)

    (reply,) = engine(openai={"base_url": serve(answer)}).generate([with_times(4)])
    assert (shown, reply.shown) == ([4, 1], "timed stills, 1 of 4 frames")


def test_an_ollama_that_knows_no_schema_is_asked_plainly_from_then_on(serve):
    old, shown = Ollama(), list[bool]()

    def answer(path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        if path != "/api/chat":
            return old.answer(path, body)
        shown.append("format" in body)
        if "format" in body:
            what = "json: cannot unmarshal object into Go struct field ChatRequest.format of type string"
            return 400, {"error": what}
        return old.answer(path, body)

    made = engine(openai={"base_url": serve(answer)})
    replies = [made.generate([request(schema=True)])[0] for _ in range(2)]
    assert [reply.text for reply in replies] == ["A woman opens a door."] * 2
    assert shown == [True, False, False]


LISTS = {
    "lmstudio": {
        "/api/v0/models": {"data": [{"id": "gemma-3", "type": "vlm"}, {"id": "bge", "type": "embeddings"}]}
    },
    "llamacpp": {
        "/v1/models": {"data": [{"id": "smolvlm", "owned_by": "llamacpp"}]},
        "/props": {"modalities": {"vision": True}},
    },
    "vllm": {"/v1/models": {"data": [{"id": "Qwen/Qwen3-VL-4B", "owned_by": "vllm"}]}},
}
TOLD = [
    f"Ollama, with vision: {WORD}",
    "LM Studio, with vision: lmstudio:gemma-3",
    "llama.cpp, with vision: llamacpp:smolvlm",
    "vLLM, which does not tell whether its models see: vllm:Qwen/Qwen3-VL-4B",
]


def test_servers_are_found_at_their_ports_and_strangers_are_not(ollama, serve, monkeypatch):
    from shotad.engines.table import KINDS, EngineKind

    def pages(held: Mapping[str, Any]) -> Pages:
        return lambda path, _: (200, held[path]) if path in held else (404, "no such page")

    def serve_lists(lists: Mapping[str, Any]) -> None:
        """Puts a server with these pages in the place of each port that is looked at, but for Ollama's."""
        others = (EngineKind(kind.word, kind.title, f"{serve(pages(lists[kind.word]))}/v1") for kind in kinds)
        monkeypatch.setattr("shotad.engines.table.KINDS", (ollama_kind, *others))

    ollama_kind, *kinds = KINDS
    serve_lists(LISTS)
    assert list(running_servers()) == TOLD
    config = build_settings(Config, {"engine": "vllm:Qwen/Qwen3-VL-4B"})
    assert stage_engines(config).stage1 == "openai"
    assert make_engine("openai", config, "stage1").identity.model == "Qwen/Qwen3-VL-4B"
    somebody = {
        "/v1/models": {"data": [{"id": "x", "owned_by": "somebody"}]}, "/props": [], "/api/v0/models": 3,
    }  # fmt: skip
    serve_lists(dict.fromkeys(LISTS, somebody))
    assert list(running_servers()) == TOLD[:1]


def test_auto_takes_a_server_only_where_the_user_said_so(ollama, shotad, monkeypatch):
    def doctor(*use: str) -> str:
        best_preset.cache_clear()
        return shotad("doctor", *use).out

    before = doctor()
    assert f"Ollama, with vision: {WORD}" in before
    assert "auto takes embedded" in before
    refused = shotad("doctor", "--use", "ollama:nothing")
    assert refused.code == 2
    assert WORD in refused.err
    assert f"auto takes {WORD}" in doctor("--use", WORD)
    assert stage_engines(Config()).stage1 == "ollama"
    assert make_engine("ollama", Config(), "stage2").identity.model == SEES
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    running_servers.cache_clear()
    assert f"auto takes embedded ({WORD}, chosen with --use, does not answer)" in doctor()
    assert "chosen" not in doctor("--use", "none")


def test_small_is_one_model_for_both_stages_loaded_once(shotad, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import transformers

    from tests.vision_models import qwen_folder

    config = build_settings(Config, {"engine": "small"})
    for stage in ("stage1", "stage2"):
        made = make_engine("qwen2-vl", config, stage)
        assert (made.identity.engine, made.identity.model) == ("qwen2-vl", "Qwen/Qwen3-VL-2B-Instruct")
    loads = []
    real = transformers.AutoModelForImageTextToText.from_pretrained
    monkeypatch.setattr(
        transformers.AutoModelForImageTextToText,
        "from_pretrained",
        lambda *words, **options: loads.append(1) or real(*words, **options),
    )
    tiny = qwen_folder(tmp_path / "tiny", "qwen3_vl")
    own = (f"stage2.model={tiny}", "stage2.sampling.max_tokens=8", "stage2.attempts=1")
    shotad(*with_a_tiny_model(tiny, tmp_path, *own), "--engine", "small")
    assert {one["engine"] for one in stage1_of(tmp_path / "film.shotad")} == {"qwen2-vl"}
    assert loads == [1]


def test_a_model_that_hears_looks_at_a_film_once_and_one_without_torchvision_is_refused_first(
    shotad, tmp_path
):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.vision_models import NO_STILLS, has_torchvision, omni_folder, video_folder

    omni = omni_folder(tmp_path / "omni", whole=True)
    words = with_a_tiny_model(omni, tmp_path, "stage1.engine=qwen2-vl")
    assert "2 calls" in shotad(*words).out
    for record in stage1_of(tmp_path / "film.shotad"):
        assert (record["maker"]["model"], record["error"]) == ("omni", None)
        assert record["tries"][0]["shown"] == "video"
        assert record["maker"]["revision"].endswith(" float32")
        assert "everybody hears it" in record["prompt"][0]["text"]
    kept = (tmp_path / "film.shotad" / "stage1.jsonl").read_bytes()
    assert "Used by" not in shotad(*words).out
    assert (tmp_path / "film.shotad" / "stage1.jsonl").read_bytes() == kept
    if not has_torchvision():
        blind = video_folder(tmp_path / "blind", NO_STILLS[0])
        said = shotad(*with_a_tiny_model(blind, tmp_path, "stage1.engine=qwen2-vl"), "--force")
        assert (said.code, "torchvision" in said.err, "Finding shots" in said.err) == (1, True, False)


@pytest.mark.parametrize(("word", "looks", "kinds"), [
    ("openai", "openai", ["text", "image_url"] * 4 + ["text"]),
    ("openai", "openai-sound", ["text", "image_url"] * 4 + ["input_audio", "text"]),
    ("vllm:tiny", "openai", ["video_url", "text"]),
], ids=["stills with times", "sound", "video with times"])  # fmt: skip
def test_what_a_film_becomes_on_the_wire(word, looks, kinds, shotad, tmp_path):
    def script(seen: Seen) -> Act:
        line = '{"summarized_AD": "A woman opens a door."}'
        return answer(
            line if "response_format" in seen.body else "Description:\n2. Actions: A woman opens a door."
        )

    film = make_film(FilmSpec(frames=200, cuts=(100,), sounds=(SoundSpec(duration=8.0),))).path
    with BadServer(script) as server:
        own = (f"openai.base_url={server.url}", "stage1.model=tiny", "stage2.model=tiny", f"stage1.engine={looks}",
               "frames.inside=2", "frames.outside=2", "frames.min_pixels=784", "frames.max_pixels=20000")  # fmt: skip
        settings = (part for one in own for part in ("--set", one))
        run = shotad(
            "describe", film, *FAKE, "--engine", word, *settings, "--out", tmp_path / "out", "--no-sheet"
        )
        first, last = server.requests[0].body, server.requests[-1].body
    assert run.code == 0, run.err
    parts = first["messages"][-1]["content"]
    assert [part["type"] for part in parts] == kinds
    seconds = [second for shot in stage1_of(tmp_path / "out")[0]["shots"] for second in shot["seconds"]]
    texts = [part["text"] for part in parts[:-1] if part["type"] == "text"]
    told = [float(re.search(r"at ([\d.]+) s:", text)[1]) for text in texts]
    if "media_io_kwargs" in first:
        video = first["media_io_kwargs"]["video"]
        told = [index / video["fps"] for index in video["frames_indices"]]
    assert told == pytest.approx([one - seconds[0] for one in seconds], abs=0.06)
    assert last["response_format"]["json_schema"]["schema"]["required"] == ["summarized_AD"]
