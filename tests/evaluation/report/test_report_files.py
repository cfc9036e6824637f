"""The report's files: what stands in them, that they are read back whole, and that equal runs are equal."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from shotad.config import Config
from shotad.config.measures import EmbeddingSettings, MeasureSettings, ReportSettings
from shotad.errors import EvaluationError, ShotadError, WorkFolderError
from shotad.evaluation.measure.items import Corpus
from shotad.evaluation.measure.rows import Figure, Row
from shotad.evaluation.report import content
from shotad.evaluation.report.content import identity_words
from shotad.evaluation.report.hashes import actions_hash, casts_hash
from shotad.evaluation.report.inputs import Joined, LeftOut, ReportInput
from shotad.evaluation.report.reading import read_report
from shotad.evaluation.report.table import footnotes
from shotad.evaluation.report.terminal import terminal_text
from shotad.evaluation.report.wording import COLUMNS
from shotad.evaluation.report.writing import check_folder, write_report
from tests.evaluation.report.fakes import made_corpus, made_item, made_result, made_run, shard

FILES = ("report.json", "report.html", "report.md", "items.csv", "speed.json", "items.jsonl")


def with_trouble() -> ReportInput:
    """Predictions that are missing, failed, odd; a metric that says nothing of some."""
    odd = {
        3: {"prediction": None, "failure": "no prediction"},
        4: {"prediction": None, "failure": "the video is damaged"},
        5: {"prediction": "=1+1"},
        6: {"prediction": "<script>alert(1)</script> | *bold*"},
        7: {"prediction": "東京へ行く\nneu"},
    }
    items = tuple(made_item(k, f"tt{k % 3}", **odd.get(k, {})) for k in range(30))
    corpus = Corpus(items, dataset="cmd-ad")
    critic = made_result(corpus, "critic", seed=4, title="CRITIC")
    rows = tuple(
        replace(row, value=None, sums=(0.0, 0.0)) if row.id in ("1", "2") else row for row in critic.rows
    )
    rows = tuple(replace(row, failure="the resolver failed") if row.id == "9" else row for row in rows)
    told = {"films": {"tt0": "Die Brücke & Co"}, "joined": Joined(2, 1), "title": "CMD-AD"}
    left = (LeftOut("spice", "Java is missing."),)
    results = (made_result(corpus, title="CIDEr"), replace(critic, rows=rows))
    config = Config(measures=MeasureSettings(report=ReportSettings(draws=200, listed=20)))
    return made_run(corpus, results, config=config, left_out=left, configs=("paper",), **told)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report")
    write_report(place, with_trouble(), plots=False)
    return place


def test_all_files_are_there_and_named(tmp_path: Path) -> None:
    written = write_report(tmp_path / "new" / "folder", made_run(), plots=False)
    assert [path.name for path in written] == list(FILES)
    assert all(path.is_file() for path in written)


def test_what_is_read_back_is_what_was_written(folder: Path) -> None:
    run, report = with_trouble(), read_report(folder)
    assert report.items == run.corpus.items
    assert [r.value for r in report.results] == [r.value for r in run.results]
    for there, here in zip(report.results, run.results, strict=True):
        assert replace(there, fresh=here.fresh, seconds=here.seconds) == here
    again = report.as_input()
    assert again.films == run.films
    assert again.joined == run.joined
    assert again.left_out == run.left_out
    assert again.config.measures == run.config.measures
    assert read_report(folder / "report.json").head == report.head


def test_a_report_written_from_what_was_read_is_the_same_to_the_byte(folder: Path, tmp_path: Path) -> None:
    write_report(tmp_path, read_report(folder).as_input(), plots=False)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_two_runs_that_took_different_times_write_the_same_but_for_the_times(tmp_path: Path) -> None:
    run = made_run()
    slow = replace(run, results=tuple(replace(r, seconds=99.5, fresh=len(r.rows)) for r in run.results))
    write_report(tmp_path / "a", run, plots=False)
    write_report(tmp_path / "b", slow, plots=False)
    differing = [n for n in FILES if (tmp_path / "a" / n).read_bytes() != (tmp_path / "b" / n).read_bytes()]
    assert differing == ["speed.json"]
    assert json.loads((tmp_path / "b" / "speed.json").read_text())["metrics"][0] == {
        "name": "cider",
        "seconds": 99.5,
        "rows": 60,
        "fresh": 60,
    }


def test_the_record_says_what_it_was_made_of(folder: Path) -> None:
    head = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert head["n"] == {
        "ads": 30, "in_this_report": 30, "missing": 1, "failed": 1, "skipped": 0, "extra": 2, "doubled": 1,
    }  # fmt: skip
    assert head["dataset"]["name"] == "cmd-ad"
    assert re.fullmatch(r"[0-9a-f]{64}", head["dataset"]["texts"])
    assert head["config"]["named"] == ["paper"]
    assert head["config"]["seed"] == 42
    assert head["config"]["measures"]["recall"]["neighbours"] == 5
    assert "numpy" in head["made_with"]["libraries"]
    assert head["left_out"] == [{"metric": "spice", "reason": "Java is missing."}]
    cider, critic = head["metrics"]
    assert cider["n"] == 30
    assert cider["failed"] == 2
    assert (critic["scored"], critic["not_scored"]) == (28, 2)
    assert cider["value"] == pytest.approx(100 * cider["sums"][0] / cider["sums"][1])
    assert cider["interval"]["low"] < cider["value"] < cider["interval"]["high"]
    assert all(row["from_the_paper"] for row in head["paper"])


def test_actions_descriptions_and_casts_are_read_back(tmp_path: Path) -> None:
    items = [made_item(k, "tt0", actions=("She runs.",), description="Action: she runs.") for k in range(6)]
    corpus = Corpus(tuple(items), {"tt0": ("Ann", "/Ben"), "tt9": ("Zoe",)}, "mine")
    write_report(tmp_path / "r", made_run(corpus), plots=False)
    report = read_report(tmp_path / "r")
    assert report.items == corpus.items
    assert report.casts == {"tt0": ("Ann", "/Ben")}
    assert report.as_input().corpus == Corpus(corpus.items, {"tt0": ("Ann", "/Ben")}, "mine")
    write_report(tmp_path / "again", report.as_input(), plots=False)
    assert read_report(tmp_path / "again").head == report.head
    made = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert re.search(r"SHA-256 of texts [0-9a-f]{12}, actions [0-9a-f]{12}, casts [0-9a-f]{12}", made)


def test_other_actions_and_other_casts_have_other_hashes() -> None:
    def corpus(action: str, name: str) -> Corpus:
        return Corpus((made_item(1, "tt0", actions=(action,)), made_item(2, "tt0")), {"tt0": (name,)})

    one, two = corpus("She runs.", "Ann"), corpus("She walks.", "Ben")
    assert len({actions_hash(one), actions_hash(two), ""}) == 3
    assert len({casts_hash(one), casts_hash(two), ""}) == 3
    assert actions_hash(made_corpus(3)) == casts_hash(made_corpus(3)) == ""
    backwards = Corpus(one.items[::-1], one.casts)
    assert actions_hash(backwards) == actions_hash(one)


def test_a_failure_that_no_number_counts_is_not_told_as_0(tmp_path: Path) -> None:
    """Repetition says nothing of silence: the AD that failed is not among those that it speaks of."""
    corpus = Corpus(tuple(made_item(k, "tt0", prediction="x" if k else None) for k in range(10)))
    result = made_result(corpus, "repetition")
    silent = replace(result.rows[0], value=None, sums=(0.0, 0.0))
    result = replace(result, rows=(silent, *result.rows[1:]))
    write_report(tmp_path / "r", made_run(corpus, (result, made_result(corpus))), plots=False)
    metrics = read_report(tmp_path / "r").head["metrics"]
    assert [(m["failed"], m["counted_as_0"], m["scored"]) for m in metrics] == [(1, 0, 9), (1, 1, 10)]
    text = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| REPETITION | ")][:1]
    assert row.endswith("| 10 | 9 | 0 | lower |")
    assert COLUMNS in text


def test_numbers_that_are_not_comparable_are_named_under_the_papers() -> None:
    run = made_run()
    text = terminal_text(run)
    assert "Not comparable with the numbers below it, for the reasons in the notes: ACTION." in text
    assert "ADs, the paper's rows are of all" not in text
    part = terminal_text(shard(run, 0, 20))
    assert "The first row is of 20 of 60 ADs, the paper's rows are of all." in part


def test_not_comparable_is_said_once_to_a_metric() -> None:
    corpus = made_corpus()
    told = {"comparable": False, "title": "Action score"}
    plain = made_result(corpus, "action", remarks=("A smaller model.",), **told)
    saying = made_result(corpus, "action", remarks=("A small one: not comparable with the paper's.",), **told)
    (one,), (two,) = (footnotes([result]).notes for result in (plain, saying))
    assert one.text == "Action score: not comparable with the paper's number; A smaller model."
    assert two.text == "Action score: A small one: not comparable with the paper's."


def test_where_0_stands_on_a_shifted_scale_is_said() -> None:
    corpus = made_corpus(6)
    result = replace(
        made_result(corpus, "action", title="Action score"), figure=Figure("share", 200.0, -0.25)
    )
    (note,) = footnotes([result, made_result(corpus)]).notes
    assert note.text == "Action score: the score 0, as of what is missing, stands at −50.0 on this scale."


def test_what_a_metric_is_reads_as_words() -> None:
    identity = {"rules": "paper", "instruction": "", "embedding": {"model": "minilm", "revision": None}}
    said = identity_words(identity)
    assert said == "rules: paper, instruction: none, embedding: (model: minilm, revision: none)"


@pytest.mark.parametrize("folder", ["new", "new/deep", "."])
def test_a_folder_is_tried_without_a_trace(tmp_path: Path, folder: str) -> None:
    (tmp_path / "kept.txt").write_text("")
    check_folder(tmp_path / folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    with pytest.raises(WorkFolderError, match="No report can be written"):
        check_folder(tmp_path / "kept.txt" / folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_no_folder_of_this_machine_stands_in_it(tmp_path: Path) -> None:
    model = tmp_path / "models" / "mine"
    measures = MeasureSettings(embedding=EmbeddingSettings(model=str(model)), report=ReportSettings(draws=0))
    corpus = made_corpus(5)
    result = made_result(corpus, identity={"model": str(model), "deep": [{"at": str(tmp_path / "x")}]})
    write_report(tmp_path / "r", made_run(corpus, (result,), config=Config(measures=measures)), plots=False)
    for name in FILES:
        assert str(tmp_path) not in (tmp_path / "r" / name).read_text(encoding="utf-8"), name
    head = read_report(tmp_path / "r").head
    assert head["metrics"][0]["identity"] == {"model": "mine", "deep": [{"at": "x"}]}


def test_the_hash_of_the_texts_is_that_of_the_texts(tmp_path: Path) -> None:
    corpus = made_corpus(6)
    turned = Corpus(tuple(reversed(corpus.items)), dataset="cmd-ad")
    other = Corpus((replace(corpus.items[0], references=("Else.",)), *corpus.items[1:]), dataset="cmd-ad")
    quiet = Corpus(tuple(replace(item, prediction="x") for item in corpus.items), dataset="cmd-ad")
    found = []
    for name, one in (("a", corpus), ("b", turned), ("c", quiet), ("d", other)):
        write_report(tmp_path / name, made_run(one, (made_result(one),), draws=0), plots=False)
        found.append(read_report(tmp_path / name).head["dataset"]["texts"])
    assert found[0] == found[1] == found[2] != found[3]


def test_the_table_opens_in_a_spreadsheet(folder: Path) -> None:
    text = (folder / "items.csv").read_bytes().decode("utf-8")
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert len(rows) == 30
    by_id = {row["id"]: row for row in rows}
    assert by_id["5"]["prediction"] == "'=1+1"
    assert by_id["7"]["prediction"] == "東京へ行く\nneu"
    assert by_id["3"]["notes"] == "no prediction"
    assert by_id["4"]["notes"] == "the video is damaged"
    assert by_id["1"]["critic"] == ""
    assert float(by_id["3"]["cider"]) == 0
    assert by_id["0"]["title"] == "Die Brücke & Co"


def test_counts_stand_in_plain_words(folder: Path) -> None:
    for text in (terminal_text(with_trouble()), (folder / "report.md").read_text(encoding="utf-8")):
        assert "CMD-AD has 30 ADs; this report speaks of 30 of them." in text
        assert "1 AD had no prediction and counts as 0." in text
        assert "1 prediction had failed and counts as 0." in text
        assert "2 predictions were of no AD of it." in text
        assert "1 id came more than once in the predictions." in text
        assert "CRITIC: 1 prediction could not be scored and counts as 0." in text
        assert "CIDEr: " not in text.partition("Metric")[0]
        assert "Java is missing." in text


def test_what_was_skipped_is_told_with_what_it_does() -> None:
    run = with_trouble()
    gone = {item.id for item in run.corpus.items if item.prediction is None}
    results = tuple(replace(r, rows=tuple(row for row in r.rows if row.id not in gone)) for r in run.results)
    measures = run.config.measures.model_copy(update={"missing": "skip"})
    text = terminal_text(replace(run, results=results, config=Config(measures=measures)))
    assert "this report speaks of 28 of them" in text
    assert "2 ADs without a prediction were left out, as --missing skip asks: the numbers are higher" in text


def test_the_papers_rows_are_below_ones_own_and_marked() -> None:
    lines = terminal_text(with_trouble()).splitlines()
    own = next(k for k, line in enumerate(lines) if "measured here" in line)
    assert lines[own].startswith("Test system ")
    assert "Shot-by-Shot, Qwen2-VL-7B + LLaMA3-8B" in lines[own + 1]
    assert "from the paper, Table 7" in lines[own + 1]
    assert lines[own + 1].split()[-2:] == ["26.3", "47.8"]
    assert any(
        line.startswith("Another human AD") and "Table A5" in line and "61.5" in line for line in lines
    )


def test_a_dataset_that_the_paper_has_not_has_no_such_table() -> None:
    corpus = made_corpus(12, dataset="mine")
    assert "from the paper" not in terminal_text(made_run(corpus, (made_result(corpus),)))


def test_what_is_not_comparable_has_a_mark_and_a_note() -> None:
    text = terminal_text(made_run())
    assert "ACTION [a]" in text
    assert "[a] ACTION: not comparable with the paper's number; A smaller model." in text


class Outline(HTMLParser):
    """What a screen reader meets, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.tables: list[dict[str, int]] = []
        self.images: list[dict[str, str | None]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.language = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.tags.append(tag)
        self.ids += [told["id"] or ""] if "id" in told else []
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        elif tag == "table":
            self.tables.append({"caption": 0, "th": 0, "scoped": 0})
        elif tag in ("caption", "th") and self.tables:
            self.tables[-1][tag] += 1
            self.tables[-1]["scoped"] += tag == "th" and told.get("scope") in ("row", "col")
        elif tag == "img":
            self.images.append(told)
        elif tag == "a":
            self.links.append(told["href"] or "")
        elif tag == "html":
            self.language = told.get("lang") or ""


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    return found


def test_the_page_can_be_read_by_ear(folder: Path) -> None:
    found = outline((folder / "report.html").read_text(encoding="utf-8"))
    assert found.language == "en"
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(found.headings))
    assert len(found.tables) >= 6
    for table in found.tables:
        assert table["caption"] == 1
        assert table["th"] == table["scoped"] > 0
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    assert "main" in found.tags
    assert "nav" in found.tags
    assert "script" not in found.tags


def test_the_page_needs_no_other_file_and_runs_nothing(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "Die Brücke &amp; Co" in page
    assert not re.search(r"(src|href)=\"(?!data:image/png;base64,|#)", page)
    assert "@import" not in page


def test_text_of_lines_cannot_break_the_markdown(folder: Path) -> None:
    lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    widths = [len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0 for line in lines]
    assert all(a == b for a, b in itertools.pairwise(widths) if a and b)
    assert any("\\<script\\>alert(1)\\</script\\> \\| \\*bold\\*" in line for line in lines)
    assert any("東京へ行く neu" in line for line in lines)


def test_an_unfinished_report_is_no_report(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed while it replaces an older one leaves none, not a mixture."""
    write_report(tmp_path, made_run(), plots=False)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("shotad.evaluation.report.writing.write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        write_report(tmp_path, with_trouble(), plots=False)
    with pytest.raises(EvaluationError, match=r"holds no report\.json"):
        read_report(tmp_path)


def test_damaged_and_newer_reports_are_refused(folder: Path, tmp_path: Path) -> None:
    head = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)

    def place(name: str, record: object, kept: list[str]) -> Path:
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps(record), encoding="utf-8")
        (tmp_path / name / "items.jsonl").write_text("".join(kept), encoding="utf-8")
        return tmp_path / name

    with pytest.raises(EvaluationError, match="schema 99"):
        read_report(place("newer", {**head, "schema": 99}, lines))
    with pytest.raises(EvaluationError, match="30 rows of cider were written, 29 are there"):
        read_report(place("short", head, lines[:-1]))
    with pytest.raises(EvaluationError, match="is damaged"):
        read_report(place("torn", head, [*lines[:-1], lines[-1][:40]]))
    with pytest.raises(EvaluationError, match="is no report"):
        read_report(place("list", [1], lines))
    with pytest.raises(EvaluationError, match=r"holds no report\.json"):
        read_report(tmp_path)


def test_rows_must_be_of_the_dataset_and_names_of_results_differ() -> None:
    corpus = made_corpus(5)
    strange = replace(made_result(corpus), rows=(Row("x", (1.0, 1.0), 1.0),))
    with pytest.raises(EvaluationError, match="no AD of the dataset"):
        made_run(corpus, (strange,))
    with pytest.raises(EvaluationError, match="Two results are called cider"):
        made_run(corpus, (made_result(corpus), made_result(corpus)))


def test_without_matplotlib_there_is_a_report_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: ReportInput) -> None:
        raise ShotadError("Plotting needs matplotlib.figure.", 'Install it: pip install "shotad[evaluate]".')

    monkeypatch.setattr(content, "plots_of", missing)
    write_report(tmp_path, made_run())
    for name in ("report.md", "report.html"):
        assert "There are no plots." in (tmp_path / name).read_text(encoding="utf-8")
    assert not (tmp_path / "plots").exists()


def test_a_shard_says_of_how_many_it_speaks() -> None:
    text = terminal_text(shard(made_run(), 0, 20))
    assert "cmd-ad has 60 ADs; this report speaks of 20 of them." in text


def test_an_empty_run_breaks_nothing(tmp_path: Path) -> None:
    run = made_run(made_corpus(3), ())
    write_report(tmp_path, run)
    assert read_report(tmp_path).results == ()
    assert "speaks of 0 of them" in terminal_text(run)
