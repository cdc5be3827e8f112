from django.apps import AppConfig

from mcpapi.deferred import defer

# The toolkit's models import it for identity tokens, which are not had here; with what it stands on it would be a
# tenth of what a stdio process takes to start. Here, since apps are imported before the models of any.
defer("jwcrypto.jwk")


class McpapiConfig(AppConfig):
    name = "mcpapi"
    verbose_name = "MCP"

    def ready(self) -> None:
        """Have the settings checked, and let jobs remove old calls of tools and tokens that have expired."""
        from mcpapi import checks  # noqa: F401
        from mcpapi.oauth import checks as sign_in_checks  # noqa: F401
        from wiki import jobs

        jobs.register("tool_calls", "mcpapi.telemetry.forget_old")
        jobs.register("oauth_upkeep", "mcpapi.oauth.upkeep.run_job", hourly=True)
