"""The action score: is what happens told, whoever does it? (Shot-by-Shot, section 4.2.)

`told` is what a prediction says: its sentences and its action phrases, each phrase with its verb. `paper` and
`code` are two ways to take them from a text, `scoring` holds human actions against them, `metrics` is the
metric, `by_rule` takes actions from human ADs where no engine does.
"""
