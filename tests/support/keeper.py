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


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    user = osuser.for_services()
    folder = Path(tempfile.mkdtemp(prefix="berth-tests-"))
    osuser.give(folder, user)
    children: list[subprocess.Popen[bytes]] = []
    password = secrets.token_hex(16)

    def serve(command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=sys.stderr,
            start_new_session=True,
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
        )
        children.append(child)
        return child

    try:
        redis_port = ports.free()
        configuration = redis.configure(folder / "redis", redis_port, password, durable=False)
        redis_child = serve(redis.command(configuration), redis.environment())
        postgres.initialise(folder / "postgres", password, durable=False)
        port = ports.free()
        child = serve(postgres.command(folder / "postgres", port, durable=False), postgres.environment())
        redis.wait(redis_port, password, alive=lambda: redis_child.poll() is None)
        postgres.wait(port, password, alive=lambda: child.poll() is None)
        addresses = {
            "DATABASE_URL": postgres.url(port, password),
            "REDIS_URL": redis.url(redis_port, password),
            "BERTH_TEST_POSTGRES_PID": str(child.pid),
            "BERTH_TEST_REDIS_PID": str(redis_child.pid),
        }
        print(json.dumps(addresses), flush=True)
        sys.stdin.read()
    finally:
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGQUIT if child is not redis_child else signal.SIGKILL)
        for child in children:
            child.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
