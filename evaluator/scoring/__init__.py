"""Grading: what a run takes (``sampler``), what it may spend (``budget``), a run (``runner``), when (``schedule``)."""
