"""Runs the measurements one after the other: all of them, or those whose names are given (`P5`)."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main(wanted: list[str]) -> int:
    """Return 0 when each of them has printed its line."""
    names = {word.lower() for word in wanted}
    files = [f for f in sorted(FOLDER.glob("p*_*.py")) if not names or f.stem.partition("_")[0] in names]
    if not files:
        print(f"There is no measurement called {' or '.join(wanted)}.", file=sys.stderr)
        return 2
    return max(subprocess.run([sys.executable, str(file)], check=False).returncode for file in files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
