from .answer_text import is_placeholder as is_placeholder, without_markup as without_markup
from .answers import parse_stage1 as parse_stage1, refuses as refuses
from .cast_discovery import PIXELS as PIXELS, Discovery as Discovery, Known as Known, discover as discover
from .cast_recognition import (
    CHARACTERS as CHARACTERS,
    DISCOVERED as DISCOVERED,
    FACES as FACES,
    check_cast as check_cast,
)
from .cast_removal import (
    Cleared as Cleared,
    clear_all as clear_all,
    clear_person as clear_person,
    delete_photos as delete_photos,
    folders_with_faces as folders_with_faces,
    photos_to_forget as photos_to_forget,
    run_folder as run_folder,
    still_named as still_named,
)
from .clip_builder import (
    GrammarReaders as GrammarReaders,
    check_readers as check_readers,
    get_ready as get_ready,
    make_readers as make_readers,
    study as study,
    understand as understand,
)
from .counting import (
    CountedRequest as CountedRequest,
    CountingEngine as CountingEngine,
    EstimateMemory as EstimateMemory,
    LikelyReplies as LikelyReplies,
    WorstReplies as WorstReplies,
    blank_clip as blank_clip,
)
from .doubt import (
    doubt_of as doubt_of,
    signs_of as signs_of,
)
from .engine_pair import (
    Engines as Engines,
    StageUsed as StageUsed,
    Used as Used,
    make_ready as make_ready,
    opening as opening,
    ready_if_here as ready_if_here,
    remarks as remarks,
    used_by as used_by,
    who_describes as who_describes,
)
from .estimate import (
    estimate_counted as estimate_counted,
    estimate_json as estimate_json,
    estimate_lines as estimate_lines,
    foresee as foresee,
)
from .inputs import (
    Inputs as Inputs,
    check_inputs as check_inputs,
    check_setting_files as check_setting_files,
)
from .lint_check import (
    Again as Again,
    Checker as Checker,
    LintTargets as LintTargets,
    checked_paths as checked_paths,
    is_film as is_film,
    lint as lint,
    lint_track as lint_track,
)
from .lint_material import (
    MISSING as MISSING,
    kept_findings as kept_findings,
    track_material as track_material,
)
from .pipeline import (
    ADDED as ADDED,
    LINE_STEPS as LINE_STEPS,
    Outcome as Outcome,
    check_edits as check_edits,
    describe as describe,
    empty_line as empty_line,
    write_track as write_track,
)
from .preparing import (
    RunContext as RunContext,
    film_shots as film_shots,
    film_speech as film_speech,
    prepare as prepare,
)
from .prompts import (
    STAGE_PROMPTS as STAGE_PROMPTS,
    check_prompts as check_prompts,
    load_examples as load_examples,
)
from .seeds import slot_seed as slot_seed
from .shortening import Shortener as Shortener, shortener as shortener
from .shown_prompts import (
    ShownPrompts as ShownPrompts,
    show_prompts as show_prompts,
    shown_json as shown_json,
    shown_lines as shown_lines,
)
from .slot_redo import Redone as Redone, Result as Result, redo as redo, rows_of as rows_of
from .slotplan import SlotPlan as SlotPlan, spoken as spoken
from .stage1 import (
    clip_key as clip_key,
    describe_clip as describe_clip,
    known_description as known_description,
    stage1_as_seen as stage1_as_seen,
)
from .stage_answers import (
    Attempt as Attempt,
    Candidate as Candidate,
    Stage1Answer as Stage1Answer,
    Stage2Answer as Stage2Answer,
    Statement as Statement,
)
from .templates import (
    MATERIAL as MATERIAL,
    check_templates as check_templates,
    in_quotes as in_quotes,
    prompt_block as prompt_block,
    prompt_hash as prompt_hash,
    prompt_messages as prompt_messages,
)
from .translation import (
    TranslationOutcome as TranslationOutcome,
    between as between,
    check_translates as check_translates,
    foresee_translation as foresee_translation,
    read_source as read_source,
    translate_into as translate_into,
)
from .wording import head_of as head_of, verbs_of as verbs_of, words_of as words_of
from .worksheet import keep_material as keep_material, read_worksheet as read_worksheet
from .worksheet_page import (
    picture_file as picture_file,
    worksheet_with_pictures as worksheet_with_pictures,
    write_sheet as write_sheet,
)
from .worksheet_people import OWN_CAST as OWN_CAST, cast_place as cast_place
from .writing import (
    WrittenSlots as WrittenSlots,
    describe_clips as describe_clips,
    write_slots as write_slots,
)
