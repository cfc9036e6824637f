"""CRITIC: whom the human AD means, and whom the prediction means, as intersection over union of the names.

Han et al., AutoAD III (CVPR 2024), and the code published with it. Whom each line of a film means is said by
a resolver, chosen by name.

The one that CRITIC was published with is F-coref, through the library fastcoref (Otmazgin et al. 2022, 2023),
an extra of its own, since it brings ``datasets`` and pyarrow along. Version 2.1.6 was written for
transformers 4; what later versions look for is set here. The document is laid out as in the published code:
the cast list as a first sentence, then the film's lines, all joined by blanks.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from shotad.core.errors import EvaluationError, did_you_mean
from shotad.core.model_loading import (
    NETWORK_HINT,
    device_of,
    first_message_line,
    require_module,
    silence_transformers,
)
from shotad.core.workfolder import hash_key
from shotad.evaluation.metric import Corpus, Json, Metric, Row
from shotad.evaluation.metrics.pronouns import Document, People, Resolver, named
from shotad.evaluation.store import MetricContext

RESOLVERS = {
    "plain": "shotad.evaluation.metrics.pronouns:PlainResolver",
    "fastcoref": "shotad.evaluation.metrics.critic:FastCoref",
    "lingmess": "shotad.evaluation.metrics.critic:LingMess",
}
"""Name → ``module:Class``; imported when it is asked for, and made with the `MetricContext`."""


def make_resolver(name: str, context: MetricContext) -> Resolver:
    """The resolver ``name``, or of a class that is written out as ``module:Class``.

    Raises EvaluationError for one that is unknown, or that cannot run here.
    """
    where = RESOLVERS.get(name, name)
    module, colon, attribute = where.partition(":")
    if not colon:
        raise EvaluationError(
            f"There is no resolver {name!r} for CRITIC.",
            f"{did_you_mean(name, RESOLVERS)}Known: {', '.join(RESOLVERS)}, or a class of your own as "
            "module:Class.",
        )
    try:
        made: Resolver = getattr(importlib.import_module(module), attribute)(context)
    except (ImportError, AttributeError) as error:
        raise EvaluationError(
            f"The resolver {where} of CRITIC cannot be loaded: {error}.",
            "Name a class that can be imported, as module:Class.",
        ) from None
    return made


_VERSION = 1
NO_CAST = "no cast list for this film"


class Critic(Metric):
    """Mean IoU over the ADs whose human line means somebody of the cast.

    The resolver reads the human lines of a film, and the predicted ones, each as one document, so that
    pronouns are names in both. ``code``: with the published code's particulars (an empty prediction is the
    word ``nan``; what is somebody is said by the resolver under these rules). ``all``: an AD whose human line
    means nobody counts as 0 where the prediction means somebody, and is not left out as by ``paper``.
    """

    title = "CRITIC"
    columns = ("overlap", "ADs")

    def __init__(self, name: str, context: MetricContext) -> None:
        """No model is loaded. Raises EvaluationError for a resolver that cannot run here."""
        super().__init__(name, context)
        self._rules = context.settings.critic.rules
        self._resolver = make_resolver(context.settings.critic.resolver, context)
        self._missing: tuple[int, int] = (0, 0)

    @property
    def identity(self) -> Json:
        return {"metric": "critic", "version": _VERSION, "rules": self._rules, **self._resolver.identity}

    @property
    def remarks(self) -> tuple[str, ...]:
        films, ads = self._missing
        without = f"{ads} ADs of {films} films have no cast list and are not scored."
        return (*self._resolver.remarks, *((without,) if films else ()))

    @property
    def comparable(self) -> bool:
        return self._resolver.comparable and self._rules == "code"

    def keys(self, corpus: Corpus, places: Sequence[int]) -> list[Json]:
        """A row depends on all lines of its film, human and predicted: a pronoun means who was spoken of.

        Raises EvaluationError where no film has a cast.
        """
        without = {item.film for item in corpus.items if not corpus.casts.get(item.film)}
        self._missing = len(without), sum(item.film in without for item in corpus.items)
        found: dict[int, Json] = {}
        for film in _films(corpus, places):
            human, predicted = map(hash_key, map(asdict, self._documents(corpus, film)))
            for number, place in enumerate(film):
                item = corpus.items[place]
                found[place] = {"human": human, "predicted": predicted, "line": number}
                if item.prediction is None:
                    found[place]["failure"] = item.missing
        return [found[place] for place in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        """The rows of these places; a film is resolved when the first of its rows is wanted."""
        films = {place: film for film in _films(corpus, places) for place in film}
        done: dict[int, Row] = {}
        for place in places:
            if place not in done:
                done.update(self._film(corpus, films[place]))
            yield done[place]

    def _film(self, corpus: Corpus, film: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """A film's rows by place: IoU of the two sets of names; nothing where the human AD means nobody."""
        documents = self._documents(corpus, film)

        def read(new: list[Document]) -> list[dict[Document, bytes]]:
            found = zip(new, self._resolver.resolve(new), strict=True)
            return [{document: json.dumps(people).encode() for document, people in found}]

        has_cast = bool(documents[0].cast)
        # Whom the lines of each document mean, from the store where they were read before.
        keys = {document: hash_key(asdict(document)) for document in documents if has_cast}
        known = self._context.store.get_or_compute(f"critic/{hash_key(self._resolver.identity)}", keys, read)
        nobody: list[list[str]] = [[]] * len(film)
        human, predicted = (json.loads(known[one]) if has_cast else nobody for one in documents)
        for place, wanted, said in zip(film, human, predicted, strict=True):
            item = corpus.items[place]
            notes = {"human": wanted, "predicted": said} if has_cast else {"why": NO_CAST}
            if wanted or (said and self._rules == "all"):
                overlap = len(set(wanted) & set(said)) / len(set(wanted) | set(said))
                yield place, Row(item.id, (overlap, 1.0), 100.0 * overlap, item.missing, notes)
            else:
                yield place, Row(item.id, (0.0, 0.0), None, item.missing, notes)

    def _documents(self, corpus: Corpus, film: Sequence[int]) -> tuple[Document, Document]:
        """The human lines of a film, and the predicted ones."""
        items = [corpus.items[place] for place in film]
        cast = corpus.casts.get(items[0].film, ())
        starts = tuple(item.interval.start for item in items) if self._resolver.uses_time else ()
        human = tuple(item.reference for item in items)
        predicted = tuple(item.prediction or "" for item in items)
        if self._rules == "code":
            # What an empty prediction becomes on the published code's way through a table.
            predicted = tuple(text if text.strip() else "nan" for text in predicted)
        return Document(human, cast, starts), Document(predicted, cast, starts)


def _films(corpus: Corpus, places: Sequence[int]) -> list[list[int]]:
    """The films of these places, each with all its places in order of time."""
    wanted = {corpus.items[place].film for place in places}
    return [film for name, film in corpus.films().items() if name in wanted]


EXTRA = "coref"
"""The extra of the package that this room needs."""
_PURPOSE = "Resolving pronouns by a coreference model"
_FILES = ("*.json", "*.txt", "*.safetensors", "pytorch_model.bin")
"""Of a model; weights that are no safetensors are read as weights only, without running code."""
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class FastCoref:
    """F-coref."""

    title = "F-coref"
    name = "fastcoref"
    library_class = "FCoref"
    repo = "biu-nlp/f-coref"
    published = True

    def __init__(self, context: MetricContext) -> None:
        if importlib.util.find_spec("fastcoref") is None:
            raise EvaluationError(
                f"CRITIC's resolver {self.name} needs the library fastcoref, which is not installed.",
                f'Install it: pip install "shotad[{EXTRA}]", in an environment of its own if its pins clash '
                "with yours; or set measures.critic.resolver=plain.",
            )
        self._context = context
        self._settings = context.settings.critic
        self._model = self._settings.model or self.repo
        self._divided = 0

    @property
    def comparable(self) -> bool:
        return self.published and self._model == self.repo

    uses_time = False

    @property
    def remarks(self) -> tuple[str, ...]:
        other = (
            f"Pronouns were resolved by {self.title} with the weights {Path(self._model).name}, not by the "
            "model that CRITIC was published with."
        )
        model = () if self.comparable else (other,)
        divided = f"Films too long for {self.title}, which were read in parts: {self._divided}."
        return (*model, *((divided,) if self._divided else ()))

    @property
    def identity(self) -> Json:
        return {
            "resolver": self.name,
            "version": _VERSION,
            "library": importlib.metadata.version("fastcoref"),
            "model": self._model if not Path(self._model).is_dir() else Path(self._model).resolve().name,
            "revision": self._revision,
            "exact": self._settings.rules == "code",
        }

    def resolve(self, documents: Sequence[Document]) -> list[tuple[People, ...]]:
        """Whom each sentence of each film means."""
        model = self._context.once(f"coref/{self.name}/{self._model}", self._loaded)

        def fits(text: str) -> bool:
            """Whether the model reads so long a text: the library leaves out longer ones without a word."""
            if model.max_doc_len is None:
                return True
            words = [token.text for token in model.nlp(text)]
            pieces = model.tokenizer(words, is_split_into_words=True)["input_ids"]
            return len(pieces) <= int(model.max_doc_len)

        people: list[tuple[People, ...]] = []
        for document in documents:
            pieces = parts(document, fits)
            self._divided += len(pieces) > 1
            names = () if self._settings.rules == "code" else named(document)
            found: list[set[str]] = []
            for piece in pieces:
                clusters = _clusters(model, piece[0])
                found += meant(piece, clusters, document.cast, names[len(found) :])
            people.append(tuple(tuple(sorted(one)) for one in found))
        return people

    @cached_property
    def _folder(self) -> Path:
        """The folder of the model: as given, from the hub's cache, or from the hub."""
        folder = Path(self._model).expanduser()
        if folder.is_dir():
            if not _whole(folder):
                raise EvaluationError(
                    f"{folder} holds no coreference model: config.json and {' or '.join(_WEIGHTS)}.",
                    "Name a folder with all files of the model by measures.critic.model.",
                )
            return folder
        hub = require_module("huggingface_hub", _PURPOSE, EXTRA)
        said, failed = "its files are not all there", hub.errors.HfHubHTTPError
        files = {"allow_patterns": list(_FILES)}
        for local in (True, False):
            try:
                found = Path(hub.snapshot_download(self._model, local_files_only=local, **files))
                if _whole(found):
                    return found
            except (OSError, ValueError, failed, *failed.__bases__) as error:
                said = first_message_line(error)
        raise EvaluationError(
            f"The coreference model {self._model} is not here and could not be fetched: {said}.",
            f"{NETWORK_HINT}, name a folder with it by measures.critic.model, "
            "or set measures.critic.resolver=plain.",
        )

    @cached_property
    def _revision(self) -> str:
        """The hub's, or 16 digits over the files that make the answers."""
        folder = self._folder
        if folder.parent.name == "snapshots":
            return folder.name[:16]
        digest = hashlib.sha256()
        for path in sorted(path for pattern in _FILES for path in folder.glob(pattern)):
            with path.open("rb") as stream:
                digest.update(path.name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()[:16]

    def _loaded(self) -> Any:
        folder = self._folder
        with _quiet():
            library = require_module("fastcoref", _PURPOSE, EXTRA)
            spacy = require_module("spacy", _PURPOSE, EXTRA)
            transformers = require_module("transformers", _PURPOSE, EXTRA)
            # What transformers asks of a model class since 4.46 (no fused attention in Longformer) and 5.
            classes = "fastcoref.coref_models.modeling_"
            fcoref = require_module(f"{classes}fcoref", _PURPOSE, EXTRA).FCorefModel
            lingmess = require_module(f"{classes}lingmess", _PURPOSE, EXTRA).LingMessModel
            for known in (fcoref, lingmess):
                if not hasattr(known, "all_tied_weights_keys"):
                    known.all_tied_weights_keys = {}
            lingmess._supports_sdpa = False
            try:
                with silence_transformers(transformers):
                    # Only spaCy's words are used, which its models have from the language.
                    model = getattr(library, self.library_class)(
                        model_name_or_path=str(folder),
                        device=str(device_of(self._context.config.compute)),
                        nlp=spacy.blank("en"),
                        enable_progress_bar=False,
                    )
                # A blank before each word, as it was trained: transformers 5 forgets it with some tokenizers,
                # and the words fall to pieces.
                before = model.tokenizer.backend_tokenizer.pre_tokenizer
                if getattr(before, "add_prefix_space", True) is False:
                    before.add_prefix_space = True
                return model
            except (OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError) as error:
                raise EvaluationError(
                    f"The coreference model in {folder} cannot be loaded: {first_message_line(error)}.",
                    f"Give a folder with a {self.title} model by measures.critic.model.",
                ) from None


class LingMess(FastCoref):
    """LingMess: more exact, and slower; reads 4,096 word pieces at once."""

    title = "LingMess"
    name = "lingmess"
    library_class = "LingMessCoref"
    repo = "biu-nlp/lingmess-coref"
    published = False


def _whole(folder: Path) -> bool:
    return (folder / "config.json").is_file() and any((folder / name).is_file() for name in _WEIGHTS)


def _clusters(model: Any, text: str) -> list[Cluster]:
    """The clusters of one text, as characters. Raises EvaluationError where the library gave none back."""
    with _quiet():
        found = model.predict(texts=[text])
    if len(found) != 1 or found[0].text != text:
        raise EvaluationError(
            f"The coreference library gave no answer for a text of {len(text)} characters.",
            "Set measures.critic.resolver to another resolver.",
        )
    return [
        [(int(span[0]), int(span[1])) for span in cluster if span is not None]
        for cluster in found[0].get_clusters(as_strings=False)
    ]


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars, reports and warnings of the libraries, and the program's own logging as it was: fastcoref
    sets it up again when it is imported."""
    root = logging.getLogger()
    level, handlers, disabled = root.level, list(root.handlers), logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            datasets = require_module("datasets", _PURPOSE, EXTRA)
            bars = datasets.is_progress_bar_enabled()
            datasets.disable_progress_bars()
            yield
            if bars:
                datasets.enable_progress_bars()
    finally:
        logging.disable(disabled)
        root.setLevel(level)
        root.handlers[:] = handlers


Span = tuple[int, int]
"""Characters of a text, half-open."""
Cluster = Sequence[Span]
"""All mentions of one person or thing."""
Names = Sequence[Sequence[tuple[int, int, str]]]
"""For each sentence the names in it: begin, end, whose."""


Layout = tuple[str, list[Span]]
"""A text for the model, and where in it each sentence stands."""


def layout(sentences: Sequence[str], cast: Sequence[str]) -> Layout:
    """The cast list and the sentences as one text.

    >>> layout(["Ann waves.", "She sits."], ["Ann Lee", "Bo"])
    ('Ann Lee and Bo. Ann waves. She sits.', [(16, 26), (27, 36)])
    """
    start = f"{', '.join(cast[:-1])}{' and ' if len(cast) > 1 else ''}{cast[-1]}." if cast else ""
    spans: list[Span] = []
    at = len(start) + 1
    for sentence in sentences:
        spans.append((at, at + len(sentence)))
        at += len(sentence) + 1
    return " ".join([start, *sentences]), spans


def parts(document: Document, fits: Callable[[str], bool]) -> list[Layout]:
    """The document in one piece where it fits what the model reads, else in runs of whole sentences, each
    with the cast list, as few as can be and of about equal length."""
    sentences = document.sentences
    for count in range(1, max(1, len(sentences)) + 1):
        bounds = [round(len(sentences) * part / count) for part in range(count + 1)]
        pieces = [layout(sentences[start:end], document.cast) for start, end in pairwise(bounds)]
        if all(fits(text) for text, _ in pieces):
            break
    return pieces


def meant(
    piece: Layout, clusters: Iterable[Cluster], cast: Sequence[str], names: Names = ()
) -> list[set[str]]:
    """Whom each sentence of a piece means: a cluster is somebody if exactly one name of the cast is among its
    mentions, letter for letter; a sentence means them if a mention stands wholly in it. So counts the
    published code. With ``names``, of the piece's sentences, other spellings count too, and who is named is
    meant in any case."""
    text, spans = piece
    found: list[set[str]] = [set() for _ in spans]
    written: dict[Span, str] = {}
    for number, (begin, _) in enumerate(spans):
        for start, end, name in names[number] if names else ():
            written[begin + start, begin + end] = name
            found[number].add(name)
    for cluster in clusters:
        owners = {text[start:end] for start, end in cluster} & set(cast)
        for start, end in cluster:
            bare = end - 2 if text[start:end].endswith(("'s", "’s")) else end
            if (start, bare) in written:
                owners.add(written[start, bare])
        if len(owners) == 1:
            for number, (begin, stop) in enumerate(spans):
                if any(begin <= start and end <= stop for start, end in cluster):
                    found[number] |= owners
    return found
