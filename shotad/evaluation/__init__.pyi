from .agreements.agreement import agreement as agreement
from .agreements.interrater import inter_rater as inter_rater
from .agreements.interrater_text import (
    interrater_record as interrater_record,
    interrater_text as interrater_text,
)
from .agreements.scores import read_scores as read_scores
from .agreements.versions import (
    Version as Version,
    at_rate as at_rate,
    from_scripts as from_scripts,
    from_table as from_table,
)
from .assisted.protocol import assist as assist
from .assisted.table import as_json as as_json, expert_words as expert_words, render as render
from .datasets.ads import Dataset as Dataset
from .datasets.checking import check_dataset as check_dataset
from .datasets.loading import load_dataset as load_dataset
from .making.comparing import actions_in as actions_in, compare_actions as compare_actions
from .making.makers import make_maker as make_maker
from .making.making import make_actions as make_actions, write_actions as write_actions
from .making.sources import ads_of as ads_of
from .measure.bench import Bench as Bench
from .measure.items import Corpus as Corpus
from .measure.rows import Result as Result
from .measure.store import Store as Store, kept_file as kept_file
from .predicting.casts import Bank as Bank, read_bank_of_films as read_bank_of_films
from .predicting.choosing import Shard as Shard, Wanted as Wanted, choose as choose
from .predicting.run import Job as Job, predict as predict
from .predicting.summary import prediction_as_json as prediction_as_json, prediction_text as prediction_text
from .predicting.waiting import ahead_of as ahead_of
from .report.comparing import check_same_dataset as check_same_dataset, compare as compare
from .report.comparison_text import comparison_text as comparison_text, write_comparison as write_comparison
from .report.inputs import ReportInput as ReportInput
from .report.merging import merge as merge
from .report.reading import Report as Report, read_report as read_report
from .report.terminal import terminal_text as terminal_text
from .report.writing import check_folder as check_folder, write_report as write_report
from .running import (
    WHOLE as WHOLE,
    Inputs as Inputs,
    evaluate as evaluate,
    read_inputs as read_inputs,
    report_input as report_input,
)
from .threads.evaluating import evaluate_threads as evaluate_threads, feature_maker as feature_maker
from .threads.labels import read_thread_labels as read_thread_labels
from .threads.results import TABLE as TABLE, Setup as Setup
