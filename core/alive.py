"""``python -I -S core/alive.py watcher 120``: ends with 0 when that process gave a sign in so many seconds.

A probe runs this every half minute in every pod, so it is a script of the standard library alone.
"""

import os
import sys
import time


def main(folder: str, name: str, seconds: str) -> int:
    """Return 0 for a process that lives, else 1 with a sentence on standard error."""
    try:
        silence = time.time() - os.stat(os.path.join(folder, name)).st_mtime
    except FileNotFoundError:
        sys.stderr.write(f"{name} gave no sign of life yet.\n")
        return 1
    if silence > float(seconds):
        sys.stderr.write(f"{name} gave no sign of life for {silence:.0f} seconds.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ["HEARTBEAT_DIR"], *sys.argv[1:3]))
