"""Texts made of what Markdown, YAML and links are made of, and those that once broke something (tests/fuzz/corpus)."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

#: A file for each input that once failed; its name says what it did.
CORPUS = sorted(path for path in (Path(__file__).parent / "corpus").iterdir() if path.suffix == ".txt")

PIECES = [
    "[[", "]]", "[[a]]", "[[a|b]]", "[[a#h^b|c]]", "![[", "![", "[", "]", "](", ")", "(", "|", "#", "^", "\\",
    "[x](y)", "<a href=x>", "<", ">", "<!--", "-->", "%%", "$$", "$", "`", "```\n", "~~~\n", "*", "**a", "_", "~~",
    "==", "\n", "\n\n", "\r\n", "\r", "\t", "    ", " ", "- ", "1. ", "> ", "> [!x]\n", "---\n", "---", "...\n",
    "|-|-|\n", "|a|b|\n",
    "a: ", "a: b\n", "? ", ": ", "- a\n", "&a ", "*a", "!!", "!x ", "{", "}", ",", "'", '"', "|-\n", ">\n", "%TAG", "@",
    "title: x\n", "aliases: [a]\n", "tags:\n  - a\n", "#tag", "#a/b", "^id", "http://a.b/", "www.a", "a@b.c",
    "é", "e\u0301", "日本", "\u202e", "\u200b", "\ufeff", "\u2028", "\x00", "\x85", "\ud800", "😀",
    "0", "1e9", "0x", "~", "null", "../", "./", "/",
    "a", "b.md", "word ",
]  # fmt: skip

SOUP = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
#: Anything at all, most of it close to what is read.
TEXTS = st.one_of(SOUP, st.text(max_size=60), st.builds("---\n{}\n---\n{}".format, SOUP, SOUP))
BYTES = st.one_of(
    TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=80),
    st.builds(
        lambda text, coding: text.encode(coding, "replace"), TEXTS, st.sampled_from(["utf-16", "latin-1", "utf-32"])
    ),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(PIECES),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.sampled_from(PIECES), inner, max_size=3)
    ),
    max_leaves=8,
)
