"""How much a fuzzer tries: the same few inputs each time in `make test`, others and many more in `make fuzz`.

``SYNAPSE_TEST_FUZZ=long`` asks for the long form, whose inputs are new each time; what it finds is kept by hypothesis
in ``.hypothesis``, and by hand as a file of tests/fuzz/corpus or as an explicit example.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

LONG = os.environ.get("SYNAPSE_TEST_FUZZ") == "long"


def examples(short: int, long: int) -> settings:
    """The settings of a fuzzer that tries so many inputs. No limit is one of time, which a busy machine would break.

    What fails in the short form is shown as it was found: to make it smaller takes minutes, and it stands still anyway.
    """
    return settings(
        max_examples=long if LONG else short,
        derandomize=not LONG,
        database=None if not LONG else settings().database,
        deadline=None,
        phases=list(Phase) if LONG else [Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
