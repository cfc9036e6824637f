from . import (
    assisted_choice as assisted_choice,
    cml as cml,
    datasets as datasets,
    interrater as interrater,
    making_actions as making_actions,
    metric as metric,
    model_work as model_work,
    screenplay as screenplay,
    screenplay_files as screenplay_files,
    stage as stage,
    stage_estimate as stage_estimate,
    steps as steps,
    store as store,
    story as story,
    story_questions as story_questions,
    thread_annotations as thread_annotations,
    thread_labels as thread_labels,
    threads as threads,
)
from .cml import (
    evaluate_cml as evaluate_cml,
)
from .datasets.dataset import (
    Dataset as Dataset,
    Shard as Shard,
)
from .datasets.dataset_check import (
    check_dataset as check_dataset,
    check_text as check_text,
)
from .datasets.dataset_loader import (
    load_dataset as load_dataset,
)
from .datasets.published_grammar import (
    read_published_grammar as read_published_grammar,
)
from .evaluation_run import (
    Report as Report,
    english_only_warning as english_only_warning,
    estimate_evaluation as estimate_evaluation,
    evaluate as evaluate,
    read_inputs as read_inputs,
)
from .interrater import (
    inter_rater as inter_rater,
)
from .making_actions import (
    make_actions as make_actions,
)
from .metric import (
    JUDGE_FAILED as JUDGE_FAILED,
    METRICS as METRICS,
    Corpus as Corpus,
    Item as Item,
    Metric as Metric,
    Result as Result,
    Row as Row,
    make_metric as make_metric,
    score as score,
)
from .predicting.character_banks import (
    read_bank_of_films as read_bank_of_films,
)
from .predicting.clip import (
    prediction_as_json as prediction_as_json,
    prediction_text as prediction_text,
)
from .predicting.gpus import (
    chosen_gpus as chosen_gpus,
    predict_on_gpus as predict_on_gpus,
)
from .predicting.job import (
    Job as Job,
)
from .predicting.run import (
    choose_clips as choose_clips,
    predict as predict,
)
from .predictions import (
    join as join,
    read_predictions as read_predictions,
)
from .published_predictions import (
    our_lines as our_lines,
    published_table as published_table,
)
from .report.comparison import (
    agreement as agreement,
    agreement_text as agreement_text,
    check_same_dataset as check_same_dataset,
    compare as compare,
    comparison_text as comparison_text,
    read_scores as read_scores,
    write_comparison as write_comparison,
)
from .report.records import (
    merge as merge,
    read_report as read_report,
)
from .report.report_files import (
    check_folder as check_folder,
    terminal_text as terminal_text,
    write_report as write_report,
)
from .screenplay import (
    Screenplay as Screenplay,
    make_screenplay as make_screenplay,
)
from .screenplay_files import (
    read_screenplay as read_screenplay,
)
from .stage_questions import (
    evaluate_questions as evaluate_questions,
)
from .stage_tasks import (
    evaluate_role_play as evaluate_role_play,
    evaluate_timelines as evaluate_timelines,
)
from .steps import (
    evaluate_steps as evaluate_steps,
)
from .store import (
    MetricContext as MetricContext,
    Store as Store,
)
from .story import (
    Story as Story,
    evaluate_story as evaluate_story,
)
from .threads import (
    evaluate_threads as evaluate_threads,
)
