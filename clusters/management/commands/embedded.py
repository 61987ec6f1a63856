"""Runs the embedded site: jobs as processes of this machine."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from core import heartbeat
from k8s.embedded import isolation, serve
from k8s.embedded.supervisor import AlreadyRunning


class Command(BaseCommand):
    """``manage.py embedded`` works until SIGTERM or Ctrl-C, then gives running jobs their grace and leaves.

    ``BERTH_POD_USER`` names the OS user of pods (with root only), ``BERTH_POD_SYSTEM_SITE=1`` lets them see
    what the interpreter has installed, such as torch.
    """

    help = "Run the embedded site: jobs as processes of this machine. It is no sandbox."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if not getattr(settings, "EMBEDDED_SITE", False):
            raise CommandError(_("The embedded site is off. EMBEDDED_SITE=1 turns it on."))
        try:
            serve.serve(
                Path(settings.EMBEDDED_DIR),
                requirements=Path(settings.BASE_DIR) / "requirements" / "pods.txt",
                pod_user=os.environ.get("BERTH_POD_USER") or isolation.DEFAULT_USER,
                system_site=os.environ.get("BERTH_POD_SYSTEM_SITE") == "1",
                say=self._say,
                alive=heartbeat.pulse("embedded"),
            )
        except AlreadyRunning as error:
            raise CommandError(str(error)) from error

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
