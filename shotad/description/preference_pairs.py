"""Lines that people rewrote, as preference pairs for training.

A pair has the form that TRL's trainers read (huggingface.co/docs/trl, "Dataset formats": preference,
conversational, with an explicit prompt).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shotad.core import RecordLog
from shotad.core.errors import WorkFolderError
from shotad.description.stage_answers import Stage1Answer, Stage2Answer
from shotad.script import LineState, load_track


def preference_pairs(folder: Path) -> list[dict[str, Any]]:
    """A pair for each accepted line of a work folder whose words a person changed.

    ``prompt`` is what Stage II was asked, ``chosen`` the accepted line, ``rejected`` the machine's. ``film``,
    ``start`` and ``end`` say where the line is, ``seconds`` which frames Stage I saw. Lines that no engine
    was asked for are left out. Raises WorkFolderError.
    """
    track = load_track(folder / "track.json")
    descriptions: dict[str, Stage1Answer] = _last_answers(folder / "stage1.jsonl", Stage1Answer)
    questions: dict[str, Stage2Answer] = _last_answers(folder / "stage2.jsonl", Stage2Answer)
    pairs: list[dict[str, Any]] = []
    for cue in track.heard:
        draft, question = cue.machine, questions.get(cue.slot_id or "")
        if cue.state is not LineState.ACCEPTED or draft is None or question is None:
            continue
        if draft.text in ("", cue.text):
            continue
        description = descriptions.get(question.slot_id)
        shots = () if description is None else description.shots
        pairs.append(
            {
                "prompt": [{"role": message.role, "content": message.text} for message in question.prompt],
                "chosen": [{"role": "assistant", "content": cue.text}],
                "rejected": [{"role": "assistant", "content": draft.text}],
                "film": track.film.name,
                "start": cue.start,
                "end": cue.end,
                "seconds": sorted(second for shot in shots for second in shot.seconds),
            }
        )
    return pairs


def _last_answers(path: Path, kind: type[Any]) -> dict[str, Any]:
    """The last answer of each slot, by slot; a slot that was described again has several."""
    if not path.is_file():
        raise WorkFolderError(f"{path} is not there.", "Name the work folder of a film that was described.")
    try:
        answers = [kind.from_json(record) for record in RecordLog(path).records()]
    except (KeyError, TypeError, ValueError, AttributeError) as trouble:
        hint = "Run shotad describe with --force; edits are kept."
        raise WorkFolderError(f"{path} is damaged: {trouble!r}.", hint) from None
    return {answer.slot_id: answer for answer in answers}
