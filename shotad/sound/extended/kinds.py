"""Pauses of a film, and a plan of them."""

from __future__ import annotations

from dataclasses import dataclass

from shotad.sound.kinds import Fitting, Unspoken


@dataclass(frozen=True, slots=True)
class Pause:
    """The film stands still for ``length`` seconds, at film second ``at``, for the line ``cue_id``.

    What happens at ``at`` itself is seen and heard after the pause.
    """

    at: float
    length: float
    cue_id: str

    def __post_init__(self) -> None:
        if not (self.at >= 0 and 0 < self.length < float("inf")):
            raise ValueError(f"a pause is at 0 s or later and lasts, got {self.length} s at {self.at} s")


@dataclass(frozen=True, slots=True)
class Extension:
    """What became of the lines that did not fit: ``pauses`` ascend, one for each of ``Spoken.pause``.

    ``fitting`` holds all lines. Those with a pause run over what follows if the film does not pause, so
    their intervals may overlap others on film time; on the copy's (`TimeMap.fitting`) none do. ``refused``
    are the lines that might have had a pause and got none, with the reason; they are in
    ``fitting.unspoken`` too.
    """

    fitting: Fitting
    pauses: tuple[Pause, ...] = ()
    refused: tuple[Unspoken, ...] = ()
