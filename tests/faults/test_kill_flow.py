"""SIGKILL in the middle of the whole flow: `make smoke` still ends well, and nothing exists twice."""

import pytest
import redis

from tests.support import whole
from tests.support.flow import Flow

pytestmark = [
    pytest.mark.kill,
    pytest.mark.timeout(900),  # a busy machine; alone each takes about a minute
    pytest.mark.xdist_group("run"),
    pytest.mark.skipif(not whole.PROC, reason="looks for processes in /proc"),
]
STEP_TIME = 0.05
KILLS = {
    "worker": [
        ("provisioning", "worker"),
        ("1 launching", "worker"),
        ("1 over", "worker"),
        ("2 pending", "worker"),
    ],
    "watcher": [
        ("1 queued", "watcher"),
        ("1 running", "watcher"),
        ("1 over", "watcher"),
        ("2 running", "watcher"),
    ],
    "beat, web": [
        ("ordered", "beat"),
        ("1 pending", "beat"),
        ("1 running", "web"),
        ("2 queued", "beat web"),
    ],
    "site": [
        ("ordered", "web"),
        ("provisioning", "embedded"),
        ("1 pending", "embedded"),
        ("1 running", "embedded"),
        ("2 running", "embedded"),
    ],
    "all": [
        ("ready", "worker watcher beat web embedded"),
        ("1 running", "worker watcher beat web embedded"),
        ("2 launching", "worker watcher beat web embedded"),
    ],
    "services": [("1 queued", "redis worker"), ("1 running", "postgres"), ("2 pending", "postgres redis")],
}
RUN_1 = {"number": 1, "cause": "submit", "checkpoints": [20, 40, 60], "losses": list(range(1, 61))}
RUN_2 = {"number": 2, "cause": "resume", "checkpoints": [40, 60], "losses": list(range(21, 61))}
REST = {
    "status": "succeeded",
    "collected": True,
    "holds": False,
    "due": False,
    "objects": 1,
    "objects_left": [],
    "pods": {"master-0": 1, "worker-0": 1},
    "logs": {"master-0": "", "worker-0": ""},
    "hours": 0,
}


def end_well(flow: Flow) -> None:
    """See a flow to its end: every row and every object stands there once, as without any kill."""
    facts = flow.end()
    [order] = facts["orders"]
    [job] = order.pop("jobs")
    assert job["runs"] == [REST | RUN_1, REST | RUN_2]
    assert (job["status"], job["events_twice"]) == ("succeeded", [])
    assert [kind for kind in order.pop("cluster_events") if kind != "delayed"] == ["confirmed", "ready"]
    assert order == {
        "status": "fulfilled",
        "cluster": ["ready", 0, ""],
        "reservations": {"cluster": 2, "turnaround": 2},
        "nodes": [2, 2, 2],
        "payments": ["succeeded"],
        "invoice": ["paid", 0],
        "audit": ["order.paid", "order.placed"],
        "told": ["cluster.ready", "job.succeeded", "job.succeeded", "order.paid"],
    }
    assert facts["money"] == {
        "gaps": {},
        "numbers_lost": [],
        "unbalanced": 0,
        "entries_twice": [],
        "invoices_that_do_not_add_up": 0,
        "cash_unexplained": 0,
        "orders_paid_twice": 0,
        "refunds": 0,
    }


@pytest.mark.parametrize("kills", KILLS.values(), ids=KILLS)
def test_killed_in_mid_flow_the_end_is_the_same(portal: whole.Portal, kills: list[tuple[str, str]]) -> None:
    portal.calm_down([name for _stage, names in kills for name in names.split()])
    with Flow(portal, step_time=STEP_TIME) as flow:
        for stage, names in kills:
            flow.reach(stage)
            portal.kill(*names.split())
        end_well(flow)


def test_redis_emptied_in_mid_flow_loses_nothing(portal: whole.Portal) -> None:
    """Hints, heartbeats and rate limits are gone at every stage: the rows are all that counts."""
    with Flow(portal, step_time=STEP_TIME) as flow:
        for stage in (
            "ordered",
            "provisioning",
            "1 queued",
            "1 launching",
            "1 running",
            "2 queued",
            "2 pending",
        ):
            flow.reach(stage)
            with redis.Redis.from_url(portal.services()["REDIS_URL"]) as server:
                server.flushall()
        end_well(flow)
