import django.db.models.deletion
from django.db import migrations, models


from core import indexes


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_idempotent_rows'),
    ]

    operations = [
        migrations.AlterField(
            model_name='auditentry',
            name='organisation',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.organisation'),
        ),
        indexes.drop_pattern_indexes("accounts"),
    ]
