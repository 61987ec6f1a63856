"""Log lines: whatever quotes the address of a job's code, its ticket is covered."""

import json
import logging
import logging.config

import structlog
from django.test import RequestFactory

from portal import logs

ADDRESS = "/internal/code/eyJ1IjoidXBsXzAxayJ9:1abc:s-_cret"


def line(message: str, **extra: object) -> str:
    made = logging.makeLogRecord({"name": "berth.request", "msg": message, "levelname": "INFO", **extra})
    settings = logs.configuration("INFO")["formatters"]["json"]
    return str(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=settings["foreign_pre_chain"], processors=settings["processors"]
        ).format(made)
    )


def test_a_ticket_is_covered_in_path_message_and_request() -> None:
    written = line(f"Not Found: {ADDRESS}", path=ADDRESS, request=RequestFactory().get(ADDRESS))
    assert "cret" not in written
    assert json.loads(written)["path"] == "/internal/code/•••"


def test_other_paths_stay_as_they_are() -> None:
    assert json.loads(line("request", path="/api/v1/jobs/job_01k"))["path"] == "/api/v1/jobs/job_01k"
