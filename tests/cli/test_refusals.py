"""What each command refuses: in one message that says what to do, with its exit code, and nothing is written. So are
addresses where a path is wanted, and names that are no UTF-8."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import FAKE, invoke
from tests.evaluation.predicting.minidataset import make_cmd
from tests.evaluation.stage.stagefilm import write_film
from tests.evaluation.story.storyfilms import READER, make_table, write_questions
from tests.media import FilmSpec, SoundSpec, make_film
from tests.scale_pictures import make_scale_pictures

CAST = """\
people:
  - {id: person-01, name: Ann Lee, speak: Ann, pronoun: she, photos: person-01}
  - {id: person-02, name: , photos: person-02}
  - {id: person-03, nameless: true}
"""
FILES = {
    "my.cast/cast.yaml": CAST,
    "my.cast/person-01/1.jpg": "a photo",
    "my.cast/person-02/1.jpg": "a photo",
    "bank.json": '{"tt1": [], "tt2": [{"id": "nm1", "role": "Herself"}]}',
    "empty/.keep": "",
    "empty.csv": "start,end\n",
    "late.csv": "start,end\n90,91\n",
    "mixed.csv": "start,end\n0,2\n1,3\n",
    "torn.yaml": "slots: [3\n",
    "wrong.yaml": "lookin: {least: 1}\n",
    "empty.mp4": "",
    "text.mp4": "This is not a film.\n" * 50,
    "list.mp4": "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nhttp://127.0.0.1:9/a.ts\n",
    "human.csv": "id,film,start,end,text\na,f1,0,2,Ann opens the door.\nb,f1,10,12,Ben runs to the car.\n",
    "mine.csv": "id,text\n1,He runs.\n",
    "preds.jsonl": '{"id": "a", "text": "Ann opens a door."}\n{"id": "b", "text": "Ben runs."}\n',
    "strange.jsonl": '{"id": "x1", "text": "Another film."}\n',
    "done.json": '{"films": []}',
    "steps.jsonl": '{"id": "tea", "system": "ann", "goal": "Make tea", "steps": ["Boil water."]}\n',
    "other.srt": "1\n00:01:05,000 --> 00:01:07,000\nHello.\n",
    "a.vtt": "WEBVTT\n\n00:01.000 --> 00:04.000\nAnn opens the door.\n",
    "none.ids": "",
    "far.ids": "0\n999\n",
    "labels/film.json": json.dumps({"clip": "film.mp4", "shots": [[0, 0.4], [0.4, 0.8]], "clusters": [[0, 1]]}),
}  # fmt: skip
"""By name, what lies in the folder in which all is asked."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a film that was described and one that was not, and with what else commands take."""
    place = tmp_path_factory.mktemp("refused")
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    os.mkfifo(place / "pipe")
    with (place / "large").open("wb") as large:
        large.truncate(700_000_000)
    film = make_film(FilmSpec(frames=300, cuts=(100, 200), sounds=(SoundSpec(duration=12.0),))).path
    for name in ("film.mp4", "fresh.mp4"):
        shutil.copy(film, place / name)
    shutil.copy(make_film(FilmSpec(frames=20, cuts=(10,))).path, place / "labels" / "film.mp4")
    words = ["describe", place / "film.mp4", *FAKE, "--no-sheet", "--quiet"]
    assert invoke(*words).exit_code == 0
    make_table(place, {"Anna": ("letter",)})
    write_questions(place / "q.jsonl", "Anna")
    make_cmd(place / "cmd")
    write_film(place / "stage")
    make_scale_pictures(place / "pictures", 10, size=(56, 42))
    return place


def left(place: Path) -> dict[str, tuple[int, int]]:
    """Every file with its size and when it was written; what stops two programs at once holds nothing."""
    files = (path for path in place.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


@pytest.fixture
def place(everything: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """That folder, in which commands run."""

    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(everything)
    before = left(everything)
    # A page that is served in place of being refused would wait for ever.
    end = threading.Timer(120, os.kill, (os.getpid(), signal.SIGINT))
    end.daemon = True
    end.start()
    yield everything
    end.cancel()
    assert left(everything) == before


REFUSED = {
    "describe": [
        ("none.mp4", 1, "none.mp4"),
        ("empty.mp4 {fake}", 1, "empty.mp4"),
        ("text.mp4 {fake}", 1, "text.mp4"),
        ("list.mp4 {fake}", 1, "list.mp4"),
        ("empty", 1, "shotad batch empty"),
        ("fresh.mp4 --note none.txt", 1, "none.txt"),
        ("fresh.mp4 --config none.yaml", 1, "none.yaml"),
        ("fresh.mp4 --config nonsense", 2, "nonsense"),
        ("fresh.mp4 --engine fak", 2, "Did you mean fake?"),
        ("fresh.mp4 --voice nonsense", 2, "nonsense"),
        ("fresh.mp4 {fake} --set slots.minimun=3", 2, "Did you mean slots.minimum?"),
        ("fresh.mp4 {fake} --from 1:75", 2, "no time"),
        ("fresh.mp4 {fake} --from 9 --to 8", 2, "--to 8"),
        ("fresh.mp4 {fake} --set speech.source=auto --subtitles other.srt", 1, "ends at 0:00:12, and the first subtitle begins at 0:01:05"),
        ("fresh.mp4 {fake} --subtitles a.vtt --encoding klingon", 2, "no encoding 'klingon'"),
        ("fresh.mp4 {fake} --subtitles pipe", 1, "it is a pipe, not a file"),
        ("fresh.mp4 {fake} --subtitles /dev/zero", 1, "it is a device, not a file"),
        ("fresh.mp4 {fake} --subtitles large", 1, "it has 700.0 MB, at most 16.0 MB are read"),
        ("fresh.mp4 {fake} --slots pipe", 1, "it is a pipe, not a file"),
        ("fresh.mp4 {fake} --slots large", 1, "it has 700.0 MB, at most 16.0 MB are read"),
        ("fresh.mp4 {fake} --shots /dev/zero", 1, "it is a device, not a file"),
        ("fresh.mp4 {fake} --note pipe", 1, "it is a pipe, not a file"),
        ("fresh.mp4 {fake} --note large", 1, "it has 700.0 MB, at most 1.0 MB are read"),
        ("fresh.mp4 {fake} --config large", 2, "it has 700.0 MB, at most 1.0 MB are read"),
        ("fresh.mp4 {fake} --from 12", 2, "start 00:00:12.000 is not before the end of fresh.mp4, 00:00:12.000"),
        ("fresh.mp4 {fake} --from 100 --estimate", 2, "(--from)"),
        ("fresh.mp4 {fake} --from nan", 2, "'nan' is no time"),
        (f"fresh.mp4 {{fake}} --from {'9' * 400}", 2, "is no time"),
        ("fresh.mp4 --engine fake --audio-track 4", 1, "audio track 4"),
        ("fresh.mp4 {fake} --subtitles none.srt", 1, "none.srt"),
        ("fresh.mp4 {fake} --subtitles empty", 1, "empty"),
        ("fresh.mp4 {fake} --subtitles ''", 2, "'--subtitles' is empty"),
        ("fresh.mp4 {fake} --slots none.csv", 1, "none.csv"),
        ("fresh.mp4 {fake} --slots empty.csv", 1, "empty.csv holds no slots."),
        ("fresh.mp4 {fake} --slots late.csv", 1, "outside the film, which ends at 00:00:12.000"),
        ("fresh.mp4 {fake} --slots mixed.csv --from 5", 2, "outside the time to be described"),
        ("fresh.mp4 {fake} --shots none.csv", 1, "none.csv"),
        ("fresh.mp4 {fake} --shots empty.csv", 1, "empty.csv holds no shots."),
        ("fresh.mp4 {fake} --shots late.csv", 1, "late.csv holds no shot inside the film"),
        ("fresh.mp4 {fake} --shots mixed.csv", 1, "0:00.000 to 0:02.000 and 0:01.000 to 0:03.000 overlap or are out of order."),
        ("fresh.mp4 {fake} --cast none.cast", 1, "none.cast"),
        ("fresh.mp4 {fake} --set slots.minimum=inf", 2, "Give a number from 0.1 to 3600."),
        ("fresh.mp4 {fake} --set slots.seconds_per_word=1e-320", 2, "Give a number from 0.05 to 10."),
        ("fresh.mp4 {fake} --set slots=3", 2, "slots = 3 cannot be used: it is a group of settings."),
        ("fresh.mp4 {fake} --set speech.over_lyrics=maybe", 2, "it must be true or false"),
        ("fresh.mp4 {fake} --set frames.inside=1.5", 2, "it must be a whole number"),
        ("fresh.mp4 {fake} --config torn.yaml", 2, "torn.yaml cannot be read: line 2, column 1: expected"),
        ("fresh.mp4 {fake} --set voice.lexicon=none.txt", 1, "lexicon none.txt"),
        ("fresh.mp4 {fake} --set prompt.example_file=none.txt", 2, "example file none.txt"),
        ("fresh.mp4 {fake} --set lint.words=[none.txt]", 2, "no words at none.txt"),
        ("fresh.mp4 {fake} --frame-rate 1e-320", 2, "is no frame rate"),
        ("fresh.mp4 {fake} --no-such-flag", 2, "no-such-flag"),
        ("fresh.mp4 --out {new} {fake} --set threads.features=dinov2-bse", 2, "dinov2-base"),
        ("fresh.mp4 --out {new} {fake} --set threads.match=whole", 2, "evaluate threads"),
        ("fresh.mp4 --out {new} {fake} --set scale.method=classifier", 2, "shotad train scale"),
    ],
    "shots": [
        ("empty", 1, "shotad batch empty"),
        ("fresh.mp4 --subtitles none.srt", 1, "none.srt"),
        ("fresh.mp4 --audio-track 4", 1, "audio track 4"),
    ],
    "slots": [("fresh.mp4 --shots none.csv", 1, "none.csv"), ("fresh.mp4 --set speech.margin=nan", 2, "finite")],
    "grammar": [("fresh.mp4 --shots late.csv", 1, "late.csv")],
    "cast discover": [("fresh.mp4 --from 100", 2, "(--from)"), ("fresh.mp4 --shots none.csv", 1, "none.csv")],
    "redo": [
        ("none.mp4 1", 1, "none.mp4"),
        ("film.mp4 s12345678", 2, "The nearest is s0"),
        ("film.mp4 99", 2, "lines are heard"),
        ("film.mp4 nonsense", 2, "neither an id nor a time"),
        ("film.mp4 1 --set slots.minimum=3", 2, "whole film"),
        ("film.mp4", 2, "SLOT"),
    ],
    "render": [
        ("none.mp4", 1, "none.mp4"),
        ("film.mp4 --voice fake --make song", 2, "nothing that can be made"),
        ("film.mp4 --voice fake --make ad --make mix --out x.wav", 2, "one file, but 2"),
        ("film.mp4 --voice fake --make ad --out x.mkv", 2, "ad cannot be written to x.mkv"),
        ("film.mp4 --voice fake --make mix --out my.folder", 2, "Make the folder first"),
        ("film.mp4 --voice fake --make ad:mp3 --out x.wav", 2, "cannot be written"),
        ("film.mp4 --voice fake --make film --make film+text", 2, "would both be written"),
        ("film.mp4 --voice fake --make ad:mkv", 2, "cannot be made as 'mkv'"),
        ("film.mp4 --voice fake --track none.json", 1, "none.json cannot be read"),
        ("film.mp4 --voice fake --film none.mp4", 1, "There is no film none.mp4"),
        ("film.mp4 --voice fake --ask", 1, "reads no prompts"),
        ("film.mp4 --voice fake --set slots.minimum=3", 2, "slots says nothing of how a track is spoken"),
    ],
    "review": [
        ("film.shotad --film nowhere.mp4", 1, "There is no film nowhere.mp4"),
        ("film.shotad --port 0", 2, "--port"),
        ("film.shotad --no-open --quiet", 2, "you would not see the address"),
        ("film.shotad --json --plain", 2, "exclude each other"),
    ],
    "sheet": [
        ("fresh.mp4 --film x.mp4", 2, "--film has no meaning"),
        ("film.shotad --out x", 2, "--out has no meaning"),
        ("fresh.mp4 --set threads.features=gird", 2, "grid"),
    ],
    "export": [
        ("film.mp4 --format srt --out /proc/x", 1, "/proc/x"),
        ("film.mp4 --format nonsense", 2, "nonsense"),
    ],
    "import": [("film.mp4 film.mp4 --format nonsense", 2, "nonsense")],
    "lint": [
        ("film.shotad --only L99", 2, "There is no rule 'L99'"),
        ("", 2, "There is nothing to check"),
        ("film.shotad --ignore L4:", 2, "names no rule"),
    ],
    "train": [
        *((f"scale --data pictures --backbone labels --out {{new}} {words}", 2, told) for words, told in (
            ("--set optim.rate=1", "There is no setting optim.rate. Did you mean optim.lr?"),
            ("--backbone nothing", "net.backbone = 'nothing' is neither a name nor a folder"),
            ("--set compute.device=gpu", "compute.device = 'gpu' is no device"),
        )),
    ],
    "models": [("pull nonsense", 2, "nonsense")],
    "screenplay": [("none.mp4", 1, "Run shotad describe first")],
    "translate": [
        ("film.shotad --engine openai --to german", 2, "Did you mean de (German)?"),
        ("film.shotad --engine openai --to en", 2, "already"),
        ("film.shotad --to de --engine embedded", 1, "narrator reads no prompts and cannot translate"),
        ("film.shotad --to de --engine openai --set slots.minimum=3", 2, "slots"),
    ],
    "voices": [
        ("--voice faek", 2, "Did you mean fake?"),
        ("--voice hibari:emma", 2, "emma"),
        ("--say Hi --voice hibari --language de", 1, "speaks English, not 'de'"),
        ("--say … --voice fake", 2, "no word"),
        ("--say Hi --voice fake --out x.mp3", 2, "no .wav and no .flac"),
        ("--out x.wav", 2, "nothing to speak"),
        ("--say Hi --voice fake --lexicon none.txt", 1, "none.txt"),
        ("--say Hi --voice piper:/nowhere/x.onnx", 1, "piper"),
    ],
    "cast": [
        ("name my.cast 2 Ann", 1, "shotad cast merge"),
        ("name my.cast 2 Bo --alias 'ANN LEE'", 1, "person-01 is called 'Ann Lee' already"),
        ("name my.cast 4 Bo", 1, "nobody called '4'. There are: person-01, person-02, person-03."),
        ("name my.cast preson-02 Bo", 1, "Did you mean person-02?"),
        ("name my.cast 2", 2, "nothing to say of person-02"),
        ("name my.cast 2 Bo --nameless", 2, "exclude each other"),
        ("name my.cast 2 Bo --pronoun xe", 2, "'xe' is not one of"),
        ("name my.cast 2 Bo --say-as 50%", 1, "'50%' cannot be said"),
        ("name my.cast 2 Bo --reveal-at soon", 2, "--reveal-at 'soon' is no time. Write 00:12:30"),
        ("merge my.cast 1 ann", 1, "itself"),
        ("merge my.cast", 2, "There is nobody to merge."),
        ("merge my.cast 1 2 --undo", 2, "There is nobody to merge."),
        ("merge my.cast --undo", 1, "merge"),
        ("forget my.cast 1", 2, "Nothing was deleted: there is no terminal to ask on. Add --yes."),
        ("forget my.cast 1 --all --yes", 2, "Give an id or a name, or --all for everybody."),
        ("forget my.cast 1 --yes --film-folder gone.shotad", 2, "gone.shotad is no work folder"),
        ("show gone", 1, "There is no cast gone."),
        ("show film.mp4", 1, "film.mp4 is no cast"),
        ("show my.cast/person-01/1.jpg", 1, "Name the folder that it is in"),
        ("show empty --cast-key x", 1, "A key was given"),
        ("show my.cast/cast.yaml --cast-photos empty", 1, "profile pictures was given"),
        ("show bank.json --cast-key tt2 --cast-photos my.cast", 1, "no picture of anybody in bank.json"),
        ("show bank.json --cast-key tt2 --cast-photos gone", 1, "is not there"),
        ("show bank.json --cast-key tt3", 1, "2: tt1, tt2"),
        ("name gone 1 x", 1, "There is no cast gone."),
    ],
    "batch": [
        ("", 2, "No films are named"),
        ("empty", 1, "There are no films in empty"),
        ("--ray empty", 2, "--ray"),
        ("film.mp4 --jobs many", 2, "--jobs many"),
        ("film.mp4 --min-free -1GB", 2, "--min-free: '-1GB' is no size"),
        ("film.mp4 --memory 0", 2, "--memory 0"),
        (f"film.mp4 --memory {'9' * 400}GB", 2, "is no size"),
        (f"film.mp4 --jobs {'9' * 5000}", 2, "is no number of films"),
        ("film.mp4 --watch --settle inf", 2, "settle"),
        ("film.mp4 --settle nan", 2, "not a finite number"),
        ("film.mp4 --retries 99999999999", 2, "retries"),
        ("film.mp4 --report empty", 2, "empty is a folder"),
        ("film.mp4 --set voice.lexicon=none.txt", 1, "lexicon none.txt"),
        ("film.mp4 --set lint.words=[none.txt]", 2, "none.txt"),
        ("film.mp4 --from 5 --to 4", 2, "after the start"),
        ("film.mp4 --frame-rate x", 2, "frame rate"),
        ("film.mp4 --make film:xyz", 2, "xyz"),
        ("film.mp4 --out film.mp4", 1, "film.mp4 is a file"),
        ("film.mp4 --engine fak", 2, "fake"),
        ("film.mp4 --only-failed", 2, "shotad-batch.json"),
        ("film.mp4 --watch --only-failed --report done.json", 2, "--watch"),
        ("film.mp4 --watch --download", 2, "--watch downloads no films"),
        ("film.mp4 --only-failed --download --report done.json", 2, "takes its films from the report"),
        ("film.mp4 --cast none.cast", 1, "none.cast"),
        *((f"film.mp4 {words} {{fake}}", 1 if "gone" in words else 2, told) for words, told in (
            ("--ray --jobs 2", "--jobs holds for one machine"),
            ("--ray --retries 1", "--retries"),
            ("--ray --watch", "--watch"),
            ("--ray-config run.yaml", "--ray-config is for runs on a cluster"),
            ("--ray --ray-config wrong.yaml", "looking.least"),
            ("--ray --ray-config gone.yaml", "gone.yaml"),
        )),
    ],
    "predict": [
        ("none.yaml --root cmd --out x", 1, "none.yaml"),
        ("cmd-ad --root cmd --out x {fake} --shard 3/2", 2, "no shard"),
        ("cmd-ad --root cmd --out x {fake} --films tt9", 2, "tt9"),
        ("cmd-ad --root cmd --out x {fake} --config tv-ad", 2, "different datasets"),
        ("cmd-ad --root cmd --out x {fake} --set threads.features=dinov3-huge", 2, "neither a known name nor a folder"),
        ("cmd-ad --root cmd --out x {fake} --cast-photos x", 2, "--cast-photos needs --cast-bank"),
        ("cmd-ad --root cmd --out x {fake} --ids none.ids", 2, "is empty"),
        ("cmd-ad --root cmd --out x {fake} --ids far.ids", 2, "999"),
        ("cmd-ad --root cmd --out x {fake} --ids gone.ids", 1, "cannot be read"),
        ("mine.csv --root . --out x {fake}", 2,
         "mine.csv is a plain file of human ADs, which does not say where videos are."),
    ],
    "evaluate": [
        ("steps steps.jsonl", 2, "No judge is named. Add --judge openai:gpt-4o"),
        ("steps steps.jsonl --judge fake --planted rule", 2, "'rule'"),
        ("steps none.jsonl --judge fake", 1, "none.jsonl cannot be read"),
        ("stage stage --engine fake", 2, "--task is missing"),
        ("stage stage --task questions", 2, "--engine is missing"),
        ("stage empty --check", 1, "There is no film of STAGE"),
        ("cml labels", 2, "No engine is named"),
        ("cml --judge fake", 2, "No screenplay is named"),
        ("inter-rater a.vtt a.vtt --tiou ''", 2, "holds no numbers"),
        ("inter-rater a.vtt a.vtt --tiou 1.5", 1, "1.5 is no tIoU"),
        ("inter-rater a.vtt a.vtt a.vtt", 2, "3 files were given"),
        ("compare labels labels", 1, "holds no report.json"),
        ("threads labels --features grid --table --frames mid", 2, "--table"),
        ("threads labels --features grid --threshold 2", 2, "threads.threshold"),
        ("threads labels --features grid --frames both", 2, "both"),
        ("threads labels --features none", 2, "none"),
        ("story films.csv --engine {reader}", 2, "There are no questions. Name a file by --questions"),
        ("story films.csv --engine {reader} --questions q.jsonl --conditions ad,best", 2,
         "There is no condition 'best'"),
        ("story films.csv --engine {reader} --questions q.jsonl --human Anna.human.vtt", 2,
         "--human has no meaning with a table"),
        ("story films.csv --engine {reader} --questions none.csv", 1, "none.csv cannot be read"),
        *((f"ad human.csv --predictions preds.jsonl --plain {words}", code, told) for words, code, told in (
            ("--metrics cidr", 2, "Did you mean cider?"),
            ("--metrics ,", 1, "No metric is named"),
            ("--metrics cider,critic", 1, "critic cannot be measured: No cast lists"),
            ("--metrics llm-ad-eval", 1, "No judge is named"),
            ("--metrics cider --out human.csv", 1, "No report can be written into human.csv"),
            ("--metrics cider --text-column words", 1, "no column 'words'"),
            ("--metrics cider,llm-ad-eval --judge nonsense", 2, "no engine called 'nonsense'"),
        )),
        ("ad human.csv --metrics cider --predictions none.jsonl", 1, "cannot be read"),
        ("ad human.csv --metrics cider --predictions strange.jsonl", 1, "Nothing in strange.jsonl belongs to human"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "code", "needle"),
    [(f"{name} {words}".strip(), code, told) for name, rows in REFUSED.items() for words, code, told in rows],
)
@pytest.mark.usefixtures("place")
def test_what_cannot_be_meant_is_refused(shotad, tmp_path, line, code, needle):
    words = shlex.split(line.format(fake=shlex.join(FAKE), reader=READER, new=tmp_path / "new"))
    said = shotad(*words, typed="")
    assert (said.code, said.out) == (code, ""), said.err
    assert needle in said.err
    assert said.err.count("Error: ") == 1
    assert not {"Traceback", "CIDEr"} & set(re.findall(r"\w+", said.err)), "nothing breaks, nothing is scored"


FOLDER = "s3://me:hidden@described/x.shotad"


@pytest.mark.parametrize("words", [
    ("describe", FOLDER),
    ("describe", "film.mp4", "--out", FOLDER, *FAKE),
    ("export", "x.shotad", "--out", FOLDER),
    ("import", "x.shotad", FOLDER),
    ("cast", "show", FOLDER),
    ("batch", "film.mp4", "--report", FOLDER),
])  # fmt: skip
def test_an_address_where_a_path_is_wanted_is_refused_with_a_way_out(shotad, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "film.mp4").write_bytes(b"film")
    said = shotad(*words, typed="")
    assert said.code == 2, said
    assert "s3://described/x.shotad is an address, and a path of this machine is wanted." in said.err
    assert "shotad batch" in said.err
    assert "hidden" not in said.err + said.out
    assert os.listdir(tmp_path) == ["film.mp4"], "no folder of that name is made"


LATIN = os.fsdecode(b"caf\xe9.mp4")
PLAIN = "film.mp4"


@pytest.mark.skipif(sys.platform == "darwin", reason="names must be UTF-8 there")
def test_a_single_film_is_refused_for_such_a_name_before_anything_is_written(shotad, tmp_path, monkeypatch):
    for name in (LATIN, PLAIN):
        shutil.copy(make_film(FilmSpec(frames=30)).path, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for words in ((LATIN,), (PLAIN, "--out", os.fsdecode(b"out-\xe9"))):
        found = shotad("describe", *words, *FAKE)
        assert found.code == 1
        assert "\\xe9" in found.err
        assert "is not in UTF-8" in found.err
    assert {p.name for p in tmp_path.iterdir()} == {LATIN, PLAIN}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows says of such names only that nothing is there")
def test_a_name_that_is_too_long_is_refused_and_spoils_no_list(shotad, tmp_path):
    name = "x" * 300
    for words in (("describe", name), ("lint", name), ("batch", name), ("sample", name)):
        refused = shotad(*words)
        assert refused.code == 2, refused.err
        assert "too long for the name of a file" in refused.err
    shutil.copy(make_film(FilmSpec(frames=30)).path, tmp_path / PLAIN)
    (tmp_path / "list.txt").write_text(f"{name}\n{PLAIN}\n", encoding="utf-8")
    planned = shotad("batch", "--list", tmp_path / "list.txt", "--dry-run", *FAKE)
    assert f"{PLAIN}: to be described" in planned.out
    assert "too long for the name of a file" in planned.out
