"""Reasons as codes, so that each reader gets them in his language; what a run holds, and until when."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("jobs", "0001_initial")]

    operations = [
        migrations.RemoveField("job", "reason"),
        migrations.AddField("job", "why", models.JSONField(null=True)),
        migrations.RemoveField("run", "reason"),
        migrations.AddField("run", "why", models.JSONField(null=True)),
        migrations.AddField("run", "cause", models.CharField(default="submit", max_length=10)),
        migrations.AddField("run", "stop_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("run", "holds", models.BooleanField(default=False)),
        migrations.RemoveField("jobevent", "message"),
        migrations.AddField("jobevent", "values", models.JSONField(default=dict)),
        migrations.AddIndex(
            "run", models.Index(condition=models.Q(("holds", True)), fields=["cluster"], name="run_holding")
        ),
        migrations.RemoveIndex("run", "run_uncollected"),
        migrations.AddIndex(
            "run",
            models.Index(
                condition=models.Q(("collected", False), ("launched_at__isnull", False)),
                fields=["id"],
                name="run_uncollected",
            ),
        ),
    ]
