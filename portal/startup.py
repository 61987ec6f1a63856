"""What a long-running process verifies before it serves: settings that must not stand together stop it."""

import sys

from django.core import checks as django_checks
from django.db import connections

from portal import checks


def verify() -> None:
    """End the process with a sentence when a check of ours finds an error."""
    found = django_checks.run_checks(tags=[checks.TAG])
    connections.close_all()  # no connection may cross the fork into the workers
    errors = [message for message in found if message.is_serious()]
    if errors:
        sys.exit("\n".join(f"{error.id}: {error.msg} {error.hint or ''}".rstrip() for error in errors))
