"""Links the checkpoint that a run goes on from into the run's own folder, with its tracker file.

Runs in each pod before the training, with the standard library alone; all replicas may do it at once, and
again: what is there stays.
"""

import contextlib
import os
import re
import shutil
import socket
import sys
import tempfile
from pathlib import Path

COMPOSER = re.compile(r"(ep\d+-ba\d+-rank)\d+\.pt")
DEEPSPEED = re.compile(r"global_step\d+")
MEGATRON = re.compile(r"iter_(\d+)")
GONE, FAILED = 66, 74  # exit codes that jobs/pod_reasons.py knows


def link(source: Path, target: Path) -> None:
    """Make target stand for source: a relative link, else a copy of hard links or files."""
    if os.path.lexists(target):
        return
    with contextlib.suppress(FileExistsError):
        try:
            os.symlink(os.path.relpath(source, target.parent), target)
        except FileExistsError:
            raise
        except (OSError, NotImplementedError):
            _copy(source, target)


def _copy(source: Path, target: Path) -> None:
    """Copy aside, then rename: nobody sees half of it, and only one of several replicas wins."""
    aside = Path(tempfile.mkdtemp(prefix=f".berth-{socket.gethostname()}-", dir=target.parent))
    try:
        made = aside / target.name
        if source.is_dir():
            shutil.copytree(source, made, copy_function=_link_or_copy)
            with contextlib.suppress(OSError):  # not empty: another replica was faster
                made.rename(target)
        else:
            _link_or_copy(str(source), str(made))
            made.replace(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def track(target: Path) -> None:
    """Write the file by which DeepSpeed or Megatron finds its checkpoint, unless there is one."""
    if DEEPSPEED.fullmatch(target.name):
        name, text = "latest", target.name
    elif found := MEGATRON.fullmatch(target.name):
        name, text = "latest_checkpointed_iteration.txt", str(int(found[1]))
    else:
        return
    tracker = target.parent / name
    handle, aside = tempfile.mkstemp(prefix=".berth-", dir=target.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.chmod(aside, 0o644)
        try:
            os.link(aside, tracker)  # whole at once, and never over a newer one
        except FileExistsError:
            pass
        except OSError:
            if not tracker.exists():
                os.replace(aside, tracker)
    finally:
        Path(aside).unlink(missing_ok=True)


def main(source: Path, target: Path) -> tuple[int, str]:
    """Link a checkpoint; return the exit code, and what is wrong."""
    if not source.exists():
        return GONE, f"the checkpoint {source.name} is not there any more"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        sources = [source]
        if ranks := COMPOSER.fullmatch(source.name):
            sources = sorted(source.parent.glob(f"{ranks[1]}*.pt"))
        for one in sources:
            link(one, target.parent / one.name)
        track(target)
    except OSError as error:
        return FAILED, f"cannot link {source.name}: {error}"
    return 0, ""


if __name__ == "__main__":
    code, wrong = main(Path(os.environ["RESUME_SOURCE"]), Path(os.environ["RESUME_FROM"]))
    if code:
        sys.stderr.write(f"berth link: {wrong}\n")
    sys.exit(code)
