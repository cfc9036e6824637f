"""A track, or the slots of a person, deleted or put back from a backup: nothing newer beside it is written over, and the
message says how to go on."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shotad.core import Interval, Slot
from shotad.core.types import slot_id
from shotad.film import SlotChange
from shotad.film.slot_records import change_slots
from shotad.script import load_track
from tests.cli.program import FAKE, Said, Shotad
from tests.review.reviewed import reviewed

MINE = "Anna waves from the bridge."
LATER = "Anna turns away."

Describe = Callable[..., Said]


@pytest.fixture
def folder(film: Path) -> Path:
    return film.with_suffix(".shotad")


@pytest.fixture
def describe(shotad: Shotad, film: Path) -> Describe:
    def run(*more: str) -> Said:
        return shotad("describe", film, *FAKE, "--no-sheet", *more)

    return run


def texts(folder: Path, name: str = "track.json") -> list[str]:
    return [cue.text for cue in load_track(folder / name).heard]


def edit(path: Path, new: str, old: str | None = None) -> None:
    """Put ``new`` in place of the first line of a script or a track."""
    old = old or texts(path.parent)[0]
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(
        text.replace(f'"text": "{old}"', f'"text": "{new}"')
        if path.name == "track.json"
        else text.replace(old, new, 1)
    )


def kept(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if ".ad." in path.name or path.name == "track.json"
    }


@pytest.fixture
def edited(describe: Describe, folder: Path) -> Path:
    """The folder of a film with a line of a person."""
    assert describe().code == 0
    edit(folder / "movie.ad.vtt", MINE)
    assert describe().code == 0
    assert texts(folder)[0] == MINE
    return folder


def refused(said: Said, *words: str) -> None:
    assert said.code == 1
    assert "Traceback" not in said.err
    (line,) = [line for line in said.err.splitlines() if line.startswith("Error:")]
    for word in words:
        assert word in line


def touch_all(folder: Path) -> None:
    """Dates as a copy, a checkout or a sync leaves them: they say nothing."""
    for place, path in enumerate(sorted(folder.iterdir())):
        os.utime(path, (time.time() - 100 * place, time.time() - 100 * place))


def test_a_deleted_track_with_lines_of_a_person_beside_it_stops_all(
    describe: Describe, shotad: Shotad, edited: Path
) -> None:
    before = kept(edited)
    (edited / "track.json").unlink()
    for said in (describe(), describe("--force")):
        refused(said, "track.json is not there", "movie.ad.vtt", "shotad import", "--discard-edits")
    assert kept(edited) == {name: data for name, data in before.items() if name != "track.json"}
    assert shotad("import", edited, edited / "movie.ad.vtt").code == 0
    assert describe().code == 0
    assert texts(edited)[0] == MINE
    assert len(texts(edited)) == before["movie.ad.srt"].decode().count("-->")
    assert [cue.id for cue in load_track(edited / "track.json").cues if cue.slot_id] != []


def test_of_a_script_edited_after_the_track_was_deleted_nothing_is_lost(
    describe: Describe, shotad: Shotad, film: Path, folder: Path
) -> None:
    assert describe().code == 0
    edit(folder / "movie.ad.srt", MINE)
    (folder / "track.json").unlink()
    (folder / "scripts.json").unlink()
    refused(describe(), "movie.ad.srt")
    edit(folder / "movie.ad.csv", LATER, texts_of_csv(folder)[1])
    refused(shotad("import", film, folder / "movie.ad.srt"), "movie.ad.csv was changed as well")
    (folder / "movie.ad.csv").rename(folder.parent / "mine.csv")
    assert shotad("import", film, folder / "movie.ad.srt").code == 0
    assert shotad("import", film, folder.parent / "mine.csv", "--overwrite").code == 0
    assert describe().code == 0
    assert texts(folder)[1] == LATER


def texts_of_csv(folder: Path) -> list[str]:
    rows = (folder / "movie.ad.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    return [row.split(",")[3] for row in rows]


def test_a_deleted_track_without_lines_of_a_person_is_made_again(describe: Describe, folder: Path) -> None:
    assert describe().code == 0
    before = kept(folder)
    (folder / "track.json").unlink()
    touch_all(folder)
    assert describe().code == 0
    assert kept(folder) == before


def test_who_wants_it_throws_what_is_left_away(describe: Describe, edited: Path) -> None:
    (edited / "track.json").unlink()
    assert describe("--discard-edits").code == 0
    assert MINE not in texts(edited)


@pytest.fixture
def older(describe: Describe, edited: Path) -> Path:
    """The folder with its track put back from a backup, made before the person's last line."""
    shutil.copy(edited / "track.json", edited.parent / "backup.json")
    edit(edited / "movie.ad.vtt", LATER)
    assert describe().code == 0
    shutil.copy(edited.parent / "backup.json", edited / "track.json")
    touch_all(edited)
    return edited


def test_a_track_older_than_its_scripts_stops_all(
    describe: Describe, shotad: Shotad, film: Path, older: Path
) -> None:
    before = kept(older)
    other = older.parent / "other.srt"
    other.write_text("1\n00:00:00,200 --> 00:00:02,000\nA dog.\n")
    for said in (
        describe(),
        describe("--force"),
        shotad("redo", older, "1", "--over-edits"),
        shotad("render", film, "--voice", "fake", "--make", "ad"),
        shotad("import", older, other),
        shotad("export", older),
        shotad("translate", older, "--to", "de", "--engine", "tests.cli.test_redo_and_translate:Dice"),
    ):
        refused(said, "newer than", LATER, MINE, "shotad import")
    assert kept(older) == before
    assert shotad("import", older, older / "movie.ad.srt").code == 0
    assert texts(older)[0] == LATER
    assert describe().code == 0
    assert texts(older)[0] == LATER


def test_an_older_track_and_a_script_edited_by_hand(describe: Describe, older: Path) -> None:
    edit(older / "movie.ad.vtt", "A third line.", texts_of_csv(older)[1])
    refused(describe(), "newer than", LATER)
    for path in older.glob("movie.ad.*"):
        if path.suffix != ".vtt":
            path.unlink()
    refused(describe(), "movie.ad.vtt may be newer than", LATER)
    assert "A third line." in (older / "movie.ad.vtt").read_text()


def test_half_a_copy_of_a_folder_with_a_newer_line_stops_all(describe: Describe, edited: Path) -> None:
    """Of the newer folder, as it comes from another machine, one script and the note of the scripts are here."""
    edit(edited / "movie.ad.vtt", "A line before.", MINE)
    assert describe().code == 0
    names = ("track.json", "movie.ad.vtt", "movie.ad.csv", "movie.ad.dapt.xml")
    before = {name: (edited / name).read_bytes() for name in names}
    edit(edited / "movie.ad.vtt", LATER, "A line before.")
    assert describe().code == 0
    for name, data in before.items():
        (edited / name).write_bytes(data)
    refused(describe(), "movie.ad.srt may be newer than", LATER)
    assert LATER in (edited / "movie.ad.srt").read_text()


def test_a_track_edited_by_hand_is_newer_than_its_scripts(describe: Describe, edited: Path) -> None:
    edit(edited / "track.json", LATER)
    touch_all(edited)
    assert describe().code == 0
    assert texts(edited)[0] == LATER
    assert LATER in (edited / "movie.ad.srt").read_text()


@pytest.mark.parametrize("form", ["windows", "unix", "mark"])
def test_line_ends_and_a_mark_at_the_start_are_no_edits(describe: Describe, edited: Path, form: str) -> None:
    """As git checks files out on another system, and as some editors save them."""
    scripts = sorted(edited.glob("movie.ad.*"))
    assert len(scripts) == 4
    for path in (*scripts, edited / "track.json", edited / "scripts.json"):
        data = path.read_bytes().replace(b"\r\n", b"\n")
        if form == "windows":
            data = data.replace(b"\n", b"\r\n")
        if form == "mark" and path in scripts:
            data = b"\xef\xbb\xbf" + data.removeprefix(b"\xef\xbb\xbf")
        path.write_bytes(data)
    for _ in range(2):
        said = describe()
        assert said.code == 0, said.err
        assert texts(edited)[0] == MINE
    (edited / "scripts.json").unlink()
    assert describe().code == 0
    # A real edit of such a file is one.
    data = (edited / "movie.ad.vtt").read_bytes()
    (edited / "movie.ad.vtt").write_bytes(data.replace(MINE.encode(), LATER.encode()))
    assert describe().code == 0
    assert texts(edited)[0] == LATER


def test_a_lost_note_of_the_scripts_loses_no_edit(describe: Describe, edited: Path) -> None:
    (edited / "scripts.json").unlink()
    assert describe().code == 0, "all is as it was written"
    (edited / "scripts.json").write_text("{")
    (edited / "movie.ad.srt").unlink()
    (edited / "movie.ad.dapt.xml").unlink()
    (edited / "movie.ad.csv").unlink()
    edit(edited / "movie.ad.vtt", LATER)
    assert describe().code == 0
    assert texts(edited)[0] == LATER


def step(folder: Path, text: str) -> None:
    """A line changed on the review page, whose scripts are not written yet."""
    scripts = {path: path.read_bytes() for path in (*folder.glob("movie.ad.*"), folder / "scripts.json")}
    line = load_track(folder / "track.json").heard[0].id
    with reviewed(folder, gone=True) as (_, page):
        page.do("write", line, text=text)
    for path, data in scripts.items():
        path.write_bytes(data)


def test_a_page_that_was_killed_leaves_a_newer_track(describe: Describe, edited: Path) -> None:
    step(edited, LATER)
    assert describe().code == 0
    assert texts(edited)[0] == LATER


def test_a_track_older_than_the_history_of_its_review(describe: Describe, edited: Path) -> None:
    shutil.copy(edited / "track.json", edited.parent / "backup.json")
    step(edited, LATER)
    shutil.copy(edited.parent / "backup.json", edited / "track.json")
    for path in edited.glob("movie.ad.*"):
        path.unlink()
    refused(describe(), "review.jsonl may be newer than")
    (edited / "track.json").unlink()
    refused(describe(), "review.jsonl beside it")


def test_what_a_command_writes_after_the_review_is_newer_than_its_history(
    describe: Describe, shotad: Shotad, edited: Path
) -> None:
    script = edited.parent / "before.vtt"
    shutil.copy(edited / "movie.ad.vtt", script)
    step(edited, LATER)
    assert describe().code == 0
    assert shotad("import", edited, script, "--overwrite").code == 0
    assert describe().code == 0
    assert describe("--discard-edits").code == 0
    assert describe().code == 0


def slot(start: float, end: float) -> Slot:
    return Slot(slot_id(start), Interval(start, end), 4)


@pytest.mark.parametrize("state", ["gone", "older"])
def test_slots_of_a_person_that_are_lost_stop_a_run(
    describe: Describe, shotad: Shotad, folder: Path, state: str
) -> None:
    assert describe().code == 0
    file = folder / "slots.hand.json"
    change_slots(folder, SlotChange(added=(slot(5.0, 6.5),)))
    older = file.read_bytes()
    change_slots(folder, SlotChange(added=(slot(6.6, 7.8),)))
    if state == "gone":
        file.unlink()
    else:
        file.write_bytes(older)
    before = (folder / "slots.json").read_bytes()
    refused(describe(), "slots.hand.json", "0:06.60", "slots.json")
    refused(shotad("redo", folder, "1"), "slots.hand.json")
    assert (folder / "slots.json").read_bytes() == before
    if state == "gone":
        (folder / "slots.json").unlink()
        assert describe().code == 0
    else:
        assert describe("--discard-edits").code == 0
        assert describe().code == 0


def test_a_slot_taken_back_is_not_missed(describe: Describe, folder: Path) -> None:
    assert describe().code == 0
    change = SlotChange(added=(slot(5.0, 6.5),))
    change_slots(folder, change)
    change_slots(folder, change.inverse)
    assert not (folder / "slots.hand.json").exists()
    assert describe().code == 0


def test_export_replaces_no_script_that_somebody_edited(
    describe: Describe, shotad: Shotad, folder: Path
) -> None:
    assert describe().code == 0
    edit(folder / "movie.ad.vtt", MINE)
    refused(shotad("export", folder), "movie.ad.vtt: 1 line was changed", "shotad import")
    assert MINE in (folder / "movie.ad.vtt").read_text()
    out = f"{folder.parent / 'out'}/"
    assert shotad("export", folder, "--out", out).code == 0
    sent = folder.parent / "out" / "movie.ad.csv"
    edit_of_sent = sent.read_text(encoding="utf-8").replace(texts(folder)[1], LATER, 1)
    sent.write_text(edit_of_sent, encoding="utf-8")
    refused(shotad("export", folder, "--out", out), "out/movie.ad.csv: 1 line was changed")
    assert shotad("import", folder, sent).code == 0
    assert shotad("export", folder, "--out", out).code == 0, "the track has it by now"


def test_a_work_folder_of_an_older_format_is_made_again_with_its_edits(
    describe: Describe, shotad: Shotad, edited: Path
) -> None:
    edit(edited / "movie.ad.srt", LATER, texts(edited)[1])
    settings = edited / "settings.json"
    older = settings.read_text(encoding="utf-8").replace('"schema_version": 3', '"schema_version": 2')
    settings.write_text(older, encoding="utf-8")
    # Whatever its records hold by now, they are not read.
    for name in ("grammar", "shots", "slots", "speech"):
        (edited / f"{name}.json").write_text('{"key": "k"}', encoding="utf-8")
    before = kept(edited)
    for said in (
        describe(),
        shotad("redo", edited, "1"),
        shotad("render", edited),
        shotad("lint", edited),
        shotad("slots", edited.with_suffix(".mp4")),
    ):
        refused(said, "was made by an older shotad (format 2; this one has 3)", "--force", "--out")
    assert (kept(edited), settings.read_text(encoding="utf-8")) == (before, older)
    assert describe("--force").code == 0
    assert texts(edited)[:2] == [MINE, LATER]
    assert describe().code == 0
    assert texts(edited)[:2] == [MINE, LATER]
