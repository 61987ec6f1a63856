"""The job spec: every fault is named once, what is read comes back the same, advice is given."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from jobs import jobspec

GOOD: dict[str, Any] = {
    "name": "llama-7b-sft",
    "cluster": "clu_01k",
    "project": "research",
    "environment": "pytorch-2.9-cuda12.8",
    "code": {"inline": "print('hello')"},
    "command": ["torchrun", "main.py", "--steps", "100"],
    "replicas": 2,
    "gpus_per_replica": 8,
    "processes_per_replica": 8,
    "env": {"NCCL_DEBUG": "WARN"},
    "secrets": ["HF_TOKEN"],
    "checkpoints": {"path": "/checkpoints", "resume": "auto", "keep_last": 3},
    "max_runtime_seconds": 86400,
    "max_retries": 3,
    "priority": "normal",
    "tags": {"team": "nlp"},
}

CALM = {**GOOD, "checkpoints": {"path": "/checkpoints", "resume": "auto"}}  # nothing to warn of


def faults(**changes: Any) -> set[tuple[str, str]]:
    """Return (field, code) of what is wrong with the good spec after changes."""
    with pytest.raises(Invalid) as caught:
        jobspec.parse({**GOOD, **changes})
    return {(fault.field, fault.code) for fault in caught.value.errors}


def test_the_example_of_the_contract_reads_and_comes_back() -> None:
    spec = jobspec.parse(GOOD)
    assert jobspec.to_dict(spec) == GOOD
    assert spec.gpus == 16
    assert jobspec.warnings(jobspec.parse(CALM)) == []


def test_the_smallest_spec_has_defaults() -> None:
    spec = jobspec.parse({"cluster": "clu_1", "code": {"inline": "print(1)"}})
    assert spec.command == ("python", "main.py")
    assert (spec.replicas, spec.gpus_per_replica, spec.priority, spec.project) == (1, 1, "normal", "default")
    assert spec.checkpoint_path == "/checkpoints"
    assert spec.resumes
    assert jobspec.parse(jobspec.to_dict(spec)) == spec


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"gpu": 8}, ("gpu", "unknown_field")),
        ({"cluster": None}, ("cluster", "required")),
        ({"cluster": 7}, ("cluster", "type")),
        ({"name": ""}, ("name", "min")),
        ({"name": "x" * 101}, ("name", "max")),
        ({"name": "a\nb"}, ("name", "invalid_name")),
        ({"name": "a\x1b[31m"}, ("name", "invalid_name")),
        ({"name": "   "}, ("name", "invalid_name")),
        ({"name": "a\0b"}, ("name", "invalid_text")),
        ({"name": "\ud800"}, ("name", "invalid_text")),
        ({"replicas": 0}, ("replicas", "min")),
        ({"replicas": 10**9}, ("replicas", "max")),
        ({"replicas": "2"}, ("replicas", "type")),
        ({"replicas": 2.0}, ("replicas", "type")),
        ({"replicas": True}, ("replicas", "type")),
        ({"gpus_per_replica": -1}, ("gpus_per_replica", "min")),
        ({"priority": "urgent"}, ("priority", "choice")),
        ({"priority": []}, ("priority", "type")),
        ({"max_retries": -1}, ("max_retries", "min")),
        ({"max_runtime_seconds": 0}, ("max_runtime_seconds", "min")),
        ({"env": {"RANK": "0"}}, ("env.RANK", "reserved_env")),
        ({"env": {"PET_NNODES": "2"}}, ("env.PET_NNODES", "reserved_env")),
        ({"env": {"RESUME_FROM": ""}}, ("env.RESUME_FROM", "reserved_env")),
        ({"env": {"a-b": "0"}}, ("env.a-b", "invalid_name")),
        ({"env": {"1A": "0"}}, ("env.1A", "invalid_name")),
        ({"env": {"A": 1}}, ("env.A", "type")),
        ({"env": {"A": "x\0"}}, ("env.A", "invalid_text")),
        ({"env": {"A": "x" * 300_000}}, ("env", "too_large")),
        ({"env": []}, ("env", "type")),
        ({"secrets": ["WORLD_SIZE"]}, ("secrets.0", "reserved_env")),
        ({"secrets": ["A", "A"]}, ("secrets.1", "duplicate")),
        ({"secrets": ["NCCL_DEBUG"]}, ("secrets.0", "duplicate")),
        ({"secrets": "A"}, ("secrets", "type")),
        ({"command": []}, ("command", "min")),
        ({"command": "python main.py"}, ("command", "type")),
        ({"command": ["python", 1]}, ("command.1", "type")),
        ({"command": ["x" * 140_000]}, ("command", "too_large")),
        ({"code": None, "command": None}, ("command", "required")),
        ({"code": {}}, ("code", "one_of")),
        ({"code": {"inline": "x", "archive": "upl_1"}}, ("code", "one_of")),
        ({"code": "print(1)"}, ("code", "type")),
        ({"code": {"inline": 1}}, ("code.inline", "type")),
        ({"code": {"inline": "x" * (512 * 1024 + 1)}}, ("code.inline", "too_large")),
        ({"code": {"inline": "x", "file": "y"}}, ("code.file", "unknown_field")),
        ({"code": {"git": {}}}, ("code.git.url", "required")),
        ({"code": {"git": {"url": "https://a/b", "depth": 1}}}, ("code.git.depth", "unknown_field")),
        (
            {"code": {"git": {"url": "https://a/b", "ref": "--exec=x"}}},
            ("code.git.ref", "invalid_ref"),
        ),
        ({"code": {"git": {"url": "https://a/b", "ref": "a..b"}}}, ("code.git.ref", "invalid_ref")),
        ({"checkpoints": {"resume": "maybe"}}, ("checkpoints.resume", "choice")),
        ({"checkpoints": {"keep_last": 0}}, ("checkpoints.keep_last", "min")),
        ({"checkpoints": {"path": "../x"}}, ("checkpoints.path", "invalid_path")),
        ({"checkpoints": {"path": "/a/../etc"}}, ("checkpoints.path", "invalid_path")),
        ({"checkpoints": {"path": "/data/x"}}, ("checkpoints.path", "invalid_path")),
        ({"checkpoints": {"path": "/"}}, ("checkpoints.path", "invalid_path")),
        ({"checkpoints": {"every": 5}}, ("checkpoints.every", "unknown_field")),
        ({"tags": {"": "x"}}, ("tags.", "invalid_name")),
        ({"tags": {"a": "x" * 256}}, ("tags.a", "max")),
    ],
)
def test_each_fault_has_its_field_and_code(changes: dict[str, Any], expected: tuple[str, str]) -> None:
    assert faults(**changes) == {expected}


def test_all_faults_are_named_at_once() -> None:
    found = faults(replicas=0, priority="x", foo=1, env={"RANK": "1"})
    assert found == {
        ("replicas", "min"),
        ("priority", "choice"),
        ("foo", "unknown_field"),
        ("env.RANK", "reserved_env"),
    }


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/a.git",
        "file:///etc",
        "ext::sh -c id",
        "--upload-pack=touch /tmp/x",
        "-u@host:x",
        "https://user:password@example.org/a.git",
        "https://token@example.org/a.git",
        "https://",
        "https://-oProxyCommand=x/y",
        "ssh://-oProxyCommand=x/y",
        "ssh://git@host/-x",
        "git://host/a",
        "https://host/a b",
        "https://[::1/a",
        "https://host:99999/a",
        "git@host:-x",
    ],
)
def test_git_addresses_that_are_refused(url: str) -> None:
    assert faults(code={"git": {"url": url}}) == {("code.git.url", "invalid_url")}


@pytest.mark.parametrize(
    "url", ["https://example.org/team/train.git", "ssh://git@example.org:22/a.git", "git@example.org:a/b.git"]
)
def test_git_addresses_that_are_taken(url: str) -> None:
    spec = jobspec.parse({**GOOD, "code": {"git": {"url": url, "ref": "v1.0", "secret": "GIT_TOKEN"}}})
    assert spec.code == jobspec.Git(url, "v1.0", "GIT_TOKEN")
    assert jobspec.parse(jobspec.to_dict(spec)) == spec


@pytest.mark.parametrize("name", ["训练 №1 🚀", "a.b@C", 'quo"te', "x" * 100, "../../etc"])
def test_names_of_any_script_are_taken(name: str) -> None:
    assert jobspec.parse({**GOOD, "name": name}).name == name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(GOOD)) | st.text(), JSON, max_size=6) | JSON)
def test_any_json_is_either_a_spec_or_a_list_of_faults(data: Any) -> None:
    merged = {**GOOD, **data} if isinstance(data, dict) else data
    try:
        spec = jobspec.parse(merged)
    except Invalid as error:
        named = [fault for fault in error.errors if fault.code and fault.detail]
        if not named or len(named) < len(error.errors):
            pytest.fail(f"a fault without a code or a sentence: {error.errors}")
        return
    assert jobspec.parse(jobspec.to_dict(spec)) == spec


@given(
    replicas=st.integers(1, 64),
    per_replica=st.integers(1, 16),
    nodes=st.integers(0, 64),
    per_node=st.integers(0, 16),
)
def test_fit_is_what_packing_by_hand_says(replicas: int, per_replica: int, nodes: int, per_node: int) -> None:
    spec = jobspec.JobSpec(cluster="c", replicas=replicas, gpus_per_replica=per_replica)
    placed = 0
    for _ in range(nodes):
        free = per_node
        while free >= per_replica:
            free, placed = free - per_replica, placed + 1
    assert jobspec.fits(spec, nodes, per_node) == (placed >= replicas)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"command": ["python", "main.py"]}, "processes_without_launcher"),
        ({"checkpoints": None}, "no_checkpoints"),
        ({"max_runtime_seconds": None}, "no_time_limit"),
        ({"code": {"git": {"url": "https://a/b", "ref": "main"}}}, "git_not_pinned"),
        ({"env": {"WANDB_API_KEY": "x"}}, "secret_in_env"),
    ],
)
def test_what_is_probably_not_meant_is_said(changes: dict[str, Any], code: str) -> None:
    assert [warning.code for warning in jobspec.warnings(jobspec.parse({**CALM, **changes}))] == [code]


@pytest.mark.parametrize(
    "command",
    [
        ["bash", "-c", "cd /workspace && torchrun main.py"],
        ["python", "-m", "torch.distributed.run", "main.py"],
        ["/opt/bin/accelerate", "launch", "main.py"],
    ],
)
def test_launchers_are_recognised(command: list[str]) -> None:
    assert jobspec.warnings(jobspec.parse({**CALM, "command": command})) == []
