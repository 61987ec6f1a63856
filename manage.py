#!/usr/bin/env python
"""Django's command line; finds the settings and the services of this machine by itself."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Berth is not configured: {error} On one machine, start `make run` first.")


if __name__ == "__main__":
    main()
