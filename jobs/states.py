"""State machines of training; docs/states.md shows the same tables in words."""

from core.states import machine

JOB = machine(
    "job",
    queued="launching cancelled suspended failed",
    launching="queued pending running succeeded failed cancelled suspended",
    pending="queued running succeeded failed cancelled suspended",
    running="queued succeeded failed cancelled suspended",
    suspended="queued cancelled failed",
    succeeded="queued",  # resumed from a checkpoint on purpose: run n+1
    failed="queued",
    cancelled="queued",
)

RUN = machine(
    "run",
    queued="launching cancelled suspended failed",
    launching="queued pending running succeeded failed cancelled suspended",
    pending="running succeeded failed cancelled suspended",
    running="succeeded failed cancelled suspended",
    succeeded="",
    failed="",
    cancelled="",
    suspended="",
)

JOB_FINAL = ("succeeded", "failed", "cancelled")
RUN_OPEN = ("queued", "launching", "pending", "running")
RUN_ON_CLUSTER = ("launching", "pending", "running")
