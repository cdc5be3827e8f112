from django.apps import AppConfig


class McpapiConfig(AppConfig):
    name = "mcpapi"
    verbose_name = "MCP"
