-- Everything there is, row by row, for exports. Read through a cursor: nothing is held whole.

-- name: verdicts(app, first_day, last_day)
-- Every verdict with its run, its judge setup and what answered. The day is that of the answer, for anchors of the run.
-- What a recheck or a pick gave stands aside: mixed with the others it would enter means.
SELECT v.item_id, i.source, i.external_id, n.anchor_id,
    CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE i.answered_day END AS day, i.answered_utc,
    r.slot_utc, r.run_id, r.status AS run_status, a.position AS setup, v.ruler_id, u.model_asked, b.name AS rubric,
    v.criterion, b.scale_min, b.scale_max, v.score, n.expected_score, v.unscored_reason, v.explanation,
    v.strengths_json AS strengths, v.weaknesses_json AS weaknesses, v.detail, v.raw_reply, p.inclusion_probability,
    t.resolved_model, t.fingerprint, t.output_mode, v.finish_reason, v.prompt_cut, v.latency_ms, v.prompt_tokens,
    v.completion_tokens, v.cost_usd, v.graded_utc
FROM verdicts v
JOIN items i ON i.item_id = v.item_id
JOIN runs r ON r.run_id = v.run_id
JOIN rulers u ON u.ruler_id = v.ruler_id
JOIN rubrics b ON b.rubric_id = u.rubric_id
JOIN app_rulers a ON a.app = v.app AND a.ruler_id = v.ruler_id
LEFT JOIN instruments t ON t.instrument_id = v.instrument_id
LEFT JOIN planned_items p ON p.run_id = v.run_id AND p.item_id = v.item_id
LEFT JOIN anchors n ON n.anchor_set_id = r.anchor_set_id AND n.item_id = v.item_id
WHERE v.app = :app AND r.purpose NOT IN ('recheck', 'pick')
    AND (CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE coalesce(i.answered_day, :first_day) END) >= :first_day
    AND (CASE WHEN i.source = 'anchor' THEN r.slot_day ELSE coalesce(i.answered_day, :first_day) END) <= :last_day
ORDER BY v.verdict_id;

-- name: items(app, first_day, last_day)
-- Every answer and anchor with its texts; what has no day is in every period. Copies for a recheck are left out.
SELECT item_id, source, external_id, version, answered_utc, answered_day AS day, conversation_id, user_id,
    answer_model AS model, input, output, reference, contexts_json AS contexts, flags, content_id
FROM items
WHERE app = :app AND version > 0 AND coalesce(answered_day, :first_day) >= :first_day AND coalesce(answered_day, :first_day) <= :last_day
ORDER BY source, answered_day, sample_key, item_id;
