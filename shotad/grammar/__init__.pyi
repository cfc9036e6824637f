from .base import (
    RADIUS as RADIUS,
    TEMPERATURE as TEMPERATURE,
    FeatureMaker as FeatureMaker,
    Features as Features,
)
from .cache import (
    Look as Look,
    book_of as book_of,
    grammar_of as grammar_of,
    look_rows as look_rows,
    pair_rows as pair_rows,
)
from .clipwise import ClipReader as ClipReader, Sweep as Sweep
from .dino_models import MODELS as MODELS
from .features import auto_choice as auto_choice, make_feature_maker as make_feature_maker
from .reading import Readers as Readers, moments_read as moments_read, threshold_of as threshold_of
from .scale import make_scale_reader as make_scale_reader, scale_weights as scale_weights
from .threads import (
    Place as Place,
    ShotFeatures as ShotFeatures,
    places as places,
    shot_scores as shot_scores,
    threads_of as threads_of,
    whole_scores as whole_scores,
)
from .threads_match import Matching as Matching
from .training.distributed import end_process as end_process
from .training.scale import Outcome as Outcome, train_scale as train_scale
from .training.scores import beside_published as beside_published, by_class as by_class
from .training.settings import ScaleTraining as ScaleTraining
