"""From a job and its run to the plan of a manifest: spec, image, secrets, tickets, checkpoint."""

from datetime import datetime

from jobs import jobspec, manifest
from jobs.jobspec import Archive, Git, JobSpec
from jobs.models import Checkpoint, Job, Run
from jobs.reasons import Reason, reason
from jobs.services import secrets, tickets

HIDDEN = "•••"


class CannotPlan(Exception):
    """Something that the job names is no longer there; trying again would not help."""

    def __init__(self, why: Reason) -> None:
        super().__init__(str(why))
        self.why = why


def of_run(run: Run, *, now: datetime) -> manifest.RunPlan:
    """Return the plan of a stored run; ``run`` brings job, cluster, site, environment and checkpoint."""
    job: Job = run.job
    spec = jobspec.parse(job.spec)
    values = _secret_values(job, spec)
    code_url = git_token = ""
    if isinstance(spec.code, Archive):
        code_url = tickets.code_url(upload=spec.code.upload, cluster=job.cluster_id, now=now)
    elif isinstance(spec.code, Git) and spec.code.secret:
        git_token = values[spec.code.secret]
    return _plan(run, spec, {name: values[name] for name in spec.secrets}, code_url, git_token)


def without_secrets(run: Run) -> manifest.RunPlan:
    """Return the plan of a stored run as people may see it: what is secret is covered."""
    spec = jobspec.parse(run.job.spec)
    code_url = HIDDEN if isinstance(spec.code, Archive) else ""
    git_token = HIDDEN if isinstance(spec.code, Git) and spec.code.secret else ""
    return _plan(run, spec, dict.fromkeys(spec.secrets, HIDDEN), code_url, git_token)


def _plan(run: Run, spec: JobSpec, values: dict[str, str], code_url: str, git_token: str) -> manifest.RunPlan:
    job: Job = run.job
    return manifest.RunPlan(
        run=run.pk,
        job=job.pk,
        cluster=job.cluster_id,
        spec=spec,
        image=job.environment.image,
        number=run.number,
        gpu_resource=job.cluster.site.gpu_resource,
        secrets=values,
        resume_from=_path(spec, run.pk, run.resume_from),
        resume_source=_path(spec, run.resume_from.run_id, run.resume_from) if run.resume_from else "",
        code_url=code_url,
        git_token=git_token,
    )


def _path(spec: JobSpec, run: str, checkpoint: Checkpoint | None) -> str:
    """Return a checkpoint's folder or file as it stands in the folder of a run, or nothing."""
    return f"{manifest.checkpoint_dir(spec, run)}/{checkpoint.key}" if checkpoint is not None else ""


def _secret_values(job: Job, spec: JobSpec) -> dict[str, str]:
    names = set(spec.secrets)
    if isinstance(spec.code, Git) and spec.code.secret:
        names.add(spec.code.secret)
    if not names:
        return {}
    values = secrets.values(job.organisation_id, names)
    if missing := sorted(names - values.keys()):
        raise CannotPlan(reason("secret_gone", name=missing[0]))
    return values
