"""Pages of this app, and what its pods fetch."""

from django.urls import URLPattern, URLResolver, path

from jobs.views import code

app_name = "jobs"
urlpatterns: list[URLPattern | URLResolver] = [
    path("internal/code/<str:ticket>", code.download, name="code"),
]
