from django.apps import AppConfig


class McpapiConfig(AppConfig):
    name = "mcpapi"
    verbose_name = "MCP"

    def ready(self) -> None:
        from mcpapi import checks  # noqa: F401
