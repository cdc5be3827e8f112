"""``manage.py check``: whom this server believes, and who can read what it keeps."""

from __future__ import annotations

import ipaddress
import stat
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@register("synapse")
def check_proxies(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """E060: SYNAPSE_TRUSTED_PROXIES names addresses and networks, and not everybody."""
    wrong = [name for name in settings.SYNAPSE_TRUSTED_PROXIES if not _is_narrow(name)]
    if not wrong:
        return []
    return [
        Error(
            "SYNAPSE_TRUSTED_PROXIES names something that is neither an address nor a network, or names every address.",
            hint="Give the addresses of the proxies in front: 127.0.0.1,10.0.0.7,172.18.0.0/16",
            id="synapse.E060",
        )
    ]


@register("synapse", deploy=True)
def check_data_folder(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """W061: no other account of the machine may look into SYNAPSE_DATA, where the index with all texts lies."""
    try:
        mode = settings.SYNAPSE_DATA.stat().st_mode
    except OSError:
        return []
    if not mode & _OTHERS:
        return []
    return [
        Warning(
            "Other accounts of this machine may look into SYNAPSE_DATA, where the texts of all pages are.",
            hint="chmod 700 on the folder that SYNAPSE_DATA names.",
            id="synapse.W061",
        )
    ]


def _is_narrow(name: str) -> bool:
    try:
        return ipaddress.ip_network(name.strip(), strict=False).prefixlen > 0
    except ValueError:
        return False
