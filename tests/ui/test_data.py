"""The data folder: browse, upload, download; nothing leads out of it."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.support import fleet, people
from tests.support.training import World

pytestmark = pytest.mark.django_db


def test_what_is_uploaded_is_found_by_a_job_and_comes_back(world: World) -> None:
    browser = people.browser(world.owner)
    base = f"/clusters/{world.cluster.pk}/data"
    assert "Nothing here yet" in browser.get(base).content.decode()
    file = SimpleUploadedFile("语料 <1>.txt", b"hello data")
    browser.post(f"{base}/upload", {"file": file, "folder": "corpus"})
    assert "corpus" in browser.get(base).content.decode()
    assert "语料 &lt;1&gt;.txt" in browser.get(base, {"folder": "corpus"}).content.decode()
    got = browser.get(f"{base}/file", {"key": "corpus/语料 <1>.txt"})
    assert b"".join(got) == b"hello data"
    assert got["Content-Disposition"].startswith("attachment")
    code = "import os, pathlib\nprint(next(pathlib.Path(os.environ['DATA_DIR']).rglob('*.txt')).read_text())"
    job = world.ended(world.submit(world.spec(code)))
    assert "hello data" in browser.get(f"/jobs/{job.pk}").content.decode()


@pytest.mark.parametrize("folder", ["../x", "a/../../b", "a\0b", "a\\b"])
def test_nothing_leads_out(world: World, folder: str) -> None:
    browser = people.browser(world.owner)
    base = f"/clusters/{world.cluster.pk}/data"
    answer = browser.post(f"{base}/upload", {"file": SimpleUploadedFile("x", b"x"), "folder": folder})
    assert answer.status_code == 302
    assert browser.get(f"{base}/file", {"key": f"{folder}/x"}).status_code == 404
    assert browser.get(base, {"folder": folder}).status_code in (200, 422)


def test_rights_and_strangers(world: World) -> None:
    base = f"/clusters/{world.cluster.pk}/data"
    stranger = people.browser(people.member())
    assert stranger.get(base).status_code == 404
    assert stranger.get(f"{base}/file", {"key": "x"}).status_code == 404
    assert stranger.post(f"{base}/upload").status_code == 404
    viewer = people.browser(people.member(world.organisation, role="viewer"))
    assert "d-file" not in viewer.get(base).content.decode()
    assert viewer.post(f"{base}/upload").status_code == 403


def test_a_cluster_that_is_over_keeps_its_folder_closed() -> None:
    member = people.member()
    cluster = fleet.cluster(status="released", organisation=member.organisation)
    page = people.browser(member).get(f"/clusters/{cluster.pk}/data")
    assert "Not to be opened from here" in page.content.decode()
