"""Every address of the portal: health, REST, sign-in, pages."""

from django.urls import include, path

from accounts.views import preferences
from portal.api.urls import urlpatterns as api_urls
from portal.views import clusters, health, home, search, staff, staff_sites, style_guide

handler400 = "portal.views.errors.bad_request"
handler403 = "portal.views.errors.forbidden"
handler404 = "portal.views.errors.not_found"
handler500 = "portal.views.errors.failed"

urlpatterns = [
    path("livez", health.live, name="livez"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("api/v1/", include((api_urls, "api"))),
    path("account/", include("allauth.urls")),
    path("language", preferences.language, name="language"),
    path("theme", preferences.theme, name="theme"),
    path("_ui/", style_guide.show, name="style-guide"),
    path("", home.home, name="home"),
    path("search", search.show, name="search"),
    path("staff/nodes", staff.nodes, name="staff-nodes"),
    path("staff/sites", staff_sites.index, name="staff-sites"),
    path("staff/sites/new", staff_sites.new, name="staff-site-new"),
    path("staff/sites/<slug:site>", staff_sites.show, name="staff-site"),
    path("staff/sites/<slug:site>/check", staff_sites.check, name="staff-site-check"),
    path("staff/sites/<slug:site>/access", staff_sites.access, name="staff-site-access"),
    path("staff/sites/<slug:site>/active", staff_sites.active, name="staff-site-active"),
    path("staff/orders", staff.orders, name="staff-orders"),
    path("staff/customers", staff.customers, name="staff-customers"),
    path("clusters", clusters.index, name="clusters"),
    path("clusters/<str:cluster_id>", clusters.show, name="cluster"),
    path("clusters/<str:cluster_id>/live", clusters.live, name="cluster-live"),
    path("clusters/<str:cluster_id>/change", clusters.change, name="cluster-change"),
    path("", include("accounts.urls")),
    path("", include("clusters.urls")),
    path("", include("billing.urls")),
    path("", include("jobs.urls")),
]
