"""The REST contract of money: shapes, statuses, rights, repeats."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from billing.models import Order, Quote
from tests.support import people, shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    return shop.open_shop(tiers=True, tax=True)


@pytest.fixture
def api(place):
    return people.api(place.owner)


def wanted(place, **more):
    return {
        "node_type": place.node_type.slug,
        "site": place.site.slug,
        "nodes": 2,
        "term": {"unit": "day", "count": 1},
        **more,
    }


def quoted(api, place, **more):
    answer = api.post("/api/v1/quotes", wanted(place, **more))
    assert answer.status_code == 201, answer.content
    return answer.json()


def ordered(api, quote, **payment):
    return api.post("/api/v1/orders", {"quote": quote["id"], "payment": {"method": "test", **payment}})


def test_node_types_show_prices_and_sites(api, place):
    items = api.get("/api/v1/node-types").json()["items"]
    item = next(each for each in items if each["slug"] == place.node_type.slug)
    assert item["id"] == place.node_type.pk
    assert item["gpu_model"]["slug"] == place.node_type.gpu_model.slug
    assert item["gpu_model"]["bf16_tflops"] == 989
    assert item["gpu_model"]["fp8_tflops"] is None
    assert item["sites"] == [place.site.slug]
    assert item["prices"][0] == {
        "unit": "day",
        "per_node": {"amount": shop.AMOUNTS["day"], "currency": "CNY"},
        "per_gpu_hour": {"amount": 2304, "currency": "CNY"},
    }
    assert [price["unit"] for price in item["prices"]] == ["day", "month", "year"]
    dollars = api.get("/api/v1/node-types?currency=USD").json()["items"][0]
    assert dollars["prices"][0]["per_gpu_hour"] == {"amount": 320, "currency": "USD"}
    assert api.get("/api/v1/node-types?currency=EUR").status_code == 422


def test_a_quote_as_the_contract_has_it(api, place):
    body = quoted(api, place, term={"unit": "day", "count": 45})
    assert body["kind"] == "new"
    assert sum(line["amount"]["amount"] for line in body["lines"]) == body["total"]["amount"]
    assert body["total"]["amount"] == (
        body["subtotal"]["amount"] - body["discount"]["amount"] + body["tax"]["amount"]
    )
    assert body["starts_at"].endswith("Z")
    assert body["expires_at"].endswith("Z")
    assert body["cheaper"]["term"]["unit"] == "month"
    assert body["cheaper"]["reason"]
    again = quoted(api, place, term=body["cheaper"]["term"])
    assert again["total"] == body["cheaper"]["total"]
    assert api.get(f"/api/v1/quotes/{body['id']}").json() == body


def test_faults_of_a_quote_are_named(api, place):
    answer = api.post("/api/v1/quotes", wanted(place, nodes=0, color="red"))
    assert answer.status_code == 422
    assert answer["Content-Type"].startswith("application/problem+json")
    assert answer.json()["code"] == "invalid"
    assert ("color", "unknown_field") in {(e["field"], e["code"]) for e in answer.json()["errors"]}
    answer = api.post("/api/v1/quotes", wanted(place, nodes=10**30, site="x"))
    assert {(e["field"], e["code"]) for e in answer.json()["errors"]} == {
        ("nodes", "max"),
        ("site", "unknown"),
    }


def test_an_order_is_paid_fulfilled_and_invoiced(api, place):
    quote = quoted(api, place)
    answer = ordered(api, quote)
    body = answer.json()
    assert answer.status_code == 201
    assert body["status"] == "fulfilled"
    assert body["quote"] == quote["id"]
    assert body["cluster"].startswith("clu_")
    assert body["payment"]["status"] == "succeeded"
    assert "client_secret" not in body["payment"]
    assert api.get(f"/api/v1/orders/{body['id']}").json() == body
    assert api.get("/api/v1/orders").json()["items"] == [body]
    assert api.get("/api/v1/orders?status=pending").json()["items"] == []
    invoice = api.get("/api/v1/invoices").json()["items"][0]
    assert api.get(f"/api/v1/invoices/{invoice['id']}").json() == invoice
    assert invoice["order"] == body["id"]
    assert invoice["status"] == "paid"
    assert invoice["amount_due"]["amount"] == 0
    strip = ("period_start", "period_end")
    lines = [{k: v for k, v in line.items() if k not in strip} for line in invoice["lines"]]
    assert lines == quote["lines"]
    assert api.get(f"/api/v1/quotes/{quote['id']}").json()["order"] == body["id"]


def test_declined_then_tried_again(api, place):
    body = ordered(api, quoted(api, place), outcome="declined").json()
    assert (body["status"], body["payment"]["status"]) == ("pending", "failed")
    assert "Your hold stays" in body["payment"]["failure"]
    assert body["hold_expires_at"]
    again = api.post(f"/api/v1/orders/{body['id']}/payments", {"method": "test"})
    assert again.status_code == 201
    assert again.json()["status"] == "fulfilled"
    late = api.post(f"/api/v1/orders/{body['id']}/payments", {"method": "test"})
    assert (late.status_code, late.json()["code"], late.json()["state"]) == (
        409,
        "invalid_state",
        "fulfilled",
    )


def test_cancel(api, place):
    body = ordered(api, quoted(api, place), outcome="declined").json()
    done = api.post(f"/api/v1/orders/{body['id']}/cancel")
    assert (done.status_code, done.json()["status"]) == (200, "cancelled")
    paid = ordered(api, quoted(api, place)).json()
    refused = api.post(f"/api/v1/orders/{paid['id']}/cancel", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid_state")


def test_sold_out_and_expired_and_accepted(api, place):
    first = quoted(api, place, nodes=4)
    second = quoted(api, place)
    assert ordered(api, first).status_code == 201
    answer = ordered(api, second).json()
    assert answer["code"] == "sold_out"
    assert answer["next_start"].endswith("Z")
    assert ordered(api, first).json()["code"] == "quote_accepted"
    Quote.objects.filter(pk=second["id"]).update(expires_at=timezone.now())
    answer = ordered(api, second)
    assert (answer.status_code, answer.json()["code"]) == (409, "quote_expired")


def test_the_same_key_is_the_same_order(api, place):
    body = {"quote": quoted(api, place)["id"], "payment": {"method": "test"}}
    first = api.post("/api/v1/orders", body, headers={"Idempotency-Key": "a"})
    again = api.post("/api/v1/orders", body, headers={"Idempotency-Key": "a"})
    assert first.json() == again.json()
    assert again["Idempotent-Replayed"] == "true"
    assert Order.objects.count() == 1


def test_methods_of_later_are_refused_clearly(api, place):
    for method in ("balance", "transfer", "stripe"):
        answer = ordered(api, quoted(api, place), method=method)
        assert (answer.status_code, answer.json()["code"]) == (422, "unsupported_method")
    assert ordered(api, quoted(api, place), method="gold").status_code == 422
    assert not Order.objects.exists()


def test_rights_and_strangers(api, place):
    order = ordered(api, quoted(api, place)).json()
    viewer = people.api(people.member(place.organisation, role="viewer"))
    assert viewer.get(f"/api/v1/orders/{order['id']}").status_code == 200
    assert viewer.post("/api/v1/quotes", wanted(place)).status_code == 403
    assert viewer.post(f"/api/v1/orders/{order['id']}/cancel").status_code == 403
    stranger = people.api(people.member())
    for path in (
        f"orders/{order['id']}",
        f"quotes/{order['quote']}",
        f"invoices/{order['invoice']}",
    ):
        assert stranger.get(f"/api/v1/{path}").status_code == 404
    for path in (f"orders/{order['id']}/cancel", f"orders/{order['id']}/payments"):
        assert (
            stranger.post(f"/api/v1/{path}", {"method": "test"} if "pay" in path else {}).status_code == 404
        )
    assert ordered(stranger, {"id": order["quote"]}).status_code == 404
    assert stranger.get("/api/v1/orders").json()["items"] == []


def test_lists_cost_the_same_for_one_row_and_for_many(api, place):
    def count(path):
        with CaptureQueriesContext(connection) as seen:
            assert api.get(f"/api/v1/{path}").status_code == 200
        return len(seen)

    now = timezone.now()
    shop.paid_order(place, now=now)
    count("orders")  # the token's first use is written down
    before = {path: count(path) for path in ("orders", "invoices", "node-types")}
    for day in range(1, 4):
        shop.paid_order(place, now=now, starts_at=now + timedelta(days=3 * day))
        shop.open_shop()
    assert len(api.get("/api/v1/orders").json()["items"]) == 4
    assert {path: count(path) for path in before} == before
