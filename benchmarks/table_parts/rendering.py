"""Rendering a described film, beside copying it, and beside copying it with its sound coded once more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from table_parts.child import Done, Ready
from table_parts.kinds import Contest, Entrant, Growth
from table_parts.stage import Plan, Stage, entrants_by_length, full_only

MINUTES = (2.0, 10.0)
"""Length of the film: quick and in full."""
GROWN = 1.0
"""Minutes of the shortest film of the growth."""
LAYOUT, RATE = "stereo", 48000


def plan(stage: Stage) -> Plan:
    """A made film with a line every twelve seconds and a small picture, which is copied in any case."""
    minutes = MINUTES[0] if stage.quick else MINUTES[1]
    film, seconds = _film(stage, minutes)
    given = {"film": str(film)}
    contest = Contest(
        "rendering",
        f"film of {seconds / 60:.0f} minutes, {LAYOUT}",
        (
            Entrant("render --make film", "ours", "table_parts.rendering:ours", given),
            Entrant("copying it with its sound coded anew", "limit", "table_parts.rendering:recoding", given),
            Entrant("copying its packets", "limit", "table_parts.rendering:copying", given),
        ),
        "160x90 H.264, AC-3; a line of AD every 12 s; the fake voice's own time is taken off",
        seconds,
        turns=stage.turns(3),
    )
    if stage.quick:
        return Plan((contest,), left_out=full_only("rendering", "growth"))
    if not stage.grows:
        return Plan((contest,))
    base = GROWN
    growth = Growth(
        "rendering",
        "render --make film",
        "s of film",
        _film(stage, base)[1],
        entrants_by_length("table_parts.rendering:ours", lambda n: {"film": str(_film(stage, n * base)[0])}),
        turns=stage.turns(2),
    )
    return Plan((contest,), (growth,))


def _film(stage: Stage, minutes: float) -> tuple[Path, float]:
    """A film of about so many minutes, whole loops of `rendering.LOOP` seconds, and its length."""
    import rendering

    loops = max(1, round(minutes * 60 / rendering.LOOP))
    path = stage.folder / f"sound-{loops}.mkv"
    if not path.exists():
        rendering.make_film(path, loops * rendering.LOOP / 60, LAYOUT)
    return path, loops * rendering.LOOP


# Works


def ours(given: Mapping[str, Any], scratch: Path) -> Ready:
    """`shotad render --make film` on a work folder as `shotad describe` leaves it."""
    import rendering

    film = Path(given["film"])
    lines = rendering.write_folder(scratch, film)

    def run() -> Done:
        voice = rendering.render_voiced(film, scratch, "film")
        return Done({"lines": lines}, less_wall=voice.wall, less_cpu=voice.cpu)

    return run


def copying(given: Mapping[str, Any], scratch: Path) -> Ready:
    """All packets into another file."""
    return lambda: _copy(Path(given["film"]), scratch / "copy.mkv", again=False)


def recoding(given: Mapping[str, Any], scratch: Path) -> Ready:
    """All packets copied, and beside them the sound decoded and coded once more: no mixing, no AD."""
    return lambda: _copy(Path(given["film"]), scratch / "copy.mkv", again=True)


def _copy(film: Path, path: Path, *, again: bool) -> Done:
    import av

    with av.open(str(film)) as source, av.open(str(path), "w") as out:
        streams: dict[int, Any] = {s.index: out.add_stream_from_template(s) for s in source.streams}
        added: Any = out.add_stream("ac3", rate=RATE, layout=LAYOUT) if again else None
        for packet in source.demux():
            if again and packet.stream.type == "audio":
                for frame in packet.decode():
                    out.mux(added.encode(frame))
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                out.mux(packet)
        if again:
            out.mux(added.encode(None))
    return Done()
