"""What a dataset holds: its casts, shots, videos, references and description, and what damage does."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from shotad.core import ConfigError, DatasetError, Interval, NoProgress, ShotadError, load_config
from shotad.core.settings import config_path
from shotad.evaluation import check_dataset, load_dataset
from shotad.evaluation.datasets.checking import Check, video_of, video_places
from shotad.evaluation.datasets.dataset import Video, read_description
from shotad.evaluation.datasets.loading import casts_of, load_references, read_casts, touching
from tests.evaluation.datasets import datasetfiles as files


def cast(folder: Path, text: str) -> Path:
    file = folder / "cast.json"
    file.write_text(text, encoding="utf-8")
    return file


def test_names_and_roles(tmp_path: Path) -> None:
    text = '{"tt1": ["Zoë", "Cop", "Cop"], "1005_Signs": [{"id": "nm1", "role": "Robert(as Alan  Marshall)", "name": "A"}, {"id": "nm2", "role": "", "name": "B"}]}'
    read = read_casts(cast(tmp_path, text))
    assert read == {"tt1": ("Zoë", "Cop"), "1005_Signs": ("Robert",)}
    assert casts_of({"tt5": "1005_Signs", "tt1": "Other", "tt9": ""}, read) == {
        "tt5": ("Robert",),
        "tt1": ("Zoë", "Cop"),
    }


def test_a_role_of_two_is_kept_whole(tmp_path: Path) -> None:
    """Remarks go, what belongs to the role stays."""
    read = read_casts(
        cast(tmp_path, '{"a": ["Mr. Quinn / Voice of the Fish", "Kate (young)", "Bob (uncredited)"]}')
    )
    assert read == {"a": ("Mr. Quinn / Voice of the Fish", "Kate (young)", "Bob")}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "has no films"),
        ('{"a": "Bob"}', "film 'a': 'Bob' is no list"),
        ('{"a": [7]}', "film 'a': 7 is no name"),
        ('{"a": [{"name": "Bob"}]}', "is no name"),
        ("{", "cannot be read"),
    ],
)
def test_what_is_no_cast_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DatasetError, match=says):
        read_casts(cast(tmp_path, text))


PIECES = st.sampled_from(
    [b"", b"\x80", b'"', b",", b"\n", b"\r", b"[", b"]", b"nan", b"-1e999", b"'", b"0", b"\xff\xfe", b"{"]
)
NAMES = ("cmdad_anno.csv", "cmdad_gt_action.csv", "cmdad_shot_info.csv", "cast.json")


def tried(root: Path) -> Check | str:
    try:
        return check_dataset(load_dataset("cmd-ad", root, strict=False), NoProgress())
    except ShotadError as error:
        return str(error)


@settings(max_examples=60)
@given(st.sampled_from(NAMES), st.floats(0, 1), st.integers(0, 12), PIECES)
def test_damaged_datasets(name: str, place: float, cut: int, piece: bytes) -> None:
    with TemporaryDirectory() as folder:
        root = files.cmd_ad(Path(folder))
        data = (root / name).read_bytes()
        at = round(place * len(data))
        (root / name).write_bytes(data[:at] + piece + data[at + cut :])
        check = tried(root)
        if isinstance(check, str):
            assert folder in check
        else:
            assert check.text
            assert len({ad.id for ad in check.dataset.ads}) == len(check.dataset.ads)


THREE = ("cmd-ad", "mad-eval", "tv-ad")


@pytest.mark.parametrize("name", THREE)
def test_each_names_its_own_settings_of_the_pipeline(name: str) -> None:
    """Shots, speed factor and verbs stand in that file alone."""
    described = read_description(name)
    assert described.name == described.config == name
    assert yaml.safe_load(config_path(described.config).read_text())["dataset"] == described.title
    assert len(load_config([described.config]).prompt.verbs) == 15


def test_a_persons_folder_of_descriptions_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs" / "datasets").mkdir(parents=True)
    (tmp_path / "configs" / "datasets" / "mine.yaml").write_text("annotation: {files: [a.csv]}\n")
    monkeypatch.setenv("SHOTAD_DATA", str(tmp_path))
    assert read_description("mine").name == "mine"
    with pytest.raises(DatasetError, match="one of: mine"):
        read_description("cmd-ad")


def test_unknown_dataset_answers_with_the_names() -> None:
    with pytest.raises(DatasetError, match=r"no dataset 'cmdad'.*cmd-ad, mad-eval, tv-ad"):
        read_description("cmdad")


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("title: A\n", DatasetError, "names no annotation.files"),
        ("annotation: {files: [a.csv], txt: [b]}\n", ConfigError, r"annotation\.txt.*annotation\.text"),
        ("annotation: {files: [a.csv]}\nslot: {kind: frames}\n", DatasetError, r"needs slot\.frames"),
        (
            "annotation: {files: [a.csv]}\nslot: {kind: centred, start: [a]}\n",
            DatasetError,
            r"needs slot\.end",
        ),
        (
            "annotation: {files: [a.csv]}\nvideos: {films: ['{name}']}\n",
            DatasetError,
            r"'\{name\}' cannot be filled.*\{clip\}",
        ),
        ("annotation: {files: [a.csv]}\nvideos: {frames_per_second: 0}\n", ConfigError, "greater than 0"),
        ("- a\n", DatasetError, "not a mapping"),
        ("a: [\n", DatasetError, "cannot be read"),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(
    tmp_path: Path, text: str, error: type[Exception], says: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(error, match=says):
        read_description(str(file))


def test_csv_and_json_lines_are_one(tmp_path: Path) -> None:
    record = {"id": "a", "text": "Zoë runs.", "film": "f", "start": 1.5, "end": 3, "actions": ["She runs."]}
    lines = tmp_path / "mine.jsonl"
    lines.write_text(json.dumps(record) + "\n")
    table = files.table(tmp_path / "mine.csv", list(record), [[*list(record.values())[:-1], '["She runs."]']])
    cast = tmp_path / "cast.json"
    cast.write_text('{"f": ["Zoë"], "other": ["Al"]}', encoding="utf-8")
    one, two = (load_references(path, casts=cast) for path in (lines, table))
    assert one.ads == two.ads
    assert one.ads[0].interval == one.ads[0].slot == Interval(1.5, 3.0)
    assert one.ads[0].actions == ("She runs.",)
    assert one.casts == {"f": ("Zoë",)}
    assert not one.findings


def test_several_human_ads_of_one_moment(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": 1, "text": "a", "references": ["a", "b", "c"]}\n{"id": 2, "references": ["d"]}\n')
    dataset = load_references(file)
    assert [(ad.text, ad.others) for ad in dataset.ads] == [("a", ("b", "c")), ("d", ())]


def test_what_is_not_said_is_a_finding(tmp_path: Path) -> None:
    dataset = load_references(files.table(tmp_path / "mine.csv", ["id", "text"], [["x", "a"], ["y", "b"]]))
    assert [ad.interval for ad in dataset.ads] == [Interval(0, 1), Interval(1, 2)], "in the file's order"
    assert {ad.film for ad in dataset.ads} == {"mine"}
    words = " ".join(one.what for one in dataset.findings)
    assert all(word in words for word in ("no column film", "no times", "no actions", "--casts"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("text\na\n", "needs a column id"),
        ("id\na\n", "and text or references"),
        ("id,text\na,b\na,c\n", "line 3: the id 'a' stands twice"),
        ("id,text\na,\n", "line 2: there is no text"),
        ("id,text\n,a\n", "line 2: there is no id"),
        ("id,text,start,end\na,b,3,1\n", "line 2: start 3.0 and end 1.0 are no stretch"),
        ("id,text,start,end\na,b,3,\n", "end None"),
        ("id,text\n", "has no ADs"),
    ],
)
def test_what_is_no_ad_is_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(text)
    with pytest.raises(DatasetError, match=says):
        load_references(file)


GAP = 0.02


def published(cuts: list[float]) -> list[Interval]:
    """As the lists are: 10 ms later at the start, 10 ms earlier at the end."""
    return [Interval(round(a + GAP / 2, 3), round(b - GAP / 2, 3)) for a, b in pairwise(cuts)]


@given(st.lists(st.integers(60, 20_000), min_size=1, max_size=30))
def test_the_true_cuts_come_back(lengths: list[int]) -> None:
    cuts = [0.0]
    for length in lengths:
        cuts.append(round(cuts[-1] + length / 1000, 3))
    shots = touching(published(cuts), GAP)
    assert [s.interval.start for s in shots] == pytest.approx(cuts[:-1], abs=1e-6)
    assert all(one.interval.end == other.interval.start for one, other in pairwise(shots))
    assert shots[-1].interval.end == pytest.approx(cuts[-1], abs=1e-6)


def test_last_shot_lasts_to_the_end_of_the_film() -> None:
    assert touching(published([0.0, 5.0, 9.0]), GAP, end=9.4)[-1].interval == Interval(5.0, 9.4)
    assert touching(published([0.0, 5.0, 9.0]), GAP, end=4.0)[-1].interval == Interval(5.0, 9.0), (
        "a wrong end"
    )


def test_no_cut_is_one_shot() -> None:
    assert [s.interval for s in touching([], GAP, end=61.5)] == [Interval(0.0, 61.5)]
    assert touching([], GAP) == ()


def test_a_hole_stays_and_so_does_a_late_beginning() -> None:
    shots = touching([Interval(2.01, 3.99), Interval(7.01, 8.99)], GAP)
    assert [s.interval for s in shots] == [Interval(2.0, 4.0), Interval(7.0, 9.0)]


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.mark.parametrize("place", ["2014/ab.mkv", "cmdad/2014/ab.mp4", "videos/2014/ab.webm"])
def test_cmd_ads_clips_by_year_and_name(tmp_path: Path, place: str) -> None:
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path))
    path = touch(tmp_path / place)
    assert video_of(dataset, dataset.ads[0]) == Video(path)
    assert video_of(dataset, dataset.ads[2]) is None
    assert path in video_places(dataset, dataset.ads[0])


def test_videos_may_be_elsewhere(tmp_path: Path) -> None:
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path / "anno"))
    path = touch(tmp_path / "disk" / "2014" / "ab.mkv")
    assert video_of(dataset, dataset.ads[0]) is None
    assert video_of(dataset, dataset.ads[0], tmp_path / "disk") == Video(path)


def test_mad_evals_whole_film_goes_before_the_short_pieces(tmp_path: Path) -> None:
    dataset = load_dataset("mad-eval", files.mad_eval(tmp_path))
    piece = touch(tmp_path / "madeval" / "1005_Signs" / "1005_Signs_149.970-152.750.avi")
    assert video_of(dataset, dataset.ads[0]) == Video(piece, begins=149.97, piece=True)
    assert video_of(dataset, dataset.ads[1]) is None
    film = touch(tmp_path / "tt05.mkv")
    assert video_of(dataset, dataset.ads[0]) == video_of(dataset, dataset.ads[1]) == Video(film)


@pytest.mark.parametrize("folder", ["tvad/friends_frames", "bbt_frames", "."])
def test_tv_ads_frames_in_tars_and_folders(tmp_path: Path, folder: str) -> None:
    dataset = load_dataset("tv-ad", files.tv_ad(tmp_path))
    name = dataset.ads[0].clip
    (tmp_path / folder / name).mkdir(parents=True)
    assert video_of(dataset, dataset.ads[0]) == Video(tmp_path / folder / name, 3.0)
    tar = touch(tmp_path / folder / f"{name}.tar")
    assert video_of(dataset, dataset.ads[0]) == Video(tar, 3.0)


@pytest.mark.parametrize("clip", ["../outside", "2014/../../outside", "/outside"])
def test_a_name_does_not_lead_out_of_the_folder(tmp_path: Path, clip: str) -> None:
    dataset = load_dataset("cmd-ad", files.cmd_ad(tmp_path / "root"))
    touch(tmp_path / "outside.mkv")
    ad = replace(
        dataset.ads[0], clip=clip.replace("/outside", f"{tmp_path}/outside") if clip[0] == "/" else clip
    )
    assert video_of(dataset, ad) is None


def test_films_are_known_by_name_only_where_there_is_one(tmp_path: Path) -> None:
    """A dataset without titles does not take `.mkv` for a film."""
    dataset = replace(load_dataset("mad-eval", files.mad_eval(tmp_path)), films={})
    touch(tmp_path / ".mkv")
    assert video_of(dataset, dataset.ads[0]) is None
