"""What is remembered of each producer between its runs."""

from __future__ import annotations

from django.utils import timezone

from reviews.models import ProducerState


def held_back() -> dict[str, int]:
    """How many findings each rule holds back because of SYNAPSE_REVIEW_CAP; rules that hold none are left out."""
    rows = ProducerState.objects.filter(held_back__gt=0).order_by("rule")
    return dict(rows.values_list("rule", "held_back"))


def owing(rules: frozenset[str] | set[str]) -> set[str]:
    """Those of the rules that are to look at everything after the next scan.

    They hold something back, have failed since they last did, or have never done so.
    """
    done = ProducerState.objects.filter(rule__in=rules, held_back=0, last_full_at__isnull=False)
    return set(rules) - set(done.values_list("rule", flat=True))


def note_pass(*, rule: str, full: bool, held_back: int) -> None:
    """Keep that a rule has been through all questions (``full``) or through some, and how much it held back."""
    if not full and not held_back:
        return
    state, _ = ProducerState.objects.get_or_create(rule=rule)
    if full:
        state.held_back, state.last_full_at = held_back, timezone.now()
    else:
        state.held_back += held_back
    state.save(update_fields=["held_back", "last_full_at"])


def note_failure(*, rule: str) -> None:
    """Keep that a rule has missed changes: it owes a look at everything."""
    ProducerState.objects.get_or_create(rule=rule)
    ProducerState.objects.filter(rule=rule).update(last_full_at=None)
