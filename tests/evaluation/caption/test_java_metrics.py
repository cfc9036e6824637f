"""METEOR and SPICE: what is missing is said, what their programs answer is read, and METEOR is the COCO tool's.

Most tests have a stand-in for Java, a script that answers as the programs do.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from shotad.core import Config, EvaluationError, Interval
from shotad.evaluation import Corpus, Item, MetricContext, Store, make_metric, score
from shotad.evaluation.metrics.ptb import tokens
from tests.evaluation.allmetrics import CORENLP, coco_files
from tests.evaluation.caption.cocotools import coco_scores, made_predictions, need_cmdad, need_coco, need_java
from tests.evaluation.measuring import corpus_of

JAVA = """#!{python}
import json, sys
if "-version" in sys.argv:
    sys.stderr.write('openjdk version "{version}" 2020-01-01' + chr(10))
elif "-stdio" in sys.argv:
    for line in sys.stdin:
        kind, *references, said = [part.split() for part in line.split("|||")]
        assert kind == ["SCORE"], kind
        if said == ["crash"]:
            sys.exit("out of memory")
        if said == ["babble"]:
            print("what?", flush=True)
            continue
        best = max(references, key=lambda words: len(set(words) & set(said)))
        n = len([word for word in said if word in best])
        runs = 0 if not n else 1 if said == best else 2
        print(*map(float, (len(said), len(best), 0, 0, n, n, *[0] * 14, runs, n, n)), flush=True)
else:
    question, answer = sys.argv[-4], sys.argv[-2]
    assert sys.argv[-3:-1] == ["-out", answer] and sys.argv[-1] == "-silent"
    told = []
    for item in json.load(open(question)):
        said, wanted = set(item["test"].split()), set(" ".join(item["refs"]).split())
        if "crash" in said:
            sys.exit("no memory for the parser")
        tp = len(said & wanted)
        p, r = tp / len(said), tp / max(len(wanted), 1)
        f = 2 * p * r / (p + r) if tp else 0.0
        counts = dict(tp=tp, fp=len(said) - tp, fn=len(wanted) - tp, f=f, pr=p, re=r, numImages=1)
        told.append(dict(image_id=item["image_id"], scores=dict(All=counts)))
    json.dump(told, open(answer, "w"))
"""


def bench() -> MetricContext:
    return MetricContext(Config(), Store())


@pytest.fixture
def coco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The COCO tools' and CoreNLP's files, empty, and a Java of 11."""
    install_java(tmp_path, monkeypatch, "11.0.2")
    return coco_files(tmp_path, monkeypatch)


def install_java(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    program = folder / "jre" / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(JAVA.replace("{python}", sys.executable).replace("{version}", version))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("JAVA_HOME", str(folder / "jre"))


def test_spice_needs_scripts_of_java(coco: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corenlp = tmp_path / "jars"
    install_java(tmp_path, monkeypatch, "17.0.15")
    with pytest.raises(EvaluationError, match="JavaScript engine, which Java 17 has not.*8 to 14"):
        make_metric("spice", bench())
    (corenlp / "nashorn-core-15.4.jar").write_bytes(b"")
    make_metric("spice", bench())
    install_java(tmp_path, monkeypatch, "1.8.0_292")
    (corenlp / "nashorn-core-15.4.jar").unlink()
    make_metric("spice", bench())


# --- METEOR


# --- SPICE
def test_spices_answers_become_rows(coco: Path) -> None:
    pairs = [
        ("A man walks.", "A man walks."), ("A man walks.", "A man runs."), ("He sits.", None),
        ("He sits.", "..."),
    ]  # fmt: skip
    at = bench()
    result = score(make_metric("spice", at), corpus_of(pairs), at)
    assert [row.value for row in result.rows] == pytest.approx([100.0, 100 * 2 / 3, 0.0, 0.0])
    assert result.rows[1].sums == pytest.approx((2 / 3, 1.0, 2.0, 1.0, 1.0))
    assert result.value == pytest.approx(100 * (1 + 2 / 3) / 4)
    assert [row.failure for row in result.rows] == ["", "", "no prediction", ""]
    assert set(result.identity["files"]) == {"spice-1.0.jar", *CORENLP}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_cmdads_lines_have_the_meteor_of_the_coco_tool() -> None:
    """The tool's own class leaves its pipes open: hence the warnings that are let pass."""
    need_coco()
    need_java()
    texts = need_cmdad()[:400]
    predictions = [
        t if k % 5 == 0 else s
        for k, (t, s) in enumerate(zip(texts, made_predictions(texts, "mixed"), strict=True))
    ]
    items = tuple(
        Item(str(k), "f", Interval(k, k + 1), (text, texts[-k]) if k % 2 else (text,), said)
        for k, (text, said) in enumerate(zip(texts, [*predictions[:-1], ""], strict=True))
    )
    at = bench()
    metric = make_metric("meteor", at)
    said = {item.id: [" ".join(tokens(item.prediction or ""))] for item in items}
    human = {item.id: [" ".join(tokens(text)) for text in item.references] for item in items}
    result = score(metric, Corpus(items), at)
    value, each = coco_scores("Meteor", said, human)
    assert result.value == pytest.approx(100 * value, abs=1e-9)
    assert np.abs(np.array([row.value for row in result.rows]) - 100 * np.array(each)).max() < 1e-9


@pytest.mark.parametrize("name", ["meteor", "spice"])
def test_what_is_missing_has_a_remedy(name: str, coco: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "spice":
        corenlp = os.environ["SHOTAD_SPICE_JARS"]
        monkeypatch.delenv("SHOTAD_SPICE_JARS")
        why = r"needs stanford-corenlp-3.6.0.jar and .*-models.jar"
        with pytest.raises(EvaluationError, match=why) as told:
            make_metric("spice", bench())
        assert "SHOTAD_SPICE_JARS" in told.value.hint
        monkeypatch.setenv("SHOTAD_SPICE_JARS", corenlp)
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    java.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(EvaluationError, match="needs Java, and .*bin/java does not run"):
        make_metric(name, bench())
    monkeypatch.setenv("JAVA_HOME", str(coco))
    monkeypatch.setenv("PATH", str(coco))
    with pytest.raises(EvaluationError, match=r"needs Java, and there is no java .*JAVA_HOME is .*coco"):
        make_metric(name, bench())
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(EvaluationError, match=r"needs the package pycocoevalcap.*shotad\[coco\]"):
        make_metric(name, bench())


@pytest.mark.parametrize(
    ("name", "said", "why"),
    [
        ("meteor", "crash", "METEOR ended with code 1 before it had answered: out of memory"),
        ("meteor", "babble", r"answer to item film-1 cannot be read: 'what\?'"),
        ("spice", "crash", "SPICE's program ended with code 1: no memory for the parser"),
    ],
)
def test_a_program_that_fails_is_told(name: str, said: str, why: str, coco: Path) -> None:
    at = bench()
    with pytest.raises(EvaluationError, match=why):
        score(make_metric(name, at), corpus_of([("A man.", "A man."), ("A man.", said)]), at)
