"""What goes into jobs: files in /data, archives fetched by a ticket, and that neither leads elsewhere."""

import threading
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.utils import timezone

from clusters.models import Cluster
from jobs.services import logs, tickets, uploads
from tests.support import people
from tests.support.training import World


def test_files_are_brought_to_data_and_found_by_jobs(world: World) -> None:
    api = people.api(world.owner)
    path = f"/api/v1/clusters/{world.cluster.pk}/files"
    sent = {"file": SimpleUploadedFile("x.txt", b"forty-two"), "path": "/data/in/数据.txt"}
    answer = api.post(path, sent, format="multipart")
    assert (answer.status_code, answer.json()["path"]) == (201, "in/数据.txt")
    top = api.get(path).json()["items"]
    assert [(one["name"], one["kind"], one["bytes"]) for one in top] == [("in", "folder", 9)]
    assert [one["name"] for one in api.get(path, {"path": "in"}).json()["items"]] == ["数据.txt"]
    content = api.get(f"{path}/content", {"path": "in/数据.txt"})
    assert b"".join(content.streaming_content) == b"forty-two"
    job = world.ended(
        world.submit(code="import os; print(open(os.environ['DATA_DIR'] + '/in/数据.txt').read())")
    )
    assert [line.text for line in logs.tail(job.runs.get(), 1).lines] == ["forty-two"]
    for bad in ("../x", "a/../../x", "a//b", "x\\y"):
        sent = {"file": SimpleUploadedFile("x.txt", b"1"), "path": bad}
        assert api.post(path, sent, format="multipart").status_code == 422, bad
    assert api.delete(f"{path}?path=in").status_code == 204
    assert api.delete(f"{path}?path=in").status_code == 404
    stranger = people.api(people.member())
    assert stranger.get(path).status_code == 404


class Quiet(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def web(settings: Any) -> Iterator[str]:
    """The portal's web server, which pods reach."""
    server = make_server("127.0.0.1", 0, WSGIHandler(), handler_class=Quiet)
    settings.INTERNAL_URL = f"http://127.0.0.1:{server.server_port}"

    def serve() -> None:
        server.serve_forever(poll_interval=0.05)
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield settings.INTERNAL_URL
    server.shutdown()
    thread.join()
    server.server_close()


def _archive() -> SimpleUploadedFile:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("train.py", "from lib import word; print(word)")
        archive.writestr("lib/__init__.py", "word = 'from the archive'")
    return SimpleUploadedFile("code.zip", buffer.getvalue())


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db", "web")
def test_a_pod_fetches_its_archive_by_a_ticket(places: Path) -> None:
    world = World(places)
    try:
        upload = uploads.store(access=world.access, file=_archive(), now=timezone.now())
        spec = {**world.spec(), "code": {"archive": upload.pk}, "command": ["python", "train.py"]}
        job = world.ended(world.submit(spec), 60)
        said = [line.text for line in logs.tail(job.runs.get(), 50).lines]
        assert (job.status, said) == ("succeeded", ["from the archive"])
    finally:
        world.close()


def test_a_ticket_opens_one_object_for_minutes(world: World, client: Any) -> None:
    now = timezone.now()
    upload = uploads.store(access=world.access, file=_archive(), now=now)
    url = tickets.code_url(upload=upload.pk, cluster=world.cluster.pk, now=now)
    path = url[url.index("/internal/") :]
    assert b"".join(client.get(path).streaming_content)[:2] == b"PK"
    assert client.get(path[:-2] + "xx").status_code == 404
    old = tickets.code_url(upload=upload.pk, cluster=world.cluster.pk, now=now - tickets.LIFETIME * 2)
    assert client.get(old[old.index("/internal/") :]).status_code == 404
    other = world.rent(1, 1)
    Cluster.objects.filter(pk=other.pk).update(organisation=people.organisation())
    stolen = tickets.code_url(upload=upload.pk, cluster=other.pk, now=now)
    assert client.get(stolen[stolen.index("/internal/") :]).status_code == 404
    Cluster.objects.filter(pk=world.cluster.pk).update(status="released")
    assert client.get(path).status_code == 404


def test_no_path_breaks_the_data_folder(world: World) -> None:
    api = people.api(world.owner)
    at = f"/api/v1/clusters/{world.cluster.pk}/files"

    def put(path: str) -> Any:
        form = {"file": SimpleUploadedFile("f", b"x"), "path": path}
        return api.post(at, form, format="multipart")

    assert put("a").status_code == 201
    assert put("folder/b").status_code == 201
    for path in ("a/b", "a/b/c", "folder"):
        answer = put(path)
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "taken"), path
    for path in ("x" * 300, "\\x", "..", "/".join(["d" * 200] * 8)):
        assert put(path).status_code == 422
        assert api.get(f"{at}/content", {"path": path}).status_code == 422
        assert api.get(at, {"path": path}).status_code == 422
        assert api.delete(f"{at}?path={path}").status_code == 422
    assert api.delete(f"{at}?path=a/b").status_code == 404
    assert api.get(f"{at}/content", {"path": "a/b"}).status_code == 404
