"""Settings of the web server that is measured: the product's, with a bare view beside its addresses."""

from tests.settings import *  # noqa: F403

ROOT_URLCONF = "bench.urls"
EMBEDDED_SITE = False
