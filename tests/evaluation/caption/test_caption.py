"""Penn Treebank tokens, CIDEr, BLEU, ROUGE-L, METEOR and SPICE: by hand, by their formulas and against the COCO tools.

What needs those tools, Java or ../shared is skipped, with the reason, where it is not there. Other tests of METEOR
and SPICE have a stand-in for Java, a script that answers as the programs do.
"""

from __future__ import annotations

import ast
import csv
import importlib.util
import math
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shotad.core import Config, Interval
from shotad.core.errors import EvaluationError
from shotad.evaluation import Corpus, Item, MetricContext, Result, Store, make_metric
from shotad.evaluation.metrics import ptb
from tests.cmdad import DATA
from tests.evaluation import allmetrics
from tests.evaluation.allmetrics import CORENLP, VARIED, changed, coco_files, corpus_of, predicted
from tests.evaluation.standins import install_java


def need_coco() -> Path:
    """The folder of pycocoevalcap."""
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("pycocoevalcap is not installed (the extra coco)")
    return Path(spec.submodule_search_locations[0])


def need_java() -> str:
    """The program."""
    java = shutil.which("java")
    if java is None:
        pytest.skip("no java on the PATH")
    return java


def need_cmdad(name: str = "cmdad_anno.csv") -> list[dict[str, str]]:
    """The rows of a table of CMD-AD's test set, in the order of the file."""
    path = DATA / "cmd-ad" / name
    if not path.is_file():
        pytest.skip("no ../shared/data/cmd-ad")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def scored(name: str, corpus: Corpus) -> Result:
    return allmetrics.scored(name, corpus, MetricContext(Config(), Store()))


# --- tokens
TABLE = [
    ("Mr. Okafor and Dr. Lindqvist leave the U.S. The door closes.",
     "mr. okafor and dr. lindqvist leave the u.s. the door closes"),
    ("Back in the U.S. he waits.", "back in the u.s. he waits"),
    ("I. He looks up.", "i he looks up"),
    ("J. R. Ewing, J.R. and J.R.R. arrive at 5 a.m. She yawns.",
     "j. r. ewing j.r. and j.r.r. arrive at 5 a.m. she yawns"),
    ("She can't, won't and doesn't look; they've left, he'd stay, I'm sure.",
     "she ca n't wo n't and does n't look they 've left he 'd stay i 'm sure"),
    ("He cannot go. We're gonna leave, gotta run, wanna bet? Gimme that, lemme see.",
     "he can not go we 're gon na leave got ta run wan na bet gim me that lem me see"),
    ("'Tis late. 'Twas dark. 'Cause of 'em, rock 'n' roll.", "'t is late 't was dark 'cause of 'em rock 'n' roll"),
    ("O'Hara's mother-in-law, the dogs' bowls, James' hat, the boss's car.",
     "o'hara 's mother-in-law the dogs bowls james hat the boss 's car"),
    ("It’s “over,” he says. ‘Fine.’ The boys’ coats. Don’t.", "it 's over he says fine the boys coats do n't"),
    ("\"Run!\" she shouts. 'Now!'", "run she shouts now"),
    ("One -- two — three – four - five --- six ----- seven.", "one two three four five six ----- seven"),
    ("Wait... what.... no . . . yes… maybe ......", "wait what no yes maybe"),
    ("Room 3,000 at 10:30, 1.5 metres, $5 or £5 or 20 €, 50% off, No. 7, no. She goes.",
     "room 3,000 at 10:30 1.5 metres $ 5 or # 5 or 20 $ 50 % off no. 7 no she goes"),
    ("The 1990s, the '90s, 1st, 22nd, 3-4, -5, 1/2 cup, 1 1/2 cups, ½ cup.",
     "the 1990s the '90s 1st 22nd 3-4 -5 1/2 cup 1\xa01/2 cups 1/2 cup"),
    ("A well-known, twenty-two-year-old man (Tom) [off screen] {cut}.",
     "a well-known twenty-two-year-old man -lrb- tom -rrb- -lsb- off screen -rsb- -lcb- cut -rcb-"),
    ("www.example.com or http://example.com/a?b=c, mail me@example.com, #tag, @name.",
     "www.example.com or http://example.com/a?b=c mail me@example.com, #tag @name"),
    ("R&B, AT&T, salt & pepper, and/or, 24/7, 12/25/2001, w/o.",
     "r&b at&t salt & pepper and/or 24/7 12/25/2001 w/o"),
    ("Café, naïve Zoë, Dvořák, Ærø, 東京.", "café naïve zoë dvořák ærø 東京"),
    ("Call 555-1234 or (555) 555-1234 :-) ;) :( <3",
     "call 555-1234 or -lrb-555-rrb-\xa0555-1234 :--rrb- ;-rrb- :-lrb- < 3"),
    ("Jan. 5, Feb. 6, etc., St. John's, Ph.D., vs. them, Inc. He.",
     "jan. 5 feb. 6 etc. st. john 's ph.d. vs. them inc. he"),
    ("soft\xadhyphen, non\xa0breaking, zero\u200bwidth, \ufefftab\tand  blanks.",
     "softhyphen non breaking zero width tab and blanks"),
    ("<i>Later</i> &amp; <b>then</b> &lt;3 &quot;so&quot;", "<i> later </i> & <b> then </b> < 3 so"),
    ("Hey!!! What?! So?? Mr. T. Mrs. B, Sgt. Pepper and Co.",
     "hey !!! what ?! so ?? mr. t. mrs. b sgt. pepper and co."),
    ("He's 6'2\" and weighs 200 lbs. No. 5 is alive. Fig. 3. Art. 5.",
     "he 's 6 2 and weighs 200 lbs no. 5 is alive fig. 3 art. 5"),
    ("y'all, o'clock, ma'am, d'Artagnan, L'Oreal, somethin' odd, goin' on, ol' man.",
     "y' all o'clock ma'am d'artagnan l'oreal somethin' odd goin on ol' man"),
    ("C++ and C# and a_b and **bold** and a*b and x = y + z ~ 5.",
     "c++ and c# and a_b and ** bold ** and a * b and x = y + z ~ 5"),
    ("A big yellow X.", "a big yellow x."),
    ("", ""),
    (" \t ", ""),
    ("... -- !", ""),
]  # fmt: skip


def test_texts_get_the_tokens_that_the_java_tool_gave() -> None:
    for text, expected in TABLE:
        assert " ".join(ptb.tokens(text)) == expected
    # Breaks and odd characters part words.
    assert ptb.tokens("one\ntwo\r\nthree\u2028four\x0bfive") == ("one", "two", "three", "four", "five")
    assert ptb.tokens("smile\U0001f600now \ue000private\x01control") == ("smile", "now", "private", "control")


def java_tokens(texts: Sequence[str], folder: Path) -> list[list[str]]:
    """What the tool gives for each text; a line that begins with a common word stands between two texts, so that
    none is read as going on in the next."""
    lines = folder / "lines.txt"
    lines.write_text("".join(f"{text}\nzzz\n" for text in texts), encoding="utf-8")
    jar = need_coco() / "tokenizer" / "stanford-corenlp-3.4.1.jar"
    words = (need_java(), "-Dfile.encoding=UTF-8", "-cp", jar, "edu.stanford.nlp.process.PTBTokenizer")
    told = subprocess.run([*words, "-preserveLines", "-lowerCase", lines], capture_output=True, check=True)
    found = told.stdout.decode("utf-8").split("\n")[: 2 * len(texts)]
    assert found[1::2] == ["zzz"] * len(texts)
    kept = ([token for token in line.rstrip().split(" ") if token not in ptb.REMOVED] for line in found[::2])
    return [tokens if tokens != [""] else [] for tokens in kept]


@pytest.mark.slow
def test_the_java_tool_gives_the_same_for_the_table_and_all_of_cmdad(tmp_path: Path) -> None:
    texts = [*(text for text, _ in TABLE), *(row["text"] for row in need_cmdad())]
    for row in need_cmdad("cmdad_gt_action.csv"):
        texts.append(row["text_gt_wo_char"])
        texts.extend(ast.literal_eval(row["gt_action"]) if row["gt_action"].startswith("[") else [])
    assert len(texts) > 20000
    unique = list(dict.fromkeys(texts))
    ours = [list(ptb.tokens(text)) for text in unique]
    pairs = zip(unique, ours, java_tokens(unique, tmp_path), strict=True)
    assert [(text, own, theirs) for text, own, theirs in pairs if own != theirs] == []


# --- CIDEr, BLEU, ROUGE-L
RABBIT = "A giant fat rabbit climbs out of a hole in the ground."


def item_of(prediction: str, *references: str) -> Corpus:
    """A corpus of one AD with these human texts."""
    return Corpus((Item("0", "film", Interval(0, 1), references, prediction),))


@pytest.mark.parametrize(
    ("metric", "prediction", "references", "sums"),
    [
        ("bleu-2", "a a b c", ("a b", "a a x b c d"), (4, 3, 4, 3, 4, 2)),
        ("bleu-1", "a a b", ("a b", "b a b c"), (2, 3, 3, 2)),
        ("bleu-2", "", ("a b", "a"), (0, 0, 0, 0, 0, 1)),
    ],
)
def test_bleu_takes_the_best_reference_and_the_nearest_length(
    metric: str, prediction: str, references: tuple[str, ...], sums: tuple[int, ...]
) -> None:
    (row,) = scored(metric, item_of(prediction, *references)).rows
    assert row.sums == sums


def test_rouge_takes_the_best_precision_and_the_best_recall() -> None:
    references = ("a b c d", "a")
    precision, recall = 2 / 3, 1.0
    expected = (1 + 1.2**2) * precision * recall / (recall + 1.2**2 * precision)
    assert scored("rouge-l", item_of("a x c", *references)).value == pytest.approx(100 * expected)
    for nothing in (item_of("", *references), item_of("x", ""), item_of("", "")):
        assert scored("rouge-l", nothing).value == 0


def test_a_token_with_a_blank_in_it_is_two_words_but_for_rouge() -> None:
    # As in the COCO tools: they part lines at every blank for CIDEr and BLEU, at spaces for ROUGE-L.
    corpus = corpus_of([("He adds 1 1/2 cups.", "He adds 1 cup."), (RABBIT, RABBIT)])
    assert scored("bleu-1", corpus).rows[0].sums[0] == 3
    assert scored("rouge-l", corpus).rows[0].value < 60  # type: ignore[operator]


def test_few_items_are_remarked_on_and_one_alone_scores_nothing() -> None:
    alone = corpus_of([(RABBIT, RABBIT)])
    assert scored("cider", alone).value == 0
    remarks = ("CIDEr with frequencies of only 1 items: not to be compared with others.",)
    assert scored("cider", alone).remarks == remarks
    many = corpus_of((f"The man number {k} walks.", "The man walks.") for k in range(100))
    assert scored("cider", many).remarks == ()
    (remark,) = scored("cider-plain", many).remarks
    assert "not comparable" in remark
    assert len(scored("cider-plain", alone).remarks) == 2


def grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def weighted(words: Sequence[str], n: int, corpus: Sequence[Any]) -> dict[tuple[str, ...], float]:
    def items_with(gram: tuple[str, ...]) -> int:
        return sum(any(gram in grams(reference, n) for reference in item) for item in corpus)

    return {g: c * math.log(len(corpus) / max(items_with(g), 1)) for g, c in grams(words, n).items()}


@pytest.mark.parametrize("plain", [False, True])
def test_cider_by_its_formula(plain: bool) -> None:
    """CIDEr-D of each item (Vedantam et al. 2015, equations 1, 5 and 6); ``plain``: equations 1 to 4."""
    corpus = predicted(VARIED)
    second = "The dog sleeps in the garden, by a fence."
    corpus = changed(corpus, 4, references=(*corpus.items[4].references, second))
    references = [[ptb.tokens(text) for text in item.references] for item in corpus.items]
    result = scored("cider-plain" if plain else "cider", corpus)
    for row, item, item_references in zip(result.rows, corpus.items, references, strict=True):
        said = ptb.tokens(item.prediction or "")
        total = 0.0
        for n in range(1, 5):
            ours = weighted(said, n, references)
            for reference in item_references:
                theirs = weighted(reference, n, references)
                dot = sum(
                    (v if plain else min(v, theirs.get(g, 0))) * theirs.get(g, 0) for g, v in ours.items()
                )
                below = math.sqrt(sum(v * v for v in ours.values()) * sum(v * v for v in theirs.values()))
                # The tool counts bigrams for the length.
                lengths = [max(len(words) - 1, 0) for words in (said, reference)]
                short = 1.0 if plain else math.exp(-((lengths[0] - lengths[1]) ** 2) / (2 * 36))
                total += short * dot / below if below else 0.0
        assert row.value == pytest.approx(100 * (10 * total / 4 / len(item_references)), abs=1e-9)
    assert result.value == pytest.approx(np.mean([row.value for row in result.rows]))


def test_the_example_with_two_references_has_its_known_scores() -> None:
    folder = DATA / "nlg-eval" / "examples"
    if not folder.is_dir():
        pytest.skip("no ../shared/data/nlg-eval")
    predictions, first, second = (
        (folder / f).read_text().splitlines() for f in ("hyp.txt", "ref1.txt", "ref2.txt")
    )
    lines = zip(predictions, first, second, strict=True)
    items = (Item(str(k), "f", Interval(k, k + 1), (a, b), line) for k, (line, a, b) in enumerate(lines))
    corpus = Corpus(tuple(items))
    expected = {
        "bleu-1": 0.550000, "bleu-2": 0.428174, "bleu-3": 0.284043, "bleu-4": 0.201143, "rouge-l": 0.522104,
        "cider": 1.242192,
    }  # fmt: skip
    for name, value in expected.items():
        assert scored(name, corpus).value == pytest.approx(100 * value, abs=5e-5), name


def coco_scores(name: str, said: dict[str, list[str]], human: dict[str, list[str]]) -> Any:
    """What the tool's class of that name says of texts in tokens: the corpus's score and each item's."""
    need_coco()
    module = __import__(f"pycocoevalcap.{name.lower()}.{name.lower()}", fromlist=[name])
    extra = {"verbose": 0} if name == "Bleu" else {}
    return getattr(module, name)().compute_score(human, said, **extra)


def cmdad_items(limit: int | None = None) -> tuple[Item, ...]:
    """Predictions lack words; every fifth is right, the last is empty, every second AD has two human texts."""
    chance = random.Random("lost")
    texts = [row["text"] for row in need_cmdad()][:limit]
    lost = [" ".join(word for word in text.split() if chance.random() < 0.7) for text in texts]
    said = [text if k % 5 == 0 else lost[k] for k, text in enumerate(texts[:-1])] + [""]
    return tuple(
        Item(str(k), "f", Interval(k, k + 1), (text, f"{texts[-k]} {lost[k]}")[: 1 + k % 2], said[k])
        for k, text in enumerate(texts)
    )


def same_as(tool: str, names: Sequence[str], items: tuple[Item, ...]) -> None:
    said = {item.id: [" ".join(ptb.tokens(item.prediction or ""))] for item in items}
    human = {item.id: [" ".join(ptb.tokens(text)) for text in item.references] for item in items}
    values, each = coco_scores(tool, said, human)
    if len(names) == 1:
        values, each = [values], [each]
    for name, value, rows in zip(names, values, each, strict=True):
        result = scored(name, Corpus(items))
        assert result.value == pytest.approx(100 * value, rel=1e-12, abs=1e-12)
        ours = np.array([row.value for row in result.rows])
        assert np.abs(ours - 100 * np.array(rows)).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("limit", [700, pytest.param(None, marks=pytest.mark.long)])
def test_cmdads_lines_score_as_by_the_coco_tools(limit: int | None) -> None:
    items = cmdad_items(limit)
    for tool, names in (
        ("Cider", ["cider"]),
        ("Rouge", ["rouge-l"]),
        ("Bleu", [f"bleu-{n}" for n in (1, 2, 3, 4)]),
    ):
        same_as(tool, names, items)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_cmdads_lines_have_the_meteor_of_the_coco_tool() -> None:
    """The tool's own class leaves its pipes open: hence the warnings that are let pass."""
    need_java()
    same_as("Meteor", ["meteor"], cmdad_items(150))


# --- METEOR, SPICE
@pytest.fixture
def coco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The COCO tools' and CoreNLP's files, empty, and a Java of 11."""
    install_java(tmp_path, monkeypatch, "11.0.2")
    return coco_files(tmp_path, monkeypatch)


def made(name: str) -> None:
    make_metric(name, MetricContext(Config(), Store()))


def test_spice_needs_scripts_of_java(coco: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = tmp_path / "jars" / "nashorn-core-15.4.jar"
    install_java(tmp_path, monkeypatch, "17.0.15")
    with pytest.raises(EvaluationError, match="JavaScript engine, which Java 17 has not.*8 to 14"):
        made("spice")
    scripts.write_bytes(b"")
    made("spice")
    install_java(tmp_path, monkeypatch, "1.8.0_292")
    scripts.unlink()
    made("spice")


def test_spices_answers_become_rows(coco: Path) -> None:
    pairs = [
        ("A man walks.", "A man walks."), ("A man walks.", "A man runs."), ("He sits.", None),
        ("He sits.", "..."),
    ]  # fmt: skip
    result = scored("spice", corpus_of(pairs))
    assert [row.value for row in result.rows] == pytest.approx([100.0, 100 * 2 / 3, 0.0, 0.0])
    assert result.rows[1].sums == pytest.approx((2 / 3, 1.0, 2.0, 1.0, 1.0))
    assert result.value == pytest.approx(100 * (1 + 2 / 3) / 4)
    assert [row.failure for row in result.rows] == ["", "", "no prediction", ""]
    assert set(result.identity["files"]) == {"spice-1.0.jar", *CORENLP}


@pytest.mark.parametrize("name", ["meteor", "spice"])
def test_what_is_missing_has_a_remedy(name: str, coco: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "spice":
        corenlp = os.environ["SHOTAD_SPICE_JARS"]
        monkeypatch.delenv("SHOTAD_SPICE_JARS")
        why = r"needs stanford-corenlp-3.6.0.jar and .*-models.jar"
        with pytest.raises(EvaluationError, match=why) as told:
            made("spice")
        assert "SHOTAD_SPICE_JARS" in told.value.hint
        monkeypatch.setenv("SHOTAD_SPICE_JARS", corenlp)
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    java.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(EvaluationError, match="needs Java, and .*bin/java does not run"):
        made(name)
    monkeypatch.setenv("JAVA_HOME", str(coco))
    monkeypatch.setenv("PATH", str(coco))
    with pytest.raises(EvaluationError, match=r"needs Java, and there is no java .*JAVA_HOME is .*coco"):
        made(name)
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    with pytest.raises(EvaluationError, match=r"needs the package pycocoevalcap.*shotad\[coco\]"):
        made(name)


@pytest.mark.parametrize(
    ("name", "said", "why"),
    [
        ("meteor", "crash", "METEOR ended with code 1 before it had answered: out of memory"),
        ("meteor", "babble", r"answer to item film-1 cannot be read: 'what\?'"),
        ("spice", "crash", "SPICE's program ended with code 1: no memory for the parser"),
    ],
)
def test_a_program_that_fails_is_told(name: str, said: str, why: str, coco: Path) -> None:
    with pytest.raises(EvaluationError, match=why):
        scored(name, corpus_of([("A man.", "A man."), ("A man.", said)]))
