"""The top floor: settings, urls, Celery, and the pages that join the apps."""

from portal.celery import app as celery_app

__all__ = ["celery_app"]
