"""``manage.py check``: the vault's domain files."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, register

from vault.current import current_vault
from vault.domain_files import domain_files
from vault.errors import SynapseError
from wiki.prime.domains import read_domains


@register("synapse")
def check_domains(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """E050: a file in .synapse/domains that can't be used, once for each mistake in it."""
    try:
        files = domain_files(current_vault())
    except SynapseError:
        return []  # the check of the vault's folder says it
    return [
        Error(
            f"A domain file can't be used. {fault}",
            hint="Mend the file in .synapse/domains, or move it away.",
            id="synapse.E050",
        )
        for fault in read_domains(files)[1]
    ]
