import django.db.models.deletion
from django.db import migrations, models


from core import indexes


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_fewer_indexes'),
        ('clusters', '0002_gpus_used'),
    ]

    operations = [
        migrations.AlterField(
            model_name='cluster',
            name='organisation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='clusters', to='accounts.organisation'),
        ),
        migrations.AlterField(
            model_name='clusterevent',
            name='cluster',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='clusters.cluster'),
        ),
        migrations.AlterField(
            model_name='reservation',
            name='cluster',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='clusters.cluster'),
        ),
        migrations.AlterField(
            model_name='reservation',
            name='node',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='reservations', to='clusters.node'),
        ),
        indexes.drop_pattern_indexes("clusters"),
    ]
