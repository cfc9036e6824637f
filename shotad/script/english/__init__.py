"""English as AD writes it: the verbs and their forms, the nouns that look like them, the small words.

Word lists and no parser: lines are taken apart in every run, and the core brings no model for it; lists are
quick and say the same of the same line for ever. They were gathered by hand and tried on human AD.

`smallwords` has the classes that no new word joins, `verbs` the verbs and their one inflection, `nouns` what
stands in a noun phrase, `needs` what a verb wants after it.
"""
