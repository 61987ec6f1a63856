"""Becomes PostgreSQL or Redis of this installation, in the foreground, as a user of its own under root.

``python -m portal.local.serve postgres`` is how the Procfile names them; `make run` writes what it reads.
"""

import json
import os
import sys
from typing import NoReturn

from portal.local import discover, osuser, postgres, redis, secrets


def main(name: str) -> NoReturn:
    """Replace this process by the server."""
    data = discover.data_dir()
    installation = json.loads((data / secrets.FILE).read_text())
    port = installation["ports"][name]
    if name == "postgres":
        command, environment = postgres.command(data / "postgres", port), postgres.environment()
    else:
        configuration = redis.configure(data / "redis", port, installation["redis_password"])
        command, environment = redis.command(configuration), redis.environment()
    user = osuser.for_services()
    if user is not None:
        os.setgroups([])
        os.setgid(user.gid)
        os.setuid(user.uid)
    os.chdir("/")
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    main(sys.argv[1])
