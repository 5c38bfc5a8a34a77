"""``[limits]``: levels of quality that people have promised, beyond which they want to be told."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from evaluator.config.base import Section

_EXAMPLE = "'topic=billing', or two crossed as 'topic=billing * language=de'"


class ShareLimitConfig(Section):
    """At most this share of answers may score at or under a level."""

    level: float
    share: float = Field(gt=0, lt=1)


class _Limits(Section):
    """The limits that all answers, or those of a segment, can have."""

    mean_under: float | None = None
    share_at_or_under: ShareLimitConfig | None = None
    unscored_share: float | None = Field(default=None, gt=0, lt=1)

    def own(self) -> list[dict[str, Any]]:
        """Those that are set: kind, bound, and the level that a share is counted at."""
        rows: list[dict[str, Any]] = []
        if self.mean_under is not None:
            rows.append({"kind": "mean_under", "bound": self.mean_under, "level": None})
        if self.share_at_or_under is not None:
            share = self.share_at_or_under
            rows.append({"kind": "share_at_or_under", "bound": share.share, "level": share.level})
        if self.unscored_share is not None:
            rows.append({"kind": "unscored_share", "bound": self.unscored_share, "level": None})
        return rows


class SegmentLimitConfig(_Limits):
    """Limits of one segment."""

    segment: str

    @field_validator("segment")
    @classmethod
    def _names_a_segment(cls, value: str) -> str:
        parts = [part.strip().partition("=") for part in value.split("*")]
        if len(parts) > 2 or not all(key.strip() and sign for key, sign, _ in parts):
            raise ValueError(f"name a segment like {_EXAMPLE}")
        return value

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if not self.own():
            raise ValueError("a limit is missing; set mean_under, share_at_or_under or unscored_share")
        return self


class LimitsConfig(_Limits):
    """``[limits]``: of all answers, and of single segments."""

    segments: tuple[SegmentLimitConfig, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def _each_segment_once(self) -> Self:
        names = [each.segment for each in self.segments]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"limits.segments names {', '.join(twice)} more than once; put its limits into one entry")
        return self

    def listed(self) -> list[dict[str, Any]]:
        """Every limit: kind, bound, level, and the segment as it is written, "" for all answers."""
        rows = [{**row, "segment": ""} for row in self.own()]
        return rows + [{**row, "segment": each.segment} for each in self.segments for row in each.own()]
