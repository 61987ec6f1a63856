"""Curves out of training logs: one row of a table per producer, a parser whose state survives a restart."""

from jobs.logparse.parser import Parser, Point, Progress

__all__ = ["Parser", "Point", "Progress"]
