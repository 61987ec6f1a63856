"""The files of the repository, as tests about the tree itself see them."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked() -> list[Path]:
    """Return files that are tracked, or new and not ignored; without git, every file but hidden ones."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        skip = {".venv", "var", "__pycache__", "node_modules"}
        paths = [
            path
            for path in ROOT.rglob("*")
            if not any(part in skip or part.startswith(".") for part in path.relative_to(ROOT).parts)
        ]
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())
