"""Runs the pipeline over the clips of a dataset, one after the other, and writes their lines to a file.

`choose_clips` selects the ADs, `predict` describes them. Engines are made once, and a clip's lines are
written as soon as it is done. Where a video is missing or damaged the clip's lines have failed, and the run
goes on; an engine that is gone or a full disk ends the run, and the next one continues from there.

Lines of other settings are moved to ``NAME.aside.jsonl``, and come back with those settings. At the end of a
run the lines are in the dataset's order.
"""

from __future__ import annotations

import json
import re
import shutil
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import (
    Config,
    Interval,
    NoProgress,
    Progress,
    RecordLog,
    RunInputs,
    ShotadError,
    WorkFolder,
)
from shotad.core.errors import (
    CastError,
    FilmError,
    ScriptError,
    SubtitleError,
    UsageError,
    WorkFolderError,
)
from shotad.core.files import inner_folder
from shotad.core.memory_errors import memory_error_of
from shotad.core.progress import progress_task
from shotad.core.runsettings import write_settings
from shotad.core.workfolder import hash_key, work_folder_of
from shotad.description import Engines
from shotad.description.clip_builder import (
    GrammarReaders,
    check_readers,
    make_readers,
)
from shotad.description.prompts import check_prompts
from shotad.evaluation.datasets.checking import video_of, video_places
from shotad.evaluation.datasets.dataset import WHOLE, Ad, Dataset, Shard, Video
from shotad.evaluation.datasets.published_grammar import AdGrammar
from shotad.evaluation.predicting.character_banks import CharacterBanks
from shotad.evaluation.predicting.clip import (
    IRRELEVANT_SETTINGS,
    ClipAds,
    ClipRequest,
    Predicted,
    PredictedLine,
    Shots,
    describe_clip,
    line_key,
    line_of,
    published_shots,
    terms_of,
)
from shotad.evaluation.predicting.paper_differences import differences_from_paper, differences_text
from shotad.film import Film, open_film

_NAMED = 5
"""How many unknown names an error lists."""


def choose_clips(
    dataset: Dataset,
    shard: Shard = WHOLE,
    *,
    ids: Set[str] | None = None,
    films: Set[str] | None = None,
    limit: int | None = None,
) -> tuple[ClipAds, ...]:
    """The ADs to describe, by clip, in the dataset's order.

    Of the ADs with these ``ids`` and of these ``films`` (None: all) the first ``limit`` are taken, and of
    their clips those of the shard: shards have no clip in common. Raises UsageError for ids and films that
    the dataset does not have.
    """
    _check_names("ids", ids, (ad.id for ad in dataset.ads), dataset)
    _check_names("films", films, (ad.film for ad in dataset.ads), dataset)
    chosen = []
    for ad in dataset.ads:
        if (ids is None or ad.id in ids) and (films is None or ad.film in films):
            chosen.append(ad)
    clips: dict[str, list[Ad]] = {}
    for ad in chosen[:limit]:
        clips.setdefault(ad.clip, []).append(ad)
    largest_first = sorted(clips, key=lambda clip: -len(clips[clip]))
    clips_of_shard = shard.of_groups({clip: len(clips[clip]) for clip in largest_first})
    return tuple(tuple(ads) for clip, ads in clips.items() if clip in clips_of_shard)


def _check_names(
    kind: str, requested: Set[str] | None, dataset_names: Iterable[str], dataset: Dataset
) -> None:
    """Raise UsageError where some ``requested`` names are not the dataset's; ``kind`` is ids or films."""
    unknown = sorted((requested or frozenset()) - set(dataset_names))
    if unknown:
        examples = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
        raise UsageError(
            f"{dataset.title} has not all of the {kind} asked for: {examples} ({len(unknown)} in all).",
            f"shotad datasets check {dataset.name} says what there is.",
        )


class Ledger:
    """The file of predicted lines, by key and by id; the lock of `WorkFolder` keeps other processes away."""

    def __init__(self, path: Path, order: Sequence[str], terms: str) -> None:
        """Open the file at ``path``, which need not exist; ``order`` are all ids of the dataset.

        Lines of other ``terms`` are moved to another file, and lines that failed and may do better are
        dropped. Raises WorkFolderError for a file that holds something else.
        """
        _check_is_ledger(path)
        self._log = RecordLog(path)
        self._order = {ad_id: place for place, ad_id in enumerate(order)}
        self._terms = terms
        self._lines: dict[str, PredictedLine] = {}
        for record in self._log.records():
            line = line_of(record)
            if line is not None and line.terms == terms and line.id in self._order and not line.again:
                self._lines[line.id] = line
        if path.exists():
            self.tidy()

    @property
    def lines(self) -> tuple[PredictedLine, ...]:
        """All lines of these terms, in the dataset's order."""
        return tuple(sorted(self._lines.values(), key=lambda line: self._order[line.id]))

    def line_with_key(self, name: str, key: str) -> PredictedLine | None:
        """The line with the id ``name`` and this key; None where there is none, or it is to be made again."""
        line = self._lines.get(name)
        if line is None or line.key != key:
            record = self._log.get(key)
            line = line_of(record) if record is not None else None
        return line if line is not None and line.id == name and not line.again else None

    def line(self, name: str) -> PredictedLine | None:
        """The line with the id ``name``; None where there is none, or it is to be made again."""
        line = self._lines.get(name)
        return None if line is None or line.again else line

    def add(self, lines: Iterable[PredictedLine]) -> None:
        """Write the lines to the file, each at once; they replace lines with the same id."""
        replaced = False
        for line in lines:
            earlier = self._lines.get(line.id)
            if earlier == line:
                continue
            replaced |= earlier is not None
            self._log.add(line.key, line.to_json())
            self._lines[line.id] = line
        if replaced:
            self.tidy()

    def tidy(self) -> None:
        """Write the file anew with its lines in the dataset's order, without replaced lines."""

        def key_aside(record: Mapping[str, Any]) -> object:
            """The key of a line that is moved to the other file; None drops a line to be made again."""
            line = line_of(record)
            return None if line is None or line.again else (line.id, line.terms)

        self._log.keep([line.key for line in self.lines], key_aside)


def _check_is_ledger(path: Path) -> None:
    """Raise WorkFolderError for a file that has contents, but none of our lines."""
    try:
        rows = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise WorkFolderError(f"{path} cannot be read: {error.strerror}.", "Name another --out.") from None
    if not any(rows):
        return
    if len(rows) == 1 and rows[0].startswith(b'{"key": "'):
        return  # our first line, in whose middle an earlier run was killed
    for row in rows:
        with suppress(ValueError):
            if line_of(json.loads(row)) is not None:
                return
    message = f"{path} holds something else than the lines of shotad predict."
    raise WorkFolderError(message, "Name another --out.")


MANY = 100
"""ADs of a clip from which the steps of its own run are reported too, since they take long."""

_ERRORS_OF_A_CLIP = (FilmError, SubtitleError, ScriptError, CastError)
"""Errors that concern one clip alone: the run goes on after them."""


@dataclass(frozen=True, slots=True)
class Job:
    """A dataset to describe, and with what.

    ``out`` is the file of the lines. ``videos`` is the folder of the videos (None: the dataset's own).
    ``work`` is the folder that keeps the clips' work folders (None: they are beside ``out`` and deleted when
    a clip is done). ``published``: whether the dataset's own shots are used. ``grammar`` has the published
    scales and threads by the AD's id (None: they are read from the frames). ``ahead`` is the number of clips
    that Stage I describes before Stage II writes lines for them.
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
    ahead: int = 1
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


def predict(job: Job, clips: Sequence[ClipAds]) -> Predicted:
    """Describe the clips and write their lines to ``job.out``.

    Raises ShotadError for an error that ends the run; lines that are written stay.
    """
    job = job.with_published_examples()
    differences = job.differences()
    if differences:
        job.progress.note(differences_text(differences))
    check_prompts()
    job.engines.get_ready(job.config, job.progress)
    check_readers(job.reader_config, job.progress)
    with WorkFolder(work_folder_of(job.out)) as folder:
        # After `get_ready`: only then are the engines' identities final.
        terms = terms_of(job.config, job.engines)
        write_settings(folder, job.config, None, RunInputs())
        ledger = Ledger(job.out, [ad.id for ad in job.dataset.ads], terms)
        run = _Run(job, folder, ledger, terms, differences)
        with progress_task(job.progress, "Describing clips", sum(map(len, clips)), "ADs") as task:
            for first in range(0, len(clips), job.ahead):
                group = clips[first : first + job.ahead]
                if job.ahead > 1:
                    for ads in group:
                        run.look(ads)
                for ads in group:
                    run.describe(ads)
                    task.advance(len(ads))
        return run.finished(clips)


class _Run:
    """One run over the clips; ``folder`` is its work folder, ``terms`` the hash of `terms_of`, and
    ``differences`` what is not as in the paper."""

    def __init__(
        self, job: Job, folder: WorkFolder, ledger: Ledger, terms: str, differences: tuple[str, ...]
    ) -> None:
        self._job, self._folder, self._ledger, self._terms = job, folder, ledger, terms
        self._differences = differences
        # A clip's lines may depend on which of its slots are described: through the lines before them,
        # through the choice among candidates along the film, or through faces that the film adds to the cast.
        candidates = job.config.stage2.candidates > 1
        self._lines_depend_on_each_other = (
            job.bank is not None or candidates or job.engines.in_turn(job.config)
        )
        self._shown_warnings: set[str] = set()
        self._is_first_clip = True
        self._readers: GrammarReaders | None = None
        self._predicted = Predicted(differs=differences)

    def describe(self, ads: ClipAds) -> None:
        """Put the lines of a clip into the ledger, those of an earlier run or new ones."""
        for video, ads_of_video in self._by_video(ads):
            lines: list[PredictedLine] = []
            with (
                self._failures(ads_of_video, lines),
                self._open(ads_of_video, video) as (film, request),
            ):
                lines += self._lines_of_earlier_runs(request) or self._run_pipeline(film, request)
            self._ledger.add(lines)

    def look(self, ads: ClipAds) -> None:
        """Run Stage I alone, whose replies are kept in the clip's work folder.

        Errors are ignored here: they occur again in `describe`, which reports them.
        """
        for video, ads_of_video in self._by_video(ads):
            with self._failures(ads_of_video, []), self._open(ads_of_video, video) as (film, request):
                if not self._lines_of_earlier_runs(request):
                    self._run_pipeline(film, request, only_look=True)

    def _by_video(self, clip: ClipAds) -> list[tuple[Video | None, ClipAds]]:
        """The ADs of a clip by their video: one for all, or a short piece of film for each."""
        job = self._job
        ads_by_video: dict[Video | None, list[Ad]] = {}
        for ad in clip:
            ads_by_video.setdefault(video_of(job.dataset, ad, job.videos), []).append(ad)
        return [(video, tuple(ads)) for video, ads in ads_by_video.items()]

    def finished(self, clips: Sequence[ClipAds]) -> Predicted:
        """The result of the run. Puts the ledger in order, and deletes the work folders if no line failed."""
        self._ledger.tidy()
        ids: set[str] = set()
        for ads in clips:
            ids.update(ad.id for ad in ads)
        self._predicted.lines = tuple(line for line in self._ledger.lines if line.id in ids)
        self._predicted.clips = len(clips)
        if not self._predicted.failed and self._job.work is None:
            shutil.rmtree(self._folder.path / "work", ignore_errors=True)
        return self._predicted

    def _lines_of_earlier_runs(self, request: ClipRequest) -> list[PredictedLine]:
        """The clip's lines from the ledger, if all of them are there; else none."""
        lines = []
        for ad in request.ads:
            line = self._ledger.line_with_key(ad.id, request.keys[ad.id])
            if line is None:
                return []
            lines.append(line)
        return lines

    @contextmanager
    def _failures(self, ads: ClipAds, lines: list[PredictedLine]) -> Iterator[None]:
        """Replace ``lines`` by failed ones where an error concerns this clip alone; other errors pass."""
        try:
            yield
        except _ERRORS_OF_A_CLIP as error:
            memory_error = memory_error_of(error)
            lines[:] = self._failed_lines(ads, str(memory_error or error))
        except ShotadError:
            raise
        except Exception as error:  # noqa: BLE001  a run of many hours must not end with a fault in one clip
            if memory_error := memory_error_of(error):
                lines[:] = self._failed_lines(ads, str(memory_error))
                return
            self._folder.note(f"{ads[0].clip}: {traceback.format_exc()}")
            lines[:] = self._failed_lines(ads, f"unexpected {type(error).__name__}: {error}")

    def _failed_lines(self, ads: ClipAds, failure: str) -> list[PredictedLine]:
        """A failed line for each AD, or its line from an earlier run with the same terms.

        So no line is lost where a video has been removed since.
        """
        keys = {ad.id: hash_key(self._terms, ad.id, "failed") for ad in ads}
        request = ClipRequest(ads, None, "", None, self._terms, keys, differs=self._differences)
        lines = []
        for ad in ads:
            earlier = self._ledger.line(ad.id)
            lines.append(earlier or request.line(ad, None, "failed", failure=failure, again=True))
        return lines

    @contextmanager
    def _open(self, ads: ClipAds, video: Video | None) -> Iterator[tuple[Film, ClipRequest]]:
        """The opened video of these ADs, and the request for their lines. Raises FilmError."""
        job, first_ad = self._job, ads[0]
        if video is None:
            places = video_places(job.dataset, first_ad, job.videos)
            searched = ", ".join(map(str, places[:2])) + (", …" if len(places) > 2 else "")
            raise FilmError(f"The video of {first_ad.clip} is missing. Looked for: {searched}")
        rate = video.frames_per_second
        frame_rate = None if rate is None else Fraction(rate).limit_denominator(1001)
        try:
            film = open_film(video.path, reader=job.config.film.reader, frame_rate=frame_rate)
        except UsageError as error:
            raise FilmError(error.what, error.hint) from None
        with film:
            info = film.info
            shots: tuple[Interval, ...] | None = None
            origin: Shots = "found"
            if job.published:
                gaps = job.config.context.by_rules.inclusive
                shots, origin = published_shots(
                    job.dataset, first_ad.clip, info.duration, video.begins, gaps=gaps
                )
            cast, cast_hash = None, None
            if job.bank is not None:
                title = job.dataset.films.get(first_ad.film, "")
                cast = job.bank.cast_of(first_ad.film, title)
                cast_hash = job.bank.known_of(first_ad.film, title)
            beside = ads if self._lines_depend_on_each_other else ()
            keys = {}
            for ad in ads:
                keys[ad.id] = line_key(
                    self._terms,
                    ad,
                    info.fingerprint,
                    shots=shots,
                    grammar=None if job.grammar is None else repr(job.grammar.get(ad.id)),
                    cast=cast_hash,
                    beside=beside,
                )
            yield (
                film,
                ClipRequest(
                    ads,
                    shots,
                    origin,
                    cast,
                    self._terms,
                    keys,
                    video.begins,
                    grammar=job.grammar,
                    differs=self._differences,
                ),
            )

    def _run_pipeline(
        self, film: Film, request: ClipRequest, *, only_look: bool = False
    ) -> list[PredictedLine]:
        """The clip's lines, made by the pipeline in the clip's work folder; none with ``only_look``."""
        clip, fingerprint = request.ads[0].clip, film.info.fingerprint
        parent = self._job.work or inner_folder(self._folder.path, "work")
        # The hash tells clips apart whose names differ only in letters that a file name may not have.
        path = parent / f"{re.sub(r'[^A-Za-z0-9_-]+', '_', clip)}-{hash_key(clip, fingerprint)[:8]}"
        # The steps of the first clip are shown, since they load the models.
        shows_steps = self._is_first_clip or len(request.ads) >= MANY
        self._is_first_clip = False
        progress = self._job.progress if shows_steps else NoProgress()
        keeps_folder = self._job.work is not None
        # The readers of film grammar are made for the first clip that is described, and used for all.
        self._readers = self._readers or make_readers(self._job.reader_config, progress)
        with WorkFolder(path) as folder:
            lines, used, warnings = describe_clip(
                request,
                film,
                folder,
                self._job.config,
                self._job.engines,
                self._readers,
                progress,
                scripts=keeps_folder,
                only_look=only_look,
            )
        self._predicted.new_ids |= {line.id for line in lines}
        self._predicted.add(used)
        for warning in warnings:  # each is shown once, with the first clip that has it
            if warning not in self._shown_warnings:
                self._shown_warnings.add(warning)
                self._job.progress.note(f"{clip}: {warning}")
        # A folder of a line that failed is kept: the next run goes on with its replies.
        if not keeps_folder and not only_look and not any(line.again for line in lines):
            shutil.rmtree(path, ignore_errors=True)
        return list(lines)


AHEAD = 32
"""Clips of a group: some 400 ADs, whose description takes long beside the loading of two models."""


def clips_per_group(engines: Engines) -> int:
    """The number of clips that Stage I should describe before Stage II writes lines for them.

    It is more than 1 where the stages have different local models, which may not fit into memory together.
    """
    both = (engines.looks, engines.writes)
    local = all(hasattr(engine, "to_fetch") for engine in both)
    return AHEAD if local and both[0].identity.model != both[1].identity.model else 1
