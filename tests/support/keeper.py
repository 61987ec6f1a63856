"""Keeps PostgreSQL and Redis for one test run: prints their addresses, ends with its standard input.

The end of the parent, however it comes, closes the pipe; so nothing is left behind by Ctrl-C or SIGKILL.
"""

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from portal.local import osuser, ports, postgres, redis
from tests.support import migrated

PATIENCE = 10  # seconds


class Servers:
    """The two servers of one run, in a folder that is thrown away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = osuser.for_services()
        self.data = folder / "postgres"
        self.log = folder / "servers.log"
        self.children: list[subprocess.Popen[bytes]] = []

    def start_redis(self) -> dict[str, str]:
        """Start Redis and return its address."""
        password, port = secrets.token_hex(16), ports.free()
        configuration = redis.configure(self.folder / "redis", port, password, durable=False)
        child = self._serve(redis.command(configuration), redis.environment())
        redis.wait(port, password, alive=lambda: child.poll() is None)
        return {"REDIS_URL": redis.url(port, password), "BERTH_TEST_REDIS_PID": str(child.pid)}

    def start_postgres(self, password: str) -> dict[str, str]:
        """Start PostgreSQL on the cluster in the folder and return its address."""
        port = ports.free()
        child = self._serve(postgres.command(self.data, port, durable=False), postgres.environment())
        postgres.wait(port, password, alive=lambda: child.poll() is None)
        return {"DATABASE_URL": postgres.url(port, password), "BERTH_TEST_POSTGRES_PID": str(child.pid)}

    def stop(self, how: signal.Signals) -> None:
        """End what was started and wait for it."""
        for child in self.children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, how)
        while self.children:
            child = self.children.pop()
            try:
                child.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def _serve(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            child = subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                user=self.user.uid if self.user else None,
                group=self.user.gid if self.user else None,
                extra_groups=[] if self.user else None,
            )
        self.children.append(child)
        return child


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell's background job inherits it as ignored
    folder = Path(tempfile.mkdtemp(prefix="berth-tests-"))
    data = Path(tempfile.mkdtemp(prefix="berth-tests-data-"))
    data.chmod(0o711)  # pods have users of their own, which pass through
    servers = Servers(folder)
    osuser.give(folder, servers.user)
    try:
        if not migrated.restore(servers.data, servers.user):
            migrated.make(servers)
        addresses = servers.start_postgres(migrated.PASSWORD) | servers.start_redis()
        addresses |= {"BERTH_TEST_TEMPLATE": migrated.DATABASE, "BERTH_DATA": str(data)}
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(addresses), flush=True)
            sys.stdin.read()
    except Exception:
        if servers.log.exists():
            print(servers.log.read_text(errors="replace"), file=sys.stderr)
        raise
    finally:
        servers.stop(signal.SIGQUIT)  # at once: the data is thrown away
        for kept in (folder, data):
            shutil.rmtree(kept, ignore_errors=True)


if __name__ == "__main__":
    main()
