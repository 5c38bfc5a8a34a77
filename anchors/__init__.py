"""Anchor sets and rubrics shipped as data."""
