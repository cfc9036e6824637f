"""CRITIC: the characters that the human AD means and those that the prediction means, compared as sets (IoU).

Han et al., AutoAD III (CVPR 2024), and the code published with it. A resolver, chosen by name, finds the
characters that each line of a film means, by name or by pronoun.

CRITIC was published with the resolver F-coref, through the library fastcoref (Otmazgin et al. 2022, 2023). It
has an extra of its own, since it brings ``datasets`` and pyarrow along. Version 2.1.6 was written for
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shotad.core.errors import EvaluationError, did_you_mean
from shotad.core.installation import install_command
from shotad.core.memory_errors import is_out_of_memory
from shotad.core.model_cache import CACHE, DeviceMap, Loaded, ModelNeed, need_of, run_alone_if_needed
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

if TYPE_CHECKING:
    import torch

RESOLVERS = {
    "plain": "shotad.evaluation.metrics.pronouns:PlainResolver",
    "fastcoref": "shotad.evaluation.metrics.critic:FastCoref",
    "lingmess": "shotad.evaluation.metrics.critic:LingMess",
}
"""Name → ``module:Class``; imported on first use, and called with the `MetricContext`."""


def make_resolver(name: str, context: MetricContext) -> Resolver:
    """The resolver ``name``, a key of `RESOLVERS` or ``module:Class``.

    Raises EvaluationError for one that is unknown, or that cannot run here.
    """
    address = RESOLVERS.get(name, name)
    module, colon, class_name = address.partition(":")
    if not colon:
        raise EvaluationError(
            f"There is no resolver {name!r} for CRITIC.",
            f"{did_you_mean(name, RESOLVERS)}Known: {', '.join(RESOLVERS)}, or a class of your own as "
            "module:Class.",
        )
    try:
        resolver: Resolver = getattr(importlib.import_module(module), class_name)(context)
    except (ImportError, AttributeError) as error:
        raise EvaluationError(
            f"The resolver {address} of CRITIC cannot be loaded: {error}.",
            "Name a class that can be imported, as module:Class.",
        ) from None
    return resolver


_VERSION = 1
NO_CAST = "no cast list for this film"


class Critic(Metric):
    """Mean IoU over the ADs whose human line means a character of the cast.

    The resolver reads the human lines of a film, and the predicted ones, each as one document, so that
    pronouns are resolved in both. ``measures.critic.rules``: by ``paper`` an AD whose human line means no
    one is left out; by ``all`` it counts as 0 where the prediction means someone; ``code`` has the published
    code's particulars (an empty prediction is the word ``nan``, and stricter matching in the resolver).
    """

    title = "CRITIC"
    columns = ("overlap", "ADs")
    model = "coreference"

    @classmethod
    def needs(cls, name: str, context: MetricContext) -> tuple[ModelNeed, ...]:
        resolver = make_resolver(context.settings.critic.resolver, context)
        return resolver.needs if isinstance(resolver, FastCoref) else ()

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
        """A row depends on all lines of its film: a pronoun means someone named before."""
        films_without_cast = {item.film for item in corpus.items if not corpus.casts.get(item.film)}
        ads_without_cast = sum(item.film in films_without_cast for item in corpus.items)
        self._missing = len(films_without_cast), ads_without_cast
        keys: dict[int, Json] = {}
        for film in _films(corpus, places):
            human, predicted = (hash_key(asdict(document)) for document in self._documents(corpus, film))
            for number, place in enumerate(film):
                item = corpus.items[place]
                keys[place] = {"human": human, "predicted": predicted, "line": number}
                if item.prediction is None:
                    keys[place]["failure"] = item.missing
        return [keys[place] for place in places]

    def rows(self, corpus: Corpus, places: Sequence[int]) -> Iterator[Row]:
        """The rows of these places; a film is resolved when the first of its rows is due."""
        film_of_place = {place: film for film in _films(corpus, places) for place in film}
        rows: dict[int, Row] = {}
        for place in places:
            if place not in rows:
                rows.update(self._film_rows(corpus, film_of_place[place]))
            yield rows[place]

    def _film_rows(self, corpus: Corpus, film: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """The rows of a film, with their places: the IoU of the two sets of names, None where the human AD
        means no one."""
        human, predicted = self._documents(corpus, film)
        has_cast = bool(human.cast)
        if has_cast:
            people = self._people([human, predicted])
            human_people, predicted_people = people[human], people[predicted]
        else:
            human_people = predicted_people = [[] for _ in film]
        for place, human_names, predicted_names in zip(film, human_people, predicted_people, strict=True):
            item = corpus.items[place]
            notes: Json = {"why": NO_CAST}
            if has_cast:
                notes = {"human": human_names, "predicted": predicted_names}
            if human_names or (predicted_names and self._rules == "all"):
                intersection = set(human_names) & set(predicted_names)
                union = set(human_names) | set(predicted_names)
                overlap = len(intersection) / len(union)
                yield place, Row(item.id, (overlap, 1.0), 100.0 * overlap, item.missing, notes)
            else:
                yield place, Row(item.id, (0.0, 0.0), None, item.missing, notes)

    def _people(self, documents: Sequence[Document]) -> dict[Document, list[list[str]]]:
        """The characters that each line of each document means, from the store where it was read before."""

        def resolve(new: list[Document]) -> list[dict[Document, bytes]]:
            people = self._resolver.resolve(new)
            return [
                {document: json.dumps(names).encode() for document, names in zip(new, people, strict=True)}
            ]

        keys = {document: hash_key(asdict(document)) for document in documents}
        space = f"critic/{hash_key(self._resolver.identity)}"
        values = self._context.store.get_or_compute(space, keys, resolve)
        return {document: json.loads(value) for document, value in values.items()}

    def _documents(self, corpus: Corpus, film: Sequence[int]) -> tuple[Document, Document]:
        """The human lines of a film, and the predicted ones."""
        items = [corpus.items[place] for place in film]
        cast = corpus.casts.get(items[0].film, ())
        starts = tuple(item.interval.start for item in items) if self._resolver.uses_time else ()
        human = tuple(item.reference for item in items)
        predicted = tuple(item.prediction or "" for item in items)
        if self._rules == "code":
            # The published code writes predictions into a table and reads it: an empty one becomes this.
            predicted = tuple(text if text.strip() else "nan" for text in predicted)
        return Document(human, cast, starts), Document(predicted, cast, starts)


def _films(corpus: Corpus, places: Sequence[int]) -> list[list[int]]:
    """The films of these places, each with all its places in order of time."""
    names = {corpus.items[place].film for place in places}
    return [film for name, film in corpus.films().items() if name in names]


EXTRA = "coref"
"""The extra of the package that this module needs."""
_PURPOSE = "Resolving pronouns by a coreference model"
_FILES = ("*.json", "*.txt", "*.safetensors", "pytorch_model.bin")
"""Files of a model; weights that are no safetensors are read as weights only, without running code."""
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class FastCoref:
    """The resolver F-coref; subclasses have other models of the same library."""

    title = "F-coref"
    name = "fastcoref"
    library_class = "FCoref"
    repo = "biu-nlp/f-coref"
    published = True

    def __init__(self, context: MetricContext) -> None:
        if importlib.util.find_spec("fastcoref") is None:
            raise EvaluationError(
                f"CRITIC's resolver {self.name} needs the library fastcoref, which is not installed.",
                f"Install it: {install_command(f'shotad[{EXTRA}]')}, in an environment of its own if its "
                "pins clash with yours; or set measures.critic.resolver=plain.",
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
        remarks = []
        if not self.comparable:
            remarks.append(
                f"Pronouns were resolved by {self.title} with the weights {Path(self._model).name}, not by "
                "the model that CRITIC was published with."
            )
        if self._divided:
            remarks.append(f"Films too long for {self.title}, which were read in parts: {self._divided}.")
        return tuple(remarks)

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
        """The characters that each sentence of each film means."""
        people: list[tuple[People, ...]] = []
        with CACHE.lent(self._plan) as loaded:
            for document in documents:
                pieces = parts(document, partial(_can_read, loaded.model))
                self._divided += len(pieces) > 1
                names = () if self._settings.rules == "code" else named(document)
                people_by_sentence: list[set[str]] = []
                for piece in pieces:
                    clusters = run_alone_if_needed(loaded, partial(_clusters, loaded.model, piece[0]))
                    piece_names = names[len(people_by_sentence) :]
                    people_by_sentence += meant(piece, clusters, document.cast, piece_names)
                people.append(tuple(tuple(sorted(people)) for people in people_by_sentence))
        return people

    @property
    def needs(self) -> tuple[ModelNeed, ...]:
        """What the model takes of this machine; nothing where it is not here, since these are small."""
        folder = Path(self._model).expanduser()
        return (need_of(self._plan),) if folder.is_dir() and _is_complete(folder) else ()

    @cached_property
    def _plan(self) -> CoreferencePlan:
        device = device_of(self._context.config.compute)
        return CoreferencePlan(self._folder, self.title, self._revision, self.library_class, device)

    @cached_property
    def _folder(self) -> Path:
        """The folder of the model: as given, from the hub's cache, or from the hub."""
        folder = Path(self._model).expanduser()
        if folder.is_dir():
            if not _is_complete(folder):
                raise EvaluationError(
                    f"{folder} holds no coreference model: config.json and {' or '.join(_WEIGHTS)}.",
                    "Name a folder with all files of the model by measures.critic.model.",
                )
            return folder
        hub = require_module("huggingface_hub", _PURPOSE, EXTRA)
        reason, http_error = "its files are not all there", hub.errors.HfHubHTTPError
        files = {"allow_patterns": list(_FILES)}
        # First without the network: a model that was fetched before is used offline.
        for local in (True, False):
            try:
                snapshot = Path(hub.snapshot_download(self._model, local_files_only=local, **files))
                if _is_complete(snapshot):
                    return snapshot
            except (OSError, ValueError, http_error, *http_error.__bases__) as error:
                reason = first_message_line(error)
        raise EvaluationError(
            f"The coreference model {self._model} is not here and could not be fetched: {reason}.",
            f"{NETWORK_HINT}, name a folder with it by measures.critic.model, "
            "or set measures.critic.resolver=plain.",
        )

    @cached_property
    def _revision(self) -> str:
        """16 digits: the hub's commit, or a hash of the model's files."""
        folder = self._folder
        if folder.parent.name == "snapshots":
            return folder.name[:16]
        digest = hashlib.sha256()
        for path in sorted(path for pattern in _FILES for path in folder.glob(pattern)):
            with path.open("rb") as stream:
                digest.update(path.name.encode() + b"\0" + hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()[:16]


class LingMess(FastCoref):
    """LingMess: more exact, and slower; reads 4,096 word pieces at once."""

    title = "LingMess"
    name = "lingmess"
    library_class = "LingMessCoref"
    repo = "biu-nlp/lingmess-coref"
    published = False


@dataclass(frozen=True, slots=True)
class CoreferencePlan:
    """How a coreference model is loaded, by fastcoref: a `ModelPlan`. ``library_class`` is the library's."""

    folder: Path
    label: str
    revision: str
    library_class: str
    device: torch.device
    precision: str = "float32"
    smaller: str = "Set measures.critic.resolver to plain, which is not comparable with the paper's figures."

    def weight_bytes(self) -> int:
        """Bytes of the weights: they are kept as they stay in the file."""
        sizes = [(self.folder / name).stat().st_size for name in _WEIGHTS if (self.folder / name).is_file()]
        return sizes[0]

    def spread(self, bytes_needed: int, free: Mapping[torch.device, int]) -> DeviceMap | None:
        """None: these models are not divided."""
        return None

    def load(self, device_map: DeviceMap) -> Loaded:
        """The library's model. Raises EvaluationError where it cannot be loaded."""
        device = device_map[""]
        with _quiet():
            library = require_module("fastcoref", _PURPOSE, EXTRA)
            spacy = require_module("spacy", _PURPOSE, EXTRA)
            torch = require_module("torch", _PURPOSE, EXTRA)
            transformers = require_module("transformers", _PURPOSE, EXTRA)
            # What transformers asks of a model class since 4.46 (no fused attention in Longformer) and 5.
            classes = "fastcoref.coref_models.modeling_"
            fcoref = require_module(f"{classes}fcoref", _PURPOSE, EXTRA).FCorefModel
            lingmess = require_module(f"{classes}lingmess", _PURPOSE, EXTRA).LingMessModel
            for model_class in (fcoref, lingmess):
                if not hasattr(model_class, "all_tied_weights_keys"):
                    model_class.all_tied_weights_keys = {}
            lingmess._supports_sdpa = False
            try:
                with silence_transformers(transformers):
                    # Only spaCy's words are used, which its models have from the language.
                    model = getattr(library, self.library_class)(
                        model_name_or_path=str(self.folder),
                        device=str(device),
                        nlp=spacy.blank("en"),
                        enable_progress_bar=False,
                    )
                # A blank before each word, as it was trained: transformers 5 forgets it with some tokenizers,
                # and the words fall to pieces.
                pre_tokenizer = model.tokenizer.backend_tokenizer.pre_tokenizer
                if getattr(pre_tokenizer, "add_prefix_space", True) is False:
                    pre_tokenizer.add_prefix_space = True
            except (OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError) as error:
                if is_out_of_memory(error):
                    raise
                raise EvaluationError(
                    f"The coreference model in {self.folder} cannot be loaded: {first_message_line(error)}.",
                    f"Give a folder with a {self.label} model by measures.critic.model.",
                ) from None
        return Loaded(model, device, torch.float32, self.label, (device,))


def _can_read(model: Any, text: str) -> bool:
    """Whether the model reads so long a text: the library skips longer ones without a message."""
    if model.max_doc_len is None:
        return True
    words = [token.text for token in model.nlp(text)]
    pieces = model.tokenizer(words, is_split_into_words=True)["input_ids"]
    return len(pieces) <= int(model.max_doc_len)


def _is_complete(folder: Path) -> bool:
    """Whether a folder has the settings and the weights of a model."""
    return (folder / "config.json").is_file() and any((folder / name).is_file() for name in _WEIGHTS)


def _clusters(model: Any, text: str) -> list[Cluster]:
    """The clusters of one text. Raises EvaluationError where the library returned none for it."""
    with _quiet():
        predictions = model.predict(texts=[text])
    if len(predictions) != 1 or predictions[0].text != text:
        raise EvaluationError(
            f"The coreference library gave no answer for a text of {len(text)} characters.",
            "Set measures.critic.resolver to another resolver.",
        )
    return [
        [(int(span[0]), int(span[1])) for span in cluster if span is not None]
        for cluster in predictions[0].get_clusters(as_strings=False)
    ]


@contextmanager
def _quiet() -> Iterator[None]:
    """Within it no progress bars, logs and warnings of the libraries. After it the program's logging is as
    before: fastcoref sets it up again when it is imported."""
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
"""For each sentence its names: first and end character, and the character's name in the cast."""


Layout = tuple[str, list[Span]]
"""A text for the model, and the span of each sentence in it."""


def layout(sentences: Sequence[str], cast: Sequence[str]) -> Layout:
    """The cast list and the sentences as one text.

    >>> layout(["Ann waves.", "She sits."], ["Ann Lee", "Bo"])
    ('Ann Lee and Bo. Ann waves. She sits.', [(16, 26), (27, 36)])
    """
    cast_list = ""
    if cast:
        cast_list = f"{', '.join(cast[:-1])}{' and ' if len(cast) > 1 else ''}{cast[-1]}."
    spans: list[Span] = []
    start = len(cast_list) + 1
    for sentence in sentences:
        spans.append((start, start + len(sentence)))
        start += len(sentence) + 1
    return " ".join([cast_list, *sentences]), spans


def parts(document: Document, fits: Callable[[str], bool]) -> list[Layout]:
    """The document in one piece where that ``fits`` the model, else in as few pieces as possible of about
    equal length; a piece has whole sentences and the cast list."""
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
    """The characters that each sentence of a piece means.

    A cluster is a character if exactly one name of the cast is among its mentions, letter for letter; a
    sentence means the character if a mention stands wholly in it. So counts the published code. With
    ``names``, of the piece's sentences, other spellings count too, and a named character is always meant.
    """
    text, spans = piece
    people: list[set[str]] = [set() for _ in spans]
    name_at: dict[Span, str] = {}
    for number, (sentence_start, _) in enumerate(spans):
        for start, end, name in names[number] if names else ():
            name_at[sentence_start + start, sentence_start + end] = name
            people[number].add(name)
    for cluster in clusters:
        characters = {text[start:end] for start, end in cluster} & set(cast)
        for start, end in cluster:
            end_of_name = end - 2 if text[start:end].endswith(("'s", "’s")) else end
            if (start, end_of_name) in name_at:
                characters.add(name_at[start, end_of_name])
        if len(characters) != 1:
            continue
        for number, (sentence_start, sentence_end) in enumerate(spans):
            if any(sentence_start <= start and end <= sentence_end for start, end in cluster):
                people[number] |= characters
    return people
