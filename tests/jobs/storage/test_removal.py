"""Removing checkpoints on a folder and on a real S3 server: the checkpoint goes, its neighbours stay."""

import pytest
from django.utils import timezone

from jobs.models import Checkpoint
from jobs.services import checkpoints, places, pruning
from jobs.storage import Storage
from tests.support.training import World

pytestmark = pytest.mark.xdist_group("s3")
FILES = [
    *(f"checkpoint-{step}/{name}" for step in (1, 10) for name in ("model.safetensors", "optimizer.pt")),
    *(f"ep0-ba{step}-rank{rank}.pt" for step in (1, 10) for rank in (0, 1)),
    *(f"epoch=0-step={step}.ckpt" for step in (1, 10)),
    *(f"shards/at-{step}/{name}" for step in (1, 10) for name in ("__0_0.distcp", ".metadata")),
    "shards/at-1/notes.txt",
    "checkpoint-10/trainer_state.json",
    "checkpoint-1/trainer_state.json",
]
LEFT = [name for name in FILES if "10" in name or name.endswith("notes.txt")]


def test_a_checkpoint_of_each_kind_goes_as_a_whole(
    world: World, store: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = world.ended(world.submit(checkpoints={"keep_last": 1}))
    run = job.runs.select_related("job", "cluster__site", "resume_from").get()
    for name in FILES:
        store.write(f"{run.pk}/{name}", b"{}")
    monkeypatch.setattr(places, "volume", lambda cluster, name: store)
    now = timezone.now()
    seen = checkpoints.scan(run, now=now)
    assert (seen.complete, pruning.choose(run, seen=seen, now=now)) == (8, 4)
    assert pruning.remove(job.pk, now=now) == 4
    assert sorted(item.key for item in store.at(run.pk).list()) == sorted(LEFT)
    assert not Checkpoint.objects.filter(run=run, gone_at=None).exclude(step=10).exists()
