"""From a film to its audio-description track, in three acts.

prepare      film → shots, speech → slots
understand   slots → context, frames, grammar, characters
write        clips → Stage I → Stage II → cues → track → scripts, overview
"""

from __future__ import annotations

from dataclasses import replace

from shotad.casting.proof import names_amiss
from shotad.config import Config
from shotad.describe import choice, repair, story, verify
from shotad.describe.prompts import check_prompts
from shotad.describe.usage import used
from shotad.film.reader import Film
from shotad.outcome import Outcome
from shotad.prepare import Bench, Given, prepare
from shotad.progress import NoProgress, Progress
from shotad.sheet import write_sheet
from shotad.tracking import write_track
from shotad.understand import get_ready, understand
from shotad.workfolder import WorkFolder
from shotad.writing import Engines, write


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

    ``sheet``: whether the overview is drawn too.
    """
    engines = engines or Engines.of(config)
    bench = Bench.of(film, folder, config, given or Given(), progress or NoProgress())
    check_prompts(repair.TEMPLATES, story.TEMPLATES, verify.TEMPLATES, choice.TEMPLATES)
    engines.get_ready(config, bench.progress)
    get_ready(bench)
    prepared = prepare(bench)
    understood = understand(prepared, bench, engines.looks.abilities.frames_per_second)
    written = write(understood.plans, prepared, bench, engines)
    outcome = write_track(written.cues, prepared, bench, engines.makers, discard_edits=discard_edits)
    drawn = write_sheet(folder.path, bench.frames.pictures, config, bench.progress) if sheet else ()
    bench.frames.release()
    spent = used(written.seen, written.lines, engines.terms(config), written.other)
    warnings = (*outcome.warnings, *understood.warnings, *names_amiss(outcome.track, bench))
    return replace(outcome, sheet=drawn, used=spent, warnings=warnings, recognised=understood.recognised)
