"""Benchmarks of the statistics on simulated streams of judge scores."""
