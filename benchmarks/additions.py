"""What candidates, story context and verification add to a run, in calls and tokens.

    python benchmarks/additions.py [--seconds N]

The sample film is repeated to about five minutes and described by engines that stand in for a
vision-language model and a language model: they answer with lines of a usual length, and of every tenth
statement they say that it is not to be seen. Words are counted by `shotad.description.templates`, frames as
Qwen2-VL counts them. Each row is a whole run; ratios are to the first.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench_film import bench_film

from shotad.core import (
    Abilities,
    Given,
    Identity,
    Reply,
    Request,
    Usage,
    WorkFolder,
    load_config,
    prompt_text,
)
from shotad.description import Engines, describe
from shotad.description.templates import tokens_in
from shotad.film import open_film

DESCRIPTION = (
    "Description:\n1. Main characters: A woman in a grey coat and a boy with a lantern.\n"
    "2. Actions: The woman kneels beside a wooden chest, turns a key and lifts the lid, while the boy holds "
    "his lantern over her shoulder. She takes out a folded map and spreads it on the floor.\n"
    "3. Interactions: The boy looks at the woman, then both bend over the map.\n"
    "4. Key objects: A chest, a key, a lantern, a folded map."
)
RUNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("one line", ()),
    ("--context", ("story.on=true",)),
    ("--verify", ("verify.on=true",)),
    ("--context --verify", ("story.on=true", "verify.on=true")),
    ("--candidates 5", ("stage2.candidates=5",)),
    ("--candidates 5 --sampling independent", ("stage2.candidates=5", "stage2.draw=independent")),
    ("--candidates 5 --select engine", ("stage2.candidates=5", "stage2.select=engine")),
    ("--candidates 5 --context --verify", ("stage2.candidates=5", "story.on=true", "verify.on=true")),
)
QUICK = ("threads.features=grid", "scale.method=none", "slots.find_credits=false")


class StandIn:
    """Answers at a usual length, by the question's kind; tokens are those of real prompts and answers."""

    def __init__(self, name: str) -> None:
        self.identity = Identity("stand-in", name, "1")
        self.abilities = Abilities(accepts_images=True)
        self._lines = prompt_text("stage2/examples").splitlines()

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        text = self._answer(request, random.Random(f"{request.slot_id} {request.seed}"))
        told = sum(tokens_in(message.text) + 5 for message in request.messages) + 3
        shown = 0
        if request.clip is not None:
            frames, height, width = request.clip.images.shape[:3]
            shown = -(-frames // 2) * (height // 28) * (width // 28)
        return Reply(text, usage=Usage(told + shown, tokens_in(text)))

    def _answer(self, request: Request, chance: random.Random) -> str:
        keys = list((request.schema or {}).get("properties", {}))
        if keys == ["choice"]:
            return '{"choice": 1}'
        if keys and keys[0].startswith("summarized"):
            room = [line for line in self._lines if len(line.split()) <= (request.budget or 9)]
            return json.dumps(dict(zip(keys, chance.sample(room, len(keys)), strict=True)))
        if keys:
            return json.dumps({key: "no" if chance.random() < 0.1 else "yes" for key in keys})
        return DESCRIPTION if request.clip is not None else " ".join(chance.sample(self._lines, 6))


def main() -> None:
    """Print calls and tokens of each kind of run, for one AD and as ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=300)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        film = bench_film(folder, 360, seconds)
        subtitles = folder / "film.vtt"
        subtitles.write_text(_dialogue(seconds), encoding="utf-8")
        print(
            f"{seconds:.0f} s of film; calls and tokens in and out for one AD, and as ratios to the first row"
        )
        print(f"{'':40} {'ADs':>4} {'calls':>6} {'in':>7} {'out':>5}   {'calls':>5} {'in':>5} {'out':>5}")
        first: tuple[float, float, float] | None = None
        for label, settings in RUNS:
            slots, figures = _figures(film, subtitles, folder / "w", settings)
            first = first or figures
            ratios = [a / b for a, b in zip(figures, first, strict=True)]
            print(
                f"{label:40} {slots:4} {figures[0]:6.2f} {figures[1]:7.0f} {figures[2]:5.0f}   "
                f"{ratios[0]:5.2f} {ratios[1]:5.2f} {ratios[2]:5.2f}"
            )


def _figures(
    film: Path, subtitles: Path, out: Path, settings: Sequence[str]
) -> tuple[int, tuple[float, float, float]]:
    """ADs, and calls and tokens for each, of a run whose Stage I is asked anew."""
    for log in out.glob("*.jsonl"):
        log.unlink()
    (out / "track.json").unlink(missing_ok=True)
    config = load_config(None, (*QUICK, *settings))
    engines = Engines(StandIn("looks"), StandIn("writes"))
    with open_film(film) as opened, WorkFolder(out) as folder:
        given = Given(subtitles=subtitles)
        outcome = describe(opened, folder, config, given, engines=engines, sheet=False)
    used, slots = outcome.used, len(outcome.track.cues)
    assert used is not None
    return slots, (used.calls / slots, used.tokens.tokens_in / slots, used.tokens.tokens_out / slots)


def _dialogue(seconds: float) -> str:
    """A short exchange every 20 seconds."""
    said = ("Have you got the map?", "No. It must be in the chest.", "Then open it, quickly!")
    cues = [
        f"{_stamp(start + 2 * k)} --> {_stamp(start + 2 * k + 1.6)}\n{text}\n"
        for start in range(12, int(seconds), 20)
        for k, text in enumerate(said)
    ]
    return "\n".join(["WEBVTT\n", *cues])


def _stamp(second: float) -> str:
    return f"{int(second // 3600):02}:{int(second // 60 % 60):02}:{second % 60:06.3f}"


if __name__ == "__main__":
    main()
