"""Measurements, one file each; they print `name ratio detail` and are no tests."""
