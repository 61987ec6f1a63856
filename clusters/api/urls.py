"""REST paths of this app, below /api/v1/."""

from django.urls import URLPattern, URLResolver, path

from clusters.api import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("sites", views.SitesView.as_view(), name="sites"),
    path("gpu-models", views.GpuModelsView.as_view(), name="gpu-models"),
    path("availability", views.AvailabilityView.as_view(), name="availability"),
    path("clusters", views.ClustersView.as_view(), name="clusters"),
    path("clusters/<str:pk>", views.ClusterView.as_view(), name="cluster"),
]
