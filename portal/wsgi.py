"""The WSGI entry of the web process."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
application = get_wsgi_application()

from portal import startup  # noqa: E402  (after Django stands)

startup.verify()
