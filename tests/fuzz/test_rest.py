"""Requests made of docs/openapi.json, those that fit it and those that do not: each answer is one that it tells of.

Short: a few requests of each kind for each operation, the same each time. Long (`make fuzz`): many, new each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from django.conf import settings as django_settings
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection

from tests.conftest import VaultFolder
from tests.fuzz.profiles import examples
from tests.wiki.api.conftest import CLAUDE, frontmatter
from wiki.models import Scope
from wiki.services import write_page
from wiki.tokens import create_token


def _document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((django_settings.BASE_DIR / "docs/openapi.json").read_text(encoding="utf-8"))
    return found


#: A request that fits the schema may still break a rule: a title is taken, a body is blank, a version is stale. What it
#: may not be is ill-formed (see ``require_well_formed``).
_CONFIG = {
    "checks": {
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", "304", "400", "403", "404", "409", "412", "422", "428"],
        },
        "negative_data_rejection": {
            "expected-statuses": ["400", "401", "403", "404", "405", "406", "409", "412", "413", "415", "422", "428"],
        },
    }
}
#: What says that a request is not of the form that the schema shows.
_ILL_FORMED = {
    "missing_required_params",
    "invalid_param_type",
    "malformed_body",
    "unsupported_media_type",
    "not_acceptable",
}

SCHEMA = schemathesis.openapi.from_dict(_document(), config=schemathesis.Config.from_dict(_CONFIG))
SCHEMA.config.update(base_url="http://127.0.0.1")
SCHEMA.app = get_wsgi_application()
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}


@dataclass
class Served:
    """A vault with pages, sources and waiting items: a token for it, and what names them at each address."""

    token: str
    known: dict[str, list[str]]


@pytest.fixture
def one_connection() -> Iterator[None]:
    """No request ends the connection in whose transaction the test lives; Django's own test client sees to it, too."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def served(vault_folder: VaultFolder, db: None, one_connection: None, settings: Any) -> Served:
    from reviews.models import ReviewItem
    from tests.reviews.api.conftest import asked
    from wiki.sync import scan

    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    vault_folder.write("raw/sources/a.md", "A source.\n")
    vault_folder.write("raw/sources/deep/b.txt", "Another.\n")
    scan()
    pages = [
        write_page(
            title=title, content=f"See [[Ghost]] and [[{title}]].\n", frontmatter=frontmatter(title), author=CLAUDE
        )
        for title in ("Alan Turing", "Ada Lovelace")
    ]
    items = [asked(f"Question {number}") for number in range(3)]
    assert ReviewItem.objects.count() >= 3
    return Served(
        create_token(name="fuzz", scope=Scope.WRITE)[1],
        {
            "/pages/{id}": [str(found.page.uid) for found in pages],
            "/review/queue/{id}": [str(item.pk) for item in items],
            "/sources/{path}": ["a.md", "raw/sources/deep/b.txt"],
        },
    )


def names(operation: Any, served: Served) -> list[dict[str, str] | None]:
    """What may stand in the address of an operation: what the schema makes up, or what there is."""
    found: list[dict[str, str] | None] = [None]
    for beginning, known in served.known.items():
        if operation.path.startswith(beginning):
            found += [{beginning[beginning.index("{") + 1 : -1]: name} for name in known]
    return found


#: Here each item or id has an answer of its own: one that is ill-formed is refused beside others that are not.
ITEM_BY_ITEM = {"POST /review/queue", "POST /review/queue/bulk", "POST /review/queue/bulk-resolve"}


def require_well_formed(answer: Any) -> None:
    """A request that fits the schema is not told that it does not."""
    if answer.status_code >= 400:
        assert answer.json()["error_code"] not in _ILL_FORMED, answer.json()


#: What takes nothing can be asked in one way only.
ASKED = [
    (label, mode)
    for label, operation in OPERATIONS.items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE
    or any((operation.path_parameters, operation.query, operation.headers, operation.body))
]


@pytest.mark.parametrize(("label", "mode"), ASKED, ids=[f"{label}-{mode.value}" for label, mode in ASKED])
def test_each_answer_is_one_that_the_schema_tells_of(label: str, mode: GenerationMode, served: Served) -> None:
    operation = OPERATIONS[label]

    @given(data=st.data())
    @examples(6, 150)
    def tried(data: st.DataObject) -> None:
        named = data.draw(st.sampled_from(names(operation, served)))
        case = data.draw(operation.as_strategy(generation_mode=mode, path_parameters=named))
        # In an address a list of one value is that value: `k=0.0` is a whole number, whatever it was made of.
        in_a_list = any(isinstance(value, list) and len(value) == 1 for value in case.query.values())
        left_out = [negative_data_rejection] if label in ITEM_BY_ITEM or in_a_list else []
        answer = case.call_and_validate(headers={"Authorization": f"Bearer {served.token}"}, excluded_checks=left_out)
        if mode is GenerationMode.POSITIVE:
            require_well_formed(answer)

    tried()
