from . import (
    features as features,
    published_checkpoint as published_checkpoint,
    scale_data as scale_data,
    scale_net as scale_net,
    threads as threads,
    vit_features as vit_features,
)
from .cache import (
    ClipReader as ClipReader,
    GrammarCache as GrammarCache,
    GrammarModels as GrammarModels,
    ShotSample as ShotSample,
    grammar_of as grammar_of,
    pair_rows as pair_rows,
    read_grammar_rows as read_grammar_rows,
    sample_rows as sample_rows,
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
from .scale_training import (
    TrainingResult as TrainingResult,
    evaluate_scale as evaluate_scale,
    train_scale as train_scale,
)
from .threads import (
    FramePosition as FramePosition,
    matching_of as matching_of,
    positions_for as positions_for,
    shot_scores as shot_scores,
    threads_of as threads_of,
    whole_scores as whole_scores,
)
from .training_loop import (
    end_process as end_process,
)
from .training_records import (
    ScaleScores as ScaleScores,
    published_comparison as published_comparison,
    scores_by_class as scores_by_class,
)
from .training_settings import (
    ScaleTraining as ScaleTraining,
)
