"""Discovery once more: what people changed stays, and the next film is added."""

from __future__ import annotations

import pytest

from shotad.description import cast_discovery as filing
from shotad.sight import CastFile, Facts
from shotad.sight.castfile import read_cast
from tests.cast.discoveringroom import WHOLE, Room, VariedFaces
from tests.painted_faces import photo


def test_names_comments_and_fields_stay(room: Room) -> None:
    room.begin()
    path = room.cast / "cast.yaml"
    text = path.read_text().replace("name:\n", "name: Ann Lee  # the heroine\n    pronoun: she\n", 1)
    path.write_text(text.replace("\n  - id: person-02", "\n  # mine\n  - id: person-02"))
    before = room.files()
    again = room.run()
    assert [one.name for one in again.people] == ["Ann Lee", "", ""]
    after = room.files()
    assert {n for n in after if before.get(n) != after[n]} <= {"overview.html", "cast.yaml"}
    kept = path.read_text()
    assert all(words in kept for words in ("Ann Lee  # the heroine\n    pronoun: she\n", "  # mine\n"))
    room.run()
    assert room.files() == after
    page = (room.cast / "overview.html").read_text()
    assert "Ann Lee (person-01)" in page
    assert 'alt="Ann Lee, picture 1 of ' in page


def test_a_deleted_picture_does_not_come_back(room: Room) -> None:
    room.begin()
    gone = next((room.cast / "person-01").glob("*.jpg"))
    gone.unlink()
    before = room.files()
    again = room.run()
    assert room.files() == {**before, "overview.html": room.files()["overview.html"]}
    assert [one.way for one in again.people] == ["leave", "renew", "renew"]
    assert room.run(force=True).people[0].way == "leave"
    assert not gone.exists()


def test_a_persons_own_picture_stays_and_ours_are_left(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.begin()
    monkeypatch.setattr(filing, "PICTURES", 2)
    photo(room.cast / "person-02" / "portrait.png", "bo")
    before = room.files()
    again = room.run("ep1", WHOLE)
    assert [one.way for one in again.people] == ["renew", "leave", "renew"]
    after = room.files()
    assert {n: h for n, h in after.items() if n.startswith("person-02")} == {
        n: h for n, h in before.items() if n.startswith("person-02")
    }
    assert len([n for n in after if n.startswith("person-01/")]) == 2


def test_who_is_taken_out_stays_out(room: Room) -> None:
    room.begin()
    file = CastFile.open(room.cast)
    file.remove("person-02")
    file.save()
    again = room.run()
    assert [one.id for one in again.people] == ["person-01", "person-03"]
    assert again.dismissed == 1
    assert room.run().dismissed == 1
    assert "person-02" not in (room.cast / "cast.yaml").read_text()


def test_the_next_episode_knows_and_adds(room: Room) -> None:
    room.begin()
    file = CastFile.open(room.cast)
    file.update("person-01", name="Ann")
    file.save()
    pictures = room.files()
    found = room.run("ep2")
    assert sorted((one.id, one.name, one.way, room.who(one.id)) for one in found.people) == [
        ("person-01", "Ann", "add", "ann"), ("person-02", "", "add", "bo"),
        ("person-04", "", "new", "stranger"),
    ]  # fmt: skip
    assert {n: h for n, h in room.files().items() if n in pictures and n.endswith(".jpg")} == {
        n: h for n, h in pictures.items() if n.endswith(".jpg")
    }
    assert all(one.added for one in found.people)
    facts = Facts.read(room.cast)
    assert [f.name for f in facts.in_films("person-01")] == ["ep1.mp4", "ep2.mp4"]
    assert [f.name for f in facts.in_films("person-03")] == ["ep1.mp4"]
    assert "2 films, " in (room.cast / "cast.yaml").read_text()
    before = room.files()
    room.run("ep2")
    assert room.files() == before


def test_other_borders_part_people(room: Room, faces: VariedFaces, monkeypatch: pytest.MonkeyPatch) -> None:
    faces.kin = "cy"
    monkeypatch.setattr(VariedFaces, "join", 0.5)
    together = room.run("ep1", WHOLE)
    assert [one.found.shots for one in together.people] == [3, 2]
    monkeypatch.setattr(VariedFaces, "join", 0.8)
    apart = room.run("ep1", WHOLE)
    assert [(one.id, one.way, one.found.shots) for one in apart.people] == [
        ("person-01", "renew", 2), ("person-02", "renew", 2), ("person-03", "new", 1),
    ]  # fmt: skip
    assert (room.who("person-01"), room.who("person-03")) == ("ann", "cy")
    monkeypatch.setattr(VariedFaces, "join", 0.5)
    again = room.run("ep1", WHOLE)
    assert again.gone == ("person-03",)
    assert not (room.cast / "person-03").exists()
    assert [member.id for member in read_cast(room.cast / "cast.yaml")] == ["person-01", "person-02"]


def test_somebody_named_is_never_taken_out_by_a_run(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.begin()
    file = CastFile.open(room.cast)
    file.update("person-03", name="Cy")
    file.save()
    pictures = {n: h for n, h in room.files().items() if n.startswith("person-03")}
    monkeypatch.setattr(filing, "LEAST_SECONDS", 3.0)
    found = room.run("ep1", WHOLE)
    assert "person-03" in {one.id for one in found.people}
    assert {n: h for n, h in room.files().items() if n.startswith("person-03")} == pictures
    assert found.gone == ()
