"""Removing folders that jobs wrote into: of any depth, and without a fault that would stop the site."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder with all below it as far as the system allows; links are removed, not followed."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    # A job may nest folders deeper than Python calls itself; rm walks without that limit.
    if os.path.lexists(folder):
        subprocess.run(["rm", "-rf", "--", str(folder)], capture_output=True, check=False)
