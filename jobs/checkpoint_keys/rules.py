"""When a checkpoint of each layout is complete: the marker that its writer leaves last, and no shard missing.

Sources: Hugging Face ``Trainer._save_checkpoint``, DeepSpeed ``engine.save_checkpoint``, Megatron-LM
``checkpointing.py`` and ``serialization.py``, torch ``distributed/checkpoint/filesystem.py``, Lightning
``model_checkpoint.py`` and ``fsdp.py``, Composer ``checkpoint_saver.py``.
"""

import re
from collections.abc import Iterable, Mapping

from jobs.checkpoint_keys.groups import COMPOSER_FILE, Group
from jobs.listing import Item

READ_BYTES = 1 << 20
"""How much of a wanted file is read: all of it, or its last READ_BYTES."""

DEEPSPEED_TRACKER = "latest"
MEGATRON_TRACKER = "latest_checkpointed_iteration.txt"
DONE = "DONE"
_NUMBERED = re.compile(r"(.+)-(\d{1,9})-of-(\d{1,9})(\..+)?")
_INDEXED = re.compile(r'"([^"/\\]{1,255}\.(?:safetensors|bin))"')
_ZERO = re.compile(r"(?:bf16_)?zero_pp_rank_(\d{1,9})_mp_rank_(\d{1,9})(?:_\d{1,9})?_optim_states\.pt")
_MP_MODEL = re.compile(r"mp_rank_(\d{1,9})(?:_\d{1,9})?_model_states\.pt")
_MEGATRON_SHARD = re.compile(r"mp_rank_\d{1,9}(?:_\d{1,9}){0,2}/[^/]+\.pt")
_RNG = re.compile(r"rng_state_(\d{1,9})\.pth")
_TAG = re.compile(r"global_step(\d{1,18})")
_WEIGHTS = re.compile(r"(?:.*\.safetensors|pytorch_model.*\.bin|adapter_model\.bin|model.*\.pt)")
_INDEX = re.compile(r"[^/]+\.index\.json")


def trackers(listing: Iterable[Item]) -> list[str]:
    """Return the keys of files that name the newest complete checkpoint beside them."""
    names = (DEEPSPEED_TRACKER, MEGATRON_TRACKER)
    return [item.key for item in listing if item.key.rpartition("/")[2] in names or _is_symlink(item.key)]


def small_files(group: Group) -> list[str]:
    """Return the names of small files that :func:`complete` and the metric of a checkpoint need."""
    if group.kind == "huggingface":
        return [name for name in group.top if name == "trainer_state.json" or _INDEX.fullmatch(name)]
    return [DONE] if group.kind == "berth" and DONE in group.top else []


def complete(
    group: Group, siblings: list[Group], texts: Mapping[str, str], items: Mapping[str, Item]
) -> bool:
    """Say whether a checkpoint can be resumed from; ``siblings`` are those of its kind in its folder."""
    if any(folder_lacks_metadata(group, folder) for folder in group.sharded_folders):
        return False
    match group.kind:
        case "huggingface":
            return _huggingface(group, texts)
        case "deepspeed":
            tag = _TAG.fullmatch(texts.get(group.parent + DEEPSPEED_TRACKER, "").strip())
            return tag is not None and group.step <= int(tag[1]) and _deepspeed_shards(group, siblings)
        case "megatron" | "megatron_dist":
            return _megatron(group, siblings, texts)
        case "dcp":
            return ".metadata" in group.top and bool(group.sharded_folders)
        case "lightning":
            return _lightning(group)
        case "composer":
            return _composer(group, siblings, texts, items)
        case _:
            return DONE in group.top and len(group.files) > 1


def folder_lacks_metadata(group: Group, folder: str) -> bool:
    """Say whether shards lie in a folder without the ``.metadata`` that is renamed into place at the end."""
    return (f"{folder}/.metadata" if folder else ".metadata") not in group.files


def has_optimizer(group: Group) -> bool:
    """Say whether training can go on exactly; Hugging Face's ``save_only_model`` leaves the optimizer out."""
    if group.kind != "huggingface":
        return True
    return any(
        name.startswith(("optimizer", "global_step")) or _TAG.match(name.split("/")[0])
        for name in group.files
    )


def _huggingface(group: Group, texts: Mapping[str, str]) -> bool:
    top = group.top
    if "trainer_state.json" not in top or not _numbered_whole(top):
        return False
    nested = [name for name in group.files if _TAG.match(name)]
    if nested:
        tag = texts.get(f"{group.key}/{DEEPSPEED_TRACKER}", "").strip()
        if not tag or not any(name.startswith(f"{tag}/") for name in nested):
            return False
    elif not any(_WEIGHTS.fullmatch(name) for name in top) and not group.sharded_folders:
        return False
    for name in top:
        if _INDEX.fullmatch(name):
            named = set(_INDEXED.findall(texts.get(f"{group.key}/{name}", "")))
            if not named <= top:
                return False
    ranks = {int(match[1]) for name in top if (match := _RNG.fullmatch(name))}
    return ranks == set(range(len(ranks)))


def _numbered_whole(names: Iterable[str]) -> bool:
    """Say whether ``model-00001-of-00003`` has all its siblings."""
    seen: dict[tuple[str, str, int], set[int]] = {}
    for name in names:
        if match := _NUMBERED.fullmatch(name):
            seen.setdefault((match[1], match[4] or "", int(match[3])), set()).add(int(match[2]))
    return all(len(found) >= total for (_, _, total), found in seen.items())


def _deepspeed_shards(group: Group, siblings: list[Group]) -> bool:
    """Every rank's optimizer shard is there: no gap, and as many files as the fullest sibling has."""
    ranks: dict[str, set[int]] = {}
    for name in group.files:
        if match := _ZERO.fullmatch(name):
            ranks.setdefault(match[2], set()).add(int(match[1]))
    if any(found != set(range(len(found))) for found in ranks.values()):
        return False
    if not ranks and not any(_MP_MODEL.fullmatch(name) for name in group.files):
        return False
    return _as_many_as_siblings(group, siblings, ".pt")


def _megatron(group: Group, siblings: list[Group], texts: Mapping[str, str]) -> bool:
    """Up to the iteration that the tracker names; the distributed kind has its own marker besides."""
    tracker = texts.get(group.parent + MEGATRON_TRACKER, "").strip()
    if not tracker.isascii() or not tracker.isdigit() or len(tracker) > 18 or group.step > int(tracker):
        return False
    if group.kind == "megatron_dist":
        return "metadata.json" in group.top
    has_shards = any(_MEGATRON_SHARD.fullmatch(name) for name in group.files)
    return has_shards and _as_many_as_siblings(group, siblings, ".pt")


def _as_many_as_siblings(group: Group, siblings: list[Group], ending: str) -> bool:
    """One run writes one number of shards: a checkpoint with fewer than another one lost some."""
    counts = [sum(name.endswith(ending) for name in one.files) for one in (group, *siblings)]
    return counts[0] == max(counts)


def _lightning(group: Group) -> bool:
    if group.is_file:
        return group.bytes > 0
    return {".metadata", "meta.pt"} <= group.top or DEEPSPEED_TRACKER in group.top


def _composer(
    group: Group, siblings: list[Group], texts: Mapping[str, str], items: Mapping[str, Item]
) -> bool:
    """The link ``latest-rank0.pt`` is moved after the file is whole; what is newer than its target is not."""
    if not group.is_file:
        return ".metadata" in group.top
    ranks = {int(match[2]) for name in group.files if (match := COMPOSER_FILE.fullmatch(name))}
    if ranks != set(range(len(ranks))) or any(item.size == 0 for item in group.files.values()):
        return False
    newest = _composer_newest(group, siblings, texts, items)
    return newest is None or group.step <= newest


def _composer_newest(
    group: Group, siblings: list[Group], texts: Mapping[str, str], items: Mapping[str, Item]
) -> int | None:
    for key, text in texts.items():
        if key.startswith(group.parent) and _is_symlink(key):
            match = COMPOSER_FILE.fullmatch(text.strip().rpartition("/")[2])
            if match:
                return int(match[1])
    link = items.get(group.parent + "latest-rank0.pt")
    if link is None:
        return None
    # A listing shows what the link points at: the file of the same size and time.
    same = [
        one.step
        for one in (group, *siblings)
        for item in one.files.values()
        if (item.size, item.modified) == (link.size, link.modified)
    ]
    return max(same, default=-1)


def _is_symlink(key: str) -> bool:
    name = key.rpartition("/")[2]
    return name.startswith("latest-rank") and name.endswith(".symlink")
