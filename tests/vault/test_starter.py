"""The files of a new vault obey the rules that they teach."""

from __future__ import annotations

import pytest

from vault.frontmatter import PAGE_TYPES, compose, load, split, validate
from vault.links import Targets, resolve
from vault.markdown import parse_body
from vault.pages import parse_page
from vault.paths import RESERVED, check_writable_name, classify, is_reserved
from vault.slugs import page_path
from vault.starter_vault import STARTER

FILES = sorted(file.relative_to(STARTER).as_posix() for file in STARTER.rglob("*") if file.is_file())
PAGES = [path for path in FILES if classify(path) == "page" and not is_reserved(path)]
READ = {path: parse_page(path, (STARTER / path).read_bytes()) for path in FILES if classify(path) == "page"}


def test_a_new_vault_has_the_persons_files_an_example_source_and_a_page_of_each_type() -> None:
    assert {"schema.md", "purpose.md", "wiki/overview.md"} <= set(FILES)
    # Made by code when there is something to list.
    assert not {"wiki/index.md", "wiki/log.md"} & set(FILES)
    assert [path for path in FILES if classify(path) == "source"] == ["raw/sources/example-keeping-a-wiki.md"]
    assert {READ[path].type for path in PAGES} == set(PAGE_TYPES)
    assert len(FILES) <= 12
    assert not any(part.startswith(".") for path in FILES for part in path.split("/"))


@pytest.mark.parametrize("path", PAGES)
def test_each_page_passes_the_validator_and_lies_where_it_would_be_written(path: str) -> None:
    page = READ[path]
    assert page.flags == []
    validate(page.frontmatter, title=page.title)
    assert path == page_path(page.frontmatter["type"], page.title)
    assert all((STARTER / source).is_file() for source in page.sources)
    assert page.summary


@pytest.mark.parametrize("path", FILES)
def test_each_file_is_plain_text_with_a_portable_name(path: str) -> None:
    text = (STARTER / path).read_bytes().decode()
    assert text.endswith("\n")
    assert "\r" not in text
    assert max(len(line) for line in text.splitlines()) <= 120
    assert len(text) < 5000
    check_writable_name(path, existing=path in RESERVED)
    parts = split(text)
    if parts.raw is not None:
        # Properties stand in the order and form in which Synapse writes them.
        assert compose(load(parts.raw).data, parts.body).replace('"', "") == text.replace('"', "")


def test_every_link_is_one_that_obsidian_resolves() -> None:
    targets = Targets()
    for path in FILES:
        targets.add_file(path, page=path in READ)
    for path in FILES:
        body = parse_body(split((STARTER / path).read_text(encoding="utf-8")).body)
        for link in body.links:
            answer = resolve(link.target, source=path, targets=targets)
            assert answer.state == "resolved", f"{path}: {link.target}"
            assert answer.path in READ or answer.path in FILES


@pytest.mark.parametrize("path", PAGES)
def test_each_page_is_linked_from_another_and_links_on(path: str) -> None:
    targets = Targets()
    for file in FILES:
        targets.add_file(file, page=file in READ)
    led_to = {
        (source, resolve(link.target, source=source, targets=targets).path)
        for source, page in READ.items()
        for link in page.links
    }
    assert any(target == path and source != path for source, target in led_to)
    assert any(source == path and target != path for source, target in led_to)
