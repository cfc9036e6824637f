"""What a user is told before anything leaves the machine."""

from __future__ import annotations

from shotad.core import Engine
from shotad.engines.openai.engine import OpenAI


def notice(stage1: Engine, stage2: Engine) -> list[str]:
    """Plain lines for before the first call: what leaves this machine, and to whom; none where all stays.

    Stage I is sent frames, Stage II words only.
    """
    looks, writes = stage1.abilities.sends_to, stage2.abilities.sends_to
    lines = []
    if looks and looks == writes:
        lines.append(
            f"Frames of the film, and descriptions of it, leave this machine: they are sent to {looks}."
        )
    elif looks:
        lines.append(f"Frames of the film leave this machine: they are sent to {looks}.")
    if writes and writes != looks:
        lines.append(
            f"Descriptions of the film, but no frames, leave this machine: they are sent to {writes}."
        )
    unsafe = {e.address.shown for e in (stage1, stage2) if isinstance(e, OpenAI) and e.address.is_open}
    return [*lines, *(f"The connection to {host} is not encrypted (http)." for host in sorted(unsafe))]
