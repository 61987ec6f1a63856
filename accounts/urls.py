"""Pages of this app."""

from django.urls import URLPattern, URLResolver, path

from accounts.views import preferences

app_name = "accounts"
urlpatterns: list[URLPattern | URLResolver] = [
    path("organisation/switch", preferences.switch, name="switch"),
]
