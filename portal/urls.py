"""Every address of the portal: health, REST, sign-in, pages."""

from django.urls import include, path

from accounts.views import preferences
from portal.api.urls import urlpatterns as api_urls

urlpatterns = [
    path("api/v1/", include((api_urls, "api"))),
    path("account/", include("allauth.urls")),
    path("language", preferences.language, name="language"),
    path("theme", preferences.theme, name="theme"),
    path("", include("accounts.urls")),
    path("", include("clusters.urls")),
    path("", include("billing.urls")),
    path("", include("jobs.urls")),
]
