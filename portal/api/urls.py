"""REST paths of all apps and the schema."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from accounts.api.urls import urlpatterns as accounts_urls
from billing.api.urls import urlpatterns as billing_urls
from clusters.api.urls import urlpatterns as clusters_urls
from core.rest import views
from jobs.api.urls import urlpatterns as jobs_urls
from portal.views import api_docs

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", api_docs.show, name="docs"),
    *accounts_urls,
    *clusters_urls,
    *billing_urls,
    *jobs_urls,
    path("<path:rest>", views.NothingHere.as_view()),
]
