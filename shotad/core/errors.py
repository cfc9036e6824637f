"""Every error a user can meet. Each says what happened, with which value, and what to do.

The command line turns them into one plain message and the exit code of the class; nothing else
in the library catches them to print.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any


def did_you_mean(name: str, known_names: Iterable[str], most: int = 1, cutoff: float = 0.6) -> str:
    """The beginning of a hint for a name that is not known, empty where no known one is near.

    >>> did_you_mean("hibary", ["hibari", "espeak-ng"])
    'Did you mean hibari? '
    """
    near = get_close_matches(name, list(known_names), most, cutoff)
    return f"Did you mean {' or '.join(near)}? " if near else ""


LONGEST_VALUE = 80
"""Letters of a value that a message shows."""

LONGEST_MESSAGE = 3_000
"""Letters of a message: lists of lines have some hundreds. What is longer repeats a file."""


def quoted(value: object, most: int = LONGEST_VALUE) -> str:
    """A value as it stands in a message: in quotes, on one line, cut at ``most`` letters.

    >>> quoted("00:01 \\n --> x"), quoted("a" * 100, 5), quoted(None)
    ("'00:01 --> x'", "'aaaaa…'", 'None')
    """
    if isinstance(value, str):
        # Cut before it is taken apart, for it may be a whole file, and again without its blanks.
        words = " ".join(value[: 10 * most].split())
        is_cut = len(words) > most or len(value) > 10 * most
        return repr(f"{words[:most]}…" if is_cut else words)
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list that holds itself
        return f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}…"


def _cut_message(message: str) -> str:
    """A message without its middle where it is too long: what happened stands first, where it stands last."""
    if len(message) <= LONGEST_MESSAGE:
        return message
    kept_at_end = LONGEST_MESSAGE // 4
    return f"{message[: LONGEST_MESSAGE - kept_at_end]} … {message[-kept_at_end:]}"


class ShotadError(Exception):
    """Base class of all errors that a user can meet.

    Attributes:
        what: What happened, with the value at fault.
        hint: What to do about it. May be empty.
        again: Whether a second try may succeed with nothing changed.
        exit_code: Exit code of the command: 2 for a call that makes no sense, else 1.
        key: Which message of the review page it is, so that the page can show it in another language.
        values: What stands in the places of that message, by their names.
    """

    exit_code = 1
    again = False
    key = ""
    values: Mapping[str, Any] = {}

    def __init__(
        self, what: str, hint: str = "", *, again: bool | None = None, usage: bool | None = None
    ) -> None:
        # Whatever somebody forgot to cut: a message that repeats a file of 200 KB helps nobody.
        what, hint = _cut_message(what), _cut_message(hint)
        super().__init__(what if not hint else f"{what} {hint}")
        self.what = what
        self.hint = hint
        if again is not None:
            self.again = again
        if usage is not None:
            self.exit_code = 2 if usage else 1


class ShotadWarning(UserWarning):
    """A problem that still leaves a result, such as slots that failed or a damaged film."""


class UsageError(ShotadError):
    """An option or argument that cannot be meant."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration with an unknown key or a value out of range."""


class FilmError(ShotadError):
    """A film that cannot be opened or decoded."""


class FilmChanged(FilmError):  # noqa: N818  said of the film
    """A film that was replaced or changed after it was opened or described."""


class Cancelled(ShotadError):  # noqa: N818  no fault of anybody's
    """A call that was stopped by its token (``cancel=``). What is done is kept; call it again to continue."""

    again = True


class SubtitleError(ShotadError):
    """Subtitles or slots that cannot be read."""


class ScriptError(ShotadError):
    """An AD script that is malformed. ``clause`` names the rule of the standard that is broken."""

    def __init__(self, what: str, hint: str = "", clause: str = "", *, usage: bool | None = None) -> None:
        super().__init__(what, hint, usage=usage)
        self.clause = clause


class MissingLines(ScriptError):  # noqa: N818  said of the script
    """A script that lacks lines which the track has: they would go, and nobody said that they should."""


class RefusalError(ScriptError):
    """A model that will not describe or write, over violence or nudity say."""


class OnlyThoughts(ScriptError):  # noqa: N818  said of the answer
    """An answer in which a model thought aloud, and that says nothing else."""


class PromptError(ShotadError):
    """A prompt template with a missing or an unknown variable."""


class EngineError(ShotadError):
    """An engine that is unknown, not installed, unfit for what is asked of it, or failed to answer."""

    again = True


class WeightsError(ShotadError):
    """Model weights that are missing, cannot be fetched, or differ from their hash."""


class DatasetError(ShotadError):
    """Labelled data, for training or for scores, that is missing, malformed or too small."""


class WorkFolderError(ShotadError):
    """A work folder that cannot be written, is damaged, or is in use."""


class OtherFilm(WorkFolderError):  # noqa: N818  said of what the folder holds
    """A work folder whose track is of another film, or of another version of this one."""


class EditConflict(WorkFolderError):  # noqa: N818  the word of the decision it enforces
    """A person's edit that a later run would overwrite. Both texts are in the message."""


class DescriptionExists(ShotadError):  # noqa: N818  no fault of the film
    """A film that has an audio description already, so that nothing was described.

    ``has_lines``: lines of it can be read, so that it can be completed. ``files``: the names of those beside
    the film; none for one inside it.
    """

    exit_code = 4

    def __init__(
        self, what: str, hint: str = "", *, has_lines: bool = False, files: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, hint)
        self.has_lines, self.files = has_lines, files


class CastError(ShotadError):
    """A cast that cannot be read, or does not make sense."""


class EvaluationError(ShotadError):
    """A metric that is unknown or cannot be counted here, or results that do not belong together."""


class VoiceError(ShotadError):
    """A voice that is unknown, not installed, cannot speak a language, or failed to speak."""

    again = True


class SoundError(ShotadError):
    """Sound, or a film file, that cannot be made as it was asked for."""


class ReviewError(ShotadError):
    """Something that cannot be done to a line, a slot or a cast on the review page, and why."""


class OutdatedLine(ReviewError):  # noqa: N818  said of what the page shows
    """A line that has changed since the page showed it: by another tab, another command, or in its file."""


class StorageError(ShotadError):
    """A film or a work folder on object storage, or behind an address, that cannot be read or written."""


class OutOfMemory(ShotadError, MemoryError):  # noqa: N818  said of the machine
    """Memory that ran out, of the machine or of a GPU; the message says at which step."""

    again = True


class FolderInUse(StorageError, WorkFolderError):  # noqa: N818  no fault of anybody's
    """A work folder that another process, here or on another machine, is writing: it is in good hands."""

    again = True


class DiskFull(WorkFolderError):  # noqa: N818  said of the disk
    """A film that was not begun, for its work folder might fill the disk."""
