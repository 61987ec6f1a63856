"""Rents, pays, trains, resumes and looks at the invoice of a running portal, by REST alone.

BERTH_URL and BERTH_TOKEN name another portal; without them the one of `make run` is found.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from portal.local import discover  # noqa: E402

EMAIL = "demo@berth.example"
FINAL = ("succeeded", "failed", "cancelled")
STEPS, EVERY, CHOSEN = 60, 20, 20
PATIENCE = 90  # seconds of asking again: longer than a request that died with its process keeps its key


class Broken(Exception):
    """The portal did not do what it promises."""


class Portal:
    """The REST API of a portal."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url.rstrip("/") + "/api/v1", token

    def get(self, path: str) -> Any:
        return self._call("GET", path, None)

    def post(self, path: str, body: Any = None) -> Any:
        return self._call("POST", path, {} if body is None else body)

    def _call(self, method: str, path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers |= {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.loads(answer.read() or b"null")
            except urllib.error.HTTPError as error:
                text = error.read().decode("utf-8", "replace")
                # The key makes a repeat safe: what was on its way or could not be had now is asked again.
                again = error.code in (429, *range(500, 600)) or "idempotency_in_progress" in text
                if not again or time.monotonic() > deadline:
                    raise Broken(f"{method} {path}: {error.code} {text[:500]}") from error
            except (OSError, http.client.HTTPException) as error:
                if time.monotonic() > deadline:
                    raise Broken(f"{method} {path}: {error}") from error
            time.sleep(1)


class Walk:
    """The steps, each printed with its time."""

    def __init__(self) -> None:
        self.begun = time.monotonic()

    def step(self, name: str, do: Callable[[], Any]) -> Any:
        begun = time.monotonic()
        result = do()
        print(f"{time.monotonic() - begun:7.2f} s  {name}", flush=True)
        return result

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun


def wait(ask: Callable[[], Any], good: Callable[[Any], bool], seconds: float, what: str) -> Any:
    """Ask until the answer is good; say what was seen last when the time runs out."""
    deadline = time.monotonic() + seconds
    while True:
        answer = ask()
        if good(answer):
            return answer
        if time.monotonic() > deadline:
            raise Broken(f"{what} not reached within {seconds:.0f} s; last seen: {json.dumps(answer)[:800]}")
        time.sleep(0.25)


def check(condition: bool, said: str, seen: Any) -> None:
    if not condition:
        raise Broken(f"{said}; seen: {json.dumps(seen)[:800]}")


def issue_token() -> str:
    if token := os.environ.get("BERTH_TOKEN"):
        return token
    command = [sys.executable, str(ROOT / "manage.py"), "issue_token", EMAIL]
    for scope in ("catalog:read", "clusters:read", "jobs:write", "billing:write"):
        command += ["--scope", scope]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(f"no token: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()


def rent(portal: Portal, walk: Walk) -> tuple[dict[str, Any], dict[str, Any]]:
    """Quote, order and pay two nodes where some are free; return the order and the ready cluster."""

    def quote() -> Any:
        for node_type in portal.get("/node-types")["items"]:
            for site in node_type["sites"]:
                query = f"node_type={node_type['slug']}&site={site}&nodes=2"
                if portal.get(f"/availability?{query}{window()}")["available"]:
                    term = {"unit": "day", "count": 1}
                    wanted = {"node_type": node_type["slug"], "site": site, "nodes": 2, "term": term}
                    return portal.post("/quotes", wanted)
        raise Broken("no site has two free nodes for a day")

    quoted = walk.step("quote", quote)
    payment = {"method": "test"}
    order = walk.step("order", lambda: portal.post("/orders", {"quote": quoted["id"], "payment": payment}))
    order = walk.step(
        "paid",
        lambda: wait(
            lambda: portal.get(f"/orders/{order['id']}"),
            lambda one: one["status"] in ("paid", "fulfilled"),
            120,
            "payment",
        ),
    )
    cluster = walk.step(
        "cluster ready",
        lambda: wait(
            lambda: portal.get(f"/clusters/{order['cluster']}"),
            lambda one: one["status"] == "ready",
            300,
            "a ready cluster",
        ),
    )
    return order, cluster


def window() -> str:
    start = time.time()
    form = "%Y-%m-%dT%H:%M:%SZ"
    times = [time.strftime(form, time.gmtime(start + seconds)) for seconds in (0, 86400)]
    return f"&starts_at={times[0]}&ends_at={times[1]}"


def train(portal: Portal, walk: Walk, cluster: dict[str, Any], step_time: float) -> Any:
    """Submit the NumPy example with two replicas and see it to its end, log and checkpoints included."""
    code = (ROOT / "examples" / "char-lm-numpy" / "main.py").read_text(encoding="utf-8")
    command = [
        "python",
        "main.py",
        "--steps",
        str(STEPS),
        "--checkpoint-every",
        str(EVERY),
        "--log-every",
        "1",
        "--step-time",
        str(step_time),
    ]
    spec = {
        "name": "smoke",
        "cluster": cluster["id"],
        "code": {"inline": code},
        "command": command,
        "replicas": 2,
        "gpus_per_replica": 1,
        "checkpoints": {"path": "/checkpoints", "resume": "auto"},
        "max_runtime_seconds": 600,
        "max_retries": 2,
    }
    job = walk.step("job submitted", lambda: portal.post("/jobs", spec))
    job_id = str(job["id"])
    job = walk.step("job of two replicas succeeded", lambda: ended(portal, job_id))
    check(job["status"] == "succeeded", "the job did not succeed", job)
    walk.step("log complete", lambda: whole_log(portal, job["id"], f"done after step {STEPS}"))
    return job


def ended(portal: Portal, job_id: str) -> Any:
    return wait(lambda: portal.get(f"/jobs/{job_id}"), lambda one: one["status"] in FINAL, 300, "the end")


def whole_log(portal: Portal, job_id: str, last: str) -> None:
    """Read the log by its cursor until it says that it is complete; both replicas must be whole."""
    lines, after, deadline = [], "", time.monotonic() + 60
    while True:
        cursor = f"&after={after}" if after else ""
        chunk = portal.get(f"/jobs/{job_id}/logs?limit=500{cursor}")
        lines += chunk["lines"]
        after = chunk["after"]
        if chunk["complete"]:
            break
        if time.monotonic() > deadline:
            raise Broken("the log is not complete within 60 s")
        if not chunk["lines"]:
            time.sleep(0.25)
    for replica in ("master-0", "worker-0"):
        own = [line for line in lines if line["replica"] == replica]
        check(
            [line["n"] for line in own] == list(range(1, len(own) + 1)), f"lines of {replica} lack", own[:3]
        )
        check(bool(own) and own[-1]["text"] == last, f"the log of {replica} ends early", own[-1:])


def come_back(portal: Portal, walk: Walk, job: dict[str, Any]) -> None:
    """Resume from an earlier checkpoint and see that the loss curve goes on as it did the first time."""

    def checkpoints() -> Any:
        rows = portal.get(f"/jobs/{job['id']}/checkpoints")["items"]
        found = {row["step"]: row for row in rows if row["complete"]}
        check(set(found) == set(range(EVERY, STEPS + 1, EVERY)), "checkpoints lack", rows)
        return found

    found = walk.step("checkpoints registered", checkpoints)
    before = curve(portal, job["id"], job["runs"][0]["id"])
    body = {"checkpoint": found[CHOSEN]["id"]}
    walk.step(f"resumed from step {CHOSEN}", lambda: portal.post(f"/jobs/{job['id']}/resume", body))
    again = walk.step("resumed job succeeded", lambda: ended(portal, job["id"]))
    check(again["status"] == "succeeded", "the resumed job did not succeed", again)
    run = again["runs"][-1]
    check(run["resume_from"] == found[CHOSEN]["id"], "it did not start from the checkpoint", run)

    def same_curve() -> None:
        whole_log(portal, job["id"], f"done after step {STEPS}")
        after = curve(portal, job["id"], run["id"])
        wanted = {step: value for step, value in before.items() if step > CHOSEN}
        check(after == wanted, "the loss curve does not continue", [after, wanted])

    walk.step("loss curve continues", same_curve)


def curve(portal: Portal, job_id: str, run_id: str) -> dict[int, float]:
    points = portal.get(f"/jobs/{job_id}/metrics?names=loss&run={run_id}")["metrics"]["loss"]
    return {step: value for step, _, value in points}


def invoice(portal: Portal, order: dict[str, Any]) -> Any:
    def mine() -> Any:
        rows = portal.get("/invoices")["items"]
        return next((row for row in rows if row["order"] == order["id"]), None)

    found = wait(mine, lambda one: one is not None and one["status"] == "paid", 30, "a paid invoice")
    check(found["amount_due"]["amount"] == 0, "the invoice is not settled", found)
    return found


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    slower = "seconds that each step of training takes longer, so that there is time to disturb it"
    parser.add_argument("--step-time", type=float, default=0.0, help=slower)
    return parser.parse_args()


def main() -> int:
    asked = options()
    walk = Walk()
    url = os.environ.get("BERTH_URL") or discover.services().get("PUBLIC_URL") or "http://127.0.0.1:8000"
    try:
        portal = Portal(url, walk.step("token", issue_token))
        order, cluster = rent(portal, walk)
        job = train(portal, walk, cluster, asked.step_time)
        come_back(portal, walk, job)
        paid = walk.step("invoice paid", lambda: invoice(portal, order))
    except Broken as error:
        print(f"smoke failed after {walk.seconds:.1f} s: {error}", flush=True)
        return 1
    print(f"smoke passed in {walk.seconds:.1f} s: invoice {paid['number']} is paid", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
