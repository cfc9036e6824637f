"""The studio: lines are spoken once and kept in the work folder, and not spoken again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from shotad.core import NoProgress, Progress, Task, VoiceError, VoiceSettings, key_of, reported, sweep
from shotad.sound.kinds import Take
from shotad.sound.pronunciation import NOTHING, Lexicon, parse_lexicon, said
from shotad.sound.takes import read_take, write_take
from shotad.sound.voice_engines import Choir, Speaker

FORMAT = 1
"""Raised when takes are made in another way; those kept before are then spoken again."""
_ENDING = ".flac"


class Keeping:
    """A `Studio` that keeps its takes as FLAC files in a folder.

    A take is found by all that changes it: the voice's identity, the text as it is sent to the voice, the
    speed. Neither it nor the takes that it gives hold samples. May be used by several threads.
    """

    def __init__(
        self,
        voice: Speaker,
        folder: Path,
        settings: VoiceSettings,
        language: str,
        lexicon: Lexicon = NOTHING,
        *,
        force: bool = False,
    ) -> None:
        """``folder`` is that of the takes, and is made with the first. ``lexicon`` is the cast's; that of the
        settings goes before it. ``force`` speaks again whatever is asked for, once.

        Raises VoiceError for a lexicon that cannot be read.
        """
        self._voice, self._folder, self._settings, self._language = voice, folder, settings, language
        self.voice = voice.name
        self._lexicon = lexicon.joined(read_lexicon(settings.lexicon))
        self._force = force
        self._spoken: set[str] = set()
        self._used: dict[str, Take] = {}
        self._lock = threading.Lock()

    @property
    def spoken(self) -> int:
        """How many takes the voice has spoken here."""
        return len(self._spoken)

    @property
    def taken(self) -> int:
        """How many different takes were asked for and were there already."""
        return len(self._used.keys() - self._spoken)

    @property
    def used(self) -> frozenset[str]:
        """The files of all takes that were asked for, by name; for `keep`."""
        return frozenset(self._used)

    def sent(self, text: str) -> str:
        """What is sent to the voice for a line."""
        return said(text, self._language, self._lexicon, self._voice.reads)

    def say(self, text: str, speed: float = 1.0) -> Take:
        """The take of a line at ``speed`` times the pace of the settings. Raises VoiceError.

        The take's own ``speed`` is that which was reached: a voice that cannot go as fast says so there.
        """
        sent, pace, path = self._asked(text, speed)
        kept = self._kept(path, text)
        return kept if kept is not None else self._keep(path, self._voice.speak(sent, pace), text)

    def say_all(self, texts: Iterable[str], progress: Progress | None = None) -> None:
        """Speak all lines that are not kept yet, several at once where the voice can; `say` then finds them.

        Raises VoiceError for the first that cannot be spoken; what is spoken by then is kept.
        """
        missing: dict[Path, str] = {}
        for text in texts:
            path = self._asked(text)[2]
            if path not in missing and self._kept(path, text) is None:
                missing[path] = text
        lines = list(missing.values())
        with reported(progress or NoProgress(), "Speaking", len(lines), "lines") as task:
            size = int(getattr(self._voice, "together", 1))
            size = min(size, -(-len(lines) // self._voice.at_once)) if lines else 1
            groups = [lines[at : at + size] for at in range(0, len(lines), max(size, 1))]
            jobs = [partial(self._speak, group, task) for group in groups]
            # All jobs, several at once; the first error ends what has not begun
            if self._voice.at_once <= 1:
                for job in jobs:
                    job()
            else:
                pool = ThreadPoolExecutor(self._voice.at_once)
                try:
                    for done in as_completed([pool.submit(job) for job in jobs]):
                        done.result()
                finally:
                    pool.shutdown(cancel_futures=True)

    def name_of(self, text: str, speed: float = 1.0) -> str:
        """The file of a line's take, there or not."""
        return self._asked(text, speed)[2].name

    def keep(self, names: Iterable[str]) -> int:
        """Remove all takes but those named; how many went."""
        kept = frozenset(names)
        stale = [path for path in self._folder.glob(f"*{_ENDING}") if path.name not in kept]
        for path in stale:
            path.unlink(missing_ok=True)
        for leftover in self._folder.glob(".tmp-*"):
            sweep(leftover)
        return len(stale)

    def _asked(self, text: str, speed: float = 1.0) -> tuple[str, float, Path]:
        sent, pace = self.sent(text), round(speed * self._settings.speed, 4)
        name = key_of(FORMAT, self._voice.identity, sent, pace) + _ENDING
        return sent, pace, self._folder / name

    def _kept(self, path: Path, text: str) -> Take | None:
        """The take in a file, which is checked at its first use."""
        if self._force and path.name not in self._spoken:
            return None
        known = self._used.get(path.name)
        if known is not None and path.exists():
            return replace(known, text=text)
        found = read_take(path, self._voice.name, text)
        if found is not None:
            with self._lock:
                self._used[path.name] = found
        return found

    def _keep(self, path: Path, take: Take, text: str) -> Take:
        made = write_take(path, replace(take, text=text))
        with self._lock:
            self._used[path.name] = made
            self._spoken.add(path.name)
        return made

    def _speak(self, lines: Sequence[str], task: Task) -> None:
        asked = [self._asked(text) for text in lines]
        if len(lines) == 1:
            takes = [self._voice.speak(asked[0][0], asked[0][1])]
        else:
            takes = cast(Choir, self._voice).speak_all([sent for sent, _, _ in asked], asked[0][1])
        for text, (_, _, path), take in zip(lines, asked, takes, strict=True):
            self._keep(path, take, text)
            with self._lock:
                task.advance()


def read_lexicon(file: str | None) -> Lexicon:
    """The lexicon in a file; none for None. Raises VoiceError."""
    if file is None:
        return NOTHING
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except OSError as error:
        what = f"The lexicon {file} cannot be read: {error.strerror}."
        raise VoiceError(what, "Name a text file: voice.lexicon.") from None
    except UnicodeDecodeError:
        raise VoiceError(f"The lexicon {file} is no text in UTF-8.", "Save it as UTF-8.") from None
    return parse_lexicon(text, file)
