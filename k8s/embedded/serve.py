"""Runs the supervisor as a process: pods' environment and user, signals, the loop."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from k8s.embedded import isolation, launch, podenv, wake
from k8s.embedded.supervisor import Supervisor


def serve(
    folder: Path,
    *,
    requirements: Path,
    pod_user: str = isolation.DEFAULT_USER,
    system_site: bool = False,
    say: Callable[[str], object] = print,
    alive: Callable[[], object] = lambda: None,
) -> None:
    """Run the embedded site in a folder until SIGTERM or SIGINT; raises AlreadyRunning beside another one.

    ``alive`` is called with every turn of the loop, at least once a second.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        folder.chmod(0o711)  # pods pass through to their own folders, and list nothing
    environment = podenv.ensure(folder.parent / "podenv", requirements, system_site=system_site)
    user, warning = isolation.find_user(pod_user, [folder, environment.bin_folder])
    if environment.warning.startswith("Pods run as root"):
        user, warning = None, ""
    for text in filter(None, (environment.warning, warning)):
        say(text)
    supervisor = Supervisor(launch.Settings(folder=folder, bin_folders=(environment.bin_folder,), user=user))
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        wake.poke(folder)

    def ended() -> bool:
        alive()
        return stopping

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    say(f"The embedded site runs in {folder}; pods are processes of user {user.name if user else _me()}.")
    try:
        supervisor.run(ended)
    finally:
        supervisor.close()


def _me() -> str:
    return f"number {os.geteuid()}"
