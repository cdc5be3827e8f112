"""Pages of others under our policy of contents: what stands inline in their templates gets the answer's nonce.

It is given to the text of the templates as they are loaded, never to a page that is made of them: what somebody
smuggles into a page has none.
"""

from __future__ import annotations

import re
from typing import Any, Final

from django.http import HttpRequest
from django.template.base import Origin
from django.template.loaders import app_directories

from synapse.headers import NONCE

_INLINE: Final = re.compile(r"<style(?=[\s>])(?![^>]*\bnonce=)", re.IGNORECASE)
#: A style given as text is an inline style to a browser; one given by its properties is set by the script itself.
_STYLE_AS_TEXT: Final = re.compile(r"""(x-bind:style=")'([a-z-]+): ' \+ (\w+) \+ '(\w+)'(?=")""")


class Loader(app_directories.Loader):
    """Django's loader of the applications' templates; see the module."""

    def get_contents(self, origin: Origin) -> str:
        """The template's text, fit for the policy."""
        return fit(super().get_contents(origin))


def fit(template: str) -> str:
    """A template's text, with a nonce in each style that stands in it and no style that a script would give as text."""
    template = _INLINE.sub('<style nonce="{{ csp_nonce }}"', template)
    return _STYLE_AS_TEXT.sub(r"\1{'\2': \3 + '\4'}", template)


def nonce(request: HttpRequest) -> dict[str, Any]:
    """Context processor: ``csp_nonce``, which the answer's policy names; empty where no server is around (tests)."""
    return {"csp_nonce": getattr(request, "scope", {}).get(NONCE, "")}
