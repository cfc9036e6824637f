"""Which candidate is taken: near copies go, then rules, embeddings along the film, or an engine that is asked."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from shotad.core import Interval, Reply, ShotadError
from tests.conftest import needed
from tests.describe.slot_run import (
    AS_THEY_COME,
    ScriptedSlot,
    SlotRun,
    last_slot,
    lines_json,
    run_slots,
    spoken_before,
)

GOOD, POOR, GUN = "Ann opens a drawer.", "Bob waits outside.", "She takes out a gun."
ERROR, WARNING, RESIDUE = "A close-up of a drawer.", "Ann seems to open a drawer.", "The image shows Ann."


def seen(actions: str) -> str:
    """Stage I's answer about what is done."""
    return f"Description:\n1. Main characters: Ann.\n2. Actions: {actions}"


def choose(*candidates: str, before: Sequence[str] = (), how: Sequence[str] = (), **more: Any) -> SlotRun:
    """A run whose last slot has these candidates, after slots with the lines ``before``."""
    settings = (*AS_THEY_COME, f"stage2.candidates={len(candidates)}", *how)
    return run_slots(*spoken_before(*before), last_slot(*candidates, **more), how=settings)


# Near copies


@pytest.mark.parametrize(("line", "other", "same"), [
    ("Turning at the door, Ann smiles at Bob.", "Ann turns at the door, smiling at Bob.", True),
    ("Ann opens the heavy door of the old car.", "Eve opens the heavy door of the old car.", False),
    ("Ann opens the heavy door of the old car.", "Ann closes the heavy door of the old car.", False),
    ("Ann watches Bob leave.", "Bob watches Ann leave.", False),
    ("Rain falls.", "Snow falls.", False),
])  # fmt: skip
def test_the_same_in_another_order_is_a_near_copy_and_another_subject_or_verb_is_none(line, other, same):
    for pair in ((line, other), (other, line)):
        assert choose(*pair).cue.candidates == (pair[:1] if same else pair)


# By rules


@pytest.mark.parametrize(("better", "worse", "unseen"), [
    ("A close-up of Bob.", RESIDUE, "better"),
    (ERROR, GOOD, "worse"),
    (ERROR, "Ann opens the drawer and takes out the", ""),
    ("Bob seems to wait.", ERROR, ""),
    (POOR, WARNING, ""),
], ids=["residue", "unseen", "broken off", "error", "warning"])  # fmt: skip
def test_an_earlier_rule_outweighs_all_later_ones(better: str, worse: str, unseen: str) -> None:
    how = ("verify.on=true",) if unseen else ()
    for order in (("better", "worse"), ("worse", "better")):
        lines = [better if place == "better" else worse for place in order]
        verdicts = {str(number): "no" if place == unseen else "yes" for number, place in enumerate(order, 1)}
        run = choose(*lines, verdicts=json.dumps(verdicts) if unseen else "", how=how)
        assert run.cue.text.rstrip(".") == better.rstrip(".")


DOORS = [f"It is door number {number}." for number in range(10)]


@pytest.mark.parametrize(("candidates", "before", "actions", "chosen"), [
    ((GOOD, POOR), ["The drawer Ann opens.", *DOORS[:9]], "Ann opens a drawer.", 1),
    ((GOOD, POOR), ["The drawer Ann opens.", *DOORS], "Ann opens a drawer.", 0),
    (("Ann sits at a table.", GOOD), [], "Ann opens a drawer.", 1),
    (("Ann sits behind a table.", "Ann stumbles."), [], "Ann stumbles past a table.", 1),
    (("Ann opens the drawer.", "Ann takes out a gun."), ["Ann opens the door."], "Ann opens a drawer. She takes out a gun.", 1),
    ((POOR, "Eve sits inside."), [], "Ann opens a drawer.", 0),
    (("Bob.", "Dogs."), [], "Nobody.", 0),
])  # fmt: skip
def test_the_line_that_says_more_of_the_description_and_news_is_taken(candidates, before, actions, chosen):
    assert choose(*candidates, before=before, looks=(seen(actions),)).cue.chosen == chosen


# By embeddings


@pytest.fixture
def word_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedder is one that knows words alone, each a random direction: texts are alike as far as they
    share words."""
    needed("sentence_transformers")
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    texts = (GOOD, POOR, GUN, WARNING, ERROR, "Ann opens the drawer. She takes a gun out. Bob sits.")
    words = {word.strip(".").lower() for text in texts for word in text.split()}
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *sorted(words)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    folder = tmp_path / "words"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    directions = np.random.default_rng(0).normal(size=(len(vocabulary), 256)).astype(np.float32)
    save_file({"embedding.weight": directions}, folder / "model.safetensors")
    module = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}
    (folder / "modules.json").write_text(json.dumps([module]), encoding="utf-8")
    rows = []
    for name in ("model.safetensors", "modules.json", "tokenizer.json"):
        content = (folder / name).read_bytes()
        rows.append({"file": name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)})
    entry = {
        **rows[0], "role": "sentence embeddings", "memory_mb": 1, "licence": "MIT", "credit": "made here",
        "parts": rows[1:], "sources": [{"kind": "file", "path": str(folder / "model.safetensors")}],
    }  # fmt: skip
    (tmp_path / "data" / "models").mkdir(parents=True)
    manifest = tmp_path / "data" / "models" / "manifest.yaml"
    manifest.write_text(yaml.safe_dump({"weights": {"minilm": entry}}), encoding="utf-8")
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SHOTAD_CACHE", str(tmp_path / "cache"))


SEQUENCE = ("stage2.select=sequence", "compute.device=cpu")


@pytest.mark.usefixtures("word_vectors")
def test_what_was_said_is_not_said_again_and_memory_fades() -> None:
    def chosen(*candidates: str, before: Sequence[str] = ()) -> int | None:
        return choose(*candidates, before=before, how=SEQUENCE).cue.chosen

    assert chosen(POOR, GUN) == 1
    # In a slot with the same candidates, lines and description nothing new is embedded.
    twice = [last_slot(POOR, GUN, interval=Interval(second, second + 4)) for second in (2, 10)]
    how = (*AS_THEY_COME, *SEQUENCE, "stage2.candidates=2")
    assert [cue.chosen for cue in run_slots(*twice, how=how).cues] == [1, 0]
    assert chosen(GOOD, GUN, before=["Ann opens the drawer."]) == 1
    assert chosen(GOOD, GUN, before=["She takes a gun out."]) == 0
    # Of two that were said, the one that was said longer ago.
    drawer, gun = "Ann opens the drawer.", "She takes a gun out."
    assert chosen(GUN, GOOD, before=[drawer, *[POOR] * 3, gun]) == 1
    assert chosen(GOOD, GUN, before=[gun, *[POOR] * 3, drawer]) == 1


@pytest.mark.usefixtures("word_vectors")
def test_a_line_that_must_not_be_is_out_however_relevant_and_a_warning_weighs_little() -> None:
    for worse, before in ((ERROR, []), ("The drawer Ann opens.", [GOOD])):
        assert choose(worse, POOR, before=before, how=SEQUENCE).cue.chosen == 1
    unseen = choose(GOOD, POOR, verdicts='{"1": "no", "2": "yes"}', how=(*SEQUENCE, "verify.on=true"))
    assert unseen.cue.chosen == 1
    assert choose(WARNING, POOR, how=SEQUENCE).cue.chosen == 0
    assert choose("Ann seems to open.", GOOD, how=SEQUENCE).cue.chosen == 1
    assert choose("Ann opens.", GOOD, how=SEQUENCE).cue.chosen == 1, "before its own first half"


def test_without_the_library_a_choice_by_embeddings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ShotadError, match=r"shotad\[language\]"):
        choose(GOOD, how=SEQUENCE)


# By an engine


def ask(answer: str | Reply, *candidates: str, before: Sequence[str] = ()) -> SlotRun:
    """A run whose engine is asked which candidate is best, and gives this answer."""
    how = (*AS_THEY_COME, f"stage2.candidates={len(candidates)}", "stage2.select=engine")
    slot = ScriptedSlot([lines_json(*candidates), answer])
    return run_slots(*spoken_before(*before), slot, how=how)


@pytest.mark.parametrize(
    "answer", ["I like them all.", Reply("Candidate 3.", "refused"), Reply("", "error", error="no answer")]
)
def test_an_answer_without_a_choice_leaves_it_to_the_rules(answer: str | Reply) -> None:
    assert ask(answer, GOOD, GUN, POOR, before=["Ann opens the drawer."]).cue.chosen == 1


def test_only_lines_that_may_be_spoken_are_shown_and_one_is_no_question() -> None:
    run = ask('{"choice": 2}', ERROR, GOOD, POOR)
    assert run.cue.chosen == 2
    assert "close-up" not in run.writes.questions()[-1]
    how = (*AS_THEY_COME, "stage2.candidates=2", "stage2.select=engine")
    alone = run_slots(last_slot(ERROR, GOOD), how=how)
    assert (alone.cue.chosen, len(alone.writes.requests)) == (1, 1)


LINES = ["He sits.", "He stands up.", "She runs from 3 dogs.", "He sits down and stands up."]


@pytest.mark.parametrize(("answer", "index"), [
    ('{"choice": 2}', 1),
    ('```json\n{"choice": "3"}\n```', 2),
    ('{"choice": "He stands up."}', 1),
    ('{"choice": 2', 1),
    ("2", 1),
    ("3. She runs from 3 dogs.", 2),
    ("He sits down and stands up.", 3),
    ('{"choice": "&#50;"}', 1),
])  # fmt: skip
def test_answers_are_read_by_their_meaning(answer: str, index: int) -> None:
    assert ask(answer, *LINES).cue.chosen == index


def test_a_line_is_found_by_its_words_where_the_answer_has_them_escaped() -> None:
    assert ask("Ann &amp; Bo run.", "He nods.", "Ann & Bo run.").cue.chosen == 1


@pytest.mark.parametrize("answer", [
    "I choose candidate 3 because candidate 1 repeats what was said.", '{"choice": 9}', '{"choice": true}',
    '{"choice": 2} {"choice": 3}', '{"choice": NaN}', '{"choice": null}', '{"choice": "undefined"}',
    '{"choice": "..."}', '{"choice": "1/2"}', '{"choice": -1}', '{"choice": 1e1}',
])  # fmt: skip
def test_an_answer_that_names_no_line_or_two_chooses_none(answer: str) -> None:
    assert ask(answer, *LINES).cue.chosen == ask("I cannot tell.", *LINES).cue.chosen
