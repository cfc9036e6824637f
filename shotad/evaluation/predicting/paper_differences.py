"""What in a run is not as in the paper whose settings it uses: models, weights, files, settings."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shotad.core import Config, load_config
from shotad.core.errors import WeightsError, quoted
from shotad.core.progress import plural
from shotad.description import Engines
from shotad.evaluation.datasets.dataset import EDITION, Dataset
from shotad.evaluation.datasets.published_grammar import AdGrammar
from shotad.evaluation.predicting.character_banks import CharacterBanks

STAGE1_MODELS = ("Qwen2-VL-7B-Instruct", "gpt-4o-2024-08-06")
STAGE2_MODELS = ("Meta-Llama-3-8B-Instruct", "gpt-4o-2024-08-06")
"""The models of Tables 7 and 8, without their makers."""


def differences_from_paper(
    dataset: Dataset,
    config: Config,
    engines: Engines,
    bank: CharacterBanks | None,
    irrelevant_settings: Mapping[str, Any],
    *,
    published_shots: bool,
    grammar: Mapping[str, AdGrammar] | None,
) -> tuple[str, ...]:
    """Everything in which a run that uses the paper's prompts differs from the paper's own (Tables 7 and 8).

    A sentence for each difference, without a full stop. None for a run that does not use them: it is no run
    of the paper. ``irrelevant_settings`` change no line, in the form of pydantic's ``exclude``.
    ``published_shots``: whether the dataset's lists of shots are used. ``grammar``: the published scales and
    threads by the AD's id (None: they are read from the frames).
    """
    if config.prompt.rules == "ours":
        return ()
    return (
        *_model_differences(engines),
        *_shot_differences(dataset, config, published=published_shots),
        *_grammar_differences(dataset, config, grammar),
        *_people_differences(dataset, config, bank),
        *_example_differences(dataset, config),
        *(
            f"the annotation: {finding.what.rstrip('.')}"
            for finding in dataset.findings
            if finding.about == EDITION
        ),
        *_setting_differences(dataset, config, engines, irrelevant_settings),
    )


def differences_text(differences: Sequence[str]) -> str:
    """The differences as one block of text; empty for none."""
    if not differences:
        return ""
    return "\n".join(["This run differs from the paper in:", *(f"- {text}" for text in differences)])


def _model_differences(engines: Engines) -> Iterator[str]:
    for name, engine, models in (
        ("Stage I", engines.stage1, STAGE1_MODELS),
        ("Stage II", engines.stage2, STAGE2_MODELS),
    ):
        model = engine.identity.model
        if model.rpartition("/")[2].lower() not in {known.lower() for known in models}:
            yield f"{name}: {model or 'no model is set'}, not {' or '.join(models)}"


def _shot_differences(dataset: Dataset, config: Config, *, published: bool) -> Iterator[str]:
    detector = f"the detector {quoted(config.shots.detector)}"
    if config.shots.detector == "adaptive":
        # From 0.7.2 on its min_scene_len counts to the cut that is reported (PySceneDetect pull request 571).
        detector = (
            f"PySceneDetect {importlib.metadata.version('scenedetect')}, which is newer than the paper's"
        )
    if not published or not dataset.shots:
        yield f"shots: found by {detector}, not the published lists"
        return
    clips = {ad.clip for ad in dataset.ads}
    without = len(clips - set(dataset.shots))
    if without:
        yield f"shots of {without:,} of {plural(len(clips), 'clip')}: found by {detector}; no list has them"


def _grammar_differences(
    dataset: Dataset, config: Config, grammar: Mapping[str, AdGrammar] | None
) -> Iterator[str]:
    if grammar is not None:
        without = sum(ad.id not in grammar for ad in dataset.ads)
        if without:
            all_ads = plural(len(dataset.ads), "AD")
            yield f"shot scales and threads: none are published for {without:,} of {all_ads}"
    if config.scale.method == "none":
        yield "shot scales: none, so that Stage I is asked as for medium shots"
    elif grammar is not None:
        return
    elif config.scale.method == "by-face" or config.scale.checkpoint is None:
        yield (
            "shot scales: by the heights of faces, for no checkpoint of the classifier is given "
            "(scale.checkpoint, or --grammar published)"
        )
    elif not _is_of_the_paper(Path(config.scale.checkpoint).expanduser()):
        yield (
            f"shot scales: by the classifier {quoted(Path(config.scale.checkpoint).name)}, which the paper's "
            "authors did not train"
        )


def _is_of_the_paper(checkpoint: Path) -> bool:
    # Here, for it imports torch.
    from shotad.grammar import scale_net

    try:
        return scale_net.is_of_the_paper(checkpoint)
    except WeightsError:
        # A name in the manifest; what is wrong with a file is said when it is loaded.
        return False


def _people_differences(dataset: Dataset, config: Config, bank: CharacterBanks | None) -> Iterator[str]:
    if bank is None:
        yield "people: nobody is named, for no character bank is given (--cast-bank, --cast-photos)"
        return
    if bank.photos is None:
        yield "people: nobody is recognised, for no profile pictures are given (--cast-photos)"
    films = {ad.film for ad in dataset.ads}
    without = sum(bank.key_of(film, dataset.films.get(film, "")) is None for film in films)
    if without:
        yield f"people: nobody is named in {without:,} of {plural(len(films), 'film')}, which the bank lacks"
    if config.cast.faces != "buffalo_l":
        yield f"faces: found and recognised by {config.cast.faces}, not InsightFace's buffalo_l"


def _example_differences(dataset: Dataset, config: Config) -> Iterator[str]:
    if config.prompt.example_count == 0:
        return  # a setting that differs, see below
    published = dataset.files.get("examples")
    example_file = config.prompt.example_file
    if example_file is None:
        files = dataset.description.examples.files if dataset.description else ()
        missing = f": {' or '.join(files)} is not below {dataset.root.name or 'the root'}" if files else ""
        yield f"examples of Stage II: shotad's own, not ADs of the training set{missing}"
    elif published is None or Path(example_file).expanduser().resolve() != published.resolve():
        name = Path(example_file).name
        yield f"examples of Stage II: those of {name}, not ADs of the dataset's training set"


_JUDGED_ABOVE = ("shots.", "scale.", "cast.faces", "prompt.example_file")
"""Beginnings of the settings of which the other functions speak."""


def _setting_differences(
    dataset: Dataset, config: Config, engines: Engines, irrelevant_settings: Mapping[str, Any]
) -> Iterator[str]:
    system = "paper"
    if config.prompt.rules == "code":
        system = "reference-code"
        yield "the published code is followed where it differs from the paper's text (reference-code)"
    elif engines.stage1.identity.model.rpartition("/")[2].startswith("gpt-4o"):
        system = "gpt-4o"
    reference = load_config([system, *([dataset.config] if dataset.config else [])])
    expected = _flat(reference.model_dump(mode="json", exclude=irrelevant_settings))
    for name, value in _flat(config.model_dump(mode="json", exclude=irrelevant_settings)).items():
        if value != expected[name] and not name.startswith(_JUDGED_ABOVE):
            yield f"{name} = {quoted(value)}, not {quoted(expected[name])}"


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of nested settings by dotted name."""
    values: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            values |= _flat(value, f"{prefix}{name}.")
        else:
            values[f"{prefix}{name}"] = value
    return values
