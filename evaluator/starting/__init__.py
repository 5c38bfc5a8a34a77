"""The first configuration: what it says, what it will cost, and what will be visible with it.

``choices`` are the answers to the first questions, ``text`` writes them down as ``judgewatch.toml``, ``placing`` puts
the file where it belongs, ``schedules`` reads "daily at 06:00", ``forecast`` tells cost and sensitivity before the
first call. ``own_prompt`` fills in what a prompt of one's own says itself, which ``examples``, ``scales`` and
``score_places`` read off it. Nothing here asks or prints anything.
"""
