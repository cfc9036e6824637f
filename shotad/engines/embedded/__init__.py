"""The narrator's grammar: measured facts become statements, statements become one English sentence.

``words`` inflects and counts, ``naming`` knows how people with names are spoken of, ``quotes`` makes text on
screen speakable, ``phrases`` holds the wordings, ``statements`` turns facts into scored statements,
``memory`` knows what was said already, ``sentence`` plans and realises, ``extract`` shortens a description
that a model wrote. All of it is pure.
"""
