"""From a film to its audio-description track, in three acts.

prepare      film → shots, speech → slots
understand   slots → context, frames, grammar, characters
write        clips → Stage I → Stage II → cues → track → scripts, overview

An act begins with what the one before has made so far: film grammar is measured and clips are read while
Stage I answers, Stage II writes a line as soon as its description is there, and what will not change any more
is looked at while shots are still being found.
"""

from __future__ import annotations

from dataclasses import replace

from shotad.core import Config, Given, NoProgress, Progress, WorkFolder, span
from shotad.description.casting.name_check import names_amiss
from shotad.description.choice import CHOICE_TEMPLATES
from shotad.description.clip_builder import ClipBuilder, get_ready
from shotad.description.preparing import Bench, prepare
from shotad.description.prompts import check_prompts
from shotad.description.repair import REPAIR_TEMPLATES
from shotad.description.result import Outcome
from shotad.description.sheet.writing import write_sheet
from shotad.description.story import STORY_TEMPLATES
from shotad.description.usage import used
from shotad.description.verify import VERIFY_TEMPLATES
from shotad.description.writing import Engines, SlotStream, Stage1Runner, write_as_they_come
from shotad.description.writing.early import EarlyLooks
from shotad.description.writing.track import write_track
from shotad.engines import Flow
from shotad.film import Film
from shotad.script import present_track


def describe(
    film: Film,
    folder: WorkFolder,
    config: Config,
    given: Given | None = None,
    *,
    engines: Engines | None = None,
    progress: Progress | None = None,
    discard_edits: bool = False,
    sheet: bool = True,
) -> Outcome:
    """Write the AD track of ``film`` into ``folder``; what is already done there is not done again.

    ``sheet``: whether the overview is drawn too. Raises OtherFilm where the folder's track is of another
    film, EditConflict where the same line was edited in it and in a script, and what the acts raise.
    """
    present_track(folder, film.info, with_scripts=not discard_edits)  # refused now, or when all is paid for
    engines = engines or Engines.of(config)
    bench = Bench.of(film, folder, config, given or Given(), progress or NoProgress())
    bench.frames.share(overview=sheet)
    check_prompts(REPAIR_TEMPLATES, STORY_TEMPLATES, VERIFY_TEMPLATES, CHOICE_TEMPLATES)
    with span("load"):
        engines.get_ready(config, bench.progress)
        get_ready(bench)
    with Flow() as flow:
        asked = engines.seated(config, flow)
        with span("load"):
            insight = ClipBuilder(bench, engines.looks.abilities.frames_per_second)
        looking = Stage1Runner(bench, asked.looks, flow)
        prepared = prepare(bench, EarlyLooks(bench, engines, looking, insight).watch)
        understood = insight.outline(prepared)
        written = write_as_they_come(
            SlotStream.out_of(understood, insight), looking, prepared, bench, asked, flow
        )
    outcome = write_track(written.cues, prepared, bench, engines.makers, discard_edits=discard_edits)
    folder.note(f"described {film.info.name}: {outcome.counts}")
    drawn = write_sheet(folder.path, bench.frames.pictures, config, bench.progress) if sheet else ()
    bench.frames.release()
    spent = used(written.seen, written.lines, engines.terms(config), written.other)
    warnings = (*outcome.warnings, *understood.warnings, *names_amiss(outcome.track, bench))
    return replace(outcome, sheet=drawn, used=spent, warnings=warnings, recognised=understood.recognised)
