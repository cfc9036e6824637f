"""The pipeline over a dataset: which ADs are described, and whom to name in each film; clip after clip,
engines made once, lines kept as soon as their clip is done.

A clip whose video is missing or broken is a clip of failed lines, and the run goes on; what makes all
further work useless (an engine that is gone, a full disk) ends it, and the next run goes on there.

Lines of other settings are laid aside, in ``NAME.aside.jsonl``, and come back with those settings. When a run
ends, its lines stand in the dataset's order.
"""

from __future__ import annotations

import json
import re
import shutil
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from shotad.core import (
    CastError,
    Config,
    FilmError,
    Given,
    GivenCast,
    NoProgress,
    Progress,
    RecordLog,
    ScriptError,
    ShotadError,
    SubtitleError,
    UsageError,
    WorkFolder,
    WorkFolderError,
    inner_folder,
    key_of,
    memory_error_of,
    reported,
    work_folder_of,
    write_settings,
)
from shotad.description import Engines, GrammarReaders, check_prompts, check_readers, make_readers
from shotad.evaluation.datasets.checking import video_of, video_places
from shotad.evaluation.datasets.dataset import WHOLE, Ad, Dataset, Shard, Video
from shotad.evaluation.predicting.clip import (
    ClipAds,
    ClipRequest,
    GivenShots,
    Predicted,
    PredictedLine,
    describe_clip,
    line_key,
    line_of,
    published_shots,
    terms_of,
)
from shotad.film import Film, open_film

_NAMED = 5
"""How many unknown names an error lists."""


def choose(
    dataset: Dataset,
    shard: Shard = WHOLE,
    *,
    ids: Set[str] | None = None,
    films: Set[str] | None = None,
    limit: int | None = None,
) -> tuple[ClipAds, ...]:
    """The clips of the shard, with those of their ADs that are wanted, in the dataset's order: with these
    ``ids``, of these ``films`` (None: all), and of what is left the first ``limit``. Shards have no clip in
    common. Raises UsageError for ids and films that the dataset has not."""
    _check("ids", ids, (ad.id for ad in dataset.ads), dataset)
    _check("films", films, (ad.film for ad in dataset.ads), dataset)
    ads = [ad for ad in dataset.ads if (ids is None or ad.id in ids) and (films is None or ad.film in films)]
    clips: dict[str, list[Ad]] = {}
    for ad in ads[:limit]:
        clips.setdefault(ad.clip, []).append(ad)
    largest = sorted(clips, key=lambda clip: -len(clips[clip]))
    mine = shard.of_groups({clip: len(clips[clip]) for clip in largest})
    return tuple(tuple(own) for clip, own in clips.items() if clip in mine)


def _check(what: str, asked: Set[str] | None, there: Iterable[str], dataset: Dataset) -> None:
    unknown = sorted((asked or frozenset()) - set(there))
    if unknown:
        some = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
        raise UsageError(
            f"{dataset.title} has not all of the {what} asked for: {some} ({len(unknown)} in all).",
            f"shotad datasets check {dataset.name} says what there is.",
        )


@dataclass(frozen=True, slots=True)
class Bank:
    """A bank of many films: ``rows`` are its entries, by the film's key."""

    path: Path
    photos: Path | None
    rows: dict[str, Any]

    def cast_of(self, film: str) -> GivenCast | None:
        """The film's cast; None for a film that the bank has not, in which nobody is named."""
        return GivenCast(self.path, film, self.photos) if film in self.rows else None

    def known_of(self, film: str) -> str | None:
        """Hash of what is known of the film's cast, its pictures by name and size; None: nothing."""
        if film not in self.rows:
            return None
        found = []
        for name in {str(row.get("id")) for row in self.rows[film] if isinstance(row, dict)}:
            if self.photos is not None:
                folder = self.photos / name
                files = [*self.photos.glob(f"{name}.*"), *(folder.iterdir() if folder.is_dir() else ())]
                found += [
                    [str(one.relative_to(self.photos)), one.stat().st_size] for one in files if one.is_file()
                ]
        return key_of(self.rows[film], sorted(found))


def read_bank_of_films(path: Path, photos: Path | None) -> Bank:
    """The bank in a JSON file, ``{film: [{id, name, role}, …]}``, whose entries are looked at when the film
    is described. Raises CastError."""
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
    return Bank(path, photos, rows)


class Ledger:
    """The lines of one file, by key and by id; held by one process at a time (`WorkFolder`)."""

    def __init__(self, path: Path, order: Sequence[str], terms: str) -> None:
        """The file at ``path``, which need not be there; ``order`` are all ids of the dataset. Lines of other
        ``terms`` are laid aside, and so are those that failed and may do better. Raises WorkFolderError for a
        file that holds something else."""
        _refuse_others(path)
        self._log = RecordLog(path)
        self._order = {name: place for place, name in enumerate(order)}
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

    def known(self, name: str, key: str) -> PredictedLine | None:
        """The line of this id and key, if it need not be made again."""
        line = self._lines.get(name)
        if line is None or line.key != key:
            record = self._log.get(key)
            line = line_of(record) if record is not None else None
        return line if line is not None and line.id == name and not line.again else None

    def at(self, name: str) -> PredictedLine | None:
        """The line of this id, if it need not be made again."""
        line = self._lines.get(name)
        return None if line is None or line.again else line

    def add(self, lines: Iterable[PredictedLine]) -> None:
        """Write these lines out, each at once; a line of the same id goes."""
        replaced = False
        for line in lines:
            before = self._lines.get(line.id)
            if before == line:
                continue
            replaced |= before is not None
            self._log.add(line.key, line.to_json())
            self._lines[line.id] = line
        if replaced:
            self.tidy()

    def tidy(self) -> None:
        """Put the lines into the dataset's order."""

        def spare(record: Mapping[str, Any]) -> object:
            """What another run's line is kept by, aside; None for one that would be made again."""
            line = line_of(record)
            return None if line is None or line.again else (line.id, line.terms)

        self._log.keep([line.key for line in self.lines], spare)


def _refuse_others(path: Path) -> None:
    """Raise WorkFolderError for a file in which there is no line of ours, but something else."""
    try:
        rows = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise WorkFolderError(f"{path} cannot be read: {error.strerror}.", "Name another --out.") from None
    if not any(rows) or (len(rows) == 1 and rows[0].startswith(b'{"key": "')):
        return  # a first line of ours that is not written to its end
    for row in rows:
        with suppress(ValueError):
            if line_of(json.loads(row)) is not None:
                return
    what = f"{path} holds something else than the lines of shotad predict."
    raise WorkFolderError(what, "Name another --out.")


MANY = 100
"""ADs of a clip from which the steps of its own run are reported too, for they take long."""

_FAILS_A_CLIP = (FilmError, SubtitleError, ScriptError, CastError)


@dataclass(frozen=True, slots=True)
class Job:
    """What is done to each clip, and where it goes: ``videos`` is the folder of the videos (None: the
    dataset's own), ``work`` where the clips' work folders are kept (None: beside ``out``, until a clip is
    done). ``published``: whether the dataset's own shots are given. ``ahead`` is the number of clips that
    Stage I looks at before Stage II writes."""

    dataset: Dataset
    config: Config
    engines: Engines
    out: Path
    videos: Path | None = None
    published: bool = True
    bank: Bank | None = None
    work: Path | None = None
    ahead: int = 1
    progress: Progress = field(default_factory=NoProgress)


def predict(job: Job, clips: Sequence[ClipAds]) -> Predicted:
    """Describe the clips, write their lines to ``job.out``, and say what came of it. Raises ShotadError for
    what ends a run; what is done is kept."""
    check_prompts()
    job.engines.get_ready(job.config, job.progress)
    check_readers(job.config, job.progress)
    with WorkFolder(work_folder_of(job.out)) as place:
        terms = terms_of(job.config, job.engines)
        write_settings(place, job.config, None, Given())
        run = _Run(job, place, Ledger(job.out, [ad.id for ad in job.dataset.ads], terms), terms)
        with reported(job.progress, "Describing clips", sum(map(len, clips)), "ADs") as told:
            for first in range(0, len(clips), job.ahead):
                group = clips[first : first + job.ahead]
                for ads in group if job.ahead > 1 else ():
                    run.look(ads)
                for ads in group:
                    run.describe(ads)
                    told.advance(len(ads))
        return run.finished(clips)


class _Run:
    def __init__(self, job: Job, place: WorkFolder, ledger: Ledger, terms: str) -> None:
        self._job, self._place, self._ledger, self._terms = job, place, ledger, terms
        # Whether a clip's lines depend on which of its slots are described: by the lines before them, by the
        # choice among candidates along the film, or by faces that the film lends to the cast.
        several = job.config.stage2.candidates > 1
        self._leans = job.bank is not None or several or job.engines.in_turn(job.config)
        self._said: set[str] = set()
        self._begun = False
        self._readers: GrammarReaders | None = None
        self._done = Predicted()

    def describe(self, ads: ClipAds) -> None:
        """The lines of a clip, kept or made, in the ledger."""
        for video, part in self._by_video(ads):
            lines: list[PredictedLine] = []
            with self._failures(part, lines), self._opened(part, video) as (film, asked):
                lines += self._known(asked) or self._through(film, asked)
            self._ledger.add(lines)

    def look(self, ads: ClipAds) -> None:
        """Stage I alone, whose answers wait in the clip's work folder. What fails here fails again in
        `describe`, and is told there."""
        for video, part in self._by_video(ads):
            with self._failures(part, []), self._opened(part, video) as (film, asked):
                if not self._known(asked):
                    self._through(film, asked, only_look=True)

    def _by_video(self, clip: ClipAds) -> list[tuple[Video | None, ClipAds]]:
        """The clip with its video; where ADs have short videos of their own, one after the other."""
        job = self._job
        ads: dict[Video | None, list[Ad]] = {}
        for ad in clip:
            ads.setdefault(video_of(job.dataset, ad, job.videos), []).append(ad)
        return [(video, tuple(own)) for video, own in ads.items()]

    def finished(self, clips: Sequence[ClipAds]) -> Predicted:
        """The file in its last order, and what came of the run."""
        self._ledger.tidy()
        wanted = {ad.id for ads in clips for ad in ads}
        self._done.lines = tuple(line for line in self._ledger.lines if line.id in wanted)
        self._done.clips = len(clips)
        if not self._done.failed and self._job.work is None:
            shutil.rmtree(self._place.path / "work", ignore_errors=True)
        return self._done

    def _known(self, asked: ClipRequest) -> list[PredictedLine]:
        """The clip's lines where all are there already, else none."""
        found = [self._ledger.known(ad.id, asked.keys[ad.id]) for ad in asked.ads]
        lines = [line for line in found if line is not None]
        return lines if len(lines) == len(found) else []

    @contextmanager
    def _failures(self, ads: ClipAds, lines: list[PredictedLine]) -> Iterator[None]:
        """Turn what goes wrong with one clip into its failed lines."""
        try:
            yield
        except _FAILS_A_CLIP as error:
            full = memory_error_of(error)
            lines[:] = self._failed(ads, str(full or error))
        except ShotadError:
            raise
        except Exception as error:  # noqa: BLE001  a night's run must not end with one clip's mishap
            if full := memory_error_of(error):
                lines[:] = self._failed(ads, str(full))
                return
            self._place.note(f"{ads[0].clip}: {traceback.format_exc()}")
            lines[:] = self._failed(ads, f"unexpected {type(error).__name__}: {error}")

    def _failed(self, ads: ClipAds, failure: str) -> list[PredictedLine]:
        """A failed line for each AD. One that was made earlier under the same terms stays: a video that is
        not there any more takes nothing away."""
        keys = {ad.id: key_of(self._terms, ad.id, "failed") for ad in ads}
        asked = ClipRequest(ads, None, "", None, self._terms, keys)
        return [
            self._ledger.at(ad.id) or asked.line(ad, None, "failed", failure=failure, again=True)
            for ad in ads
        ]

    @contextmanager
    def _opened(self, ads: ClipAds, video: Video | None) -> Iterator[tuple[Film, ClipRequest]]:
        """The clip's video, and what is asked about it. Raises FilmError where there is none."""
        if video is None:
            places = video_places(self._job.dataset, ads[0], self._job.videos)
            where = ", ".join(map(str, places[:2])) + (", …" if len(places) > 2 else "")
            raise FilmError(f"The video of {ads[0].clip} is missing. Looked for: {where}")
        rate = video.frames_per_second
        exact = None if rate is None else Fraction(rate).limit_denominator(1001)
        try:
            film = open_film(video.path, reader=self._job.config.film.reader, frame_rate=exact)
        except UsageError as error:
            raise FilmError(error.what, error.hint) from None
        with film:
            job, info = self._job, film.info
            given: GivenShots = (None, "found")
            if job.published:
                gaps = job.config.context.by_rules.inclusive
                given = published_shots(job.dataset, ads[0].clip, info.duration, video.begins, gaps=gaps)
            shots, origin = given
            cast, known = None, None
            if job.bank is not None:
                cast, known = job.bank.cast_of(ads[0].film), job.bank.known_of(ads[0].film)
            beside = ads if self._leans else ()
            keys = {
                ad.id: line_key(self._terms, ad, info.fingerprint, shots=shots, cast=known, beside=beside)
                for ad in ads
            }
            yield film, ClipRequest(ads, shots, origin, cast, self._terms, keys, video.begins)

    def _through(self, film: Film, asked: ClipRequest, *, only_look: bool = False) -> list[PredictedLine]:
        """The clip's lines by the pipeline, in its work folder; none where Stage I is to look alone."""
        clip, fingerprint = asked.ads[0].clip, film.info.fingerprint
        room = self._job.work or inner_folder(self._place.path, "work")
        path = room / f"{re.sub(r'[^A-Za-z0-9_-]+', '_', clip)}-{key_of(clip, fingerprint)[:8]}"
        talks = not self._begun or len(asked.ads) >= MANY
        self._begun = True
        progress = self._job.progress if talks else NoProgress()
        kept = self._job.work is not None
        # The readers of grammar are made for the first clip that is described, and kept for the others.
        self._readers = self._readers or make_readers(self._job.config, progress)
        with WorkFolder(path) as folder:
            lines, spent, warnings = describe_clip(
                asked,
                film,
                folder,
                self._job.config,
                self._job.engines,
                self._readers,
                progress,
                scripts=kept,
                only_look=only_look,
            )
        self._done.made |= {line.id for line in lines}
        self._done.add(spent)
        for warning in warnings:  # each is told once, with the first clip that it came from
            if warning not in self._said:
                self._said.add(warning)
                self._job.progress.note(f"{clip}: {warning}")
        if not kept and not only_look and not any(line.again for line in lines):
            shutil.rmtree(path, ignore_errors=True)
        return list(lines)


AHEAD = 32
"""Clips of a turn: of some 400 ADs, beside whose work the loading of two models is little."""


def ahead_of(engines: Engines) -> int:
    """How many clips Stage I had best look at before Stage II writes: several where both stages have a model
    of their own on this machine, which may not hold both at once."""
    both = (engines.looks, engines.writes)
    local = all(hasattr(engine, "to_fetch") for engine in both)
    return AHEAD if local and both[0].identity.model != both[1].identity.model else 1
