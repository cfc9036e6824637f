from .answer_text import is_placeholder as is_placeholder, without_markup as without_markup
from .answers import contains_refusal as contains_refusal, parse_stage1 as parse_stage1
from .cast_discovery import (
    MAX_PIXELS as MAX_PIXELS,
    Discovery as Discovery,
    FiledPerson as FiledPerson,
    discover as discover,
)
from .cast_recognition import (
    CHARACTERS as CHARACTERS,
    DISCOVERED as DISCOVERED,
    FACES as FACES,
    check_cast as check_cast,
)
from .cast_removal import (
    RemovedFaces as RemovedFaces,
    clear_all as clear_all,
    clear_person as clear_person,
    delete_photos as delete_photos,
    folders_still_naming as folders_still_naming,
    folders_with_faces as folders_with_faces,
    photos_to_forget as photos_to_forget,
    run_folder as run_folder,
)
from .clip_builder import (
    GrammarReaders as GrammarReaders,
    check_readers as check_readers,
    make_readers as make_readers,
    plan_clips as plan_clips,
    prepare_grammar as prepare_grammar,
    read_grammar as read_grammar,
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
    doubt_signals as doubt_signals,
    estimate_doubt as estimate_doubt,
)
from .engine_pair import (
    Engines as Engines,
    EngineUsage as EngineUsage,
    StageUsed as StageUsed,
    engine_names as engine_names,
    engine_usage as engine_usage,
    engine_warnings as engine_warnings,
    open_engines as open_engines,
    prepare_engine as prepare_engine,
    prepare_local_engines as prepare_local_engines,
)
from .estimate import (
    estimate_counted as estimate_counted,
    estimate_json as estimate_json,
    estimate_lines as estimate_lines,
    estimate_run as estimate_run,
)
from .inputs import (
    Inputs as Inputs,
    check_inputs as check_inputs,
    check_setting_files as check_setting_files,
)
from .lint_check import (
    CachedLineFindings as CachedLineFindings,
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
    DescribeResult as DescribeResult,
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
from .slot_redo import (
    RedoneSlot as RedoneSlot,
    RewrittenLine as RewrittenLine,
    read_rows as read_rows,
    redo as redo,
)
from .slotplan import SlotPlan as SlotPlan, with_spoken_names as with_spoken_names
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
    check_translates as check_translates,
    estimate_translation as estimate_translation,
    read_track_to_translate as read_track_to_translate,
    translate_into as translate_into,
    translation_languages as translation_languages,
)
from .wording import subject_and_verb as subject_and_verb, verbs_of as verbs_of, words_of as words_of
from .worksheet import keep_material as keep_material, read_worksheet as read_worksheet
from .worksheet_page import (
    picture_file as picture_file,
    worksheet_with_pictures as worksheet_with_pictures,
    write_sheet as write_sheet,
)
from .worksheet_people import OWN_CAST as OWN_CAST, find_cast as find_cast
from .writing import (
    WrittenSlots as WrittenSlots,
    describe_clips as describe_clips,
    write_slots as write_slots,
)
