from . import (
    alignment as alignment,
    file_maker as file_maker,
    film_lexicon as film_lexicon,
    fitted_takes as fitted_takes,
    kinds as kinds,
    kokoro_voice as kokoro_voice,
    levels as levels,
    mix as mix,
    outputs as outputs,
    own_voices as own_voices,
    player as player,
    programme as programme,
    pronunciation as pronunciation,
    recordings as recordings,
    render as render,
    spoken_lines as spoken_lines,
    spoken_subtitles as spoken_subtitles,
    takes as takes,
    voice_engines as voice_engines,
)
from .checked_takes import (
    Checker as Checker,
    speak_checked as speak_checked,
)
from .kinds import (
    Fitting as Fitting,
    Pause as Pause,
    Spoken as Spoken,
    Take as Take,
)
from .levels import (
    MeasuredSound as MeasuredSound,
)
from .loudness import (
    Loudness as Loudness,
    LoudnessCurve as LoudnessCurve,
)
from .mix import (
    excerpt as excerpt,
    measure_whole as measure_whole,
    place_lines as place_lines,
)
from .outputs import (
    OutputFile as OutputFile,
    Rendered as Rendered,
)
from .programme import (
    Programme as Programme,
    programme_of as programme_of,
)
from .pronunciation import (
    Lexicon as Lexicon,
)
from .render import (
    run_render as run_render,
)
from .spoken_lines import (
    fit_track as fit_track,
)
from .takes import (
    CachingStudio as CachingStudio,
    EstimatingStudio as EstimatingStudio,
    read_lexicon as read_lexicon,
)
from .voice_engines import (
    Speaker as Speaker,
    VoiceInfo as VoiceInfo,
    make_voice as make_voice,
    voices as voices,
)
