"""Pages of jobs: submit with its plan, list, the job with its log and curves, cancel and resume."""

import re

import pytest

from jobs.models import Job
from tests.support import people
from tests.support.training import World

pytestmark = pytest.mark.django_db


def test_an_empty_list_says_what_belongs_there(world: World) -> None:
    page = people.browser(world.owner).get("/jobs").content.decode()
    assert "No jobs yet" in page
    nobody = people.browser(people.member()).get("/jobs").content.decode()
    assert "Rent a cluster first" in nobody


def test_submit_without_a_cluster_offers_the_first_step() -> None:
    assert "No cluster takes jobs" in people.browser(people.member()).get("/jobs/new").content.decode()


def test_the_form_starts_from_a_template_and_plans_it(world: World) -> None:
    page = people.browser(world.owner).get("/jobs/new").content.decode()
    assert "starts now" in page
    assert 'class="g plan"' in page
    assert "Character model, NumPy" in page


def test_the_plan_follows_the_form(world: World) -> None:
    browser = people.browser(world.owner)
    form = _form(browser.get("/jobs/new?template=").content.decode()) | {"replicas": "9"}
    part = browser.post("/jobs/new/plan", form).content.decode()
    assert part.lstrip().startswith('<div id="plan"')
    assert "do not fit on it" in part
    several = browser.post("/jobs/new/plan", form | {"replicas": "1", "processes_per_replica": "2"})
    assert "Several processes per replica" in several.content.decode()


def test_submitting_twice_makes_one_job(world: World) -> None:
    browser = people.browser(world.owner)
    form = _form(browser.get("/jobs/new?template=").content.decode()) | {"name": "名字 <i>"}
    first = browser.post("/jobs/new", form)
    assert first["Location"] == browser.post("/jobs/new", form)["Location"]
    assert Job.objects.count() == 1
    page = browser.get(first["Location"]).content.decode()
    assert "名字 &lt;i&gt;" in page
    assert "Nothing printed yet" in page


@pytest.mark.parametrize(("typed", "kept"), [("", {}), (" 3 ", {"keep_last": 3})])
def test_the_form_offers_how_many_checkpoints_stay(world: World, typed: str, kept: dict[str, int]) -> None:
    browser = people.browser(world.owner)
    form = _form(browser.get("/jobs/new?template=").content.decode()) | {"keep_last": typed}
    assert browser.post("/jobs/new", form).status_code == 302
    assert Job.objects.get().spec["checkpoints"] == {"path": "/checkpoints", "resume": "auto", **kept}


@pytest.mark.parametrize(
    "change,said",
    [
        ({"command": "python 'x"}, "A quotation mark is not closed."),
        ({"env": "A=1\nnonsense"}, "Write one NAME=value in each line."),
        ({"env": "RANK=1"}, "set by Berth"),
        ({"replicas": "many"}, "number"),
        ({"keep_last": "0"}, "1"),
        ({"code": "archive"}, "Choose a zip"),
    ],
)
def test_faults_stand_at_their_field_and_nothing_typed_is_lost(
    world: World, change: dict[str, str], said: str
) -> None:
    browser = people.browser(world.owner)
    form = _form(browser.get("/jobs/new?template=").content.decode()) | {"name": "keep me"} | change
    answer = browser.post("/jobs/new", form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert "keep me" in page
    assert not Job.objects.exists()


def test_a_job_from_start_to_resume(world: World) -> None:
    job = world.submit(
        world.training("--steps", "20", "--checkpoint-every", "10", replicas=1, gpus_per_replica=1)
    )
    world.ended(job)
    browser = people.browser(world.owner)
    page = browser.get(f"/jobs/{job.pk}").content.decode()
    assert 'data-state="succeeded"' in page
    assert "loss" in page
    assert 'class="curve s1"' in page
    assert "Complete to the last line." in page
    assert "Resume from here" in page
    assert "hx-get" not in page.split('id="job-live"')[1].split(">")[0]
    found = browser.get(f"/jobs/{job.pk}", {"find": "checkpoint"}).content.decode()
    assert "among the last 5,000" in found
    whole = b"".join(browser.get(f"/jobs/{job.pk}/log.txt")).decode()
    assert whole.count("\n") > 20
    checkpoint = job.checkpoints.filter(complete=True).order_by("step").first()
    assert checkpoint is not None
    browser.post(f"/jobs/{job.pk}/resume", {"checkpoint": checkpoint.pk})
    world.ended(job)
    assert job.runs.get(number=2).resume_from_id == checkpoint.pk
    assert browser.get(f"/jobs/{job.pk}").status_code == 200


def test_cancel_names_its_effect_and_does_it(world: World) -> None:
    job = world.submit(world.spec("import time\nprint('\\x1b[31mred\\x1b[0m')\ntime.sleep(60)\n"))
    world.until(lambda: world.status(job) == "running")
    browser = people.browser(world.owner)
    page = browser.get(f"/jobs/{job.pk}").content.decode()
    assert "SIGTERM now and 30 seconds" in page
    live = browser.get(f"/jobs/{job.pk}/live", {"seen": "old"}).content.decode()
    assert 'hx-swap-oob="true"' in live
    assert browser.post(f"/jobs/{job.pk}/cancel").status_code == 302
    world.ended(job)
    assert job.status == "cancelled"
    assert "cancelled" in browser.post(f"/jobs/{job.pk}/suspend", follow=True).content.decode()


def test_the_list_filters_and_ignores_nonsense(world: World) -> None:
    world.submit(name="first one")
    browser = people.browser(world.owner)
    assert "first one" in browser.get("/jobs", {"status": "queued", "name": "FIRST"}).content.decode()
    assert "No job matches" in browser.get("/jobs", {"name": "second"}).content.decode()
    assert "first one" in browser.get("/jobs", {"status": "nonsense"}).content.decode()


def test_a_stranger_sees_nothing(world: World) -> None:
    job = world.submit()
    browser = people.browser(people.member())
    for path in ("", "/live", "/log", "/log.txt"):
        assert browser.get(f"/jobs/{job.pk}{path}").status_code == 404, path
    for path in ("/cancel", "/suspend", "/resume"):
        assert browser.post(f"/jobs/{job.pk}{path}").status_code == 404, path


def test_a_viewer_reads_only(world: World) -> None:
    job = world.submit()
    viewer = people.browser(people.member(world.organisation, role="viewer"))
    page = viewer.get(f"/jobs/{job.pk}").content.decode()
    assert "cancel-dialog" not in page
    assert viewer.post(f"/jobs/{job.pk}/cancel").status_code == 403
    assert viewer.get("/jobs/new").status_code == 403


def _form(page: str) -> dict[str, str]:
    """Return the fields of the submit form as a browser would send them, the code shortened."""
    found = {"inline": "print('hello')"}
    for tag in re.findall(r"<input [^>]+>", page.split("submit-form")[1]):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        if name is None or 'type="file"' in tag or ('type="radio"' in tag and " checked" not in tag):
            continue
        found[name[1]] = value[1] if value else ""
    cluster = re.search(r'value="(clu_[a-z0-9]+)" selected', page)
    assert cluster is not None
    return found | {"cluster": cluster[1]}
