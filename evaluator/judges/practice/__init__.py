"""The practice judge: a small OpenAI-compatible server that grades by the look of the text, for demos and tests.

It is for practice, not for judging: it reads no meaning and checks no facts. ``judgewatch demo`` runs against it as a
separate process, over HTTP, like against any other judge. ``control.PracticeJudge`` starts and steers it, ``grading``
holds how it scores, ``server`` how it answers. Nothing is imported here, so that naming the package costs nothing.
"""
