"""Pages of this app, and Stripe's door."""

from django.urls import URLPattern, URLResolver, path

from billing.views import documents, orders, pay, rent, stripe_webhook

app_name = "billing"
urlpatterns: list[URLPattern | URLResolver] = [
    path("catalogue", rent.public, name="catalogue"),
    path("rent", rent.show, name="rent"),
    path("rent/quote", rent.quote, name="rent-quote"),
    path("orders", orders.index, name="orders"),
    path("orders/<str:order_id>", orders.show, name="order"),
    path("orders/<str:order_id>/live", orders.live, name="order-live"),
    path("orders/<str:order_id>/payments", orders.pay, name="order-pay"),
    path("orders/<str:order_id>/cancel", orders.cancel, name="order-cancel"),
    path("orders/<str:order_id>/pay", pay.show, name="pay"),
    path("orders/<str:order_id>/pay/check", pay.check, name="pay-check"),
    path("invoices", documents.index, name="invoices"),
    path("invoices/<str:invoice_id>", documents.show, name="invoice"),
    path("stripe/webhook", stripe_webhook.receive, name="stripe-webhook"),
]
