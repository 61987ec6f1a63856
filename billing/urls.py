"""Pages of this app, and Stripe's door."""

from django.urls import URLPattern, URLResolver, path

from billing.views import pay, stripe_webhook

app_name = "billing"
urlpatterns: list[URLPattern | URLResolver] = [
    path("orders/<str:order_id>/pay", pay.show, name="pay"),
    path("orders/<str:order_id>/pay/check", pay.check, name="pay-check"),
    path("stripe/webhook", stripe_webhook.receive, name="stripe-webhook"),
]
