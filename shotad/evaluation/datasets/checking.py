"""Is a dataset all there? What is found, what is missing, what is malformed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shotad.core.progress import Progress
from shotad.evaluation.datasets.ads import Dataset, Finding
from shotad.evaluation.datasets.findings import MALFORMED, MISSING, NOTE, number_of
from shotad.evaluation.datasets.footage import find_footage, look_into


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is of everything."""

    ads: int
    clips: int
    films: int
    words: int
    seconds: float
    actions: int
    without_actions: int
    films_with_cast: int
    names: int
    clips_with_shots: int
    shots: int
    clips_without_cut: int
    ads_without_cut: int
    videos: int
    videos_missing: int


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found. ``whole``: nothing that is needed is missing, nothing malformed."""

    dataset: Dataset
    counts: Counts
    findings: tuple[Finding, ...]

    @property
    def whole(self) -> bool:
        """Whether everything that evaluation needs is there and can be read."""
        return not any(finding.level in (MISSING, MALFORMED) for finding in self.findings)

    def record(self) -> dict[str, Any]:
        """It as JSON."""
        return {
            "dataset": self.dataset.name,
            "title": self.dataset.title,
            "root": str(self.dataset.root),
            "whole": self.whole,
            "files": {what: str(path) for what, path in self.dataset.files.items()},
            "counts": asdict(self.counts),
            "findings": [asdict(finding) for finding in self.findings],
        }

    @property
    def text(self) -> str:
        """It in plain lines."""
        lines = [f"{self.dataset.title} in {self.dataset.root}", ""]
        lines += [f"{what}: {path}" for what, path in self.dataset.files.items()]
        lines += ["", *_count_lines(self.counts)]
        for level, heading in ((MISSING, "Missing"), (MALFORMED, "Malformed"), (NOTE, "Notes")):
            found = [finding for finding in self.findings if finding.level == level]
            if found:
                lines += ["", f"{heading}:", *(f"- {one.where}: {one.what}" for one in found)]
        return "\n".join([*lines, "", _verdict(self)])


def check_dataset(
    dataset: Dataset, progress: Progress, *, videos: Path | None = None, need_videos: bool = False
) -> Check:
    """What is there of a dataset that was loaded without being strict.

    Videos are looked for below ``videos`` (None: the dataset's root). Where they are needed, those that are
    missing count as such, and the others are opened; else it is a note that some are missing.
    """
    footage = find_footage(dataset, videos, progress)
    clips = len({ad.clip for ad in dataset.ads})
    findings = [*dataset.findings, *footage.findings(dataset, needed=need_videos)]
    if need_videos:
        findings += look_into(footage, progress)
    return Check(dataset, _counts(dataset, clips - len(footage.missing)), tuple(findings))


def _counts(dataset: Dataset, videos: int) -> Counts:
    ads, shots = dataset.ads, dataset.shots
    clips = {ad.clip for ad in ads}
    uncut = {clip for clip, one in shots.items() if not one}
    told = [ad.actions for ad in ads if ad.actions is not None]
    return Counts(
        ads=len(ads),
        clips=len(clips),
        films=len({ad.film for ad in ads}),
        words=sum(len(ad.text.split()) for ad in ads),
        seconds=round(sum(ad.interval.duration for ad in ads), 3),
        actions=sum(map(len, told)),
        without_actions=len(ads) - len(told),
        films_with_cast=len(dataset.casts),
        names=sum(map(len, dataset.casts.values())),
        clips_with_shots=len(shots),
        shots=sum(map(len, shots.values())),
        clips_without_cut=len(uncut),
        ads_without_cut=sum(ad.clip in uncut for ad in ads),
        videos=videos,
        videos_missing=len(clips) - videos,
    )


def _count_lines(n: Counts) -> list[str]:
    mean = n.seconds / n.ads
    return [
        f"{n.ads:,} ADs of {n.words:,} words in {n.clips:,} clips of {n.films:,} films or episodes, "
        f"{mean:.2f} s each on average",
        f"{n.actions:,} actions; {number_of(n.without_actions, 'AD')} without",
        f"{n.names:,} names of {n.films_with_cast:,} films or episodes",
        f"{n.shots:,} shots of {n.clips_with_shots:,} clips, of which {n.clips_without_cut:,} without a cut "
        f"({number_of(n.ads_without_cut, 'AD')})",
        f"videos of {n.videos:,} clips, and of {n.videos_missing:,} none",
    ]


def _verdict(check: Check) -> str:
    if check.whole:
        return "Whole: all that evaluation needs is there."
    wrong = sum(finding.level in (MISSING, MALFORMED) for finding in check.findings)
    return f"Not whole: {number_of(wrong, 'finding')} above must be looked at."
