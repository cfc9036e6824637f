from .cache import (
    ClipReader as ClipReader,
    Readers as Readers,
    ShotSample as ShotSample,
    book_of as book_of,
    grammar_of as grammar_of,
    look_rows as look_rows,
    pair_rows as pair_rows,
    threshold_of as threshold_of,
)
from .choices import (
    auto_choice as auto_choice,
    make_feature_maker as make_feature_maker,
    make_scale_reader as make_scale_reader,
    scale_weights as scale_weights,
)
from .features import (
    MODELS as MODELS,
    RADIUS as RADIUS,
    TEMPERATURE as TEMPERATURE,
    FeatureMaker as FeatureMaker,
    Features as Features,
)
from .scale_training import Outcome as Outcome, train_scale as train_scale
from .threads import (
    Kinds as Kinds,
    Matching as Matching,
    Place as Place,
    matching_of as matching_of,
    places as places,
    shot_scores as shot_scores,
    threads_of as threads_of,
    whole_scores as whole_scores,
)
from .training_loop import end_process as end_process
from .training_records import beside_published as beside_published, by_class as by_class
from .training_settings import ScaleTraining as ScaleTraining
