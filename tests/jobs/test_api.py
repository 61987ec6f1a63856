"""The REST contract of jobs: shapes, codes, strangers, dry run, and a key that makes one job."""

import io
import tarfile
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from jobs.models import Job, Run
from jobs.services import secrets
from tests.support import people
from tests.support.training import World

JOB_FIELDS = {
    "id", "name", "cluster", "project", "status", "reason", "priority", "queue_position", "estimated_start",
    "created_at", "started_at", "finished_at", "spec", "runs", "progress",
}  # fmt: skip
RUN_FIELDS = {
    "id", "number", "status", "reason", "exit_code",
    "started_at", "finished_at", "resume_from", "gpu_seconds",
}  # fmt: skip


@pytest.fixture
def api(world: World) -> Any:
    return people.api(world.owner)


def test_a_job_is_taken_and_shown(world: World, api: Any) -> None:
    answer = api.post("/api/v1/jobs", world.spec(name="训练 1", replicas=2))
    assert answer.status_code == 201, answer.json()
    body = answer.json()
    assert body.keys() >= JOB_FIELDS
    assert body["runs"][0].keys() >= RUN_FIELDS
    assert (body["status"], body["name"], body["cluster"]) == ("queued", "训练 1", world.cluster.pk)
    assert body["created_at"].endswith("Z")
    assert body["progress"] == {"step": None, "total_steps": None, "ratio": None, "eta": None}
    shown = api.get(f"/api/v1/jobs/{body['id']}").json()
    assert (shown["id"], shown["queue_position"], shown["spec"]["replicas"]) == (body["id"], 1, 2)
    listed = api.get("/api/v1/jobs", {"status": "queued", "cluster": world.cluster.pk}).json()
    assert [one["id"] for one in listed["items"]] == [body["id"]]
    assert api.get("/api/v1/jobs", {"status": "running"}).json()["items"] == []
    assert api.get("/api/v1/jobs", {"status": "flying"}).status_code == 422
    events = api.get(f"/api/v1/jobs/{body['id']}/events").json()["items"]
    assert [one.keys() >= {"time", "kind", "actor", "message"} for one in events] == [True]
    assert world.owner.user.email in events[0]["actor"]


def test_one_key_is_one_job(world: World, api: Any) -> None:
    first = api.post("/api/v1/jobs", world.spec(), HTTP_IDEMPOTENCY_KEY="k-1")
    again = api.post("/api/v1/jobs", world.spec(), HTTP_IDEMPOTENCY_KEY="k-1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again["Idempotent-Replayed"] == "true"
    assert first.json() == again.json()
    assert (Job.objects.count(), Run.objects.count()) == (1, 1)
    other = api.post("/api/v1/jobs", world.spec("print('else')"), HTTP_IDEMPOTENCY_KEY="k-1")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"replicas": 5}, "replicas", "exceeds_cluster"),
        ({"gpus_per_replica": 3}, "gpus_per_replica", "exceeds_cluster"),
        ({"project": "nowhere"}, "project", "not_found"),
        ({"environment": "pytorch-2.9-cuda12.8"}, "environment", "not_usable"),
        ({"secrets": ["HF_TOKEN"]}, "secrets.0", "not_found"),
        ({"env": {"MASTER_ADDR": "x"}}, "env.MASTER_ADDR", "reserved_env"),
        ({"code": {"archive": "upl_x"}, "command": ["true"]}, "code.archive", "not_found"),
        ({"colour": "red"}, "colour", "unknown_field"),
        ({"cluster": "clu_x"}, "cluster", "not_found"),
    ],
)
def test_faults_are_named(world: World, api: Any, change: dict[str, Any], field: str, code: str) -> None:
    for query in ("", "?dry_run=true"):
        answer = api.post(f"/api/v1/jobs{query}", {**world.spec(), **change})
        assert answer.status_code == 422, answer.json()
        assert (answer.json()["code"], [(e["field"], e["code"]) for e in answer.json()["errors"]]) == (
            "invalid",
            [(field, code)],
        )
    assert Job.objects.count() == 0


def test_a_dry_run_plans_and_stores_nothing(world: World, api: Any) -> None:
    secrets.put(access=world.access, name="HF_TOKEN", value="very-secret", now=world.cluster.created_at)
    spec = world.spec(replicas=2, gpus_per_replica=2, secrets=["HF_TOKEN"], processes_per_replica=2)
    answer = api.post("/api/v1/jobs?dry_run=true", spec)
    assert answer.status_code == 200, answer.json()
    body = answer.json()
    assert sorted(one["replicas"] for one in body["nodes"]) == [1, 1]
    assert body["manifest"]["kind"] == "PyTorchJob"
    assert body["estimated_start"].endswith("Z")
    assert "processes_without_launcher" in [one["code"] for one in body["warnings"]]
    assert "very-secret" not in answer.content.decode()
    assert Job.objects.count() == 0
    assert world.port.list_pytorchjobs()[0] == []
    assert api.post("/api/v1/jobs?dry_run=yes", world.spec()).json()["errors"][0]["field"] == "dry_run"
    assert Job.objects.count() == 0


def test_strangers_find_nothing(world: World, api: Any) -> None:
    job = api.post("/api/v1/jobs", world.spec()).json()["id"]
    stranger = people.api(people.member())
    for path in ("", "/logs", "/events", "/checkpoints", "/metrics"):
        assert stranger.get(f"/api/v1/jobs/{job}{path}").status_code == 404, path
    for path in ("/cancel", "/suspend", "/resume"):
        assert stranger.post(f"/api/v1/jobs/{job}{path}").status_code == 404, path
    assert stranger.get("/api/v1/jobs").json()["items"] == []
    answer = stranger.post("/api/v1/jobs", world.spec())
    assert [one["code"] for one in answer.json()["errors"]] == ["not_found"]
    viewer = people.api(people.member(world.organisation, "viewer"))
    assert viewer.get(f"/api/v1/jobs/{job}").status_code == 200
    assert viewer.post(f"/api/v1/jobs/{job}/cancel").status_code == 403
    assert viewer.post("/api/v1/jobs", world.spec()).status_code == 403


def test_cancel_suspend_resume_know_their_states(world: World, api: Any) -> None:
    path = f"/api/v1/jobs/{api.post('/api/v1/jobs', world.spec()).json()['id']}"
    refused = api.post(f"{path}/resume")
    assert (refused.status_code, refused.json()["code"], refused.json()["state"]) == (
        409,
        "invalid_state",
        "queued",
    )
    assert api.post(f"{path}/suspend").json()["status"] == "suspended"
    resumed = api.post(f"{path}/resume", {}).json()
    assert (resumed["status"], [run["number"] for run in resumed["runs"]]) == ("queued", [1, 2])
    assert api.post(f"{path}/cancel").json()["status"] == "cancelled"
    assert api.post(f"{path}/cancel").status_code == 409
    assert api.post(f"{path}/suspend").status_code == 409
    assert api.post(f"{path}/resume", {"checkpoint": "ckp_x"}).status_code == 422
    assert api.get(f"{path}/logs").json() == {"lines": [], "after": "e30", "complete": True}


def test_secrets_are_written_and_never_read(world: World, api: Any) -> None:
    assert api.post("/api/v1/secrets", {"name": "TOKEN", "value": "s3cr3t"}).status_code == 201
    listed = api.get("/api/v1/secrets")
    assert [one["name"] for one in listed.json()["items"]] == ["TOKEN"]
    assert "s3cr3t" not in listed.content.decode()
    assert api.post("/api/v1/secrets", {"name": "RANK", "value": "1"}).status_code == 422
    job = api.post(
        "/api/v1/jobs", world.spec("import os; print(len(os.environ['TOKEN']))", secrets=["TOKEN"])
    )
    row = world.ended(Job.objects.get(pk=job.json()["id"]))
    lines = api.get(f"/api/v1/jobs/{row.pk}/logs").json()["lines"]
    assert [line["text"] for line in lines] == ["6"]
    assert api.delete("/api/v1/secrets/TOKEN").status_code == 204
    assert api.delete("/api/v1/secrets/TOKEN").status_code == 404


def _zip(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return buffer.getvalue()


def _tar_with(name: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    return buffer.getvalue()


def test_an_archive_is_looked_into(world: World, api: Any) -> None:
    good = SimpleUploadedFile("code.zip", _zip(**{"src__main.py": "print(1)"}))
    answer = api.post("/api/v1/uploads", {"file": good}, format="multipart")
    assert answer.status_code == 201, answer.json()
    assert answer.json()["format"] == "zip"
    for name, data, code in [
        ("a.tar.gz", _tar_with("../out"), "outside"),
        ("a.zip", b"PK\x03\x04 broken", "damaged"),
        ("a.rar", b"Rar!", "format"),
        ("a.zip", b"", "empty"),
    ]:
        answer = api.post("/api/v1/uploads", {"file": SimpleUploadedFile(name, data)}, format="multipart")
        assert (answer.status_code, [one["code"] for one in answer.json()["errors"]]) == (422, [code])


def test_environments_usable_ones_first(world: World, api: Any) -> None:
    items = api.get("/api/v1/environments").json()["items"]
    assert items[0]["sites"] == [world.cluster.site.slug]
    assert items[0].keys() >= {"slug", "title", "framework", "version", "cuda", "sites"}
    assert (items[0]["slug"], items[0]["usable"], items[-1]["usable"]) == ("python-numpy", True, False)
