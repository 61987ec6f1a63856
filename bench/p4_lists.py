"""P4: lists with 100,000 jobs, 1,000,000 events and 220,000 invoices, against the same with 100 rows."""

import logging
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

from tests.support import services

SCALE = float(os.environ.get("BENCH_SCALE", "1"))  # below 1: a quick look, not the benchmark
FEW, JOBS, EVENTS_PER_JOB, INVOICES = 100, int(100_000 * SCALE), 10, int(220_000 * SCALE)
TURNS, SLICES = 40, 8

# Copies of one row with some fields changed: whatever columns a table has.
_COPY = """
INSERT INTO {table} SELECT (jsonb_populate_record(t, {change})).*
FROM {table} t, generate_series(%s::int, %s::int) n WHERE t.id = %s
"""
CHANGES = {
    "jobs_job": (
        "jsonb_build_object('id', 'job_0' || lpad(n::text, 25, '0'), 'idempotency_key', null,"
        " 'status', 'succeeded', 'name', 'job ' || n)"
    ),
    "jobs_run": (
        "jsonb_build_object('id', 'run_0' || lpad(n::text, 25, '0'), 'due_at', null, 'status', 'succeeded',"
        " 'job_id', 'job_0' || lpad(n::text, 25, '0'))"
    ),
    "jobs_jobevent": (
        f"jsonb_build_object('id', 'evt_0' || lpad(n::text, 25, '0'), 'run_id', null,"
        f" 'job_id', 'job_0' || lpad((n / {EVENTS_PER_JOB})::text, 25, '0'))"
    ),
    "billing_invoice": (
        "jsonb_build_object('id', 'inv_0' || lpad(n::text, 25, '0'), 'order_id', null,"
        " 'number', 'B-' || n, 'sequence', 1000000 + n)"
    ),
}


@dataclass(slots=True)
class Measured:
    """What a call cost: seconds of each turn, and queries of one."""

    times: list[float]
    queries: int

    @property
    def time(self) -> float:
        """The first quartile: what the call takes when nothing else disturbs."""
        return statistics.quantiles(self.times)[0]


def copy(table: str, row: str, first: int, last: int) -> None:
    """Copy a row so many times."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # the copies need no check of their keys
        cursor.execute(_COPY.format(table=table, change=CHANGES[table]), [first, last, row])
        cursor.execute("SET session_replication_role = origin")


def measure(databases: dict[str, str], calls: dict[str, Callable[[], Any]]) -> dict[str, dict[str, Measured]]:
    """Return what each call costs on each database; they take turns, so that both see the same machine."""
    found = {size: {name: Measured([], 0) for name in calls} for size in databases}
    for _ in range(SLICES):
        for size, database in databases.items():
            switch(database)
            for name, call in calls.items():
                found[size][name].queries = count(call)
                found[size][name].times += [clock(name, call) for _ in range(TURNS // SLICES)]
    return found


def switch(database: str) -> None:
    """Let Django's connection lead to this database from now on."""
    from django.db import connection

    connection.close()
    connection.settings_dict["NAME"] = database


def count(call: Callable[[], Any]) -> int:
    """Return how many queries a call makes when everything is warm."""
    from django.db import connection

    asked: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    call()
    with connection.execute_wrapper(note):
        call()
    return len(asked)


def clock(name: str, call: Callable[[], Any]) -> float:
    """Return the seconds of a call that must succeed."""
    begun = time.perf_counter()
    answer = call()
    took = time.perf_counter() - begun
    if answer.status_code != HTTPStatus.OK:
        raise RuntimeError(f"{name}: {answer.status_code} {answer.content[:300]!r}")
    return took


def copy_database(source: str, target: str) -> None:
    """Copy a database as it stands; nobody may be connected to it."""
    from django.db import connection

    switch("postgres")
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')
    switch(source)


def main() -> None:
    """Print one line."""
    import django

    django.setup()
    logging.disable(logging.WARNING)  # a line for each request would drown the one that counts
    from django.db import connection
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False, serialized_aliases=[])
    try:
        rows, calls = prepare()
        sizes = {"jobs_job": JOBS, "jobs_run": JOBS, "jobs_jobevent": JOBS * EVENTS_PER_JOB}
        sizes["billing_invoice"] = INVOICES
        few = {table: FEW * (EVENTS_PER_JOB if table == "jobs_jobevent" else 1) for table in sizes}
        for table in sizes:
            copy(table, rows[table], EVENTS_PER_JOB if table == "jobs_jobevent" else 1, few[table])
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        whole = str(connection.settings_dict["NAME"])
        part = f"{whole}_few"
        copy_database(whole, part)
        for table, size in sizes.items():
            copy(table, rows[table], few[table] + 1, size)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        found = measure({"few": part, "all": whole}, calls)
        switch("postgres")
        with connection.cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{part}"')
        switch(whole)
        small, large = found["few"], found["all"]
        ratios = {name: large[name].time / small[name].time for name in calls}
        worst = max(ratios, key=lambda name: ratios[name])
        details = "; ".join(
            f"{name} {large[name].time * 1000:.0f} ms against {small[name].time * 1000:.0f} ms,"
            f" queries {large[name].queries} against {small[name].queries}"
            for name in calls
        )
        print(f"P4 {ratios[worst]:.2f} worst: {worst}; {details}")
    finally:
        teardown_databases(databases, verbosity=0)


def prepare() -> tuple[dict[str, str], dict[str, Callable[[], Any]]]:
    """Make one row of each kind and the calls to measure."""
    from datetime import timedelta

    from django.utils import timezone

    from jobs.models import JobEvent, Run
    from jobs.services import demo, submit
    from tests.support import fleet, people
    from tests.support.training import access

    now = timezone.now()
    owner = people.member()
    organisation = owner.organisation
    demo.seed(now=now)
    cluster = fleet.cluster(
        number=4, start=now, end=now + timedelta(days=2), now=now, organisation=organisation
    )
    spec = {"cluster": cluster.pk, "code": {"inline": "print(1)"}}
    job = submit.submit(access=access(owner), data=spec, now=now)
    rows = {
        "jobs_job": job.pk,
        "jobs_run": Run.objects.get(job=job).pk,
        "jobs_jobevent": JobEvent.objects.get(job=job).pk,
        "billing_invoice": invoice_of(organisation, now),
    }
    api, pages = people.api(owner), people.browser(owner)
    known = f"job_0{50:025d}"
    calls: dict[str, Callable[[], Any]] = {
        "job list": lambda: api.get("/api/v1/jobs"),
        "succeeded jobs": lambda: api.get("/api/v1/jobs?status=succeeded"),
        "timeline": lambda: api.get(f"/api/v1/jobs/{known}/events"),
        "job list page": lambda: pages.get("/jobs"),
        "cluster page": lambda: pages.get(f"/clusters/{cluster.pk}"),
    }
    calls["invoice list"] = lambda: api.get("/api/v1/invoices")
    calls["invoice list page"] = lambda: pages.get("/invoices")
    return rows, calls


def invoice_of(organisation: Any, now: Any) -> str:
    """Make one paid invoice and return its id."""
    from billing.models import Invoice

    made = Invoice.objects.create(
        organisation=organisation,
        series="B",
        year=2026,
        sequence=1,
        number="B-first",
        status="paid",
        currency="CNY",
        subtotal=100,
        tax=0,
        total=100,
        amount_paid=100,
        seller={"name": "S", "address": "", "country": "CN", "tax_id": ""},
        buyer={"name": "B", "address": "", "country": "CN", "tax_id": ""},
        issued_at=now,
        due_at=now,
        paid_at=now,
    )
    return str(made.pk)


if __name__ == "__main__":
    services.start()
    try:
        main()
    finally:
        services.stop()
