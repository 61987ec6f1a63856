import django.db.models.deletion
from django.db import migrations, models


from core import indexes


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_fewer_indexes'),
        ('billing', '0003_mixed_terms_and_demo_tiers'),
    ]

    operations = [
        migrations.AlterField(
            model_name='invoice',
            name='organisation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='invoices', to='accounts.organisation'),
        ),
        migrations.AlterField(
            model_name='invoiceline',
            name='invoice',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='billing.invoice'),
        ),
        migrations.AlterField(
            model_name='ledgerentry',
            name='organisation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.organisation'),
        ),
        migrations.AlterField(
            model_name='order',
            name='organisation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='accounts.organisation'),
        ),
        indexes.drop_pattern_indexes("billing"),
    ]
