"""The top floor: settings, urls, Celery, and the pages that join the apps."""
