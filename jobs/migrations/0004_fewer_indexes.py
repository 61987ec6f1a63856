import django.db.models.deletion
from django.db import migrations, models


from core import indexes


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_fewer_indexes'),
        ('clusters', '0003_fewer_indexes'),
        ('jobs', '0003_resume_key'),
    ]

    operations = [
        migrations.AlterField(
            model_name='checkpoint',
            name='job',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='checkpoints', to='jobs.job'),
        ),
        migrations.AlterField(
            model_name='checkpoint',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='checkpoints', to='jobs.run'),
        ),
        migrations.AlterField(
            model_name='job',
            name='cluster',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='clusters.cluster'),
        ),
        migrations.AlterField(
            model_name='job',
            name='organisation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='accounts.organisation'),
        ),
        migrations.AlterField(
            model_name='jobevent',
            name='job',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='jobs.job'),
        ),
        migrations.AlterField(
            model_name='logblock',
            name='stream',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='jobs.logstream'),
        ),
        migrations.AlterField(
            model_name='logstream',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='streams', to='jobs.run'),
        ),
        migrations.AlterField(
            model_name='metricpoint',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='points', to='jobs.run'),
        ),
        migrations.AlterField(
            model_name='run',
            name='job',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='jobs.job'),
        ),
        migrations.AlterField(
            model_name='runhour',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='hours', to='jobs.run'),
        ),
        indexes.drop_pattern_indexes("jobs"),
    ]
