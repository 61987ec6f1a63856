"""`make smoke` as a child, and how far its flow has come, read from the portal's rows."""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

import psycopg

from tests.support import tree, whole
from tests.support.wait import until

SECONDS = 400  # of a machine that is busy with other tests; alone it takes a tenth
STAGES = (
    "",
    "ordered",
    "provisioning",
    "ready",
    *(
        f"{number} {status}"
        for number in (1, 2)
        for status in ("queued", "launching", "pending", "running", "over")
    ),
)
CLUSTER = "SELECT id, status FROM clusters_cluster WHERE NOT (id = ANY(%s)) ORDER BY id DESC LIMIT 1"
RUN = "SELECT number, status FROM jobs_run WHERE cluster_id = %s ORDER BY number DESC LIMIT 1"


class Flow:
    """One flow: start it, wait for its moments, see it to its end."""

    def __init__(self, portal: whole.Portal, *, step_time: float) -> None:
        self.portal = portal
        self.output = portal.data.parent / "smoke.txt"
        self.db: psycopg.Connection[Any] | None = None
        self.before = [row[0] for row in self.ask("SELECT id FROM clusters_cluster")]
        with self.output.open("wb") as output:
            self.child = subprocess.Popen(
                [sys.executable, str(Path("scripts") / "smoke.py"), "--step-time", str(step_time)],
                cwd=tree.ROOT,
                env=portal.environment(),
                stdout=output,
                stderr=output,
            )

    def __enter__(self) -> "Flow":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        self._leave()

    def ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Read rows of the portal, whose server may have been killed since the last time."""
        try:
            if self.db is None:
                address = self.portal.services()["DATABASE_URL"]
                self.db = psycopg.connect(address, connect_timeout=5, autocommit=True)
            return self.db.execute(statement, values or None).fetchall()
        except psycopg.OperationalError:
            self._leave()
            raise

    def _leave(self) -> None:
        if self.db is not None:
            self.db.close()
            self.db = None

    def stage(self) -> str:
        """Return how far the flow is, "" before its order."""
        try:
            found = self.ask(CLUSTER, self.before)
            if not found:
                return ""
            [(cluster, status)] = found
            runs = self.ask(RUN, cluster)
        except psycopg.OperationalError:
            return ""
        if runs:
            [(number, said)] = runs
            return f"{number} {said}" if f"{number} {said}" in STAGES else f"{min(number, 2)} over"
        return status if status in STAGES else "ordered"

    def reach(self, stage: str) -> None:
        """Wait until the flow is at a stage or behind it."""
        wanted = STAGES.index(stage)

        def there() -> bool:
            assert self.child.poll() in (None, 0), self.said()
            return STAGES.index(self.stage()) >= wanted

        until(there, SECONDS)

    def end(self) -> dict[str, Any]:
        """Wait for the last line, then for rest, and return what stands; see tests/support/audit.py."""
        until(lambda: self.child.poll() is not None, SECONDS)
        assert self.child.returncode == 0, self.said()
        assert self.said().splitlines()[-1].startswith("smoke passed in "), self.said()
        self._leave()  # the server may have been killed since the last stage
        [(order,)] = self.ask(
            "SELECT id FROM billing_order WHERE NOT (cluster_id = ANY(%s)) ORDER BY id DESC LIMIT 1",
            self.before,
        )

        def rest() -> dict[str, Any] | None:
            facts: dict[str, Any] = json.loads(self.portal.run("-m", "tests.support.audit", order))
            return None if any(facts["waiting"].values()) else facts

        return until(rest, SECONDS, pause=0.5)

    def said(self) -> str:
        return self.output.read_text(errors="replace")
