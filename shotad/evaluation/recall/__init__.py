"""Recall@k/N: is a prediction most like its own human AD among the neighbours of it?"""
