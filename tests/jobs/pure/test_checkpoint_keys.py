"""The layouts of public trainers: complete ones are found, and each missing marker or shard is noticed."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import checkpoint_keys
from jobs.checkpoint_keys import Found
from jobs.listing import Item

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
INDEX = '{"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}'
STATE = (
    '{"best_metric": null, "log_history": [{"loss": 2.5, "step": 50}, {"loss": 2.25, "grad_norm": NaN}, '
    '{"eval_loss": 2.4, "step": 100}, {"loss": 2.0, "step": 100}]}'
)


def scan(texts: dict[str, str], *names: str) -> list[Found]:
    """Recognise files of 10 bytes each; every wanted text is taken from ``texts``."""
    items = [Item(name, 10, NOW + timedelta(seconds=place)) for place, name in enumerate([*names, *texts])]
    read = {key: texts[key] for key in checkpoint_keys.wanted(items) if key in texts}
    return checkpoint_keys.recognise(items, read)


def steps(found: list[Found], complete: bool = True) -> list[int]:
    return [one.step for one in found if one.complete is complete]


def hf(step: int, *names: str) -> list[str]:
    return [f"checkpoint-{step}/{name}" for name in names]


SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
REST = ("optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin")
HF_TEXTS = {
    "checkpoint-100/trainer_state.json": STATE,
    "checkpoint-100/model.safetensors.index.json": INDEX,
}


def test_hugging_face() -> None:
    (found,) = scan(HF_TEXTS, *hf(100, *SHARDS, *REST))
    assert found == Found(
        100, "huggingface", "checkpoint-100", 80, True, False, metric=("eval_loss", 2.4), exact=True
    )


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ({}, hf(100, "model.safetensors", *REST)),
        (HF_TEXTS, hf(100, SHARDS[0], *REST)),
        (HF_TEXTS, hf(100, SHARDS[1], *REST)),
        ({"checkpoint-100/trainer_state.json": STATE}, hf(100, SHARDS[0])),
        ({"checkpoint-100/trainer_state.json": STATE}, hf(100, *REST)),
        (
            {"checkpoint-100/trainer_state.json": STATE},
            hf(100, "model.safetensors", "rng_state_0.pth", "rng_state_2.pth"),
        ),
        (
            {"checkpoint-100/trainer_state.json": STATE},
            hf(100, "pytorch_model_fsdp_0/__0_0.distcp", "optimizer_0/.metadata"),
        ),
        (
            {"checkpoint-100/trainer_state.json": STATE},
            hf(100, "global_step100/mp_rank_00_model_states.pt"),
        ),
    ],
)
def test_hugging_face_without_something(texts: dict[str, str], names: list[str]) -> None:
    (found,) = scan(texts, *names)
    assert not found.complete


def test_hugging_face_with_other_things_inside() -> None:
    state = {"checkpoint-7/trainer_state.json": STATE}
    fsdp = ("pytorch_model_fsdp_0/__0_0.distcp", "pytorch_model_fsdp_0/.metadata", "optimizer_0/.metadata")
    (found,) = scan(state, *hf(7, *fsdp))
    assert (found.layout, found.complete, found.exact) == ("huggingface", True, True)
    zero = ("global_step7/mp_rank_00_model_states.pt", "model.safetensors")
    (found,) = scan({**state, "checkpoint-7/latest": "global_step7"}, *hf(7, *zero))
    assert (found.step, found.complete) == (7, True)
    (found,) = scan(state, *hf(7, "model.safetensors"))
    assert (found.complete, found.exact) == (True, False)


def deepspeed(step: int, ranks: int) -> list[str]:
    shards = [
        f"global_step{step}/bf16_zero_pp_rank_{rank}_mp_rank_00_optim_states.pt" for rank in range(ranks)
    ]
    return [f"global_step{step}/mp_rank_00_model_states.pt", *shards]


def test_deepspeed_counts_up_to_its_tracker() -> None:
    names = deepspeed(100, 4) + deepspeed(200, 4) + deepspeed(300, 4)
    found = scan({"latest": "global_step200\n"}, *names)
    assert {one.layout for one in found} == {"deepspeed"}
    assert (steps(found), steps(found, False)) == ([100, 200], [300])
    assert steps(scan({}, *names)) == []
    assert steps(scan({"latest": "nonsense"}, *names)) == []


def test_deepspeed_misses_no_shard() -> None:
    names = deepspeed(100, 4) + deepspeed(200, 4)
    for lost in names:
        kept = [name for name in names if name != lost]
        assert len(steps(scan({"latest": "global_step200"}, *kept))) == 1


def megatron(step: int, *ranks: str) -> list[str]:
    return [f"iter_{step:07}/mp_rank_{rank}/model_optim_rng.pt" for rank in ranks]


def test_megatron_counts_up_to_its_tracker() -> None:
    names = megatron(100, "00_000", "01_000") + megatron(200, "00_000") + megatron(300, "00_000", "01_000")
    found = scan({"latest_checkpointed_iteration.txt": "200"}, *names)
    assert (steps(found), steps(found, False)) == ([100], [200, 300])
    assert {one.layout for one in found} == {"megatron"}
    for text in ("release", "", "²", "9" * 50):
        assert steps(scan({"latest_checkpointed_iteration.txt": text}, *names)) == []


def test_megatron_distributed_needs_metadata_json_too() -> None:
    whole = [f"iter_0000100/{name}" for name in ("__0_0.distcp", ".metadata", "common.pt", "metadata.json")]
    tracker = {"latest_checkpointed_iteration.txt": "100"}
    (found,) = scan(tracker, *whole)
    assert (found.layout, found.complete) == ("megatron_dist", True)
    assert steps(scan(tracker, *whole[:3])) == []
    assert steps(scan(tracker, whole[0], *whole[2:])) == []
    assert steps(scan({"latest_checkpointed_iteration.txt": "90"}, *whole)) == []


def test_distributed_checkpoints_of_torch() -> None:
    found = scan(
        {},
        "checkpoint/step-500/__0_0.distcp",
        "checkpoint/step-500/__1_0.distcp",
        "checkpoint/step-500/.metadata",
        "my/600/__0_0.distcp",
        "my/600/.metadata.tmp",
        "my/latest/.metadata",
    )
    assert [(one.step, one.layout, one.key, one.complete) for one in found] == [
        (500, "dcp", "checkpoint/step-500", True),
        (600, "dcp", "my/600", False),
    ]


def test_lightning_files_and_folders() -> None:
    found = scan(
        {},
        "logs/epoch=0-step=100.ckpt",
        "logs/epoch=1-step=200-val_loss=0.3125.ckpt",
        "logs/last.ckpt",
        "epoch=2-step=300.ckpt/__0_0.distcp",
        "epoch=2-step=300.ckpt/.metadata",
        "epoch=2-step=300.ckpt/meta.pt",
        "epoch=3-step=400.ckpt/__0_0.distcp",
        "epoch=3-step=400.ckpt/.metadata",
    )
    assert [(one.step, one.is_file, one.complete, one.metric) for one in found] == [
        (100, True, True, None),
        (200, True, True, ("val_loss", 0.3125)),
        (300, False, True, None),
        (400, False, False, None),
    ]
    assert found[0].key == "logs/epoch=0-step=100.ckpt"


def test_composer() -> None:
    (found,) = scan({}, "ep0-ba100-rank0.pt", "ep0-ba100-rank1.pt")
    assert found == Found(100, "composer", "ep0-ba100-rank0.pt", 20, True, True)
    assert steps(scan({}, "ep0-ba100-rank1.pt")) == []
    (found,) = scan({}, "ep1-ba9/__0_0.distcp", "ep1-ba9/.metadata")
    assert (found.layout, found.complete, found.is_file) == ("composer", True, False)
    names = ["ep0-ba100-rank0.pt", "ep0-ba200-rank0.pt"]
    assert steps(scan({"latest-rank0.pt.symlink": "x/ep0-ba100-rank0.pt"}, *names)) == [100]


def test_composer_believes_the_link_and_not_the_newest_file() -> None:
    whole = Item("ep0-ba100-rank0.pt", 50, NOW)
    link = Item("latest-rank0.pt", 50, NOW)
    half = Item("ep0-ba200-rank0.pt", 20, NOW + timedelta(minutes=1))
    assert steps(checkpoint_keys.recognise([whole, link, half], {})) == [100]


def test_our_own_layout() -> None:
    found = scan(
        {"step-10/DONE": '{"step": 10, "loss": 2.5}', "step-20/DONE": ""}, "step-10/w.npy", "step-20/w"
    )
    assert [(one.key, one.complete, one.metric) for one in found] == [
        ("step-10", True, ("loss", 2.5)),
        ("step-20", True, None),
    ]
    assert steps(scan({}, "step-30/weights.npy")) == []


def test_other_files_are_nothing() -> None:
    assert scan({"latest": "x"}, "model.pt", "notes.txt", "step-x/DONE", "a/b/c", "last.ckpt") == []


NAMES = st.sampled_from(
    [
        "checkpoint-5",
        "global_step5",
        "iter_0000005",
        "step-5",
        "ep0-ba5",
        "a=1-step=5.ckpt",
        "x",
        "latest",
        "ep0-ba5-rank0.pt",
        "latest-rank0.pt",
        "latest-rank0.pt.symlink",
        "__0_0.distcp",
        ".metadata",
        "DONE",
        "trainer_state.json",
        "²",
        "metadata.json",
        "model.safetensors",
        "latest_checkpointed_iteration.txt",
        "model-1-of-2.bin",
        "w.index.json",
        "mp_rank_00_model_states.pt",
        "step-999999999999999999999999999999",
        "",
    ]
)


@given(st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=12), st.data())
def test_any_folder_is_read_without_a_fault(names: list[str], data: st.DataObject) -> None:
    items = [Item(name, data.draw(st.integers(0, 3)), NOW) for name in names]
    keys = {item.key for item in items}
    need = checkpoint_keys.wanted(items)
    assert set(need) <= keys
    texts = {key: data.draw(st.text(max_size=20) | st.sampled_from([STATE, "[" * 2000])) for key in need}
    found = checkpoint_keys.recognise(items, texts)
    assert [one.step for one in found] == sorted(one.step for one in found)
    assert len({one.key for one in found}) == len(found)
    for one in found:
        inside = any(key.startswith(one.key + "/") for key in keys)
        assert one.key in keys or inside or one.layout == "composer"
    assert len(keys) < len(items) or checkpoint_keys.recognise(reversed(items), texts) == found
