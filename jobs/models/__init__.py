"""Rows of training: jobs, their runs, and what comes out of them."""

from jobs.models.checkpoint import Checkpoint
from jobs.models.environment import Environment, Secret, Upload
from jobs.models.job import Job, JobEvent, Run
from jobs.models.output import LogBlock, LogStream, MetricPoint, RunHour

__all__ = [
    "Checkpoint",
    "Environment",
    "Job",
    "JobEvent",
    "LogBlock",
    "LogStream",
    "MetricPoint",
    "Run",
    "RunHour",
    "Secret",
    "Upload",
]
