"""Settings of the tests: the product's own, with the doors that tests need."""

import os

os.environ.setdefault("SECRET_KEY", "tests-only")
os.environ.setdefault("SEALING_KEYS", "t1:" + "11" * 32)
os.environ.setdefault("TEST_GATEWAY", "1")
os.environ.setdefault("PUBLIC_URL", "http://127.0.0.1:8000")

from portal.settings import *  # noqa: F403
from tests.support.templates import FailIfInvalid

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True  # files are looked up as asked: nothing was collected
TEMPLATES[0]["OPTIONS"]["string_if_invalid"] = FailIfInvalid("undefined: %s")  # noqa: F405
if os.environ.get("BERTH_TEST_TEMPLATE"):  # already migrated; see tests/support/migrated.py
    DATABASES["default"]["TEST"] = {"TEMPLATE": os.environ["BERTH_TEST_TEMPLATE"]}  # noqa: F405
