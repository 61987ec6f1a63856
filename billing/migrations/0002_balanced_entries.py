"""A deferred trigger: at commit, the postings of every touched entry sum to zero per currency."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION billing_entry_balances() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE rest bigint;
BEGIN
    SELECT coalesce(max(abs(total)), 0) INTO rest FROM (
        SELECT sum(amount) AS total FROM billing_ledgerposting
        WHERE entry_id = NEW.entry_id GROUP BY currency
    ) sums;
    IF rest <> 0 THEN
        RAISE EXCEPTION 'ledger entry % does not balance', NEW.entry_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER ledger_entry_balances AFTER INSERT ON billing_ledgerposting
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION billing_entry_balances();
CREATE FUNCTION billing_ledger_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: post a counter entry' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER ledger_posting_append_only BEFORE UPDATE OR DELETE ON billing_ledgerposting
    FOR EACH ROW EXECUTE FUNCTION billing_ledger_append_only();
CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR DELETE ON billing_ledgerentry
    FOR EACH ROW EXECUTE FUNCTION billing_ledger_append_only();
"""

BACKWARD = """
DROP TRIGGER ledger_entry_append_only ON billing_ledgerentry;
DROP TRIGGER ledger_posting_append_only ON billing_ledgerposting;
DROP TRIGGER ledger_entry_balances ON billing_ledgerposting;
DROP FUNCTION billing_ledger_append_only();
DROP FUNCTION billing_entry_balances();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
