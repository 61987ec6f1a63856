"""REST paths of this app, below /api/v1/."""

from django.urls import URLPattern, URLResolver, path

from jobs.api import files, inputs, jobs, outputs

urlpatterns: list[URLPattern | URLResolver] = [
    path("environments", inputs.EnvironmentsView.as_view(), name="environments"),
    path("uploads", inputs.UploadsView.as_view(), name="uploads"),
    path("secrets", inputs.SecretsView.as_view(), name="secrets"),
    path("secrets/<str:name>", inputs.SecretView.as_view(), name="secret"),
    path("clusters/<str:cluster_id>/files", files.FilesView.as_view(), name="files"),
    path("clusters/<str:cluster_id>/files/content", files.FileContentView.as_view(), name="file-content"),
    path("jobs", jobs.JobsView.as_view(), name="jobs"),
    path("jobs/<str:job_id>", jobs.JobView.as_view(), name="job"),
    path("jobs/<str:job_id>/cancel", jobs.CancelView.as_view(), name="job-cancel"),
    path("jobs/<str:job_id>/suspend", jobs.SuspendView.as_view(), name="job-suspend"),
    path("jobs/<str:job_id>/resume", jobs.ResumeView.as_view(), name="job-resume"),
    path("jobs/<str:job_id>/logs", outputs.LogsView.as_view(), name="job-logs"),
    path("jobs/<str:job_id>/events", outputs.EventsView.as_view(), name="job-events"),
    path("jobs/<str:job_id>/checkpoints", outputs.CheckpointsView.as_view(), name="job-checkpoints"),
    path("jobs/<str:job_id>/findings", outputs.FindingsView.as_view(), name="job-findings"),
    path("jobs/<str:job_id>/metrics", outputs.MetricsView.as_view(), name="job-metrics"),
]
