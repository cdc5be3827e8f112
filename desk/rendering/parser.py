"""The one Markdown parser of the desk: CommonMark with tables and what Obsidian adds to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from desk.rendering.anchors import PREFIX
from desk.rendering.callouts import callout_plugin
from desk.rendering.footnotes import LOOSE, loose_footnote_plugin
from desk.rendering.highlights import highlight_plugin
from desk.rendering.limits import limit_plugin
from desk.rendering.weaving import weaving_plugin


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """The parser, made once: what it knows of one page is in the environment that it is given with the text."""
    # A line break in a paragraph is one, as Obsidian shows it.
    md = MarkdownIt("js-default", {"html": True, "breaks": True, "tasklists": True})
    md.use(dollarmath_plugin, allow_labels=False, allow_space=False, double_inline=True)
    md.use(footnote_plugin)
    md.use(loose_footnote_plugin)
    md.use(gfm_autolink_plugin)
    md.use(callout_plugin)
    md.use(highlight_plugin)
    md.use(weaving_plugin)
    md.use(limit_plugin)
    for name, rule in _RULES.items():
        md.add_render_rule(name, rule)
    return md


def _code(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    # What can be scrolled must be reached by keyboard too.
    return f'<pre tabindex="0"><code>{escapeHtml(tokens[at].content)}</code></pre>\n'


def _math(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return f'<div class="math block" tabindex="0">{escapeHtml(tokens[at].content.strip())}</div>\n'


def _math_inline(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return f'<span class="math inline">{escapeHtml(tokens[at].content.strip())}</span>'


def _table_open(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return f'<div class="table" tabindex="0"><table{self.renderAttrs(tokens[at])}>\n'


def _table_close(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return "</table></div>\n"


def _note_name(token: Token, env: EnvType) -> str:
    """The number of a footnote, apart from those of embedded pages."""
    return f"{env.get('docId', '')}{token.meta['id'] + 1}"


def _note_ref(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    name, again = _note_name(token, env), token.meta.get("subId", 0)
    mark = f"{PREFIX}fnref{name}" + (f"-{again}" if again else "")
    number = token.meta["id"] + 1
    return f'<sup class="note"><a href="#{PREFIX}fn{name}" id="{mark}" title="Footnote {number}">{number}</a></sup>'


def _notes_open(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return '<section class="footnotes"><ol>\n'


def _notes_close(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return "</ol></section>\n"


def _note_open(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    return f'<li id="{PREFIX}fn{_note_name(tokens[at], env)}">'


def _note_back(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[at]
    if token.meta["id"] in env.get(LOOSE, ()):
        return ""
    again = token.meta.get("subId", 0)
    mark = f"{PREFIX}fnref{_note_name(token, env)}" + (f"-{again}" if again else "")
    return f' <a class="back" href="#{mark}" title="Back to the text">↩\ufe0e</a>'


_RULES = {
    "fence": _code,
    "code_block": _code,
    "math_block": _math,
    "math_inline": _math_inline,
    "math_inline_double": _math_inline,
    "table_open": _table_open,
    "table_close": _table_close,
    "footnote_ref": _note_ref,
    "footnote_block_open": _notes_open,
    "footnote_block_close": _notes_close,
    "footnote_open": _note_open,
    "footnote_anchor": _note_back,
}
