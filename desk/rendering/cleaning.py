"""What may be in a rendered page: a list of what is allowed, and nothing else gets through.

The browser is told the same once more by the Content-Security-Policy; neither relies on the other.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

import nh3

from desk.rendering.anchors import PREFIX

_TEXT: Final = {
    *("a", "abbr", "b", "bdi", "bdo", "br", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q"),
    *("s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr"),
}
_BLOCKS: Final = {
    *("aside", "blockquote", "caption", "col", "colgroup", "dd", "details", "div", "dl", "dt", "figcaption", "figure"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "input", "li", "ol", "p", "pre", "section", "summary"),
    *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
}
_TONES: Final = {"tone-note", "tone-tip", "tone-warn", "tone-bad", "tone-idea", "tone-plain"}
#: Classes that a page can have: what the rules of this room give out, none of the frame's.
_CLASSES: Final = {
    "a": {"link", "outer", "tag", "link-broken", "link-ambiguous", "anchor", "back"},
    "div": {"callout", "embed", "math", "block", "table", *_TONES},
    "details": {"callout", *_TONES},
    "p": {"from", "name"},
    "span": {"elsewhere", "math", "inline", "link-hint", "unseen"},
    "sup": {"note"},
    "section": {"footnotes"},
    "li": {"task"},
    "td": {"al-center", "al-right"},
    "th": {"al-center", "al-right"},
}
_PLAIN: Final = re.compile(r"[A-Za-z0-9%/~:@!$&'()*+,;=._-]+")
# What the cleaner writes: attributes in double quotes, with < and > in them escaped or not.
_PICTURE: Final = re.compile(r'<img(?: [a-z]+="[^"]*")*>')
_ALTERNATIVE: Final = re.compile(r' alt="([^"]*)"')
_ATTRIBUTES: Final = {
    "*": {"id", "dir", "lang", "title"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height", "loading"},
    "input": {"checked"},
    "ol": {"start", "reversed"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "details": {"open"},
    "time": {"datetime"},
}


class _Cleaner:
    """One cleaner for each address that pictures may come from: there is only one, known when addresses are."""

    def __init__(self, pictures: str) -> None:
        self._pictures = pictures
        self._cleaner = nh3.Cleaner(
            tags=_TEXT | _BLOCKS,
            clean_content_tags={"script", "style"},
            attributes=_ATTRIBUTES,
            attribute_filter=self._attribute,
            allowed_classes=_CLASSES,
            tag_attribute_values={
                "div": {"role": {"note"}, "tabindex": {"0"}},
                "pre": {"tabindex": {"0"}},
            },
            # Whatever a page brings along as a field can't be written into.
            set_tag_attribute_values={"input": {"type": "checkbox", "disabled": "", "aria-label": "Task"}},
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer",
            id_prefix=PREFIX,
        )

    def _attribute(self, tag: str, name: str, value: str) -> str | None:
        if tag == "img" and name == "src":
            return value if value.startswith(self._pictures) and _stays(value) else None
        return value

    def clean(self, html: str) -> str:
        return _PICTURE.sub(_described, self._cleaner.clean(html))


def _stays(address: str) -> bool:
    """Whether a browser asks for this very address: it would follow dots, also written as ``%2e``, to another one."""
    return _PLAIN.fullmatch(address) is not None and not {".", ".."} & set(unquote(address).split("/"))


def _described(picture: re.Match[str]) -> str:
    """A picture that has an alternative text; of one that may not be shown only that."""
    tag = picture[0]
    alternative = _ALTERNATIVE.search(tag)
    if " src=" not in tag:
        name = f": {alternative[1]}" if alternative and alternative[1] else ""
        return f'<span class="elsewhere">A picture that is not of the vault{name}</span>'
    return tag if alternative else f'{tag[:-1]} alt="">'


_cleaners: dict[str, _Cleaner] = {}


def clean(html: str, *, pictures: str) -> str:
    """The HTML with nothing in it that runs, loads from elsewhere, covers the page or posts a form.

    ``pictures`` is how the address of each picture must begin.
    """
    cleaner = _cleaners.get(pictures)
    if cleaner is None:
        cleaner = _cleaners[pictures] = _Cleaner(pictures)
    return cleaner.clean(html)
