"""Which checkpoints go: a table of cases, and what holds for any registry."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.checkpoint_keys import files_of, is_named_folder
from jobs.keeping import Stored, surplus


def one(name: str, *, run: int = 1, complete: bool = True, fresh: bool = False, folder: str = "") -> Stored:
    """Return the checkpoint of a step; its id is its name, which ends in the step."""
    step = int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))
    return Stored(name, run, step, "berth", f"{folder}step-{step}", complete, fresh)


@pytest.mark.parametrize(
    ("stored", "keep", "in_use", "gone"),
    [
        ([], 1, [], []),
        ([one("a1")], 1, [], []),
        ([one("a1"), one("a2"), one("a3")], 1, [], ["a1", "a2"]),
        ([one("a3"), one("a1"), one("a2")], 2, [], ["a1"]),
        ([one("a1"), one("a2"), one("a3")], 3, [], []),
        # What a run starts from stays, and takes nobody's place.
        ([one("a1"), one("a2"), one("a3")], 1, ["a1"], ["a2"]),
        # Incomplete ones are neither removed nor counted.
        ([one("a1"), one("a2"), one("a3", complete=False)], 1, [], ["a1"]),
        ([one("a1", complete=False), one("a2"), one("a3")], 1, [], ["a2"]),
        # So are those that may still be written, but they count.
        ([one("a1", fresh=True), one("a2"), one("a3")], 1, [], ["a2"]),
        # A later run is newer, whatever its step.
        ([one("a900"), one("b10", run=2), one("b20", run=2)], 2, [], ["a900"]),
        ([one("a900"), one("b10", run=2)], 2, [], []),
        # Two series in folders of their own.
        ([one("a1", folder="actor/"), one("c1", folder="critic/")], 1, [], []),
        (
            [one("a1", folder="actor/"), one("a2", folder="actor/"), one("c1", folder="critic/")],
            1,
            [],
            ["a1"],
        ),
        # Two of one step are one.
        ([one("a1"), one("a2"), one("b2")], 1, [], ["a1"]),
        ([one("a1"), one("b1"), one("a2")], 1, [], ["a1", "b1"]),
    ],
)
def test_what_goes(stored: list[Stored], keep: int, in_use: list[str], gone: list[str]) -> None:
    assert surplus(stored, keep, in_use) == gone


REGISTRIES = st.lists(
    st.builds(
        Stored,
        id=st.uuids().map(str),
        run=st.integers(1, 4),
        step=st.integers(0, 20),
        layout=st.sampled_from(["berth", "huggingface"]),
        key=st.sampled_from(["step-1", "a/step-1", "b/step-1"]),
        complete=st.booleans(),
        fresh=st.booleans(),
    ),
    max_size=30,
    unique_by=lambda stored: stored.id,
)


@given(stored=REGISTRIES, keep=st.integers(1, 6), data=st.data())
def test_what_holds_for_any_registry(stored: list[Stored], keep: int, data: st.DataObject) -> None:
    in_use = set(data.draw(st.lists(st.sampled_from([row.id for row in stored] or ["none"]))))
    gone = surplus(stored, keep, in_use)
    by_id = {row.id: row for row in stored}
    left = [row for row in stored if row.id not in gone]
    assert len(set(gone)) == len(gone)
    assert all(by_id[pk].complete and not by_id[pk].fresh and pk not in in_use for pk in gone)
    for family in {row.family for row in stored if row.complete}:
        whole = [row for row in stored if row.complete and row.family == family]
        newest = sorted({(row.run, row.step) for row in whole}, reverse=True)[:keep]
        kept = [row for row in left if row.complete and row.family == family]
        assert set(newest) <= {(row.run, row.step) for row in kept}
        assert all((row.run, row.step) in newest or row.fresh or row.id in in_use for row in kept)
    # What is left is at rest, and asking in another order asks the same.
    assert surplus(left, keep, in_use) == []
    assert set(surplus(stored[::-1], keep, in_use)) == set(gone)
    # More in use never removes more.
    assert set(surplus(stored, keep, in_use | {row.id for row in stored[:3]})) <= set(gone)


def test_nobody_removes_all() -> None:
    with pytest.raises(ValueError, match="at least one"):
        surplus([one("a1")], 0, [])
    assert surplus([replace(one("a1"), fresh=True)], 1, []) == []


@pytest.mark.parametrize(
    ("key", "is_file", "listing", "own"),
    [
        (
            "out/ep0-ba5-rank0.pt",
            True,
            ["out/ep0-ba5-rank0.pt", "out/ep0-ba5-rank1.pt", "out/ep0-ba50-rank0.pt", "ep0-ba5-rank1.pt"],
            ["out/ep0-ba5-rank0.pt", "out/ep0-ba5-rank1.pt"],
        ),
        ("ep0-ba5-rank0.pt", True, ["ep0-ba5-rank0.pt", "latest-rank0.pt"], ["ep0-ba5-rank0.pt"]),
        ("epoch=0-step=5.ckpt", True, ["epoch=0-step=5.ckpt", "last.ckpt"], ["epoch=0-step=5.ckpt"]),
        ("epoch=0-step=5.ckpt", True, ["last.ckpt"], []),
        (
            "weights5",
            False,
            ["weights5/.metadata", "weights5/__0_0.distcp", "weights5/notes", "weights5/checkpoint-1/a"],
            ["weights5/.metadata", "weights5/__0_0.distcp"],
        ),
    ],
)
def test_only_files_of_the_checkpoint_are_its_own(
    key: str, is_file: bool, listing: list[str], own: list[str]
) -> None:
    assert files_of(key, is_file, listing) == own


@pytest.mark.parametrize("key", ["checkpoint-5", "a/global_step5", "iter_0000005", "ep0-ba5", "x/step-5"])
def test_a_folder_named_as_a_checkpoint_is_one(key: str) -> None:
    assert is_named_folder(key)
    assert not is_named_folder(f"{key}/more")
