"""What the kept calls of tools come to: how many, how long they took, how they ended, and what their answers weigh."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from typing import Any

from django.utils import timezone

from mcpapi.models import Outcome, ToolCall


@dataclass(slots=True)
class _Tally:
    latencies: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    old_names: int = 0

    def as_dict(self) -> dict[str, Any]:
        calls = len(self.latencies)
        self.latencies.sort()
        return {
            "calls": calls,
            "errors": self.outcomes[Outcome.STRUCTURED_ERROR],
            "exceptions": self.outcomes[Outcome.EXCEPTION],
            "timeouts": self.outcomes[Outcome.TIMEOUT],
            "by_old_name": self.old_names,
            "p50_ms": percentile(self.latencies, 50),
            "p95_ms": percentile(self.latencies, 95),
            "tokens": self.tokens,
            "tokens_per_call": round(self.tokens / calls) if calls else 0,
        }


def statistics(*, days: float | None = None, client: str = "", include_test: bool = False) -> dict[str, Any]:
    """The calls of the last ``days`` (all that are kept, if None) whose client's name contains ``client``.

    Returns ``total`` and ``tools`` (by name of the tool that ran; ``-`` for calls that reached none), each with calls,
    errors, exceptions, timeouts, by_old_name, p50_ms, p95_ms, tokens, tokens_per_call; ``error_codes`` and
    ``clients`` with how many of each, most first. Calls marked as a test's only with ``include_test``.
    """
    rows = ToolCall.objects.order_by()
    if days is not None:
        rows = rows.filter(at__gte=timezone.now() - timedelta(days=days))
    if client:
        rows = rows.filter(client__contains=client)
    if not include_test:
        rows = rows.filter(is_test=False)
    total, tools = _Tally(), defaultdict[str, _Tally](_Tally)
    codes, clients = Counter[str](), Counter[str]()
    columns = ("tool", "resolved", "client", "outcome", "error_code", "latency_ms", "tokens")
    for tool, resolved, name, outcome, code, latency, tokens in rows.values_list(*columns).iterator():
        for tally in (total, tools[resolved or "-"]):
            tally.latencies.append(latency)
            tally.outcomes[outcome] += 1
            tally.tokens += tokens
            tally.old_names += bool(resolved) and tool != resolved
        clients[name] += 1
        if code:
            codes[code] += 1
    return {
        "days": days,
        "total": total.as_dict(),
        "tools": {name: tools[name].as_dict() for name in sorted(tools)},
        "error_codes": dict(codes.most_common()),
        "clients": dict(clients.most_common()),
    }


def percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The smallest of the ordered values that so many percent do not exceed (nearest rank); None if there are none."""
    if not ordered:
        return None
    return round(ordered[max(0, ceil(len(ordered) * percent / 100) - 1)], 1)
