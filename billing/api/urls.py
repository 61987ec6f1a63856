"""REST paths of this app, below /api/v1/."""

from django.urls import URLPattern, URLResolver, path

from billing.api import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("node-types", views.NodeTypesView.as_view(), name="node-types"),
    path("quotes", views.QuotesView.as_view(), name="quotes"),
    path("quotes/<str:quote_id>", views.QuoteView.as_view(), name="quote"),
    path("orders", views.OrdersView.as_view(), name="orders"),
    path("orders/<str:order_id>", views.OrderView.as_view(), name="order"),
    path("orders/<str:order_id>/cancel", views.CancelOrderView.as_view(), name="order-cancel"),
    path("orders/<str:order_id>/payments", views.PaymentsView.as_view(), name="order-payments"),
    path("invoices", views.InvoicesView.as_view(), name="invoices"),
    path("invoices/<str:invoice_id>", views.InvoiceView.as_view(), name="invoice"),
]
