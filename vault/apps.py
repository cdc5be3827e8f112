from django.apps import AppConfig


class VaultConfig(AppConfig):
    name = "vault"

    def ready(self) -> None:
        from vault import checks  # noqa: F401
