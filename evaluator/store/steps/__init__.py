"""The steps of the schema, a module each. Steps that were released are never edited; a change is the next one.

Times are UTC ISO-8601 text, days are calendar days of the store's zone (``meta.zone``). Three times never mix:
``answered_utc`` (of the answer), ``slot_utc`` (the run's scheduled instant), ``graded_utc`` (wall clock of the call).
"""

from __future__ import annotations

from evaluator.store.steps.m001_first_schema import m001_first_schema
from evaluator.store.steps.m002_run_totals import m002_run_totals
from evaluator.store.steps.m003_first_hour import m003_first_hour
from evaluator.store.steps.m004_accepted_baselines import m004_accepted_baselines

STEPS = (
    m001_first_schema,
    m002_run_totals,
    m003_first_hour,
    m004_accepted_baselines,
)
