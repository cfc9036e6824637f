"""The parts of a dataset's clips that are described side by side: how many at once, and each by itself."""

from __future__ import annotations

import re
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from shotad.core import Interval, NoProgress, Progress, ShotadError, WorkFolder
from shotad.core.errors import CastError, FilmError, ScriptError, SubtitleError, UsageError
from shotad.core.files import inner_folder
from shotad.core.memory_errors import memory_error_of
from shotad.core.progress import Task
from shotad.core.workfolder import hash_key
from shotad.description import Engines
from shotad.description.clip_builder import make_grammar_models
from shotad.engines import AskingPool
from shotad.engines.pool import RunStopped, workers_of
from shotad.evaluation.datasets.dataset import Ad, Video
from shotad.evaluation.datasets.dataset_check import video_of, video_places
from shotad.evaluation.predicting.clip import (
    ClipAds,
    ClipRequest,
    PredictedLine,
    RunTools,
    Shots,
    describe_clip,
    line_key,
    published_shots,
)
from shotad.evaluation.predicting.job import Job
from shotad.film import Film, open_film
from shotad.grammar import GrammarModels

MANY = 100
"""ADs of a clip from which the steps of its own run are reported too, since they take long."""

_ERRORS_OF_A_CLIP = (FilmError, SubtitleError, ScriptError, CastError)
"""Errors that concern one clip alone: the run goes on after them."""


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
    ads_needed = 2 * (workers_of(engines.stage1) + workers_of(engines.stage2))
    if engines.take_turns:
        ads_needed = max(ads_needed, ADS_IN_TURN)
    clips_needed, first, ads = 1, 0, 0
    for last, part in enumerate(parts):
        ads += len(part.ads)
        # The shortest row of clips that ends here and has enough ADs
        while ads - len(parts[first].ads) >= ads_needed:
            ads -= len(parts[first].ads)
            first += 1
        if ads >= ads_needed or first == 0:
            clips_needed = max(clips_needed, last - first + 1)
    return min(clips_needed + PREPARED_AT_ONCE, MOST_AT_ONCE, max(len(parts), 1))


@dataclass(frozen=True, slots=True)
class DescribedPart:
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


class KnownLines(Protocol):
    """The lines of earlier runs; `Ledger` has them all."""

    def line_with_key(self, name: str, key: str) -> PredictedLine | None:
        """The line with the id ``name`` and this key; None where there is none, or it is to be made again."""
        ...

    def line(self, name: str) -> PredictedLine | None:
        """The line with the id ``name``; None where there is none, or it is to be made again."""
        ...


class PartDescriber:
    """Describes parts; `describe` may be called by many threads.

    ``folder`` is the work folder of the run, ``terms`` the hash of `terms_of`, ``note`` takes what a person
    who looks for a fault should know.
    """

    def __init__(
        self,
        job: Job,
        folder: Path,
        known_lines: KnownLines,
        terms: str,
        pool: AskingPool,
        note: Callable[[str], None],
    ) -> None:
        self._job, self._folder, self._known_lines, self._terms = job, folder, known_lines, terms
        self._pool, self._note = pool, note
        self._differences = job.differences()
        # A clip's lines may depend on which of its slots are described: through the lines before them,
        # through the choice among candidates along the film, or through faces that the film adds to the cast.
        candidates = job.config.stage2.candidates > 1
        self._lines_depend_on_each_other = (
            job.bank is not None or candidates or job.engines.in_turn(job.config)
        )
        self._first_time = threading.Lock()
        """Held while what is done once, for the first clip, is done."""
        self._is_first_clip = True
        self._models: GrammarModels | None = None
        self._tools = RunTools(
            job.config, job.engines, pool, self._grammar_models, pool.limit(PREPARED_AT_ONCE)
        )

    def describe(self, part: ClipPart) -> DescribedPart:
        """The lines of a part, those of an earlier run or new ones. An error that concerns it alone makes
        failed lines; others pass."""
        try:
            with self._open(part) as (film, request):
                earlier_lines = self._lines_of_earlier_runs(request)
                if earlier_lines:
                    return DescribedPart(part, tuple(earlier_lines))
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
                self._note(f"{part.ads[0].clip}: {traceback.format_exc()}")
        return DescribedPart(part, tuple(self._failed_lines(part.ads, failure)))

    def _lines_of_earlier_runs(self, request: ClipRequest) -> list[PredictedLine]:
        """The clip's lines from the ledger, if all of them are there; else none."""
        lines = []
        for ad in request.ads:
            line = self._known_lines.line_with_key(ad.id, request.keys[ad.id])
            if line is None:
                return []
            lines.append(line)
        return lines

    def _failed_lines(self, ads: ClipAds, failure: str) -> list[PredictedLine]:
        """A failed line for each AD, or its line from an earlier run with the same terms.

        So no line is lost where a video has been removed since.
        """
        keys = {ad.id: hash_key(self._terms, ad.id, "failed") for ad in ads}
        request = ClipRequest(ads, None, "", None, self._terms, keys, differs=self._differences)
        lines = []
        for ad in ads:
            earlier = self._known_lines.line(ad.id)
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
            request = ClipRequest(
                ads,
                shots,
                origin,
                cast,
                self._terms,
                keys,
                video.begins,
                grammar=job.grammar,
                differs=self._differences,
            )
            yield film, request

    def _grammar_models(self) -> GrammarModels:
        """The models that read film grammar, made for the first clip that is described, and used for all."""
        with self._first_time:
            if self._models is None:
                self._models = make_grammar_models(self._job.reader_config, self._job.progress)
            return self._models

    def _progress_of(self, part: ClipPart) -> Progress:
        """What shows the steps of a part: nothing, but of the first one, which loads the models, and of long
        ones."""
        with self._first_time:
            is_first, self._is_first_clip = self._is_first_clip, False
        is_shown = is_first or len(part.ads) >= MANY
        return _StoppableProgress(self._job.progress if is_shown else NoProgress(), self._pool)

    def _run_pipeline(self, part: ClipPart, film: Film, request: ClipRequest) -> DescribedPart:
        """The lines of a part, made by the pipeline in a work folder of its own."""
        clip, fingerprint = part.ads[0].clip, film.info.fingerprint
        parent = self._job.work or inner_folder(self._folder, "work")
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
        return DescribedPart(part, lines, True, warnings, path if is_done else None)
