"""A film in German and in French, from describe to the described film: no English word stands in what comes out.

Its engines fail in all the ways that engines fail. What a model or a server says is quoted; what programs read
stays English.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import docx
import pytest

from shotad.core import Config, Reply, Request
from shotad.core.errors import quoted
from shotad.engines.fake import FakeEngine, plain_answer
from shotad.review.messages import TEXTS
from shotad.script import CueStatus, load_track
from shotad.script.english_words import FUNCTION_WORDS
from shotad.script.reasons import in_english
from shotad.script.track_texts import texts_in
from tests.cli.program import FAKE, Shotad, invoke
from tests.language.human_texts import (
    texts_of_csv,
    texts_of_docx,
    texts_of_film,
    texts_of_json,
    texts_of_lines,
    texts_of_page,
    texts_of_xlsx,
    texts_of_xml,
)
from tests.media import FilmSpec, SoundSpec, make_film
from tests.review.reviewed import reviewed

HERE = "tests.language.test_no_english"
LINES = {
    "de": (
        "Anna öffnet die Tür und tritt hinaus auf den Hof.",
        "Ein Hund läuft über die nasse Straße.",
        'Auf einem Schild steht "Ausgang".',
        "Die Kinder rennen zum Ufer hinunter.",
        "Er legt den Brief auf den Tisch.",
    ),
    "fr": (
        "Anna ouvre la porte et sort dans la cour.",
        "Un chien traverse la rue mouillée.",
        'Sur un panneau est écrit "Sortie".',
        "Les enfants courent vers la rive.",
        "Il pose la lettre sur la table.",
    ),
}
RESIDUE = {"de": "Das Bild zeigt einen leeren Hof.", "fr": "Cette image montre une cour vide."}
BROKEN = "RuntimeError: the weights of this model are broken; nothing can be done"
SERVER_SAYS = "Internal error: the model worker has crashed, please try again later."
REFUSAL = "I'm sorry, but I can't help with that."
ENGLISH_LINE = "Anna opens the door and walks out."
ANSWERS = (
    REFUSAL,
    "The user wants a line. Let me think about what to write.",
    "",
    ENGLISH_LINE,
    "Eine Frau 微笑着 geht.",
)
"""What models write in place of a line or a description."""


def no_answer() -> str:
    says = in_english("failure.status", status=500, text=quoted(SERVER_SAYS))
    return in_english("failure.no_answer.other", server="api.example:443", number=3, error=says)


ERRORS = (
    BROKEN,
    no_answer(),
    in_english("failure.request_length"),
    in_english("failure.server", server="api.example:443", status=400, text=quoted(SERVER_SAYS)),
    in_english("failure.cut_in_thought", number=2048, advice=in_english("failure.thinking")),
    in_english("failure.memory", number=9000),
)
"""Errors of replies: of an engine of somebody's own, of servers and of models on this machine."""
FAILURES = (
    *(Reply("", "error", error=error) for error in ERRORS),
    Reply(REFUSAL, "refused"),
    *map(Reply, ANSWERS),
    Reply("", "silent"),
)


def answer_in(language: str, request: Request) -> str:
    """A line or several; the first try for a slot is English, as models do that forget what was asked."""
    if request.schema is None:
        return plain_answer(request)
    fields = request.schema["properties"]
    if "It is in English" not in request.messages[-1].text:
        return json.dumps(dict.fromkeys(fields, ENGLISH_LINE))
    number = int(request.slot_id.lstrip("s")) // 1000
    return json.dumps({field: LINES[language][(number + i) % 5] for i, field in enumerate(fields)})


class Writer(FakeEngine):
    """Writes lines in the language of the run; in every second slot it fails, each time in another way."""

    def __init__(self, config: Config) -> None:
        language = config.language.split("-")[0]
        super().__init__(config, answer=lambda request: answer_in(language, request))
        self._failures = (*FAILURES, Reply(RESIDUE[language]), Reply(" ".join(LINES[language]) * 2))

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        number = int(request.slot_id.lstrip("s")) // SLOT_MS
        if number % 2 and request.schema is not None:
            return self._failures[number // 2 % len(self._failures)]
        return super().generate([request])[0]


class Looker(FakeEngine):
    """Describes clips; in every fourth slot it fails, each time in another way."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, answer=plain_answer)

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        number = int(request.slot_id.lstrip("s")) // SLOT_MS
        if number % 4 == 2:
            return FAILURES[number // 4 % len(FAILURES)]
        return super().generate([request])[0]


SLOT_MS = 4000
SLOTS = 2 * (len(FAILURES) + 2)
"""Each failure of the writer has a slot."""


def words_of(texts: Iterable[str]) -> set[str]:
    """Words of two letters or more, without places for values."""
    plain = " ".join(re.sub(r"\{\w+\}", " ", text) for text in texts)
    return {word.lower() for word in re.findall(r"(?<!\w)[^\W\d_]{2,}(?:'[a-z]+)?(?!\w)", plain)}


def texts_of_language(language: str) -> list[str]:
    """All texts of the program in a language: of tracks and of the review page."""
    page = json.loads((TEXTS / f"{language}.json").read_text(encoding="utf-8"))
    forms = [text.values() if isinstance(text, dict) else [text] for text in page.values()]
    return [*texts_in(language).by_key.values(), *(form for entry in forms for form in entry)]


def english_words(language: str) -> set[str]:
    """Words of the program's English texts, and function words, that are none of ``language``."""
    own_words = words_of([*texts_of_language(language), *LINES[language], RESIDUE[language]])
    return (words_of(texts_of_language("en")) | FUNCTION_WORDS) - own_words


def sentences_with_english(texts: Iterable[str], language: str) -> list[str]:
    """The texts that hold English words, each with these."""
    english = english_words(language)
    texts = list(texts)
    assert any(map(str.strip, texts)), "there is no text for people"
    words = {text: english & words_of([without_quotations(text)]) for text in texts}
    return [f"{', '.join(sorted(found))}: {text}" for text, found in words.items() if found]


def without_quotations(text: str) -> str:
    """A text without what it quotes of models and servers, commands, settings and files."""
    for said in (BROKEN, SERVER_SAYS, *filter(None, ANSWERS)):
        text = text.replace(quoted(said), " ")
    # A line in another language is shown as it is.
    text = re.sub(r"(?<=[:»\"“] )?(" + "|".join(map(re.escape, filter(None, ANSWERS))) + ")", " ", text)
    text = re.sub(r"shotad (?:import|export|lint)|\[track .*?\]", " ", text)
    return re.sub(r"\S*\w[._/]\w\S*|\b(?:hof|shotad|fake)\b\S*", " ", text)


@pytest.fixture(scope="module", params=["de", pytest.param("fr", marks=pytest.mark.long)])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def described(language: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a film that was described in the language, and its work folder; many slots failed."""
    folder = tmp_path_factory.mktemp(language)
    seconds = SLOTS * SLOT_MS // 1000 + 4
    sound = SoundSpec(duration=float(seconds))
    spec = FilmSpec(frames=8 * seconds, rate=Fraction(8), cuts=(100, 210, 330, 420), sounds=(sound,))
    (folder / "hof.mp4").write_bytes(make_film(spec).path.read_bytes())
    # Some slots are too short for any line.
    ends = [4 * number + (1.4 if number % 8 == 4 else 3.9) for number in range(SLOTS)]
    rows = "".join(f"{4 * number + 0.1},{end}\n" for number, end in enumerate(ends))
    (folder / "slots.csv").write_text(f"start,end\n{rows}", encoding="utf-8")
    result = invoke(
        "describe", folder / "hof.mp4", *FAKE, "--set", f"stage1.engine={HERE}:Looker",
        "--set", f"stage2.engine={HERE}:Writer", "--language", language, "--slots", folder / "slots.csv",
    )  # fmt: skip
    # The terminal is English, whatever the language of the track is.
    assert "slots failed; the first: Stage II failed: the engine reports 'RuntimeError: " in result.output
    assert texts_in(language)("maker.Stage II") not in result.output
    return folder


@pytest.fixture
def film(described: Path, tmp_path: Path) -> Path:
    """The described film, for one test alone."""
    return shutil.copytree(described, tmp_path / "films") / "hof.mp4"


def test_no_english_word_stands_in_what_comes_out(
    film: Path, language: str, shotad: Shotad, tmp_path: Path
) -> None:
    folder = film.with_suffix(".shotad")
    track = load_track(folder / "track.json")
    assert {cue.status for cue in track.cues} == set(CueStatus)
    reasons = {cue.reason for cue in track.cues if not cue.heard}
    assert len(reasons) > len(FAILURES)
    # An editor's hand, so that what is said of it is there too.
    edited = (folder / "track.json").read_text(encoding="utf-8").replace("Anna ", "Eva ", 1)
    (folder / "track.json").write_text(edited, encoding="utf-8")

    scripts = tmp_path / "scripts"
    names = (
        "vtt",
        "srt",
        "dapt",
        "csv",
        "json",
        "frazier",
        "reaper",
        "docx",
        "xlsx",
        "edl",
        "fcpxml",
        "hls",
        "dash",
        "txt",
    )
    formats = [word for name in names for word in ("--format", name)]
    assert shotad("export", folder, *formats, "--out", f"{scripts}/").code == 0
    made = tmp_path / "made"
    kinds = [word for kind in ("film:mp4", "film:mkv", "mix:flac") for word in ("--make", kind)]
    rendered = shotad("render", film, "--voice", "fake", "--extended", *kinds, "--out", f"{made}/")
    assert rendered.code in (0, 1), rendered.err

    def script(ending: str) -> Path:
        return scripts / f"hof.ad.{ending}"

    def text_of(ending: str) -> str:
        return script(ending).read_text(encoding="utf-8")

    texts = {
        "track.json": texts_of_json(
            json.loads((folder / "track.json").read_text(encoding="utf-8")), language
        ),
        "json": texts_of_json(json.loads(text_of("json")), language),
        "vtt": texts_of_lines(text_of("vtt")),
        "srt": texts_of_lines(text_of("srt")),
        "txt": texts_of_lines(text_of("txt")),
        "edl": texts_of_lines(text_of("edl").replace("FCM: NON-DROP FRAME", "").replace("TITLE:", "")),
        "dapt": texts_of_xml(script("dapt.xml").read_bytes()),
        "csv": texts_of_csv(text_of("csv"), "text", "remarks", "made_by"),
        "frazier": texts_of_csv(text_of("frazier.csv"), "Text", delimiter=";"),
        "reaper": texts_of_csv(text_of("reaper.csv"), "Name"),
        "docx": texts_of_docx(script("docx")),
        "xlsx": texts_of_xlsx(script("xlsx")),
        "fcpxml": texts_of_xml(script("fcpxml").read_bytes()),
        "hls": [
            " ".join(line)
            for line in re.findall(r'^# (.*)|NAME="([^"]*)"', text_of("hls.m3u8"), re.MULTILINE)
        ],
        "dash": texts_of_xml(script("dash.xml").read_bytes()),
        "worksheet": texts_of_page((folder / "worksheet.html").read_bytes(), language),
        **{
            path.name: texts_of_film(path)
            for path in sorted(made.iterdir())
            if path.suffix in (".mp4", ".mkv", ".flac")
        },
    }
    assert sum(name.startswith("hof.") for name in texts) == 3
    with reviewed(folder, film=film) as (_, page):
        view = page.checked()
        lines = [page.get(f"/api/lines/{line['id']}").json for line in view["lines"]]
    texts["review page"] = texts_of_json([view, *lines], language)
    faults = {name: sentences_with_english(inner, language) for name, inner in texts.items()}
    assert {name: sentences for name, sentences in faults.items() if sentences} == {}


def test_a_script_is_read_back(film: Path, language: str, shotad: Shotad, tmp_path: Path) -> None:
    folder = film.with_suffix(".shotad")
    first, *others = load_track(folder / "track.json").heard
    for ending in ("docx", "xlsx"):
        assert shotad("export", folder, "--format", ending, "--out", tmp_path / f"a.{ending}").code == 0
    document = docx.Document(str(tmp_path / "a.docx"))
    row = next(row for row in document.tables[0].rows if first.id in row.cells[-1].text)
    heads = [cell.text for cell in document.tables[0].rows[0].cells]
    row.cells[heads.index(texts_in(language)("head.status"))].text = texts_in(language)("status.dropped")
    document.save(str(tmp_path / "a.docx"))
    said = shotad("import", folder, tmp_path / "a.docx")
    assert said.code == 0, said.err
    assert [cue.id for cue in load_track(folder / "track.json").heard] == [cue.id for cue in others]
    assert "0 changed, 0 added, 0 removed" in shotad("import", folder, tmp_path / "a.xlsx").out
