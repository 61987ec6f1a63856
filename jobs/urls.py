"""Pages of this app, and what its pods fetch."""

from django.urls import URLPattern, URLResolver, path

from jobs.views import code, data, job, listing, log, submit

app_name = "jobs"
urlpatterns: list[URLPattern | URLResolver] = [
    path("jobs", listing.index, name="list"),
    path("jobs/new", submit.show, name="submit"),
    path("jobs/new/plan", submit.plan, name="plan"),
    path("jobs/<str:job_id>", job.show, name="job"),
    path("jobs/<str:job_id>/live", job.live, name="live"),
    path("jobs/<str:job_id>/log", log.more, name="log"),
    path("jobs/<str:job_id>/log.txt", log.download, name="log-file"),
    path("jobs/<str:job_id>/cancel", job.cancel, name="cancel"),
    path("jobs/<str:job_id>/suspend", job.suspend, name="suspend"),
    path("jobs/<str:job_id>/resume", job.resume, name="resume"),
    path("clusters/<str:cluster_id>/data", data.index, name="data"),
    path("clusters/<str:cluster_id>/data/upload", data.upload, name="data-upload"),
    path("clusters/<str:cluster_id>/data/file", data.download, name="data-file"),
    path("internal/code/<str:ticket>", code.download, name="code"),
]
