"""A script beside the track that a person changed is brought in before anything is written over it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import docx
import pytest

from shotad.core import Interval, WorkFolder
from shotad.core.errors import EditConflict, ScriptError, WorkFolderError
from shotad.script import (
    Cue,
    EditField,
    Track,
    import_into,
    load_track,
    present_track,
    save_track,
)
from shotad.script.track import FilmId
from shotad.script.track_files import (
    SCRIPTS_RECORD,
    TRACK,
    are_scripts_current,
    edited_scripts,
    script_texts,
    with_edited_scripts,
)
from tests.cli.program import Shotad

FILM = FilmId("movie.mp4", "f" * 32, 60.0)


def made() -> Track:
    texts = {2: "A cat sleeps.", 10: "She opens the door.", 20: "The lamp goes out."}
    cues = tuple(Cue(f"s{at:05d}000", None, Interval(at, at + 2), text) for at, text in texts.items())
    return Track(FILM, "en", (), "0.1.0", cues)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    save_track(made(), tmp_path, FILM.name)
    return tmp_path


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def brought(place: Path) -> dict[str, Cue]:
    with WorkFolder(place) as folder:
        track = present_track(folder, FILM)
    assert track is not None
    return {cue.id: cue for cue in track.cues}


@pytest.mark.parametrize("name", ["movie.ad.srt", "movie.ad.dapt.xml"])
def test_a_changed_script_is_an_edit_and_an_untouched_one_is_none(place: Path, name: str) -> None:
    assert edited_scripts(place, FILM.name) == ()
    assert [cue.edited for cue in brought(place).values()] == [None, None, None]
    replace_in(place / name, "She opens the door.", "Eileen opens the door.")
    line = brought(place)["s00010000"]
    assert line.text == "Eileen opens the door."
    assert line.edited is not None
    assert (line.edited.source, EditField.TEXT in line.edited.fields) == (name, True)


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        ("movie.ad.csv", "A cat sleeps.", "A dog sleeps.", "A grey cat sleeps.*A dog sleeps"),
        ("movie.ad.srt", "The lamp goes out.", "The lamp dies.", r"movie\.ad\.srt does not say"),
    ],
    ids=["with both texts", "it must be the only one that does not say which lines changed"],
)
def test_scripts_that_disagree_are_refused(place: Path, file: str, old: str, new: str, why: str) -> None:
    replace_in(place / "movie.ad.vtt", "A cat sleeps.", "A grey cat sleeps.")
    replace_in(place / file, old, new)
    with pytest.raises(EditConflict, match=why):
        brought(place)


def test_a_broken_script_is_named_and_nothing_is_written(place: Path) -> None:
    (place / "movie.ad.vtt").write_text("WEBVTT\n\n00:00:99.000 --> x\nhm\n")
    before = (place / TRACK).read_bytes()
    with pytest.raises(ScriptError, match=r"movie\.ad\.vtt"):
        brought(place)
    assert (place / TRACK).read_bytes() == before


def test_what_was_brought_in_is_not_brought_again(place: Path) -> None:
    replace_in(place / "movie.ad.vtt", "A cat sleeps.", "A grey cat sleeps.")
    with WorkFolder(place) as folder:
        track, counts = with_edited_scripts(load_track(place / TRACK), folder)
        assert counts == {"movie.ad.vtt": 1}
        save_track(track, place, FILM.name)
        assert with_edited_scripts(load_track(place / TRACK), folder)[1] == {}
    assert "A grey cat" in (place / "movie.ad.srt").read_text()


def test_importing_another_script_loses_none(place: Path) -> None:
    replace_in(place / "movie.ad.vtt", "A cat sleeps.", "A grey cat sleeps.")
    other = place / "from-a-friend.csv"
    other.write_bytes((place / "movie.ad.csv").read_bytes())
    replace_in(other, "The lamp goes out.", "The lamp dies.")
    import_into(place, other, None)
    assert [cue.text for cue in load_track(place / TRACK).cues] == [
        "A grey cat sleeps.", "She opens the door.", "The lamp dies.",
    ]  # fmt: skip


def renumbered(path: Path, to: Path) -> Path:
    """As subtitle editors save it: numbers from 1, and no empty line at the end."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    numbered = [f"{number}\n{block.partition(chr(10))[2]}" for number, block in enumerate(blocks, 1)]
    to.write_text("\n\n".join(numbered), encoding="utf-8")
    return to


@pytest.mark.parametrize("editor", ["text editor", "subtitle editor"])
def test_a_word_file_and_then_a_subtitle_file_of_the_same_export_are_both_brought_in(
    place: Path, editor: str, shotad: Shotad
) -> None:
    replace_in(place / "movie.ad.vtt", "A cat sleeps.", "A grey cat sleeps.")
    replace_in(place / "movie.ad.vtt", "The lamp goes out.", "The lamp dies.")
    with WorkFolder(place) as folder:
        save_track(with_edited_scripts(load_track(place / TRACK), folder)[0], place, FILM.name)
    out = place / "sent"
    assert shotad("export", place, "--format", "docx", "--format", "srt", "--out", f"{out}/").code == 0
    document = docx.Document(str(out / "movie.ad.docx"))
    document.tables[0].rows[1].cells[2].text = "A grey cat snores loudly."
    document.save(str(out / "movie.ad.docx"))
    srt = out / "movie.ad.srt"
    if editor == "subtitle editor":
        srt = renumbered(srt, out / "mine.srt")
    replace_in(srt, "She opens", "Eileen opens")
    import_into(place, out / "movie.ad.docx", None)
    assert import_into(place, srt, None).changed == ("s00010000",)
    assert [cue.text for cue in load_track(place / TRACK).cues] == [
        "A grey cat snores loudly.", "Eileen opens the door.", "The lamp dies.",
    ]  # fmt: skip
    replace_in(srt, "A grey cat sleeps.", "A black cat sleeps.")
    with pytest.raises(EditConflict, match=r"s00002000 is 'A grey cat snores.*A black cat sleeps"):
        import_into(place, srt, None)


def test_an_export_is_written_again_where_nobody_changed_it(place: Path, shotad: Shotad) -> None:
    sent = place / "sent.srt"
    assert shotad("export", place, "--format", "srt", "--out", sent).code == 0
    replace_in(place / TRACK, "A cat sleeps.", "A grey cat sleeps.")
    assert shotad("export", place, "--format", "srt", "--out", sent).code == 0
    assert "A grey cat" in sent.read_text(encoding="utf-8")
    replace_in(sent, "A grey cat", "A red cat")
    assert "changed there by somebody" in shotad("export", place, "--format", "srt", "--out", sent).err


def test_where_nothing_is_known_of_the_scripts_their_stamps_say_what_was_changed(place: Path) -> None:
    replace_in(place / "movie.ad.vtt", "A cat sleeps.", "A grey cat sleeps.")
    for damage in ("[]", '{"scripts": 3}', "{"):
        (place / SCRIPTS_RECORD).write_text(damage)
        found = edited_scripts(place, FILM.name, load_track(place / TRACK))
        assert [path.name for _, path in found] == ["movie.ad.vtt"]
        assert "A grey cat sleeps." in [cue.text for cue in brought(place).values()]


def test_a_deleted_script_deletes_no_line(place: Path) -> None:
    (place / "movie.ad.vtt").unlink()
    assert len(brought(place)) == 3


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """A folder stands where the file ``path`` is to be written, which comes back at the end as it was."""
    aside = path.with_name(f"{path.name}.aside")
    path.rename(aside)
    path.mkdir()
    yield
    path.rmdir()
    aside.rename(path)


@pytest.mark.parametrize("number", range(7))
def test_a_run_that_ends_amid_writing_keeps_edits(place: Path, number: int) -> None:
    """After any number of the files, and once more at the next attempt. The record comes first, and says what
    will be written; then the track, its scripts, and the record again."""
    first, last = (made().with_cues(replace(cue, text=f"{word}.") for cue in made().cues) for word in "XY")
    files = [place / SCRIPTS_RECORD, place / TRACK, *script_texts(last, place, FILM.name)]
    assert len(files) == 6
    for track in (first, last):
        texts = script_texts(track, place, FILM.name)
        with unwritable(files[min(number, 5)]), pytest.raises(WorkFolderError, match="cannot be written"):
            save_track(track, place, FILM.name)
        if number == 6:
            files[5].write_bytes(texts[files[5]].encode())  # all but the record's second time
        assert edited_scripts(place, FILM.name) == ()
        kept = track if number > 1 else made()
        assert [cue.text for cue in brought(place).values()] == [cue.text for cue in kept.cues]
    assert not are_scripts_current(texts, place)
    csv = place / "movie.ad.csv"
    replace_in(csv, "Y." if files.index(csv) < number else next(iter(made().cues)).text, "Mine.")
    assert [path.name for _, path in edited_scripts(place, FILM.name)] == ["movie.ad.csv"]


def test_a_trial_shows_what_would_change_line_by_line_and_changes_nothing(
    place: Path, shotad: Shotad
) -> None:
    replace_in(place / "movie.ad.vtt", "A cat sleeps.", "A grey cat sleeps.")
    with WorkFolder(place) as folder:
        save_track(with_edited_scripts(load_track(place / TRACK), folder)[0], place, FILM.name)
    script = place / "mine.csv"
    script.write_bytes((place / "movie.ad.csv").read_bytes())
    replace_in(place / TRACK, "A grey cat sleeps.", "A black cat sleeps.")
    replace_in(script, "A grey cat", "A red cat")
    replace_in(script, "She opens the door.", "Eileen opens the door.")
    lines = script.read_text(encoding="utf-8").splitlines(keepends=True)
    last = (
        lines[3].partition(",")[2].replace("20.000,22.000,The lamp goes out.", "30.000,32.000,Night falls.")
    )
    script.write_text("".join([*lines[:3], f",{last}"]), encoding="utf-8")
    before = (place / TRACK).read_bytes()
    said = shotad("import", place, script, "--dry-run")
    assert said.code == 0, said.err
    assert said.out.splitlines() == [
        f"{script}: 4 lines differ, 0 unchanged.",
        "s00002000  changed on both sides",
        "  now   00:00:02.000 to 00:00:03.500  'A black cat sleeps.'",
        "  then  00:00:02.000 to 00:00:03.500  'A red cat sleeps.'",
        "s00010000  changed",
        "  now   00:00:10.000 to 00:00:12.000  'She opens the door.'",
        "  then  00:00:10.000 to 00:00:11.500  'Eileen opens the door.'",
        "s00020000  stays as the track has it",
        "  now   00:00:20.000 to 00:00:22.000  'The lamp goes out.'",
        "h00030000  added",
        "  then  00:00:30.000 to 00:00:32.000  'Night falls.'",
    ]
    rows = json.loads(shotad("import", place, script, "--dry-run", "--json").out)
    assert [row["kind"] for row in rows["lines"]] == ["conflict", "changed", "kept", "added"]
    assert (place / TRACK).read_bytes() == before
