"""Which numbers of a text stand in those it was made from: dates, ranges, units, and what is a name."""

from __future__ import annotations

import pytest

from wiki.prime.checking.numbers import known_numbers, numbers_of

GIVEN = """\
It began on 2023-09-12 and ended on 5 October 2023. Take 170g of flour, 3-4 spoons and 1,150 milligrams, or 2.50 euros.
Version v2.0.1 of GPT-4, at -5 degrees, in 1982, 1/3 of it, by 24/7. ISBN 978-3-16-148410-0. It is 100 °C.
"""


def unknown(text: str) -> list[str]:
    known = known_numbers([GIVEN])
    return [number.written for number in numbers_of(text) if not known.has(number)]


@pytest.mark.parametrize(
    ("same", "changed", "written"),
    [
        ("since 2023-09-12", "since 2023-10-12", "2023-10-12"),
        ("since 12 September 2023", "since 13 September 2023", "13"),
        ("on 2023-10-05", "on 2023-10-06", "2023-10-06"),
        ("170 g", "175 g", "175"),
        ("170g", "175g", "175"),
        ("3-4 spoons", "3-6 spoons", "6"),
        ("3–4 spoons", "8–4 spoons", "8"),
        ("1.150 mg", "1.151 mg", "1.151"),
        ("1150mg", "1151mg", "1151"),
        ("2,5 euros", "2,6 euros", "2,6"),
        ("v2.0.1", "v2.1.0", "2.1.0"),
        ("2.0.1", "2.0.2", "2.0.2"),
        ("-5 degrees", "-6 degrees", "6"),
        ("1/3", "2/3", "2/3"),
        ("978-3-16-148410-0", "978-3-16-148411-0", "978-3-16-148411-0"),
        ("１９８２", "１９８３", "１９８３"),
        ("100°C", "101°C", "101"),
        ("100%", "99%", "99"),
    ],
)
def test_a_changed_number_is_told_from_the_same(same: str, changed: str, written: str) -> None:
    assert unknown(same) == []
    assert unknown(changed) == [written]


@pytest.mark.parametrize(
    "text", ["H2O and B12", "GPT-5", "a 3D film by 4chan", "7. Wait\n8) Go", "as shown [9].", "#77"]
)
def test_names_and_counts_are_no_numbers(text: str) -> None:
    assert unknown(text) == []


@pytest.mark.parametrize(
    "text", ["1 " * 100_000 + "x", "1-" * 100_000 + "x", "1/" * 100_000, "1." * 100_000, "aaa 1 " * 50_000]
)
def test_a_long_text_takes_time_by_its_length(text: str) -> None:
    """Not measured: what is quadratic here would not come back."""
    known = known_numbers([text])
    assert all(known.has(number) for number in numbers_of(text))
