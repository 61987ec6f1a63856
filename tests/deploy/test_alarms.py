"""Alarms ask for figures that Berth tells, and each has its section in the runbook."""

import re
from typing import Any

import pytest

from clusters import states as cluster_states
from jobs import states as job_states
from portal import telemetry
from tests.deploy.conftest import FOLDER
from tests.support import kustomize, tree

RUNBOOK = (tree.ROOT / "docs" / "runbook.md").read_text()
STATES = {
    "berth_runs_open": set(job_states.RUN_OPEN),
    "berth_clusters_open": {"held", "scheduled", *cluster_states.LIVE},
    "berth_nodes": set(cluster_states.NODE.states),
}


def _rules() -> list[dict[str, Any]]:
    (rule,) = (one for one in kustomize.build(FOLDER / "production") if one["kind"] == "PrometheusRule")
    return [alarm for group in rule["spec"]["groups"] for alarm in group["rules"]]


def test_every_alarm_says_what_to_do() -> None:
    sections = set(re.findall(r"^## (Berth\w+)$", RUNBOOK, re.MULTILINE))
    assert sections == {alarm["alert"] for alarm in _rules()}
    assert all(alarm["annotations"]["summary"] and alarm["for"] for alarm in _rules())


@pytest.mark.django_db
def test_alarms_ask_for_figures_that_there_are() -> None:
    said = telemetry.exposition().decode()
    told = set(re.findall(r"^# TYPE (\w+) ", said, re.MULTILINE))
    waiting = set(re.findall(r'^berth_waiting\{what="(\w+)"\}', said, re.MULTILINE))
    for alarm in _rules():
        for name, label, value in re.findall(r'(berth_\w+)\{(\w+)="(\w+)"', alarm["expr"]):
            assert name in told, alarm["alert"]
            if label == "status":
                assert value in STATES[name], alarm["alert"]
            if label == "what":
                assert value in waiting, alarm["alert"]


def test_figures_are_never_added_up_over_pods() -> None:
    for alarm in _rules():
        assert "sum(" not in alarm["expr"]
