from .assisted_choice import (
    assisted_json as assisted_json,
    assisted_text as assisted_text,
    choose_assisted as choose_assisted,
)
from .cml import (
    CML_METRICS as CML_METRICS,
    ScriptText as ScriptText,
    adjacent_similarity as adjacent_similarity,
    alignment as alignment,
    central_similarity as central_similarity,
    cml_instruction as cml_instruction,
    cml_text as cml_text,
    creativity as creativity,
    emotional_stability as emotional_stability,
    evaluate_cml as evaluate_cml,
    innovation as innovation,
    mutual_similarity as mutual_similarity,
    originality as originality,
    paired_similarity as paired_similarity,
    read_scripts as read_scripts,
    topic_concentration as topic_concentration,
)
from .datasets.checking import check_dataset as check_dataset, check_text as check_text
from .datasets.dataset import Dataset as Dataset, Shard as Shard
from .datasets.loading import load_dataset as load_dataset
from .interrater import (
    from_scripts as from_scripts,
    from_table as from_table,
    inter_rater as inter_rater,
    interrater_text as interrater_text,
)
from .making_actions import (
    actions_text as actions_text,
    ads_of as ads_of,
    make_actions as make_actions,
    write_actions as write_actions,
)
from .metric import (
    METRICS as METRICS,
    Corpus as Corpus,
    Item as Item,
    Metric as Metric,
    MetricFormula as MetricFormula,
    Result as Result,
    Row as Row,
    make_metric as make_metric,
    score as score,
)
from .predicting.clip import prediction_as_json as prediction_as_json, prediction_text as prediction_text
from .predicting.run import (
    CharacterBanks as CharacterBanks,
    Job as Job,
    choose_clips as choose_clips,
    clips_per_group as clips_per_group,
    predict as predict,
    read_bank_of_films as read_bank_of_films,
)
from .report.comparing import (
    agreement as agreement,
    agreement_text as agreement_text,
    check_same_dataset as check_same_dataset,
    compare as compare,
    comparison_text as comparison_text,
    read_scores as read_scores,
    write_comparison as write_comparison,
)
from .report.records import merge as merge, read_report as read_report
from .report.writing import (
    check_folder as check_folder,
    terminal_text as terminal_text,
    write_report as write_report,
)
from .running import Report as Report, evaluate as evaluate, read_inputs as read_inputs
from .screenplay import (
    Element as Element,
    FilmSigns as FilmSigns,
    Scene as Scene,
    Screenplay as Screenplay,
    described_elements as described_elements,
    make_screenplay as make_screenplay,
    read_cml as read_cml,
    recorded_speech as recorded_speech,
    said_elements as said_elements,
    write_cml as write_cml,
)
from .screenplay_files import read_screenplay as read_screenplay, write_screenplay as write_screenplay
from .stage import (
    StageFilm as StageFilm,
    StageRun as StageRun,
    check_stage as check_stage,
    check_stage_text as check_stage_text,
    read_stage as read_stage,
)
from .stage_tasks import (
    Bm25 as Bm25,
    evaluate_questions as evaluate_questions,
    evaluate_role_play as evaluate_role_play,
    evaluate_timelines as evaluate_timelines,
)
from .steps import (
    StepLabels as StepLabels,
    StepScript as StepScript,
    evaluate_steps as evaluate_steps,
    read_labels as read_labels,
    read_steps as read_steps,
    steps_text as steps_text,
)
from .store import MetricContext as MetricContext, Store as Store, store_file as store_file
from .story import (
    Story as Story,
    estimate_story as estimate_story,
    evaluate_story as evaluate_story,
    lost_questions as lost_questions,
    story_record as story_record,
    story_text as story_text,
    write_story as write_story,
)
from .story_questions import (
    StoryFilm as StoryFilm,
    StoryQuestion as StoryQuestion,
    check_questions as check_questions,
    make_story_questions as make_story_questions,
    read_film as read_film,
    read_films as read_films,
    read_questions as read_questions,
    write_questions as write_questions,
)
from .thread_labels import read_thread_labels as read_thread_labels
from .threads import (
    THREAD_SETUPS as THREAD_SETUPS,
    ThreadSetup as ThreadSetup,
    evaluate_threads as evaluate_threads,
    feature_maker as feature_maker,
    threads_text as threads_text,
)
