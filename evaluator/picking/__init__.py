"""Anchors from one's own traffic: candidates drawn at random, graded twice afresh, reviewed, frozen as a set.

``pick`` is the whole of it and says why no picking score is ever a reference; ``candidates`` draws, ``near`` finds
near-duplicates, ``spread`` shares out, ``grading`` calls the judge through the scorer, ``review`` and ``table`` hold
what a person decides, ``freezing`` writes the set; ``steps`` puts them together for commands.
"""
