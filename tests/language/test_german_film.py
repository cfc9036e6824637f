"""A film in German from describe to the described film: no English word stands in anything that comes out.

What programs read stays English: names of fields and columns, keywords of formats.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import av
import docx
import openpyxl
import pytest
from lxml import etree, html

from shotad.core import Config, Request
from shotad.description.english_words import other_language
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.script import load_track
from tests.cli.program import FAKE, Shotad
from tests.media import FilmSpec, SoundSpec, make_film

HERE = "tests.language.test_german_film"
LINES = (
    "Anna öffnet die Tür und tritt hinaus auf den Hof.",
    "Ein Hund läuft über die nasse Straße.",
    'Auf einem Schild steht "Ausgang".',
    "Die Kinder rennen zum Ufer hinunter.",
    "Er legt den Brief auf den Tisch.",
)
ENGLISH = frozenset(
    ["the", "of", "and", "is", "are", "with", "by", "from", "not", "this", "that", "to", "for", "which", "line", "lines", "words", "word", "slot", "slots", "shot", "shots", "seen", "here", "empty", "about", "made", "machine", "reviewed", "edited", "person's", "dropped", "placed", "description", "audio", "described", "appear", "appears", "reads", "only", "it", "they", "there", "left", "longer", "than", "fit", "fits", "first", "second", "named", "script", "track", "spoken", "voice", "film's", "before", "after", "who", "what", "nothing", "worth", "nobody", "yet", "again", "changed", "another", "pictures"]
)  # fmt: skip
"""Words of English that are none of German."""
_XHTML_TEXT = ("alt", "aria-label", "title", "placeholder")


class German(FakeEngine):
    """Writes German lines; its first try for each slot is English, as models do that forget what was asked."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, answer=self._answer)

    @staticmethod
    def _answer(request: Request) -> str:
        if request.schema is None:
            return plain_answer(request)
        fields = request.schema["properties"]
        if "It is in English" not in request.messages[-1].text:
            return json.dumps(dict.fromkeys(fields, "Anna opens the door and walks out."))
        number = int(request.slot_id.lstrip("s")) // 1000
        return json.dumps({field: LINES[(number + i) % len(LINES)] for i, field in enumerate(fields)})


def english_words(text: str) -> set[str]:
    return ENGLISH & set(re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower()))


def texts_of_track(path: Path) -> list[str]:
    """What stands in a track for people: its statement, and why and how each line is as it is."""
    track = load_track(path)
    texts = [track.statement]
    for cue in track.cues:
        texts.append(cue.reason)
        texts += cue.doubt.reasons if cue.doubt is not None else ()
        texts += cue.spoken.steps if cue.spoken is not None else ()
        texts += [cue.edited.machine.reason] if cue.edited is not None and cue.edited.machine else []
    return texts


def texts_of_vtt(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith(("Kind:", "Stamp:", "NOTE Lines as written")) or re.match(
            r"[sh]\d{8} |.*-->", line
        ):
            continue
        yield line.removeprefix("WEBVTT").removeprefix("NOTE")


def texts_of_xml(data: bytes) -> Iterator[str]:
    for node in etree.fromstring(data).iter():
        yield node.text or ""
        if isinstance(node.tag, str) and node.tag.endswith(("event", "project", "marker")):
            yield from (str(node.get(name, "")) for name in ("name", "note", "value"))


def texts_of_csv(text: str, *columns: str) -> Iterator[str]:
    for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))):
        yield from (row[column] for column in columns)


def texts_of_docx(path: Path) -> Iterator[str]:
    document = docx.Document(str(path))
    properties = document.core_properties
    yield from (properties.title, properties.subject, properties.keywords, properties.comments)
    yield from (paragraph.text for paragraph in document.paragraphs)
    for table in document.tables:
        for node in table._tbl.tblPr:
            if node.tag.endswith(("Caption", "Description")):
                yield str(node.get(node.tag.rpartition("}")[0] + "}val"))
        yield from (cell.text for row in table.rows for cell in row.cells)


def texts_of_xlsx(path: Path) -> Iterator[str]:
    book = openpyxl.load_workbook(path)
    yield from (
        str(text) for text in (book.properties.title, book.properties.subject, book.properties.keywords)
    )
    for sheet in book:
        yield sheet.title
        yield from sheet.tables
        for choice in sheet.data_validations.dataValidation:
            yield from (
                str(text) for text in (choice.prompt, choice.error, choice.formula1, choice.promptTitle)
            )
        yield from (
            str(value) for row in sheet.iter_rows(values_only=True) for value in row if value is not None
        )


def texts_of_page(data: bytes) -> Iterator[str]:
    page = html.fromstring(data)
    assert page.get("lang") == "de"
    for node in page.iter():
        if isinstance(node.tag, str) and node.tag != "style":
            yield node.text or ""
            yield from (node.get(name, "") for name in _XHTML_TEXT)
        yield node.tail or ""


def texts_of_film(path: Path) -> Iterator[str]:
    with av.open(str(path)) as film:
        tags = {**film.metadata}
        for stream in film.streams:
            tags |= {f"{stream.index} {key}": value for key, value in stream.metadata.items()}
    machine = ("encoder", "handler_name", "vendor_id", "DURATION", "duration")
    yield from (value for key, value in tags.items() if not key.endswith(machine) or "AD" in value)


@pytest.fixture
def german_film(tmp_path: Path, shotad: Shotad, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A film that was described in German, in its work folder beside it."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
    spec = FilmSpec(frames=500, cuts=(100, 210, 330, 420), sounds=(SoundSpec(),))
    film = tmp_path / "hof.mp4"
    film.write_bytes(make_film(spec).path.read_bytes())
    said = shotad("describe", film, *FAKE, "--set", f"stage2.engine={HERE}:German", "--language", "de_DE")
    assert said.code == 0, said.err
    return film


def test_no_english_word_stands_in_a_german_film(german_film: Path, shotad: Shotad, tmp_path: Path) -> None:
    folder = german_film.with_suffix(".shotad")
    track = load_track(folder / "track.json")
    assert track.language == "de-DE"
    assert track.heard
    assert {cue.text for cue in track.heard} <= {line.replace('"Ausgang"', "„Ausgang“") for line in LINES}
    # An editor's hand, so that what is said of it is there too.
    edited = (folder / "track.json").read_text(encoding="utf-8").replace("Anna öffnet", "Anna schließt")
    (folder / "track.json").write_text(edited, encoding="utf-8")
    scripts = tmp_path / "scripts"
    for name in ("vtt", "dapt", "csv", "reaper", "docx", "xlsx", "fcpxml", "hls", "dash"):
        assert shotad("export", folder, "--format", name, "--out", f"{scripts}/").code == 0
    for ending in ("mp4", "mkv"):
        made = shotad(
            "render", german_film, "--voice", "fake", "--out", tmp_path / f"hof.beschrieben.{ending}"
        )
        assert made.code in (0, 1), made.err

    def script(ending: str) -> Path:
        return scripts / f"hof.ad.{ending}"

    texts = {
        "track.json": texts_of_track(folder / "track.json"),
        "vtt": [*texts_of_vtt(script("vtt").read_text(encoding="utf-8"))],
        "dapt": [*texts_of_xml(script("dapt.xml").read_bytes())],
        "csv": [*texts_of_csv(script("csv").read_text(encoding="utf-8"), "text", "remarks", "made_by")],
        "reaper": [*texts_of_csv(script("reaper.csv").read_text(encoding="utf-8"), "Name")],
        "docx": [*texts_of_docx(script("docx"))],
        "xlsx": [*texts_of_xlsx(script("xlsx"))],
        "fcpxml": [*texts_of_xml(script("fcpxml").read_bytes())],
        "hls": re.findall(
            r'^# (.*)|NAME="([^"]*)"', script("hls.m3u8").read_text(encoding="utf-8"), re.MULTILINE
        ),
        "dash": [*texts_of_xml(script("dash.xml").read_bytes())],
        "worksheet": [*texts_of_page((folder / "worksheet.html").read_bytes())],
        "mp4": [*texts_of_film(tmp_path / "hof.beschrieben.mp4")],
        "mkv": [*texts_of_film(tmp_path / "hof.beschrieben.mkv")],
    }
    for name, written in texts.items():
        sentences = [" ".join(text) if isinstance(text, tuple) else text for text in written]
        assert any(map(str.strip, sentences)), name
        for sentence in sentences:
            # Commands, names of engines and marks for programs stay as they are.
            plain = re.sub(r"shotad (?:import|export)|\[track .*?\]|\b(?:hof|shotad)\b\S*", " ", sentence)
            assert not english_words(plain), (name, sentence)
            if len(plain.split()) > 4 and name not in ("hls", "dash"):
                assert other_language(plain, "de") is None, (name, sentence)


ANSWERS = (
    "I'm sorry, but I can't help with that.",
    "The user wants a line. Let me think about what to write.",
    "",
    "```python\nprint()\n```",
    "Anna opens the door and walks out.",
    "Eine Frau 微笑着 geht hinaus.",
)
"""What models write in place of a German line."""


class Failing(FakeEngine):
    """Writes no German line; what it writes depends on the slot, and one slot it cannot answer at all."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, answer=self._answer)

    @staticmethod
    def _answer(request: Request) -> str:
        return ANSWERS[int(request.slot_id.lstrip("s")) // 4000 % len(ANSWERS)]


@pytest.mark.parametrize("stage", ["stage1", "stage2"])
def test_why_slots_have_no_line_is_german_too(
    stage: str, tmp_path: Path, shotad: Shotad, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
    spec = FilmSpec(frames=700, cuts=(100, 210, 330, 420, 560), sounds=(SoundSpec(),))
    film = tmp_path / "hof.mp4"
    film.write_bytes(make_film(spec).path.read_bytes())
    slots = "".join(f"{start}.0,{start + 3}.5\n" for start in range(1, 25, 4)) + "25.0,27.5\n"
    (tmp_path / "slots.csv").write_text(f"start,end\n{slots}", encoding="utf-8")
    said = shotad(
        "describe", film, *FAKE, "--set", f"{stage}.engine={HERE}:Failing", "--language", "de",
        "--slots", tmp_path / "slots.csv",
    )  # fmt: skip
    folder = film.with_suffix(".shotad")
    track = load_track(folder / "track.json")
    reasons = [cue.reason for cue in track.cues if not cue.heard]
    assert len(set(reasons)) > 2, said.err
    for reason in [
        *texts_of_track(folder / "track.json"),
        *texts_of_page((folder / "worksheet.html").read_bytes()),
    ]:
        # What the model wrote is quoted.
        own_words = re.sub("|".join(re.escape(answer.strip()) for answer in ANSWERS if answer), " ", reason)
        own_words = re.sub(
            r"(?<=nicht auf Deutsch: ).*|'[^']*'|\"[^\"]*\"|\b(?:hof|shotad)\b\S*", " ", own_words
        )
        assert not english_words(own_words), reason
    # The terminal is English.
    assert "Stage I" in said.err + said.out
    assert not re.search(r"\bStufe\b", said.err + said.out)


def test_a_german_script_is_read_back(german_film: Path, shotad: Shotad, tmp_path: Path) -> None:
    folder = german_film.with_suffix(".shotad")
    first, *others = load_track(folder / "track.json").heard
    for ending in ("docx", "xlsx"):
        script = tmp_path / f"{ending}.{ending}"
        assert shotad("export", folder, "--format", ending, "--out", script).code == 0
    document = docx.Document(str(tmp_path / "docx.docx"))
    row = next(row for row in document.tables[0].rows if first.id in row.cells[-1].text)
    status = [cell.text for cell in document.tables[0].rows[0].cells].index("Status")
    row.cells[status].text = "gestrichen"
    document.save(str(tmp_path / "docx.docx"))
    said = shotad("import", folder, tmp_path / "docx.docx")
    assert said.code == 0, said.err
    assert [cue.id for cue in load_track(folder / "track.json").heard] == [cue.id for cue in others]
    assert "0 changed, 0 added, 0 removed" in shotad("import", folder, tmp_path / "xlsx.xlsx").out
