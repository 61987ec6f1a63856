"""The job spec of the API: ``parse`` reads JSON, ``to_dict`` writes it, ``fits`` and ``warnings`` judge."""

from jobs.jobspec.advice import SpecWarning, warnings
from jobs.jobspec.reader import parse
from jobs.jobspec.types import Archive, Checkpoints, Git, Inline, JobSpec, fits, to_dict

__all__ = [
    "Archive",
    "Checkpoints",
    "Git",
    "Inline",
    "JobSpec",
    "SpecWarning",
    "fits",
    "parse",
    "to_dict",
    "warnings",
]
