"""The described film as a file: all of the film's tracks copied, the AD's sound and text beside them."""

from __future__ import annotations

from shotad.sound.mux.kinds import AdSound, AdText, Copied, Written
from shotad.sound.mux.write import check_container, write_film

__all__ = ["AdSound", "AdText", "Copied", "Written", "check_container", "write_film"]
