"""REST paths of this app, below /api/v1/."""

from django.urls import URLPattern, URLResolver, path

from accounts.api import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("me", views.MeView.as_view(), name="me"),
    path("tokens", views.TokensView.as_view(), name="tokens"),
    path("tokens/<str:token_id>", views.TokenView.as_view(), name="token"),
    path("projects", views.ProjectsView.as_view(), name="projects"),
    path("audit", views.AuditView.as_view(), name="audit"),
    path("notifications", views.NotificationsView.as_view(), name="notifications"),
]
