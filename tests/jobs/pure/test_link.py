"""The step before a resumed run: the chosen checkpoint and its tracker stand in the run's own folder."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs import pod_reasons
from jobs.podcode import link


def checkpoint(folder: Path, key: str) -> Path:
    made = folder / "run_1" / key
    made.mkdir(parents=True)
    (made / "weights").write_text("w")
    return made


@pytest.mark.parametrize(
    ("key", "tracker", "text"),
    [
        ("global_step20", "latest", "global_step20"),
        ("iter_0000100", "latest_checkpointed_iteration.txt", "100"),
        ("step-10", None, ""),
        ("out/checkpoint-30", None, ""),
    ],
)
def test_the_folder_is_linked_with_its_tracker(
    tmp_path: Path, key: str, tracker: str | None, text: str
) -> None:
    source, target = checkpoint(tmp_path, key), tmp_path / "run_2" / key
    for _ in range(2):
        assert link.main(source, target) == (0, "")
    assert not os.path.isabs(os.readlink(target))
    assert (target / "weights").read_text() == "w"
    assert {one.name for one in target.parent.iterdir()} == {target.name, *([tracker] if tracker else [])}
    if tracker:
        assert (target.parent / tracker).read_text() == text


def test_every_rank_of_a_composer_checkpoint_is_linked(tmp_path: Path) -> None:
    (tmp_path / "run_1").mkdir()
    for rank in (0, 1):
        (tmp_path / "run_1" / f"ep0-ba5-rank{rank}.pt").write_text(str(rank))
    name = "ep0-ba5-rank0.pt"
    assert link.main(tmp_path / "run_1" / name, tmp_path / "run_2" / name) == (0, "")
    assert (tmp_path / "run_2" / "ep0-ba5-rank1.pt").read_text() == "1"


def test_a_newer_tracker_stays(tmp_path: Path) -> None:
    source, target = checkpoint(tmp_path, "global_step20"), tmp_path / "run_2" / "global_step20"
    target.parent.mkdir()
    (target.parent / "latest").write_text("global_step40")
    assert link.main(source, target) == (0, "")
    assert (target.parent / "latest").read_text() == "global_step40"


def test_without_links_replicas_at_once_leave_one_whole_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "symlink", refuse)
    monkeypatch.setattr(os, "link", refuse)
    source, target = checkpoint(tmp_path, "global_step20"), tmp_path / "run_2" / "global_step20"
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: link.main(source, target), range(8))) == {(0, "")}
    assert not target.is_symlink()
    assert (target / "weights").read_text() == "w"
    assert {one.name for one in target.parent.iterdir()} == {"global_step20", "latest"}


def test_a_checkpoint_that_is_gone_is_said(tmp_path: Path) -> None:
    code, wrong = link.main(tmp_path / "run_1" / "step-5", tmp_path / "run_2" / "step-5")
    assert (code, wrong) == (link.GONE, "the checkpoint step-5 is not there any more")


def test_a_folder_that_takes_no_links_is_said(tmp_path: Path) -> None:
    source = checkpoint(tmp_path, "step-5")
    (tmp_path / "run_2").write_text("a file, where the folder should be")
    code, wrong = link.main(source, tmp_path / "run_2" / "step-5")
    assert code == link.FAILED
    assert wrong.startswith("cannot link step-5: ")


def test_the_exit_codes_are_those_that_reasons_are_made_of() -> None:
    assert (link.GONE, link.FAILED) == (pod_reasons.LINK_GONE, pod_reasons.LINK_FAILED)
