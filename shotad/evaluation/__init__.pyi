from .assisted_choice import (
    as_json as as_json,
    assist as assist,
    expert_words as expert_words,
    render as render,
)
from .datasets.checking import check_dataset as check_dataset
from .datasets.dataset import Dataset as Dataset
from .datasets.loading import load_dataset as load_dataset
from .human_agreement import agreement as agreement, read_scores as read_scores
from .interrater import (
    Version as Version,
    from_scripts as from_scripts,
    from_table as from_table,
    inter_rater as inter_rater,
    interrater_record as interrater_record,
    interrater_text as interrater_text,
)
from .making_actions import (
    ads_of as ads_of,
    make_actions as make_actions,
    make_maker as make_maker,
    write_actions as write_actions,
)
from .metric import (
    METRICS as METRICS,
    Corpus as Corpus,
    Figure as Figure,
    Item as Item,
    Metric as Metric,
    Result as Result,
    Row as Row,
    make_metric as make_metric,
    score as score,
)
from .predicting.choosing import (
    Bank as Bank,
    Selection as Selection,
    Shard as Shard,
    choose as choose,
    read_bank_of_films as read_bank_of_films,
)
from .predicting.lines import prediction_as_json as prediction_as_json, prediction_text as prediction_text
from .predicting.run import Job as Job, ahead_of as ahead_of, predict as predict
from .report.comparing import (
    check_same_dataset as check_same_dataset,
    compare as compare,
    comparison_text as comparison_text,
    write_comparison as write_comparison,
)
from .report.inputs import ReportInput as ReportInput
from .report.reading import Report as Report, merge as merge, read_report as read_report
from .report.writing import (
    check_folder as check_folder,
    terminal_text as terminal_text,
    write_report as write_report,
)
from .running import (
    WHOLE as WHOLE,
    Inputs as Inputs,
    evaluate as evaluate,
    read_inputs as read_inputs,
    report_input as report_input,
)
from .stage.checking import StageCheck as StageCheck, check_stage as check_stage
from .stage.films import StageFilm as StageFilm, read_stage as read_stage
from .stage.memory import Bm25 as Bm25
from .stage.questions import evaluate_questions as evaluate_questions
from .stage.role_play import evaluate_role_play as evaluate_role_play
from .stage.run import StageRun as StageRun
from .stage.timelines import evaluate_timelines as evaluate_timelines
from .store import MetricContext as MetricContext, Store as Store, kept_file as kept_file
from .thread_figures import TABLE as TABLE, Setup as Setup
from .thread_labels import read_thread_labels as read_thread_labels
from .thread_run import evaluate_threads as evaluate_threads, feature_maker as feature_maker
