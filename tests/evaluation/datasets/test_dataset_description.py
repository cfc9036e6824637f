"""The descriptions of datasets, those that come along and one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from shotad.core import ConfigError, DatasetError, load_config
from shotad.core.settings import config_path
from shotad.evaluation.datasets.dataset import read_description

THREE = ("cmd-ad", "mad-eval", "tv-ad")


@pytest.mark.parametrize("name", THREE)
def test_each_names_its_own_settings_of_the_pipeline(name: str) -> None:
    """Shots, speed factor and verbs stand in that file alone."""
    described = read_description(name)
    assert described.name == described.config == name
    assert yaml.safe_load(config_path(described.config).read_text())["dataset"] == described.title
    assert len(load_config([described.config]).prompt.verbs) == 15


def test_published_counts_are_those_of_the_papers_data() -> None:
    counts = {name: read_description(name).published for name in THREE}
    assert [counts[name].ads for name in counts] == [7316, 6520, 2983]
    assert [counts[name].actions for name in counts] == [11571, 10001, 4313]


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
