"""judgewatch: watches an LLM judge."""
