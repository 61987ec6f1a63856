"""Brings an installation up to date before its processes start; quick when there is nothing to do."""

import hashlib
import os
from pathlib import Path

import django


def main() -> None:
    """Compile catalogues, migrate, collect static files, fill in the demo."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    from django.conf import settings

    from portal import catalogues

    catalogues.compile_all(settings.BASE_DIR)
    django.setup()
    from django.core.management import call_command

    call_command("check", "--fail-level", "ERROR")
    _migrate()
    _collect()
    if settings.DEMO:
        call_command("seed_demo")


def _migrate() -> None:
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", "--verbosity", "1", "--no-input")


def _collect() -> None:
    """Collect static files when any of them is new or changed."""
    from django.conf import settings
    from django.contrib.staticfiles import finders
    from django.core.management import call_command

    digest = hashlib.sha256()
    for finder in finders.get_finders():
        for name, storage in finder.list([]):
            state = Path(storage.path(name)).stat()
            digest.update(f"{name} {state.st_size} {state.st_mtime_ns}\n".encode())
    stamp = settings.STATIC_ROOT / ".collected"
    if not stamp.exists() or stamp.read_text() != digest.hexdigest():
        call_command("collectstatic", "--no-input", "--clear", "--verbosity", "0")
        stamp.write_text(digest.hexdigest())


if __name__ == "__main__":
    main()
