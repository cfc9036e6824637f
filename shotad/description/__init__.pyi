from . import (
    answer_text as answer_text,
    answers as answers,
    both_stages as both_stages,
    cast_removal as cast_removal,
    casting as casting,
    clip_builder as clip_builder,
    dialogue_transcript as dialogue_transcript,
    engine_pair as engine_pair,
    estimate as estimate,
    existing as existing,
    film_frames as film_frames,
    film_questions as film_questions,
    inputs as inputs,
    linting as linting,
    pipeline as pipeline,
    preference_pairs as preference_pairs,
    preparation as preparation,
    prompts as prompts,
    seeds as seeds,
    shorter_lines as shorter_lines,
    shown_prompts as shown_prompts,
    slot_redo as slot_redo,
    slotplan as slotplan,
    stage1 as stage1,
    taste as taste,
    templates as templates,
    translation as translation,
    worksheet as worksheet,
)
from .both_stages import (
    WrittenSlots as WrittenSlots,
    write_slots as write_slots,
)
from .casting.discovery import (
    Discovery as Discovery,
    discover as discover,
)
from .casting.recognition import (
    check_cast as check_cast,
)
from .clip_builder import (
    plan_clips as plan_clips,
    read_grammar as read_grammar,
)
from .counting_engine import (
    CountedRequest as CountedRequest,
    CountingEngine as CountingEngine,
    LikelyReplies as LikelyReplies,
    WorstReplies as WorstReplies,
)
from .engine_pair import (
    Engines as Engines,
    open_engines as open_engines,
)
from .english_words import (
    plain_language as plain_language,
)
from .estimate import (
    estimate_run as estimate_run,
)
from .inputs import (
    Inputs as Inputs,
    check_inputs as check_inputs,
)
from .linting.check import (
    Checker as Checker,
    lint as lint,
    lint_track as lint_track,
)
from .pipeline import (
    DescribeResult as DescribeResult,
    describe as describe,
    write_track as write_track,
)
from .preparation import (
    RunContext as RunContext,
    prepare as prepare,
)
from .shorter_lines import (
    Shortener as Shortener,
)
from .shown_prompts import (
    show_prompts as show_prompts,
)
from .slot_redo import (
    RedoneSlot as RedoneSlot,
    RewrittenLine as RewrittenLine,
    redo as redo,
)
from .slotplan import (
    SlotPlan as SlotPlan,
)
from .stage1 import (
    describe_clip as describe_clip,
)
from .stage_answers import (
    Attempt as Attempt,
    Candidate as Candidate,
    Stage1Answer as Stage1Answer,
    Stage2Answer as Stage2Answer,
    Statement as Statement,
)
from .translation.track import (
    TranslationOutcome as TranslationOutcome,
    estimate_translation as estimate_translation,
    translate_into as translate_into,
)
from .worksheet.page import (
    write_sheet as write_sheet,
)
from .worksheet.records import (
    read_worksheet as read_worksheet,
)
