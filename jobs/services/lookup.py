"""What a job spec names, fetched in one query: submitting is the call that machines make most."""

from dataclasses import dataclass

from core import prepared

_SQL = """
SELECT c.id, c.status, c.nodes, t.gpus_per_node, c.site_id, s.backend, p.id, e.id, e.slug
FROM clusters_cluster c
JOIN clusters_nodetype t ON t.id = c.node_type_id
JOIN clusters_site s ON s.id = c.site_id
LEFT JOIN accounts_project p ON p.organisation_id = c.organisation_id AND p.slug = %(project)s
LEFT JOIN LATERAL (
    SELECT e.id, e.slug FROM jobs_environment e
    WHERE e.backend = s.backend AND (%(environment)s = '' OR e.slug = %(environment)s)
      AND (NOT EXISTS (SELECT FROM jobs_environment_sites x WHERE x.environment_id = e.id)
           OR EXISTS (SELECT FROM jobs_environment_sites x
                      WHERE x.environment_id = e.id AND x.site_id = s.id))
    ORDER BY e.is_default DESC, e.position, e.slug
    LIMIT 1
) e ON true
WHERE c.id = %(cluster)s AND c.organisation_id = %(organisation)s
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job would run; project and environment are None when they are not there or not usable."""

    cluster_id: str
    status: str
    nodes: int
    gpus_per_node: int
    site_id: str
    backend: str
    project_id: str | None
    environment_id: str | None
    environment_slug: str | None


def place(*, organisation_id: str, cluster: str, project: str, environment: str) -> Place | None:
    """Return the place, None when the organisation has no such cluster."""
    names = {
        "organisation": organisation_id,
        "cluster": cluster,
        "project": project,
        "environment": environment,
    }
    with prepared.cursor() as cursor:
        cursor.execute(_SQL, names)
        row = cursor.fetchone()
    return None if row is None else Place(*row)
