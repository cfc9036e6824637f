"""Predictions as they come from files, and how they are joined to a dataset: by id, never by row."""

from __future__ import annotations

from shotad.evaluation.predictions.records import Prediction, PredictionRow, Predictions

__all__ = ["Prediction", "PredictionRow", "Predictions"]
