"""JSON from outside: what two readers could understand differently, or one not at all, is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import ErrorCode, SynapseError
from vault.strict_json import halves_as_nul, loads_object

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def refused(body: bytes) -> SynapseError:
    with pytest.raises(SynapseError) as caught:
        loads_object(body)
    assert caught.value.code is ErrorCode.MALFORMED_BODY
    return caught.value


@given(st.dictionaries(st.text(), JSON, max_size=5), st.booleans())
def test_an_object_is_read_as_it_was_written(value: dict[str, Any], escaped: bool) -> None:
    assert loads_object(json.dumps(value, ensure_ascii=escaped).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_refused(body: bytes) -> None:
    try:
        assert isinstance(loads_object(body), dict)
    except SynapseError as error:
        assert error.code is ErrorCode.MALFORMED_BODY


@given(JSON.filter(lambda value: not isinstance(value, dict)))
def test_only_an_object_will_do(value: Any) -> None:
    refused(json.dumps(value).encode())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{}x",
        b"{} {}",
        b'{"a": 1,}',
        b"{'a': 1}",
        b'{"a": 01}',
        b'{"a": .5}',
        b'{"a": +1}',
        b'{"a": 0x1}',
        b'{"a": "\n"}',
        b'{"a": "\\x"}',
        b'{"a": undefined}',
        b"// comment\n{}",
    ],
)
def test_syntax(body: bytes) -> None:
    refused(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": 1, "a": 1}',
        b'{"a": 1, "\\u0061": 2}',
        b'{"x": {"b": 1, "c": 2, "b": 3}}',
        b'{"x": [{"b": null, "b": null}]}',
        b'{"": 1, "": 2}',
    ],
)
def test_a_key_given_twice(body: bytes) -> None:
    assert "twice" in refused(body).message


def test_keys_that_only_look_alike_are_two_keys() -> None:
    assert len(loads_object('{"é": 1, "e\u0301": 2, "A": 3, "a": 4}'.encode())) == 4


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"9e4000", b"1" * 5_000])
def test_numbers_that_are_none_or_too_large(number: bytes) -> None:
    refused(b'{"x": ' + number + b"}")
    refused(b'{"x": [' + number + b"]}")


@pytest.mark.parametrize("body", [b"[" * 20_000, b'{"a":' * 20_000, b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"])
def test_nesting_that_no_reader_follows(body: bytes) -> None:
    refused(body)


@pytest.mark.parametrize("body", [b"\xff", b'{"a": "\xe9"}', b'{"a": "\xed\xa0\x80"}', '{"a": 1}'.encode("utf-16")])
def test_bytes_that_are_not_utf_8(body: bytes) -> None:
    refused(body)


def test_a_byte_order_mark_is_not_json() -> None:
    refused(b"\xef\xbb\xbf{}")


def test_a_refusal_does_not_quote_the_body() -> None:
    for body in (b'{"secret": NaN}', b'{"secret": 1, "secret": 2}', b'{"secret', b"secret", b'{"secret": "\xff"}'):
        assert "secret" not in refused(body).message


@given(st.dictionaries(st.text(), JSON, max_size=5), st.booleans())
def test_whole_characters_stay_as_they_are(value: dict[str, Any], escaped: bool) -> None:
    body = json.dumps(value, ensure_ascii=escaped).encode()
    assert halves_as_nul(body) == body


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (r'"\ud800"', "\0"),
        (r'"a\uDFFFb"', "a\0b"),
        (r'"\ud83d\ude00\ud83d"', "\U0001f600\0"),
        (r'"\ude00\ud83d"', "\0\0"),
        (r'"\\ud800 \\\ud800"', "\\ud800 \\\0"),
        (r'"é\ud800"', "é\0"),
    ],
)
def test_half_a_pair_becomes_what_is_refused_everywhere(text: str, clean: str) -> None:
    assert json.loads(halves_as_nul(text.encode())) == clean
