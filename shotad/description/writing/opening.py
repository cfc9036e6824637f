"""What is said before lines are written: where the work is kept, who does it, what leaves the machine."""

from __future__ import annotations

from pathlib import Path

from shotad.core import Config, language_of, obtainable
from shotad.description.writing.engines import Engines
from shotad.engines import notice, stage_engines

EMBEDDED = (
    "Engine: the embedded observer. It tells people, movement, light and text on the screen, not the story: "
    "a first, plain draft. A vision-language model tells far more: --engine paper on a GPU, or "
    "--engine openai with a server (docs/engines.md)."
)

WITHOUT_CLASSIFIER = (
    "Shot scales are told by faces, for no trained classifier is set: the paper's cannot be fetched. "
    "Train one (shotad train scale) and give it as --set scale.checkpoint=FILE."
)

ONLY_ENGLISH = (
    "Stage I describes in English, Stage II is asked for lines in language = {language}; a line that plainly "
    "comes in another one fails. The examples and the rules on words are English: the rules are left out."
)

WITHOUT_NPM = (
    "The better people detector is not here and comes through npm, which is not installed: fewer people will "
    "be seen. Install npm (it is part of Node.js) and run again."
)


def opening(config: Config, folder: Path, engines: Engines) -> list[str]:
    """Where the work is kept, who does it, what leaves the machine, and what is amiss."""
    leaving = notice(engines.looks, engines.writes)
    return [f"Work folder: {folder}", *leaving, *remarks(config, engines)]


def remarks(config: Config, engines: Engines) -> list[str]:
    """Who does the work, and what is amiss."""
    lines = []
    stages = stage_engines(config)
    if stages.stage1 == "observer":
        lines.append(EMBEDDED)
        if not obtainable("efficientdet-lite2"):
            lines.append(WITHOUT_NPM)
    if config.prompt.factor == "auto" and config.scale.checkpoint is None and stages.stage1 == "qwen2-vl":
        lines.append(WITHOUT_CLASSIFIER)
    if not language_of(config.language).english and engines.writes.abilities.converses:
        lines.append(ONLY_ENGLISH.format(language=config.language))
    limit, words = config.prompt.note_words, len(config.prompt.note.split())
    if words > limit:
        lines.append(f"The note on the film has {words} words; {limit} are used (prompt.note_words).")
    return lines
