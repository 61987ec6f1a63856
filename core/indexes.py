"""What migrations do to indexes."""

from django.db import migrations

_SQL = r"""
DO $$
DECLARE found text;
BEGIN
    FOR found IN
        SELECT indexname FROM pg_indexes
        WHERE schemaname = current_schema() AND tablename LIKE '{app}\_%'
          AND indexdef ~ '\((id|[a-z_]+_id) varchar_pattern_ops\)'
    LOOP
        EXECUTE format('DROP INDEX %I', found);
    END LOOP;
END
$$
"""


def drop_pattern_indexes(app: str) -> migrations.RunSQL:
    """Drop the second index that Django makes for LIKE on each id and reference of an app's tables.

    Nobody looks for a part of an id. Tables made after `ids.PublicIdField` names its type have none.
    """
    return migrations.RunSQL(_SQL.format(app=app), migrations.RunSQL.noop)
