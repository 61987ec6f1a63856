"""Logging as JSON lines on standard error, each with the request id; nothing else is configured anywhere."""

import logging
import re
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

from core import context

_TICKET = re.compile(r"(/internal/code/)[^/\s\"'\\?]+")


def add_request_id(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Add the id of the request or task at hand."""
    if request_id := context.request_id.get():
        event["request_id"] = request_id
    return event


def hide_tickets(logger: WrappedLogger, method: str, line: str) -> str:
    """Cover the tickets in addresses of code, wherever a line quotes one: each opens an archive."""
    return _TICKET.sub(r"\1•••", line)


def not_a_503(record: logging.LogRecord) -> bool:
    """Drop Django's error line on a 503: an answer of /readyz is no fault of the code."""
    return getattr(record, "status_code", None) != 503


def configuration(level: str) -> dict[str, Any]:
    """Return Django's LOGGING: one handler, one format."""
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_request_id,
    ]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "not_a_503": {"()": "django.utils.log.CallbackFilter", "callback": not_a_503},
        },
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": shared,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
                    hide_tickets,
                ],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django.request": {"filters": ["not_a_503"]},
            "django.server": {"handlers": ["stderr"], "level": level, "propagate": False},
            "django": {"level": level, "handlers": [], "propagate": True},
            "kubernetes": {"level": "WARNING"},
            "urllib3": {"level": "WARNING"},
            "celery": {"level": "WARNING"},
        },
    }
