from .audio import (
    Layout as Layout,
    Samples as Samples,
    SoundBlock as SoundBlock,
    SoundSeeker as SoundSeeker,
    choose_track as choose_track,
    sound_blocks as sound_blocks,
)
from .colour import (
    Orientation as Orientation,
    frame_light as frame_light,
    frame_matrix as frame_matrix,
    frame_orientation as frame_orientation,
)
from .container import (
    TEXT_CODECS as TEXT_CODECS,
    Media as Media,
    ProbedFilm as ProbedFilm,
    as_fraction as as_fraction,
    exact_start as exact_start,
    find_media as find_media,
    is_cover as is_cover,
    last_second as last_second,
    packets_of as packets_of,
    probe as probe,
    readable_metadata as readable_metadata,
    skip_other_streams as skip_other_streams,
    timeline_of as timeline_of,
)
from .decoder import Decoder as Decoder
from .framestore import (
    TICKS as TICKS,
    nearest_tick as nearest_tick,
    tick_second as tick_second,
)
from .framing import (
    STILLS as STILLS,
    Frames as Frames,
    zones_around as zones_around,
)
from .overlays import (
    COLOURS as COLOURS,
    marks_for as marks_for,
    paint as paint,
    resize_images as resize_images,
    vlm_size as vlm_size,
)
from .palette import (
    BLUE as BLUE,
    FAINT as FAINT,
    INK as INK,
    PAPER as PAPER,
    SKY_BLUE as SKY_BLUE,
    VERMILLION as VERMILLION,
    Colour as Colour,
    colour_of as colour_of,
    css_colour as css_colour,
    ink_on as ink_on,
    jpeg as jpeg,
    matrix_png as matrix_png,
    page_environment as page_environment,
)
from .pyav_reader import open_film as open_film
from .reader import TOLERANCE as TOLERANCE, Film as Film, Frame as Frame, Picture as Picture, Size as Size
from .sampling import (
    CONTEXT_REACH as CONTEXT_REACH,
    Moment as Moment,
    Pictures as Pictures,
    ShotMoments as ShotMoments,
    clips as clips,
    context_shots as context_shots,
    moments_of as moments_of,
    plan_frames as plan_frames,
    published_moments_of as published_moments_of,
)
from .shots import detect_shots_in_pass as detect_shots_in_pass
from .singing import VoiceTimes as VoiceTimes, mark_slots as mark_slots, why_left_empty as why_left_empty
from .slot_records import (
    HandSlots as HandSlots,
    Prepared as Prepared,
    SlotChange as SlotChange,
    apply_hand_slots as apply_hand_slots,
    change_slots as change_slots,
    changes_since as changes_since,
    forget_lost_slots as forget_lost_slots,
    hand_in_both as hand_in_both,
    hand_row as hand_row,
    new_slot as new_slot,
    read_hand_slots as read_hand_slots,
    read_prepared as read_prepared,
    refuse_lost_slots as refuse_lost_slots,
    work_folder_film as work_folder_film,
)
from .slots import (
    BREATH as BREATH,
    HARD_MINIMUM as HARD_MINIMUM,
    credits_interval as credits_interval,
    explain_few_slots as explain_few_slots,
    fixed_slots as fixed_slots,
    free_time as free_time,
    join_intervals as join_intervals,
    may_be_credits as may_be_credits,
    no_line_times as no_line_times,
    plan_slots as plan_slots,
    subtract as subtract,
    word_budget as word_budget,
)
from .speech import (
    HEARING_WEIGHTS as HEARING_WEIGHTS,
    FoundSpeech as FoundSpeech,
    HeardSpeech as HeardSpeech,
    check_inside as check_inside,
    find_speech as find_speech,
    hear_speech as hear_speech,
)
from .subtitle_check import fit_subtitles as fit_subtitles
from .subtitles import (
    Subtitles as Subtitles,
    embedded_track as embedded_track,
    end_of_sound_and_picture as end_of_sound_and_picture,
    read_subtitles as read_subtitles,
)
