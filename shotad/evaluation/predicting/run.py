"""Runs the pipeline over the clips of a dataset, many side by side, and writes their lines to a file.

`choose_clips` selects the ADs, `predict` describes them. Engines are made once, and the questions about all
clips go through one pool, so that batches are full whatever the length of a clip. The lines of a clip are
written as soon as it and those before it are done. Where a video is missing or damaged the clip's lines have
failed, and the run goes on; an engine that is gone or a full disk ends the run, and the next one continues
from there.

Lines of other settings are moved to ``NAME.aside.jsonl``, and come back with those settings. At the end of a
run the lines are in the dataset's order.
"""

from __future__ import annotations

import json
import re
import shutil
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
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
from shotad.core.progress import Task, progress_task
from shotad.core.runsettings import GivenCast, write_settings
from shotad.core.workfolder import hash_key, work_folder_of
from shotad.description import Engines
from shotad.description.clip_builder import (
    GrammarReaders,
    check_readers,
    make_readers,
)
from shotad.description.engine_pair import EngineUsage, engine_usage
from shotad.description.prompts import check_prompts
from shotad.engines import AskingPool, NoMemory
from shotad.engines.asking import RunStopped, workers_of
from shotad.evaluation.datasets.checking import video_of, video_places
from shotad.evaluation.datasets.dataset import WHOLE, Ad, Dataset, Shard, Video
from shotad.evaluation.predicting.clip import (
    ClipAds,
    ClipRequest,
    Predicted,
    PredictedLine,
    RunTools,
    Shots,
    describe_clip,
    line_key,
    line_of,
    published_shots,
    terms_of,
)
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


@dataclass(frozen=True, slots=True)
class CharacterBanks:
    """Casts of many films from one file: ``rows`` are its entries by the film's key, ``photos`` the folder of
    the pictures."""

    path: Path
    photos: Path | None
    rows: dict[str, Any]

    def cast_of(self, film: str) -> GivenCast | None:
        """The film's cast; None for a film that is not in the bank, in which nobody is named."""
        return GivenCast(self.path, film, self.photos) if film in self.rows else None

    def known_of(self, film: str) -> str | None:
        """Hash of the film's cast, and of its pictures' names and sizes; None where the bank has neither."""
        if film not in self.rows:
            return None
        members = {str(row.get("id")) for row in self.rows[film] if isinstance(row, dict)}
        names_and_sizes = []
        if self.photos is not None:
            for member in members:
                names_and_sizes += _pictures_of(member, self.photos)
        return hash_key(self.rows[film], sorted(names_and_sizes))


def _pictures_of(member: str, photos: Path) -> list[list[Any]]:
    """Name below ``photos`` and size in bytes of each picture of a member: files, or those of a folder."""
    files = list(photos.glob(f"{member}.*"))
    folder = photos / member
    if folder.is_dir():
        files += folder.iterdir()
    return [[str(file.relative_to(photos)), file.stat().st_size] for file in files if file.is_file()]


def read_bank_of_films(path: Path, photos: Path | None) -> CharacterBanks:
    """The bank in a JSON file, ``{film: [{id, name, role}, …]}``; ``photos`` is the folder of its pictures.

    A film's entries are checked when it is described. Raises CastError.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CastError(f"The bank {path} cannot be read: {error.strerror}.", "Look for it.") from None
    except ValueError as error:
        raise CastError(f"The bank {path} is no JSON: {error}.", "Fetch it again.") from None
    if not isinstance(rows, dict) or not all(isinstance(cast, list) for cast in rows.values()):
        raise CastError(f"{path} is no bank of films.", 'Give a file with {"film": [{"id": …, "role": …}]}.')
    if photos is not None and not photos.is_dir():
        raise CastError(f"There is no folder of pictures {photos}.", "Name the one that goes with the bank.")
    return CharacterBanks(path, photos, rows)


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
    a clip is done). ``published``: whether the dataset's own shots are used.
    """

    dataset: Dataset
    config: Config
    engines: Engines
    out: Path
    videos: Path | None = None
    published: bool = True
    bank: CharacterBanks | None = None
    work: Path | None = None
    progress: Progress = field(default_factory=NoProgress)


def predict(job: Job, clips: Sequence[ClipAds]) -> Predicted:
    """Describe the clips and write their lines to ``job.out``.

    Raises ShotadError for an error that ends the run; lines that are written stay.
    """
    check_prompts()
    job.engines.get_ready(job.config, job.progress)
    check_readers(job.config, job.progress)
    with WorkFolder(work_folder_of(job.out)) as folder:
        # After `get_ready`: only then are the engines' identities final.
        terms = terms_of(job.config, job.engines)
        write_settings(folder, job.config, None, RunInputs())
        ledger = Ledger(job.out, [ad.id for ad in job.dataset.ads], terms)
        parts = parts_of(job, clips)
        with (
            job.engines.pool(job.config, NoMemory()) as pool,
            progress_task(job.progress, "Describing clips", sum(map(len, clips)), "ADs") as task,
        ):
            run = _Run(job, folder, ledger, terms, pool)
            for described in pool.map(run.describe, parts, workers=clips_at_once(parts, job.engines)):
                run.keep(described)
                task.advance(len(described.part.ads))
            used = engine_usage(pool.usage, job.engines.terms(job.config))
        return run.finished(clips, used)


@dataclass(frozen=True, slots=True)
class ClipPart:
    """The ADs of a clip that have one video (None: there is none)."""

    video: Video | None
    ads: ClipAds


def parts_of(job: Job, clips: Iterable[ClipAds]) -> list[ClipPart]:
    """The clips by their videos: one for all ADs of a clip, or a short piece of film for each."""
    parts = []
    for clip in clips:
        ads_by_video: dict[Video | None, list[Ad]] = {}
        for ad in clip:
            ads_by_video.setdefault(video_of(job.dataset, ad, job.videos), []).append(ad)
        parts += [ClipPart(video, tuple(ads)) for video, ads in ads_by_video.items()]
    return parts


PREPARED_AT_ONCE = 2
"""Clips that are decoded and measured at once. What others hold is small: an open file, a decoder that
stands still (20 MB at 480p), on the disk the frames that are still to be shown (35 MB an AD at 480p, 2 GB a
clip at most). The frames of no more ADs are in memory than keep the engine busy (`workers_of`)."""

ADS_IN_TURN = 400
"""ADs to have under way where two models of this machine take turns: 25 batches of 16 to a turn, since the
last one may have few requests and the change may load a model."""

MOST_AT_ONCE = 256
"""Clips under way at most: each holds a file open."""


def clips_at_once(parts: Sequence[ClipPart], engines: Engines) -> int:
    """How many clips to have under way, so that the engines always have enough questions: as many as have
    together, wherever in the dataset, the ADs for two calls of each stage and as many that wait."""
    wanted = 2 * (workers_of(engines.looks) + workers_of(engines.writes))
    if engines.take_turns:
        wanted = max(wanted, ADS_IN_TURN)
    needed, first, ads = 1, 0, 0
    for last, part in enumerate(parts):
        ads += len(part.ads)
        # The shortest row of clips that ends here and has enough ADs
        while ads - len(parts[first].ads) >= wanted:
            ads -= len(parts[first].ads)
            first += 1
        if ads >= wanted or first == 0:
            needed = max(needed, last - first + 1)
    return min(needed + PREPARED_AT_ONCE, MOST_AT_ONCE, max(len(parts), 1))


@dataclass(frozen=True, slots=True)
class _DescribedPart:
    """The lines of a part: of an earlier run (``is_new`` False), or new with the work folder that they were
    made in, which is needed no more (None: it stays)."""

    part: ClipPart
    lines: tuple[PredictedLine, ...]
    is_new: bool = False
    warnings: tuple[str, ...] = ()
    done_folder: Path | None = None


class _StoppableProgress:
    """Shows what ``progress`` shows, and ends long work with RunStopped once the run has been stopped."""

    def __init__(self, progress: Progress, pool: AskingPool) -> None:
        self._progress, self._pool = progress, pool

    def task(self, name: str, total: float | None, unit: str) -> Task:
        return _StoppableTask(self._progress.task(name, total, unit), self._pool)

    def note(self, text: str) -> None:
        self._progress.note(text)


class _StoppableTask:
    def __init__(self, task: Task, pool: AskingPool) -> None:
        self._task, self._pool = task, pool

    def advance(self, amount: float = 1) -> None:
        if self._pool.is_stopped:
            raise RunStopped
        self._task.advance(amount)

    def done(self) -> None:
        self._task.done()


class _Run:
    """One run over the clips; ``folder`` is its work folder, ``terms`` the hash of `terms_of`.

    `describe` is called by many threads, all else by the one that takes the results.
    """

    def __init__(self, job: Job, folder: WorkFolder, ledger: Ledger, terms: str, pool: AskingPool) -> None:
        self._job, self._folder, self._ledger, self._terms, self._pool = job, folder, ledger, terms, pool
        # A clip's lines may depend on which of its slots are described: through the lines before them,
        # through the choice among candidates along the film, or through faces that the film adds to the cast.
        candidates = job.config.stage2.candidates > 1
        self._lines_depend_on_each_other = (
            job.bank is not None or candidates or job.engines.in_turn(job.config)
        )
        self._shown_warnings: set[str] = set()
        self._first_time = threading.Lock()
        """Held while what is done once, for the first clip, is done."""
        self._is_first_clip = True
        self._readers: GrammarReaders | None = None
        self._tools = RunTools(
            job.config, job.engines, pool, self._grammar_readers, pool.limit(PREPARED_AT_ONCE)
        )
        self._predicted = Predicted()

    def describe(self, part: ClipPart) -> _DescribedPart:
        """The lines of a part, those of an earlier run or new ones. An error that concerns it alone makes
        failed lines; others pass."""
        try:
            with self._open(part) as (film, request):
                earlier_lines = self._lines_of_earlier_runs(request)
                if earlier_lines:
                    return _DescribedPart(part, tuple(earlier_lines))
                return self._run_pipeline(part, film, request)
        except RunStopped:
            raise
        except _ERRORS_OF_A_CLIP as error:
            failure = str(memory_error_of(error) or error)
        except ShotadError:
            raise
        except Exception as error:  # noqa: BLE001  a run of many hours must not end with a fault in one clip
            memory_error = memory_error_of(error)
            failure = str(memory_error or f"unexpected {type(error).__name__}: {error}")
            if memory_error is None:
                self._folder.note(f"{part.ads[0].clip}: {traceback.format_exc()}")
        return _DescribedPart(part, tuple(self._failed_lines(part.ads, failure)))

    def keep(self, described: _DescribedPart) -> None:
        """Put the lines of a part into the ledger."""
        self._ledger.add(described.lines)
        # Only now: a run that is killed before goes on with the replies in the folder.
        if described.done_folder is not None:
            shutil.rmtree(described.done_folder, ignore_errors=True)
        if described.is_new:
            self._predicted.new_ids |= {line.id for line in described.lines}
        for warning in described.warnings:  # each is shown once, with the first clip that has it
            if warning not in self._shown_warnings:
                self._shown_warnings.add(warning)
                self._job.progress.note(f"{described.part.ads[0].clip}: {warning}")

    def finished(self, clips: Sequence[ClipAds], used: EngineUsage) -> Predicted:
        """The result of the run. Puts the ledger in order, and deletes the work folders if no line failed."""
        self._ledger.tidy()
        ids: set[str] = set()
        for ads in clips:
            ids.update(ad.id for ad in ads)
        self._predicted.lines = tuple(line for line in self._ledger.lines if line.id in ids)
        self._predicted.clips = len(clips)
        self._predicted.stages = used.stages if used.calls else {}
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

    def _failed_lines(self, ads: ClipAds, failure: str) -> list[PredictedLine]:
        """A failed line for each AD, or its line from an earlier run with the same terms.

        So no line is lost where a video has been removed since.
        """
        keys = {ad.id: hash_key(self._terms, ad.id, "failed") for ad in ads}
        request = ClipRequest(ads, None, "", None, self._terms, keys)
        lines = []
        for ad in ads:
            earlier = self._ledger.line(ad.id)
            lines.append(earlier or request.line(ad, None, "failed", failure=failure, again=True))
        return lines

    @contextmanager
    def _open(self, part: ClipPart) -> Iterator[tuple[Film, ClipRequest]]:
        """The opened video of a part, and the request for its lines. Raises FilmError."""
        job, ads, video = self._job, part.ads, part.video
        first_ad = ads[0]
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
                cast, cast_hash = job.bank.cast_of(first_ad.film), job.bank.known_of(first_ad.film)
            beside = ads if self._lines_depend_on_each_other else ()
            keys = {}
            for ad in ads:
                keys[ad.id] = line_key(
                    self._terms, ad, info.fingerprint, shots=shots, cast=cast_hash, beside=beside
                )
            yield film, ClipRequest(ads, shots, origin, cast, self._terms, keys, video.begins)

    def _grammar_readers(self) -> GrammarReaders:
        """The readers of film grammar, made for the first clip that is described, and used for all."""
        with self._first_time:
            if self._readers is None:
                self._readers = make_readers(self._job.config, self._job.progress)
            return self._readers

    def _progress_of(self, part: ClipPart) -> Progress:
        """What shows the steps of a part: nothing, but of the first one, which loads the models, and of long
        ones."""
        with self._first_time:
            is_first, self._is_first_clip = self._is_first_clip, False
        is_shown = is_first or len(part.ads) >= MANY
        return _StoppableProgress(self._job.progress if is_shown else NoProgress(), self._pool)

    def _run_pipeline(self, part: ClipPart, film: Film, request: ClipRequest) -> _DescribedPart:
        """The lines of a part, made by the pipeline in a work folder of its own."""
        clip, fingerprint = part.ads[0].clip, film.info.fingerprint
        parent = self._job.work or inner_folder(self._folder.path, "work")
        # The hash tells clips apart whose names differ only in letters that a file name may not have, and
        # short pieces of film that look the same.
        key = hash_key(clip, fingerprint, request.begins)[:8]
        path = parent / f"{re.sub(r'[^A-Za-z0-9_-]+', '_', clip)}-{key}"
        keeps_folder = self._job.work is not None
        with WorkFolder(path) as folder:
            lines, warnings = describe_clip(
                request, film, folder, self._tools, self._progress_of(part), scripts=keeps_folder
            )
        # A folder of a line that failed is kept: the next run goes on with its replies.
        is_done = not keeps_folder and not any(line.again for line in lines)
        return _DescribedPart(part, lines, True, warnings, path if is_done else None)
