"""Findings of real runs, over REST and on the page."""

import pytest

from tests.support import people
from tests.support.training import World

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


@pytest.mark.parametrize(("code", "codes"), [(1, ["cuda_oom"]), (0, [])])
def test_only_a_run_that_failed_by_it_is_told_so(world: World, code: int, codes: list[str]) -> None:
    job = world.ended(world.submit(code=f"print({OOM!r}); raise SystemExit({code})"))
    answer = people.api(world.owner).get(f"/api/v1/jobs/{job.pk}/findings").json()
    assert answer["next"] is None
    assert [one["code"] for one in answer["items"]] == codes
    page = people.browser(world.owner).get(f"/jobs/{job.pk}").content.decode()
    assert ("Halve the batch per GPU" in page) == bool(codes)
    for one in answer["items"]:
        assert one["evidence"] == [{"n": 1, "replica": "master-0", "text": OOM}]
        assert one["severity"] == "critical"
        assert one["advice"].startswith("Halve the batch")
