"""Shapes of the API for its schema; jobs/shapes.py makes the answers, jobs/jobspec reads the spec."""

from rest_framework import serializers

from core.rest.fields import ZTime
from core.rest.serializers import StrictSerializer
from jobs import states

STATUSES = [(word, word) for word in states.JOB.states]
RUN_STATUSES = [(word, word) for word in states.RUN.states]


class GitSerializer(StrictSerializer):
    """A repository; ``secret`` names a stored token."""

    url = serializers.CharField(max_length=2000)
    ref = serializers.CharField(max_length=255, required=False)
    secret = serializers.CharField(max_length=200, required=False)


class CodeSerializer(StrictSerializer):
    """Exactly one of its fields."""

    inline = serializers.CharField(required=False, help_text="The text of main.py, at most 512 KiB.")
    git = GitSerializer(required=False)
    archive = serializers.CharField(required=False, help_text="The id of an upload.")


class CheckpointsSerializer(StrictSerializer):
    """Where checkpoints are mounted, whether a retry goes on from the last one, how many are kept."""

    path = serializers.CharField(required=False, default="/checkpoints")
    resume = serializers.ChoiceField(["auto", "never"], required=False, default="auto")
    keep_last = serializers.IntegerField(
        min_value=1,
        max_value=10_000,
        required=False,
        help_text="How many complete checkpoints are kept; older ones are removed. All without it.",
    )


class JobSpecSerializer(StrictSerializer):
    """What to train, where, and with what."""

    cluster = serializers.CharField(max_length=64)
    name = serializers.CharField(max_length=100, required=False)
    project = serializers.CharField(max_length=64, required=False, default="default")
    environment = serializers.CharField(max_length=64, required=False)
    code = CodeSerializer(required=False, allow_null=True)
    command = serializers.ListField(child=serializers.CharField(), required=False, max_length=1000)
    replicas = serializers.IntegerField(min_value=1, max_value=100_000, required=False, default=1)
    gpus_per_replica = serializers.IntegerField(min_value=1, max_value=100_000, required=False, default=1)
    processes_per_replica = serializers.IntegerField(min_value=1, max_value=1024, required=False, default=1)
    env = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    secrets = serializers.ListField(child=serializers.CharField(), required=False, max_length=100)
    checkpoints = CheckpointsSerializer(required=False, allow_null=True)
    max_runtime_seconds = serializers.IntegerField(min_value=1, required=False, allow_null=True)
    max_retries = serializers.IntegerField(min_value=0, max_value=100, required=False, default=0)
    priority = serializers.ChoiceField(["low", "normal", "high"], required=False, default="normal")
    tags = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)


class RunSerializer(serializers.Serializer):
    """One attempt: one PyTorchJob object."""

    id = serializers.CharField()
    number = serializers.IntegerField()
    status = serializers.ChoiceField(RUN_STATUSES)
    reason = serializers.CharField(allow_blank=True)
    failure_class = serializers.CharField(allow_null=True)
    exit_code = serializers.IntegerField(allow_null=True)
    started_at = ZTime(allow_null=True)
    finished_at = ZTime(allow_null=True)
    resume_from = serializers.CharField(allow_null=True)
    gpu_seconds = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer):
    """How far it is, read from the log."""

    step = serializers.IntegerField(allow_null=True)
    total_steps = serializers.IntegerField(allow_null=True)
    ratio = serializers.FloatField(allow_null=True)
    eta = ZTime(allow_null=True)


class JobSerializer(serializers.Serializer):
    """A job with all its runs."""

    id = serializers.CharField()
    name = serializers.CharField()
    cluster = serializers.CharField()
    project = serializers.CharField()
    environment = serializers.CharField()
    status = serializers.ChoiceField(STATUSES)
    reason = serializers.CharField(allow_blank=True)
    priority = serializers.ChoiceField(["low", "normal", "high"])
    gpus = serializers.IntegerField()
    queue_position = serializers.IntegerField(allow_null=True)
    estimated_start = ZTime(allow_null=True, help_text="The latest expected start.")
    estimated_start_earliest = ZTime(allow_null=True)
    created_at = ZTime()
    started_at = ZTime(allow_null=True)
    finished_at = ZTime(allow_null=True)
    spec = serializers.DictField()
    runs = RunSerializer(many=True)
    progress = ProgressSerializer()


class PlanSerializer(serializers.Serializer):
    """What a dry run says: nothing is stored."""

    spec = serializers.DictField()
    nodes = serializers.ListField(child=serializers.DictField())
    manifest = serializers.DictField()
    queue_position = serializers.IntegerField(allow_null=True)
    estimated_start = ZTime(allow_null=True)
    estimated_start_earliest = ZTime(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    warnings = serializers.ListField(child=serializers.DictField())


class ResumeSerializer(StrictSerializer):
    """Where to go on; without a checkpoint from the newest complete one."""

    checkpoint = serializers.CharField(max_length=64, required=False, allow_null=True)


class EventSerializer(serializers.Serializer):
    """An entry of the timeline."""

    id = serializers.CharField()
    time = ZTime()
    kind = serializers.CharField()
    actor = serializers.CharField()
    message = serializers.CharField(allow_blank=True)
    run = serializers.CharField(allow_null=True)


class CheckpointSerializer(serializers.Serializer):
    """A checkpoint; only complete ones can be resumed from."""

    id = serializers.CharField()
    run = serializers.CharField()
    step = serializers.IntegerField()
    layout = serializers.CharField()
    key = serializers.CharField()
    bytes = serializers.IntegerField()
    complete = serializers.BooleanField()
    created_at = ZTime()
    metric = serializers.DictField(allow_null=True)
    gone_at = ZTime(allow_null=True)
    backups = serializers.ListField(child=serializers.DictField())


class LineSerializer(serializers.Serializer):
    """A line of a log; ``n`` counts within its run and replica, from 1."""

    n = serializers.IntegerField()
    time = ZTime()
    replica = serializers.CharField()
    text = serializers.CharField(allow_blank=True)


class LogSerializer(serializers.Serializer):
    """Some lines, and the cursor from which to continue."""

    lines = LineSerializer(many=True)
    after = serializers.CharField(allow_null=True)
    complete = serializers.BooleanField()


class EvidenceSerializer(serializers.Serializer):
    """A line of the log."""

    n = serializers.IntegerField()
    replica = serializers.CharField()
    text = serializers.CharField(allow_blank=True)


class FindingSerializer(serializers.Serializer):
    """What went wrong, the lines that show it, and what to do."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(["critical", "warning", "info"])
    title = serializers.CharField()
    evidence = EvidenceSerializer(many=True)
    advice = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # the contract names it so


class MetricsSerializer(serializers.Serializer):
    """Curves by name: step, time, value."""

    metrics = serializers.DictField(child=serializers.ListField(child=serializers.ListField()))


class EnvironmentSerializer(serializers.Serializer):
    """An image that jobs run in."""

    slug = serializers.CharField()
    title = serializers.CharField()
    framework = serializers.CharField()
    version = serializers.CharField()
    cuda = serializers.CharField(allow_null=True)
    sites = serializers.ListField(child=serializers.CharField())
    usable = serializers.BooleanField()
    default = serializers.BooleanField()


class UploadFormSerializer(serializers.Serializer):
    """An archive of code: zip or tar.gz, at most 100 MB."""

    file = serializers.FileField()


class UploadSerializer(serializers.Serializer):
    """An archive as stored."""

    id = serializers.CharField()
    name = serializers.CharField()
    format = serializers.ChoiceField(["zip", "tar.gz"])
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    created_at = ZTime()


class SecretFormSerializer(StrictSerializer):
    """A name and a value that nobody reads back."""

    name = serializers.CharField(max_length=100)
    value = serializers.CharField(max_length=65536, trim_whitespace=False, allow_blank=False, write_only=True)


class SecretSerializer(serializers.Serializer):
    """A secret without its value."""

    name = serializers.CharField()
    created_at = ZTime()
    updated_at = ZTime()


class FileFormSerializer(serializers.Serializer):
    """A file for /data, at most 100 MB."""

    file = serializers.FileField()
    path = serializers.CharField(required=False)


class FileSerializer(serializers.Serializer):
    """A file, or a folder with what is below it summed."""

    name = serializers.CharField()
    path = serializers.CharField()
    kind = serializers.ChoiceField(["file", "folder"])
    bytes = serializers.IntegerField()
    modified_at = ZTime()


class FileListSerializer(serializers.Serializer):
    """A folder; ``cut`` when there was more below it than was looked at."""

    items = FileSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    cut = serializers.BooleanField()
