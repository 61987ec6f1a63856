"""All settings, each from the environment; `manage.py check` explains what is missing."""

from datetime import timedelta
from pathlib import Path

from celery.schedules import crontab
from csp.constants import NONCE, NONE, SELF
from django.utils.translation import gettext_lazy as _

from portal import env, logs
from portal.local import discover

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = discover.data_dir()

# --- What this installation is ---------------------------------------------------------------------------
SECRET_KEY = env.text("SECRET_KEY")
DEBUG = env.flag("DEBUG")
PUBLIC_URL = env.text("PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
INTERNAL_URL = env.text("INTERNAL_URL", PUBLIC_URL).rstrip("/")  # how pods reach the portal
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
ALLOWED_HOSTS += env.hosts("POD_IP")  # kubelet and Prometheus ask a pod by its address
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS", PUBLIC_URL)
DEMO = env.flag("DEMO")  # demo prices and people; the pages say so
EMBEDDED_SITE = env.flag("EMBEDDED_SITE")  # jobs as processes of this machine; no sandbox
EMBEDDED_DIR = Path(env.text("EMBEDDED_DIR", str(DATA_DIR / "embedded")))
STORAGE_URL = env.text("STORAGE_URL", (DATA_DIR / "storage").as_uri())  # file:// or s3://bucket/prefix
SEALING_KEYS = env.keys("SEALING_KEYS")  # id:hex of 32 bytes; the first seals, all unseal
METRICS_KEY = env.text("METRICS_KEY")
HEARTBEAT_DIR = env.text("HEARTBEAT_DIR")  # where processes say that they live, for probes; empty: nowhere

# --- Money -----------------------------------------------------------------------------------------------
TEST_GATEWAY = env.flag("TEST_GATEWAY")
STRIPE_SECRET_KEY = env.text("STRIPE_SECRET_KEY")
STRIPE_PUBLISHABLE_KEY = env.text("STRIPE_PUBLISHABLE_KEY")
STRIPE_WEBHOOK_SECRET = env.text("STRIPE_WEBHOOK_SECRET")
STRIPE_API_BASE = env.text("STRIPE_API_BASE")  # empty: Stripe's own
STRIPE_SCRIPT_URL = env.text("STRIPE_SCRIPT_URL", "https://js.stripe.com/v3/")
SELLER = {
    "name": env.text("SELLER_NAME", "Berth Demo GPU Rental"),
    "address": env.text("SELLER_ADDRESS", ""),
    "country": env.text("SELLER_COUNTRY", "CN"),
    "tax_id": env.text("SELLER_TAX_ID", ""),
    "zone": env.text("SELLER_ZONE", "Asia/Shanghai"),
}
HOLD_TIME = timedelta(minutes=env.number("HOLD_MINUTES", 15))
OPEN_ORDERS_MOST = env.number("OPEN_ORDERS_MOST", 5)  # unpaid, of one organisation: each holds nodes
QUOTE_LIFETIME = timedelta(minutes=env.number("QUOTE_MINUTES", 60))
TURNAROUND = timedelta(minutes=env.number("TURNAROUND_MINUTES", 30))

# --- Django ----------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "csp",
    "accounts",
    "clusters",
    "billing",
    "jobs",
    "portal",
]
MIDDLEWARE = [
    "portal.middleware.UnreadBodyMiddleware",
    "portal.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "accounts.middleware.PeopleMiddleware",
    "accounts.middleware.StaffMfaMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "csp.middleware.CSPMiddleware",
]
ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "csp.context_processors.nonce",
                "portal.context.page",
            ],
        },
    }
]
DATABASES = {"default": env.database()}
ATOMIC_REQUESTS = False
REDIS_URL = env.text("REDIS_URL", "redis://127.0.0.1:6379/0")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 5, "socket_connect_timeout": 3},
    }
}
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# --- Languages and time ----------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_NAME = "language"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- Sign-in ---------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
STAFF_MFA = env.flag("STAFF_MFA", default=True)
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_UNIQUE_EMAIL = True
ACCOUNT_EMAIL_VERIFICATION = env.text("EMAIL_VERIFICATION", "mandatory")
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_SIGNUP_FORM_CLASS = "accounts.forms.SignupForm"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = False
MFA_TOTP_ISSUER = "Berth"
MFA_ADAPTER = "accounts.adapter.MfaAdapter"
SOCIALACCOUNT_ONLY = False
SOCIALACCOUNT_PROVIDERS = (
    {
        "openid_connect": {
            "APPS": [
                {
                    "provider_id": "sso",
                    "name": env.text("OIDC_NAME", "Single sign-on"),
                    "client_id": env.text("OIDC_CLIENT_ID"),
                    "secret": env.text("OIDC_CLIENT_SECRET"),
                    "settings": {"server_url": env.text("OIDC_SERVER_URL")},
                }
            ]
        }
    }
    if env.text("OIDC_CLIENT_ID")
    else {}
)

# --- Mail ------------------------------------------------------------------------------------------------
EMAIL_BACKEND = env.text("EMAIL_BACKEND", "django.core.mail.backends.smtp.EmailBackend")
EMAIL_FILE_PATH = DATA_DIR / "mail"  # where the file backend of a demo keeps what it would have sent
EMAIL_HOST = env.text("EMAIL_HOST", "localhost")
EMAIL_PORT = env.number("EMAIL_PORT", 25)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "berth@localhost")

# --- Files -----------------------------------------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(DATA_DIR / "static")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# --- Logs ------------------------------------------------------------------------------------------------
LOGGING = logs.configuration(env.text("LOG_LEVEL", "INFO"))

# --- Safety ----------------------------------------------------------------------------------------------
HTTPS = PUBLIC_URL.startswith("https://")
SECURE_SSL_REDIRECT = HTTPS and env.flag("SECURE_SSL_REDIRECT", default=True)
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$", r"^metrics$"]  # asked from inside, without TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("BEHIND_PROXY") else None
SECURE_HSTS_SECONDS = env.number("HSTS_SECONDS", 31536000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = HTTPS
CSRF_FAILURE_VIEW = "portal.views.errors.csrf_failed"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# --- REST ------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.rest.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "core.rest.schema.BerthSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "core.rest.problems.handle",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Berth",
    "DESCRIPTION": "Rent GPU clusters and train on them.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [],  # enums stand where they are used: many fields are named status
}

# --- Celery ----------------------------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 300
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")  # may be lost at any time
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "socket_timeout": 10,
    "socket_connect_timeout": 5,
}
CELERY_BEAT_SCHEDULE = {
    # name: (task, seconds or crontab). Each finds rows that wait; none reads all rows.
    name: {"task": task, "schedule": every, "options": {"expires": 60}}
    for name, task, every in [
        ("accounts-mail", "accounts.send_waiting_mail", timedelta(seconds=30)),
        ("accounts-clean", "accounts.clean_up", crontab(minute="17")),
        ("clusters-step", "clusters.step_due", timedelta(seconds=5)),
        ("billing-due", "billing.process_due", timedelta(seconds=10)),
        ("jobs-due", "jobs.process_due", timedelta(seconds=5)),
        ("beat-heartbeat", "portal.heartbeat", timedelta(seconds=10)),
    ]
}
