"""Labels of shots that share a camera set-up."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.common import FILMS
from benchmarks.threads import known_clips, labelled_clips


def test_the_labels_fit_their_clips_in_each_half() -> None:
    known, clips = known_clips(), labelled_clips(FILMS)
    assert len({clip.name for clip in clips}) == len(clips) >= 27
    for clip in clips:
        assert all(one.end <= other.start for one, other in pairwise(clip.shots)), clip.name
        grouped = [shot for cluster in clip.clusters for shot in cluster]
        assert len(set(grouped)) == len(grouped), clip.name
        assert set(grouped) <= set(range(len(clip.shots))), clip.name
        for i, j in clip.doubtful:
            assert 0 <= i < j < len(clip.shots), clip.name
            assert clip.truth[i] != clip.truth[j], clip.name
        if clip.name in known:
            assert clip.half == known[clip.name].half
            assert clip.shots[-1].end <= known[clip.name].end + 0.1, clip.name
    together = {"tuning": 0, "judging": 0}
    for clip in labelled_clips(FILMS):
        same = clip.truth[:, None] == clip.truth[None, :]
        together[clip.half] += int((same & clip.counted()).sum()) if not clip.made else 0
    assert together["tuning"] >= 8
    assert together["judging"] >= 40
