from __future__ import annotations

import sys

import pytest

from mcpapi.deferred import defer


def test_a_deferred_module_runs_when_it_is_first_used(tmp_path, monkeypatch):
    marker = tmp_path / "ran"
    package = tmp_path / "late_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "module.py").write_text(f"open({str(marker)!r}, 'w').close()\nvalue = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    defer("late_package.module")
    from late_package import module

    assert not marker.exists()
    assert module.value == 7
    assert marker.exists()
    defer("late_package.module")
    assert sys.modules["late_package.module"] is module
    for name in ("late_package", "late_package.module"):
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("name", ["no_such_module_at_all", "json.no_such_module"])
def test_a_module_that_is_not_there_is_not_there(name):
    with pytest.raises(ModuleNotFoundError):
        defer(name)
