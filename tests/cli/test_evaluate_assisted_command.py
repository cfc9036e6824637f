"""``shotad evaluate assisted``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import Shotad


def test_whom_the_expert_takes_is_written_and_told(shotad: Shotad, tmp_path: Path) -> None:
    ads = tmp_path / "ads.jsonl"
    words = ["door", "street", "house", "river", "table"]
    with ads.open("w") as file:
        for k, word in enumerate(words):
            row = {
                "id": f"n{k}", "film": "f", "start": 5 * k, "end": 5 * k + 2,
                "text": f"She sees the {word} again.",
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")
    given = tmp_path / "preds.jsonl"
    with given.open("w") as file:
        for k, word in enumerate(words[:-1]):
            lines = ["Nothing at all.", f"She sees the {word}.", "He sleeps."]
            file.write(json.dumps({"id": f"n{k}", "text": lines[0], "candidates": lines}) + "\n")
    said = shotad(
        "evaluate", "assisted", ads, "--predictions", given, "--metrics", "cider,rouge-l", "--expert", "cider",
        "--cache", tmp_path / "cache.db", "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["chosen_number"] == {"1": 4}
    assert told["without_candidates"] == 1
    assert told["results"]["chosen"]["cider"] > told["results"]["random"]["cider"]
    folder = tmp_path / "preds.assisted"
    assert json.loads((folder / "assisted.json").read_text()) == told
    choices = [json.loads(line) for line in (folder / "choices.jsonl").read_text().splitlines()]
    assert [choice["text"] for choice in choices][:2] == ["She sees the door.", "She sees the street."]
    assert choices[-1] == {"id": "n4", "chosen": None, "text": None, "scores": []}
    assert (folder / "report.json").is_file()
