"""The tables of a report: the metrics one by one, and this system above those of the literature.

The numbers of the literature all come from the Shot-by-Shot paper, also those of other systems
("Shot-by-Shot: Film-Grammar-Aware Training-Free Audio Description Generation", Xie et al. 2025; tables 7 to
9, A1, A3, A5); agreement with people is from table 3. None of them was measured here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from shotad.evaluation.metric import Json, Result
from shotad.evaluation.report.inputs import Protocol, ReportInput, base_name
from shotad.evaluation.report.intervals import Span
from shotad.evaluation.report.wording import NONE, number, span_words

PAPER_MARK = "from the paper"
"""What stands in each row that was not measured here."""

_NOT_COMPARABLE = "not comparable"
"""What a remark says of a number that must not stand beside the paper's."""


def footnotes(results: Sequence[Result]) -> dict[str, tuple[str, str]]:
    """By the metric's name its mark and its note, where it has anything to say: first whether it may stand
    beside the paper's."""
    notes: dict[str, tuple[str, str]] = {}
    for result in results:
        said = list(result.remarks)
        if not result.comparable and not any(_NOT_COMPARABLE in remark for remark in said):
            said.insert(0, f"{_NOT_COMPARABLE} with the paper's number")
        if result.figure.shift:
            zero = number(result.name, result.figure.factor * result.figure.shift)
            said.append(f"The score 0, as of what is missing, stands at {zero} on this scale.")
        if said:
            notes[result.name] = _mark(len(notes)), f"{result.title}: {_sentence(said)}"
    return notes


def with_marks(results: Sequence[Result], notes: Mapping[str, tuple[str, str]]) -> list[str]:
    """The title of each metric, with the mark of its note."""
    return [f"{r.title} {notes[r.name][0]}" if r.name in notes else r.title for r in results]


def beside_paper(
    run: ReportInput, intervals: Mapping[str, Span | None], notes: Mapping[str, tuple[str, str]]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """The metrics that the paper has for this dataset, and a row for this system, then for each of the
    paper's: its kind (own, paper, ceiling), system, models, source, and a cell for each metric. Both are
    empty where it has none of them."""
    rows = paper_rows(run.corpus.dataset, run.protocol)
    columns = [r for r in run.results if _in_paper(run, r)]
    if not columns:
        return [], []
    own = (
        number(r.name, r.value)
        + (f" ({span_words(r.name, span)})" if (span := intervals.get(r.name)) else "")
        for r in columns
    )
    told = [row for row in rows if any(paper_values(row, result) for result in columns)]
    lines = [("own", run.predictions.called, "", "measured here", *own)]
    return with_marks(columns, notes), [*lines, *(_paper_line(row, columns) for row in told)]


def paper_notes(run: ReportInput, lines: Sequence[Sequence[str]]) -> list[str]:
    """What must be known to read the paper's rows."""
    notes = [f"Rows marked “{PAPER_MARK}” were not measured here: their numbers are those that it prints."]
    odd = [r.title for r in run.results if not r.comparable and _in_paper(run, r)]
    if odd:
        notes.append(
            f"Not comparable with the numbers below {'it' if len(odd) == 1 else 'them'}, for the reasons in "
            f"the notes: {', '.join(odd)}."
        )
    if run.partial:
        here, there = len(run.items), len(run.corpus.items)
        notes.append(f"The first row is of {here:,} of {there:,} ADs, the paper's rows are of all.")
    if any(" | " in cell for line in lines for cell in line[4:]):
        notes.append(f"Two numbers in a cell are those of two judges, {' and '.join(JUDGES)}.")
    if any(line[0] == "ceiling" for line in lines):
        rows = [row for row in paper_rows(run.corpus.dataset, run.protocol) if row.ceiling]
        notes += [f"{row.method} {row.note}. It says how far people agree." for row in rows]
    spread = RUN_TO_RUN.get(run.corpus.dataset)
    if spread and run.protocol == "single":
        titles = {result.name: result.title for result in run.results}
        named = [f"{titles[name]} {value:g}" for name, value in spread.items() if name in titles]
        if named:
            notes.append(f"Standard deviation of the paper's own system over five runs: {', '.join(named)}.")
    return notes


def _in_paper(run: ReportInput, result: Result) -> bool:
    return any(paper_values(row, result) for row in paper_rows(run.corpus.dataset, run.protocol))


def _paper_line(row: PaperRow, columns: Sequence[Result]) -> tuple[str, ...]:
    extra = ["trained on human AD"] if row.trained else []
    extra += [row.note] if row.note and not row.ceiling else []
    system = f"{row.method} ({'; '.join(extra)})" if extra else row.method
    kind, source = "ceiling" if row.ceiling else "paper", f"{PAPER_MARK}, {row.table}"
    return (kind, system, row.models, source, *(paper_cell(row, result) for result in columns))


def paper_cell(row: PaperRow, result: Result) -> str:
    """What the paper's row has for a metric: a number, one for each of two judges, or a dash."""
    return " | ".join(number(result.name, value) for value in paper_values(row, result)) or NONE


def _mark(place: int) -> str:
    """``0 → [a]``, ``26 → [aa]``."""
    letters = ""
    while True:
        letters = chr(ord("a") + place % 26) + letters
        place = place // 26 - 1
        if place < 0:
            return f"[{letters}]"


def _sentence(parts: Sequence[str]) -> str:
    text = ". ".join(part.strip().rstrip(".") for part in parts)
    return f"{text[:1].lower()}{text[1:]}." if text[1:2].islower() else f"{text}."


Values = tuple[float, ...]

JUDGES = ("LLaMA3-8B", "LLaMA2-7B")
"""Who gave the two figures of LLM-AD-Eval, in their order."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One line of a table of the paper.

    ``models`` are the vision and the language model. ``values`` are by the name of the metric here, one
    number each; LLM-AD-Eval has one for each judge of `JUDGES` that was asked. ``note`` says what is special.
    """

    dataset: str
    method: str
    models: str
    table: str
    values: Mapping[str, Values]
    protocol: Protocol = "single"
    trained: bool = False
    """On human AD, as opposed to training-free."""
    note: str = ""

    @property
    def ceiling(self) -> bool:
        """Whether this is how well people agree with each other."""
        return self.protocol == "inter-rater"

    def record(self) -> Json:
        """As JSON, marked as taken from the paper."""
        told = asdict(self)
        names = ("dataset", "method", "models", "table", "protocol", "trained", "values", "note")
        return {"from_the_paper": True} | {
            "trained_on_ad" if name == "trained" else name: told[name] for name in names
        }


_SINGLE = ("cider", "critic", "action", "recall")
_MAD = ("cider", "recall", "rouge-l", "spice", "meteor", "bleu-1")
_ASSISTED = ("cider", "critic", "action")


def _values(
    names: tuple[str, ...], numbers: tuple[float | None, ...], judges: Values = ()
) -> dict[str, Values]:
    found = {name: (n,) for name, n in zip(names, numbers, strict=True) if n is not None}
    return {**found, **({"llm-ad-eval": judges} if judges else {})}


def _row7(
    dataset: str,
    method: str,
    models: str,
    numbers: tuple[float | None, ...],
    judges: Values,
    *,
    trained: bool = False,
) -> PaperRow:
    return PaperRow(dataset, method, models, "Table 7", _values(_SINGLE, numbers, judges), trained=trained)


def _row8(method: str, models: str, numbers: tuple[float | None, ...], *, trained: bool = False) -> PaperRow:
    return PaperRow("mad-eval", method, models, "Table 8", _values(_MAD, numbers), trained=trained)


def _row9(dataset: str, method: str, how: str, numbers: tuple[float, ...]) -> PaperRow:
    values = _values(_ASSISTED, numbers)
    return PaperRow(dataset, f"{method}, {how}", _QWEN, "Table 9", values, "assisted")


def _stage1(dataset: str, method: str, models: str, action: float) -> PaperRow:
    values = {"action-description": (action,)}
    return PaperRow(dataset, method, models, "Table A1", values, note="Stage I")


_OURS = "Shot-by-Shot"
_QWEN = "Qwen2-VL-7B + LLaMA3-8B"
_GPT = "GPT-4o + GPT-4o"
_ZERO = "AutoAD-Zero"

_EVA = "EVA-CLIP + LLaMA2-7B"
_AD_CLIP = "CLIP-AD-B16 + LLaMA3-8B"

_CMD = (
    _row7("cmd-ad", _OURS, _QWEN, (26.3, 47.8, 28.4, 33.0), (3.15, 2.42)),
    _row7("cmd-ad", _OURS, _GPT, (26.1, 49.1, 32.5, 36.5), (3.17, 2.66)),
    _row7("cmd-ad", _ZERO, "VideoLLaMA2-7B + LLaMA3-8B", (17.7, 43.7, 25.5, 26.9), (2.83, 1.96)),
    _row7("cmd-ad", _ZERO, _QWEN, (21.9, 44.3, 26.9, 30.8), (3.00, 2.20)),
    _row7("cmd-ad", _ZERO, _GPT, (22.4, 45.1, 30.7, 32.9), (3.08, 2.49)),
    _row7("cmd-ad", "Video-LLaMA", "Video-LLaMA-7B", (4.8, 0.0, None, 22.0), (1.89,)),
    _row7("cmd-ad", "VideoBLIP", "VideoBLIP", (5.2, 0.0, None, 23.6), (1.91,)),
    _row7("cmd-ad", "AutoAD-II", "CLIP-B32 + GPT-2", (13.5, 8.2, None, 26.1), (2.08,), trained=True),
    _row7("cmd-ad", "AutoAD-III", _EVA, (25.0, 32.7, 31.5, 31.2), (2.89, 2.01), trained=True),
    _row7("cmd-ad", "DistinctAD", _AD_CLIP, (22.7, None, None, 33.0), (2.88, 2.03), trained=True),
    _stage1("cmd-ad", _OURS, "Qwen2-VL-7B", 38.2),
    _stage1("cmd-ad", _OURS, "Qwen2.5-VL-7B", 35.5),
    _stage1("cmd-ad", _OURS, "VideoLLaMA3-7B", 34.2),
    _stage1("cmd-ad", _OURS, "InternVL2.5-8B", 35.0),
    _stage1("cmd-ad", _OURS, "GPT-4o", 40.2),
    PaperRow(
        "cmd-ad",
        "Another human AD",
        "people",
        "Table A5",
        _values(_SINGLE, (61.5, None, 45.6, 71.2), (3.04, 3.24)),
        "inter-rater",
        note="of the same moment: tIoU of at least 0.8, 4,447 pairs of 315 films",
    ),
)  # fmt: skip

_TV = (
    _row7("tv-ad", _OURS, _QWEN, (31.1, 42.2, 23.9, 33.1), (3.09, 2.35)),
    _row7("tv-ad", _OURS, _GPT, (34.2, 46.5, 27.4, 36.6), (3.12, 2.59)),
    _row7("tv-ad", _ZERO, "VideoLLaMA2-7B + LLaMA3-8B", (22.6, 39.4, 21.7, 27.4), (2.94, 2.00)),
    _row7("tv-ad", _ZERO, _QWEN, (26.4, 41.6, 22.1, 30.4), (3.05, 2.27)),
    _row7("tv-ad", _ZERO, _GPT, (30.9, 44.4, 26.8, 34.7), (3.12, 2.57)),
    _row7("tv-ad", "AutoAD-III", _EVA, (26.1, 28.8, 26.4, 30.1), (2.78, 1.99), trained=True),
    _row7("tv-ad", "DistinctAD", _AD_CLIP, (27.4, None, None, 32.1), (2.89, 2.00), trained=True),
    _stage1("tv-ad", _OURS, "Qwen2-VL-7B", 38.2),
    _stage1("tv-ad", _OURS, "Qwen2.5-VL-7B", 36.4),
    _stage1("tv-ad", _OURS, "VideoLLaMA3-7B", 39.9),
    _stage1("tv-ad", _OURS, "InternVL2.5-8B", 36.0),
    _stage1("tv-ad", _OURS, "GPT-4o", 41.0),
)  # fmt: skip

_MAD_EVAL = (
    _row8(_OURS, _QWEN, (25.0, 50.6, 14.7, 7.8, 7.2, 16.2)),
    _row8(_OURS, _GPT, (26.9, 56.4, 15.0, 8.5, 7.4, 15.9)),
    _row8(_ZERO, "VideoLLaMA2-7B + LLaMA3-8B", (22.4, 47.0, 14.4, 7.3, 6.6, 15.1)),
    _row8(_ZERO, _QWEN, (23.6, 51.3, 14.6, 7.8, 6.6, 13.6)),
    _row8(_ZERO, _GPT, (25.4, 54.3, 14.3, 8.1, 6.7, 13.7)),
    _row8("Video-LLaMA", "Video-LLaMA-7B", (4.8, 33.8, None, None, None, None)),
    _row8("Video-BLIP", "Video-BLIP", (5.0, 35.2, None, None, None, None)),
    _row8("VLog", "BLIP-2 + GRIT, GPT-4", (1.3, 42.3, 7.5, 2.1, None, None)),
    _row8("MM-Vid", "GPT-4V", (6.1, 46.1, 9.8, 3.8, None, None)),
    _row8("MM-Narrator", "Azure API + CLIP-L14, GPT-4V", (9.8, None, 12.8, None, 7.1, 10.9)),
    _row8("MM-Narrator", "Azure API + CLIP-L14, GPT-4", (13.9, 49.0, 13.4, 5.2, 6.7, 12.8)),
    _row8("LLM-AD", "GPT-4V", (20.5, None, 13.5, None, None, None)),
    _row8("ClipCap", "CLIP-B32 + GPT-2", (4.4, 36.5, 8.5, 1.1, None, None), trained=True),
    _row8("CapDec", "not said", (6.7, None, 8.2, 1.4, None, None), trained=True),
    _row8("AutoAD-I", "CLIP-B32 + GPT-2", (13.4, 42.1, 11.9, 4.4, None, None), trained=True),
    _row8("AutoAD-II", "CLIP-B32 + GPT-2", (19.5, 51.3, 13.4, None, None, None), trained=True),
    _row8("AutoAD-III", _EVA, (24.0, 52.8, 13.9, 6.1, 5.5, 13.1), trained=True),
    _row8("MovieSeq", "CLIP-B16 + LLaMA2-7B", (24.4, 51.6, 15.5, 7.0, None, None), trained=True),
    _row8("DistinctAD", _AD_CLIP, (27.3, 56.0, 17.6, 8.3, None, None), trained=True),
    _row8("UniAD", "CLIP-L14 + LLaMA-8B", (28.2, 54.9, 17.2, None, None, None), trained=True),
)  # fmt: skip

_ASSIST = (
    _row9("cmd-ad", _OURS, "five in one answer", (38.4, 49.2, 35.7)),
    _row9("cmd-ad", _OURS, "five runs, top-p 0.95, temperature 1.5", (37.0, 50.3, 35.1)),
    _row9("cmd-ad", _OURS, "five runs, top-p 0.9, temperature 0.6", (33.3, 49.6, 32.5)),
    _row9("cmd-ad", _ZERO, "five in one answer", (31.6, 46.4, 33.8)),
    _row9("tv-ad", _OURS, "five in one answer", (51.3, 47.3, 31.8)),
    _row9("tv-ad", _OURS, "five runs, top-p 0.95, temperature 1.5", (45.5, 46.4, 31.5)),
    _row9("tv-ad", _OURS, "five runs, top-p 0.9, temperature 0.6", (41.2, 44.3, 28.6)),
    _row9("tv-ad", _ZERO, "five in one answer", (43.2, 46.8, 30.1)),
)

PAPER = (*_CMD, *_TV, *_MAD_EVAL, *_ASSIST)

RUN_TO_RUN = {
    "cmd-ad": {"cider": 0.2, "critic": 0.4, "action": 0.1},
    "tv-ad": {"cider": 0.4, "critic": 0.5, "action": 0.1},
}
"""Standard deviation over five runs of the same system (Table A3)."""

_RECALL = {"cmd-ad": (1, 5), "tv-ad": (1, 5), "mad-eval": (5, 16)}
"""k and N of the paper's recall."""


def paper_rows(dataset: str, protocol: Protocol = "single") -> tuple[PaperRow, ...]:
    """The rows that may stand beside results on ``dataset``; empty for a dataset that the paper has not.

    Assisted results have those of single lines below them, as in Table 9.
    """
    rows = tuple(row for row in PAPER if row.dataset == dataset)
    if protocol == "assisted":
        return tuple(sorted(rows, key=lambda row: row.protocol != "assisted"))
    return tuple(row for row in rows if row.protocol != "assisted")


def paper_values(row: PaperRow, result: Result) -> Values:
    """What the row has for the metric of ``result``: one number for each judge, else one; empty for none.

    Recall is another metric where it counts by other k and N than the paper's.
    """
    name = base_name(result.name)
    if name == "recall":
        found = (result.identity.get("k"), result.identity.get("neighbours"))
        if found != _RECALL.get(row.dataset, found):
            return ()
    return row.values.get(name, ())


@dataclass(frozen=True, slots=True)
class Agreement:
    """Correlation of a metric with human scores of actions (Table 3): Pearson's and Spearman's, of paragraphs
    and of sentences."""

    metric: str
    called: str
    paragraphs: tuple[float, float]
    sentences: tuple[float, float]

    def record(self) -> Json:
        """As JSON."""
        told = {"from_the_paper": True, "table": "Table 3", **asdict(self)}
        for part in ("paragraphs", "sentences"):
            told[part] = dict(zip(("pearson", "spearman"), told[part], strict=True))
        return told


AGREEMENT = (
    Agreement("cider", "CIDEr", (0.205, 0.264), (0.412, 0.528)),
    Agreement("rouge-l", "ROUGE-L", (0.305, 0.280), (0.526, 0.512)),
    Agreement("meteor", "METEOR", (0.462, 0.406), (0.602, 0.641)),
    Agreement("bleu-1", "BLEU-1", (0.265, 0.264), (0.477, 0.481)),
    Agreement("spice", "SPICE", (0.022, 0.048), (0.031, 0.012)),
    Agreement("bertscore", "BERTScore", (0.377, 0.393), (0.508, 0.507)),
    Agreement("llm-action", "LLM (LLaMA3.1-70B)", (0.569, 0.491), (0.779, 0.798)),
    Agreement("llm-action", "LLM (GPT-4o)", (0.742, 0.678), (0.797, 0.807)),
    Agreement("action", "Action score, without verbs", (0.735, 0.728), (0.765, 0.790)),
    Agreement("action", "Action score", (0.749, 0.729), (0.806, 0.820)),
)
"""Human scores 0 to 3: 300 ADs with paragraphs, 500 with sentences, five annotators."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How well two human ADs of the same moment agree (Table A5, CMD-AD)."""

    tiou: float
    films: int
    pairs: int
    values: Mapping[str, Values]

    def record(self) -> Json:
        """As JSON."""
        return {"from_the_paper": True, "table": "Table A5", **asdict(self)}


CEILINGS = (
    Ceiling(0.8, 315, 4447, _values(_SINGLE, (61.5, None, 45.6, 71.2), (3.04, 3.24))),
    Ceiling(0.9, 267, 999, _values(_SINGLE, (69.8, None, 47.6, 80.4), (3.53, 3.34))),
    Ceiling(0.95, 148, 229, _values(_SINGLE, (73.9, None, 47.8, None), (3.57, 3.45))),
)
