"""What a run prints and costs: blocks of log lines, points of its curves, hours of GPU time."""

from django.db import models

from jobs.models.job import Job, Run


class LogStream(models.Model):
    """How far the log of one replica has been collected; ``parser`` is where its reading goes on."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="streams", db_index=False)
    replica = models.CharField(max_length=20)  # master-0, worker-0, …
    cursor = models.CharField(max_length=200, blank=True)
    lines = models.BigIntegerField(default=0)
    parser = models.JSONField(default=dict)
    complete = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "replica"], name="log_stream_once")]


class LogBlock(models.Model):
    """A piece of a log on the storage: lines ``first`` to ``first + lines - 1``, counted from 1."""

    stream = models.ForeignKey(LogStream, models.CASCADE, related_name="blocks", db_index=False)
    first = models.BigIntegerField()
    lines = models.BigIntegerField()
    bytes = models.BigIntegerField()
    key = models.CharField(max_length=200)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "first"], name="log_block_once")]


class MetricPoint(models.Model):
    """One point of a curve that was read from the log."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="points", db_index=False)
    name = models.CharField(max_length=40)
    step = models.BigIntegerField()
    at = models.DateTimeField()
    value = models.FloatField(null=True)  # null: not a number

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name", "step"], name="metric_point_once")]


class RunHour(models.Model):
    """GPU time of a run within one hour; computing it again gives the same row."""

    organisation = models.ForeignKey("accounts.Organisation", models.PROTECT, related_name="+")
    job = models.ForeignKey(Job, models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, models.PROTECT, related_name="hours", db_index=False)
    hour = models.DateTimeField()
    gpu_seconds = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "hour"], name="run_hour_once")]
        indexes = [models.Index(fields=["organisation", "hour"], name="run_hour_by_org")]
