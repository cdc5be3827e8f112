"""Processes that claim the same research runs at once: each run is one caller's."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.scan import ROOT, own_place, run

CLAIMER = """
import json, sys, time
from pathlib import Path
import django; django.setup()
from reviews.models import ResearchRun
from reviews.services.research import claim_run
from vault.errors import SynapseError
from vault.history import Author
me, go, ready = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
runs = list(ResearchRun.objects.order_by("created_at").values_list("pk", flat=True))
ready.touch()
while not go.exists():
    time.sleep(0.001)
won = []
for run in runs:
    try:
        if claim_run(run_id=run, author=Author(f"token:{me}", "rest")).changed:
            won.append(str(run))
    except SynapseError as error:
        assert error.code == "conflict", error.message
print(json.dumps({"won": won}))
"""
OPENER = """
import django; django.setup()
from django.utils import timezone
from reviews.models import ReviewItem
from reviews.services.research import open_run
from vault.history import Author
for number in range(30):
    item = ReviewItem.objects.create(
        item_type="suggestion", rule="agent", origin="agent", title="?", target="?", content_key=str(number)
    )
    run = open_run(item=item, author=Author("token:ada", "rest"))
    ReviewItem.objects.filter(pk=item.pk).update(
        research_run=run, status="deep_researched", reviewed_at=timezone.now()
    )
"""


@pytest.mark.slow
def test_processes_that_claim_the_same_runs_share_them_out(tmp_path: Path) -> None:
    with own_place() as environment:
        environment |= {"SYNAPSE_RESEARCH_BACKEND": "agent"}
        run(environment, "manage.py", "init_vault")
        run(environment, "manage.py", "rescan", "--json")
        run(environment, "-c", OPENER)
        go, ready = tmp_path / "go", [tmp_path / f"ready-{number}" for number in range(3)]
        claimers = [
            subprocess.Popen(
                [sys.executable, "-c", CLAIMER, name, str(go), str(beside)],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for name, beside in zip(("ada", "ada", "bob"), ready, strict=True)  # two processes may show one token
        ]
        while not all(file.exists() for file in ready):
            assert all(process.poll() is None for process in claimers), claimers[0].communicate()
            time.sleep(0.01)
        go.touch()
        won: list[str] = []
        for process in claimers:
            output, errors = process.communicate(timeout=120)
            assert (process.returncode, errors) == (0, "")
            won += json.loads(output)["won"]
        assert len(won) == len(set(won)) == 30
