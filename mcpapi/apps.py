from django.apps import AppConfig


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
