"""A spaCy model that knows some verbs, for tests that load a parser from a folder."""

from __future__ import annotations

from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from tests.evaluation.standins import parse_verbs


@Language.component("shotad_tests_verbs")
def parse_doc(doc: Doc) -> Doc:
    """The text with the parse of `parse_verbs`."""
    tokens = parse_verbs(doc.text).tokens
    return Doc(
        doc.vocab,
        words=[token.text for token in tokens],
        spaces=[token.space for token in tokens],
        tags=[token.tag for token in tokens],
        pos=[token.pos for token in tokens],
        lemmas=[token.lemma for token in tokens],
        heads=[token.head for token in tokens],
        deps=[token.dep for token in tokens],
    )


@Language.component("shotad_tests_nothing")
def leave_doc(doc: Doc) -> Doc:
    """The parser above has set everything."""
    return doc


def make_parser(folder: Path, version: str = "1.0") -> Path:
    """The folder of the model."""
    pipeline = spacy.blank("en")
    pipeline.add_pipe("shotad_tests_verbs", name="parser")
    pipeline.add_pipe("shotad_tests_nothing", name="tagger")
    pipeline.add_pipe("shotad_tests_nothing", name="lemmatizer")
    pipeline.meta["name"], pipeline.meta["version"] = "verbs", version
    pipeline.to_disk(folder)
    return folder
