"""Sorting the files of a folder into what may be checkpoints, by the names of folders and files alone."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from jobs.listing import Item

# Outermost wins: DeepSpeed and FSDP folders inside a Hugging Face checkpoint belong to it.
FOLDERS = (
    ("huggingface", re.compile(r"checkpoint-(\d{1,18})")),
    ("deepspeed", re.compile(r"global_step(\d{1,18})")),
    ("megatron", re.compile(r"iter_(\d{7,18})")),
    ("lightning", re.compile(r"[^/]*?step=(\d{1,18})[^/]*\.ckpt")),
    ("composer", re.compile(r"ep\d{1,9}-ba(\d{1,18})")),
    ("step", re.compile(r"step-(\d{1,18})")),
)
LIGHTNING_FILE = re.compile(r"[^/]*?step=(\d{1,18})[^/]*\.ckpt")
COMPOSER_FILE = re.compile(r"ep\d{1,9}-ba(\d{1,18})-rank(\d{1,6})\.pt")
DCP_SHARD = re.compile(r"__\d{1,9}_\d{1,9}\.distcp")
_LAST_NUMBER = re.compile(r"(\d{1,18})\D*$")


@dataclass(slots=True)
class Group:
    """Files that may be one checkpoint: ``key`` is its folder (or file), ``files`` are relative to it."""

    kind: str
    key: str
    step: int
    is_file: bool = False
    files: dict[str, Item] = field(default_factory=dict)

    @property
    def parent(self) -> str:
        """The folder that holds this checkpoint and its tracker files, with a slash unless it is the root."""
        head, slash, _ = self.key.rpartition("/")
        return head + slash

    @property
    def bytes(self) -> int:
        """The bytes of all files."""
        return sum(item.size for item in self.files.values())

    @property
    def top(self) -> set[str]:
        """The names directly in the folder."""
        return {name for name in self.files if "/" not in name}

    @property
    def sharded_folders(self) -> set[str]:
        """Folders that hold shards of torch's distributed checkpoint, '' for this one."""
        folders = set()
        for name in self.files:
            folder, _, last = name.rpartition("/")
            if DCP_SHARD.fullmatch(last):
                folders.add(folder)
        return folders


def is_named_folder(key: str) -> bool:
    """Say whether a folder is a checkpoint by its name: then all that lies in it belongs to it."""
    name = key.rpartition("/")[2]
    return any(pattern.fullmatch(name) for _, pattern in FOLDERS)


def files_of(key: str, is_file: bool, listing: Iterable[str]) -> list[str]:
    """Return which of the listed keys belong to a checkpoint whose name does not say that its folder is its
    own: the files of all ranks, or the shards in a folder of any name."""
    folder, _, name = key.rpartition("/")
    if not is_file:
        own = [(item, *item.rpartition("/")[::2]) for item in listing]
        return [
            item
            for item, where, last in own
            if where == key and (last == ".metadata" or DCP_SHARD.fullmatch(last))
        ]
    if not COMPOSER_FILE.fullmatch(name):
        return [item for item in listing if item == key]
    ranks = re.compile(re.escape(name.rpartition("-rank")[0]) + r"-rank\d{1,6}\.pt")
    above = f"{folder}/" if folder else ""
    return [item for item in listing if item.startswith(above) and ranks.fullmatch(item[len(above) :])]


def group(listing: Iterable[Item]) -> list[Group]:
    """Return the candidates in a listing whose keys are relative to the run's checkpoint folder."""
    found: dict[str, Group] = {}
    shards = []
    for item in sorted(listing):
        parts = item.key.split("/")
        if _in_folder(found, item, parts):
            continue
        name = parts[-1]
        if match := LIGHTNING_FILE.fullmatch(name):
            found[item.key] = Group("lightning", item.key, int(match[1]), True, {name: item})
        elif match := COMPOSER_FILE.fullmatch(name):
            _composer(found, item, parts, int(match[1]), name)
        elif len(parts) > 1 and (name == ".metadata" or DCP_SHARD.fullmatch(name)):
            shards.append((item, parts))
    for item, parts in shards:
        _distributed(found, item, parts)
    for candidate in found.values():
        _settle(candidate)
    return sorted(found.values(), key=lambda one: (one.step, one.key))


def _in_folder(found: dict[str, Group], item: Item, parts: list[str]) -> bool:
    for depth, part in enumerate(parts[:-1]):
        for kind, pattern in FOLDERS:
            if match := pattern.fullmatch(part):
                key = "/".join(parts[: depth + 1])
                candidate = found.setdefault(key, Group(kind, key, int(match[1])))
                if not candidate.is_file:  # object stores allow a file and a folder of one name
                    candidate.files["/".join(parts[depth + 1 :])] = item
                return True
    return False


def _composer(found: dict[str, Group], item: Item, parts: list[str], step: int, name: str) -> None:
    """Files of all ranks are one checkpoint; it goes by the name of rank 0."""
    first = re.sub(r"-rank\d+\.pt$", "-rank0.pt", name)
    key = "/".join([*parts[:-1], first])
    found.setdefault(key, Group("composer", key, step, True)).files[name] = item


def _distributed(found: dict[str, Group], item: Item, parts: list[str]) -> None:
    """A distributed checkpoint in a folder of any name; its step is the last number on the way to it."""
    for part in reversed(parts[:-1]):
        if match := _LAST_NUMBER.search(part[-200:]):
            key = "/".join(parts[:-1])
            found.setdefault(key, Group("dcp", key, int(match[1]))).files[parts[-1]] = item
            return


def _settle(candidate: Group) -> None:
    """Decide by content where a name alone does not: torchtitan's ``step-10`` is a distributed checkpoint."""
    top = candidate.top
    has_shards = any(DCP_SHARD.fullmatch(name) for name in top)
    if candidate.kind == "step":
        candidate.kind = "dcp" if has_shards or ".metadata" in top else "berth"
    elif candidate.kind == "huggingface" and has_shards and "trainer_state.json" not in top:
        candidate.kind = "dcp"
    elif candidate.kind == "megatron" and (has_shards or "metadata.json" in top):
        candidate.kind = "megatron_dist"
