from . import (
    audio as audio,
    beside as beside,
    colour as colour,
    container as container,
    decoder as decoder,
    description_tracks as description_tracks,
    frame_cache as frame_cache,
    framestore as framestore,
    overlays as overlays,
    palette as palette,
    reader as reader,
    sampling as sampling,
    shots as shots,
    singing as singing,
    slot_records as slot_records,
    slots as slots,
    speech as speech,
    start_code as start_code,
    subtitles as subtitles,
    transcript as transcript,
    web_film as web_film,
)
from .audio import (
    Samples as Samples,
    SoundBlock as SoundBlock,
    SoundFile as SoundFile,
    SoundSeeker as SoundSeeker,
    open_sound as open_sound,
    sound_blocks as sound_blocks,
)
from .container import (
    find_media as find_media,
    probe as probe,
)
from .frame_cache import (
    Frames as Frames,
)
from .overlays import (
    paint as paint,
    resize_images as resize_images,
    vlm_size as vlm_size,
)
from .pyav_reader import (
    open_film as open_film,
)
from .reader import (
    Film as Film,
    Frame as Frame,
    Picture as Picture,
)
from .sampling import (
    Pictures as Pictures,
    clips as clips,
    context_shots as context_shots,
    moments_of as moments_of,
    plan_frames as plan_frames,
)
from .shots import (
    detect_shots_in_pass as detect_shots_in_pass,
)
from .singing import (
    VoiceTimes as VoiceTimes,
    mark_slots as mark_slots,
)
from .slot_records import (
    HandSlots as HandSlots,
    Prepared as Prepared,
    SlotChange as SlotChange,
    read_prepared as read_prepared,
)
from .slots import (
    free_time as free_time,
    plan_slots as plan_slots,
    word_budget as word_budget,
)
from .speech import (
    FilmSpeech as FilmSpeech,
    SoundSpeech as SoundSpeech,
    choose_speech as choose_speech,
    detect_speech as detect_speech,
)
from .subtitle_check import (
    are_in_silence as are_in_silence,
    fit_subtitles as fit_subtitles,
)
from .subtitles import (
    Subtitles as Subtitles,
    read_subtitles as read_subtitles,
)
