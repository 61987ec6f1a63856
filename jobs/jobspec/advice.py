"""What a dry run points out about a spec: allowed, and probably not meant."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _

from jobs.jobspec.types import Git, JobSpec

LONG_RUN_SECONDS = 3600
LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "composer", "colossalai", "horovodrun", "mpirun")
_LAUNCHER = re.compile(
    r"(?:^|[\s/;&|])(?:" + "|".join(LAUNCHERS) + r")(?:\s|$)|torch\.distributed\.(?:run|launch)"
)
_SECRET_WORDS = re.compile(r"(?:^|_)(?:TOKEN|PASSWORD|PASSWD|SECRET|API_KEY|ACCESS_KEY|CREDENTIALS?)(?:_|$)")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class SpecWarning:
    """Something that is allowed and probably not meant."""

    code: str
    title: str
    detail: str


def warnings(spec: JobSpec) -> list[SpecWarning]:
    """Return what a dry run should point out: nothing here stops a job."""
    found = []
    if spec.processes_per_replica > 1 and not any(_LAUNCHER.search(part) for part in spec.command):
        found.append(
            SpecWarning(
                "processes_without_launcher",
                _("Several processes per replica, but no launcher"),
                _(
                    "Berth starts your command once per replica. Start it with torchrun, accelerate or "
                    "deepspeed to get %(count)d processes, or set processes_per_replica to 1."
                )
                % {"count": spec.processes_per_replica},
            )
        )
    if spec.checkpoints is None and (spec.max_runtime_seconds or LONG_RUN_SECONDS + 1) > LONG_RUN_SECONDS:
        found.append(
            SpecWarning(
                "no_checkpoints",
                _("A long run without checkpoints"),
                _(
                    "If a node fails, the run starts again from step 0. Set checkpoints and write them to "
                    "the folder in CHECKPOINT_DIR."
                ),
            )
        )
    if spec.max_runtime_seconds is None:
        found.append(
            SpecWarning(
                "no_time_limit",
                _("No time limit"),
                _(
                    "Without max_runtime_seconds the run may hold its GPUs until the lease ends, and jobs "
                    "that wait behind it get no estimated start."
                ),
            )
        )
    if isinstance(spec.code, Git) and not _COMMIT.fullmatch(spec.code.ref):
        found.append(
            SpecWarning(
                "git_not_pinned",
                _("The code is not pinned to a commit"),
                _("A retry fetches the branch or tag again and may train with other code. Give a commit."),
            )
        )
    if names := sorted(name for name in spec.env if _SECRET_WORDS.search(name.upper())):
        found.append(
            SpecWarning(
                "secret_in_env",
                _("A secret may stand in the environment in clear text"),
                _("Everybody who may read the job sees %(names)s. Store it as a secret and list its name.")
                % {"names": ", ".join(names)},
            )
        )
    return found
