"""A plan of a job that is not submitted: nodes, manifest, expected start, warnings. Stores nothing."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accounts.access import Access
from clusters.models import Cluster
from clusters.services import ports
from core import errors as core_errors
from core import ids
from core.rest.fields import z
from jobs import jobspec, manifest, packing, queueing
from jobs.jobspec import Archive, Git
from jobs.jobspec.advice import SpecWarning
from jobs.models import Environment
from jobs.reasons import reason
from jobs.services import queue, submit
from k8s import errors
from k8s.port import Port

SITE_SECONDS = 2.0
HIDDEN = "•••"
_pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="dry-run")


def plan(*, access: Access, data: Any, now: datetime) -> dict[str, Any]:
    """Return what submitting this would do; raises what submitting would raise."""
    order = submit.check(access=access, data=data)
    spec = order.spec
    cluster = Cluster.objects.select_related("site", "node_type").get(pk=order.place.cluster_id)
    image = Environment.objects.values_list("image", flat=True).get(pk=order.environment_id)
    objects = manifest.build(
        manifest.RunPlan(
            run=ids.new("run"),
            job=ids.new("job"),
            cluster=cluster.pk,
            spec=replace(spec, name=spec.name or "job"),
            image=image,
            gpu_resource=cluster.site.gpu_resource,
            secrets=dict.fromkeys(spec.secrets, HIDDEN),
            code_url=HIDDEN if isinstance(spec.code, Archive) else "",
            git_token=HIDDEN if isinstance(spec.code, Git) and spec.code.secret else "",
        )
    )
    warnings = jobspec.warnings(spec)
    if cluster.status == "ready":
        warnings.extend(_ask_site(cluster, objects[-1]))
    return {
        "spec": jobspec.to_dict(spec) | {"environment": order.environment},
        "manifest": objects[-1],
        "warnings": [asdict(warning) for warning in warnings],
        **_queue_part(order, cluster, now),
    }


def _queue_part(order: submit.Order, cluster: Cluster, now: datetime) -> dict[str, Any]:
    """Return where the job would run now, or its place in the queue and the expected start."""
    spec = order.spec
    me = queueing.Queued(
        id="this",
        priority=submit.PRIORITIES[spec.priority],
        queued_at=now,
        replicas=spec.replicas,
        gpus_per_replica=spec.gpus_per_replica,
        limit_seconds=spec.max_runtime_seconds,
    )
    nodes: packing.Placement = ()
    position, earliest, latest = None, None, None
    said = reason("cluster_not_ready")
    if cluster.status == "ready":
        seen = queue.picture(cluster, now)
        result = queueing.plan(now, seen.nodes, seen.running, [*seen.queued, me])
        for admission in result.admitted:
            if admission.id == me.id:
                nodes, earliest, latest, said = admission.placement, now, now, reason("admitted")
        for waiting in result.waiting:
            if waiting.id == me.id:
                position, said = waiting.position, waiting.reason
                if waiting.estimate is not None:
                    earliest, latest = waiting.estimate.earliest, waiting.estimate.latest
    else:
        earliest = latest = max(now, cluster.starts_at)
    return {
        "nodes": [{"node": name, "replicas": count} for name, count in nodes],
        "queue_position": position,
        "estimated_start": z(latest) if latest else None,
        "estimated_start_earliest": z(earliest) if earliest else None,
        "reason": str(said),
    }


def _ask_site(cluster: Cluster, pytorchjob: manifest.Object) -> list[SpecWarning]:
    """Let the site itself check the object, for two seconds at most; one that is away refuses nothing."""
    try:
        port = ports.port(cluster.site)
        _pool.submit(_dry_apply, port, pytorchjob).result(timeout=SITE_SECONDS)
    except errors.Refused as error:
        raise core_errors.Invalid(
            _("The site would refuse this job: %(detail)s") % {"detail": error}
        ) from error
    except (TooSlow, errors.Error, core_errors.Unavailable):
        return [
            SpecWarning(
                "site_not_asked",
                _("The site did not answer in time"),
                _("The job would be accepted now and checked by the site when it is launched."),
            )
        ]
    return []


def _dry_apply(port: Port, pytorchjob: manifest.Object) -> None:
    port.apply(pytorchjob, dry_run=True)
