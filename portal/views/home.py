"""The first page: what needs attention, then what runs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.views.base import page, signed_in


@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """Show a customer's first page; staff go to the fleet."""
    if request.user.is_staff:
        return redirect("style-guide")
    return customer(request)


@page()
def customer(request: HttpRequest) -> HttpResponse:
    """Show what needs the reader first."""
    return render(request, "portal/home.html", {})
