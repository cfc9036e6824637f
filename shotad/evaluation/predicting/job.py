"""What `shotad predict` is to do: a dataset, settings, engines, and the casts of its films."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from shotad.core import Config, NoProgress, Progress
from shotad.description import Engines
from shotad.evaluation.datasets.dataset import Dataset
from shotad.evaluation.datasets.published_grammar import AdGrammar
from shotad.evaluation.predicting.character_banks import CharacterBanks
from shotad.evaluation.predicting.clip import IRRELEVANT_SETTINGS
from shotad.evaluation.predicting.paper_differences import differences_from_paper


@dataclass(frozen=True, slots=True)
class Job:
    """A dataset to describe, and with what.

    ``out`` is the file of the lines. ``videos`` is the folder of the videos (None: the dataset's own).
    ``work`` is the folder that keeps the clips' work folders (None: they are beside ``out`` and deleted when
    a clip is done). ``published``: whether the dataset's own shots are used. ``grammar`` has the published
    scales and threads by the AD's id (None: they are read from the frames).
    """

    dataset: Dataset
    config: Config
    engines: Engines
    out: Path
    videos: Path | None = None
    published: bool = True
    bank: CharacterBanks | None = None
    grammar: Mapping[str, AdGrammar] | None = None
    work: Path | None = None
    progress: Progress = field(default_factory=NoProgress)

    @property
    def reader_config(self) -> Config:
        """The settings for what reads film grammar from frames: nothing does where it is published."""
        if self.grammar is None:
            return self.config
        return self.config.model_copy(
            update={
                "threads": self.config.threads.model_copy(update={"features": "none"}),
                "scale": self.config.scale.model_copy(update={"method": "none"}),
            }
        )

    def with_published_examples(self) -> Job:
        """The job with the dataset's ADs of the training set for Stage II, unless the user named a file."""
        file = self.dataset.files.get("examples")
        if file is None or self.config.prompt.example_file is not None:
            return self
        prompt = self.config.prompt.model_copy(update={"example_file": str(file)})
        return replace(self, config=self.config.model_copy(update={"prompt": prompt}))

    def differences(self) -> tuple[str, ...]:
        """What is not as in the paper (`differences_from_paper`)."""
        return differences_from_paper(
            self.dataset,
            self.config,
            self.engines,
            self.bank,
            IRRELEVANT_SETTINGS,
            published_shots=self.published,
            grammar=self.grammar,
        )
