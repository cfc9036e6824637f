"""A real small model that cannot translate: what it writes is taken or refused, and nothing breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from shotad.core import WorkFolder, load_config
from shotad.description import translate_into, translation
from shotad.description.translation import Source
from shotad.engines import make_engine
from shotad.script import CueStatus, spoken_words
from tests.chat_server import shared_server
from tests.translating.germans import LINES, slots_of, track_of


@pytest.mark.long
@pytest.mark.slow
def test_a_model_that_cannot_translate_fails_cleanly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "LINES", 2)
    monkeypatch.setattr(translation, "TOKENS", 96)
    own = "stage2.sampling.max_tokens=96"
    config = load_config(None, ["engine=openai", "language=de", own, *shared_server().settings])
    engine = make_engine("openai", config, "stage2")
    track = track_of(LINES[:3])
    with WorkFolder(tmp_path) as folder:
        source = Source(track, slots_of(track), ("Ann",))
        outcome = translate_into(folder, source, "de", engine, config)
    done = outcome.translated
    assert done.used.calls >= 2
    assert len(done.track.heard) + len(done.failed) == 3
    for cue, before in zip(outcome.track.cues, track.cues, strict=True):
        assert cue.interval.start == before.interval.start
        if cue.heard:
            assert spoken_words(cue.text, "de") <= 13
            assert cue.text not in LINES
        elif before.heard:
            assert cue.status in (CueStatus.FAILED, CueStatus.DROPPED)
            assert cue.reason
