"""Modules that are loaded when something of theirs is first used."""

from __future__ import annotations

import importlib
import importlib.util
import sys


def defer(name: str) -> None:
    """Have ``from package import module`` cost nothing until the module is used. ``name`` is ``package.module``.

    Any other form of ``import`` loads it at once. Not for a module that several threads may be the first to use.
    Raises ModuleNotFoundError for one that is not there.
    """
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name=name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    package, _, child = name.rpartition(".")
    # Found here, it is not looked for by the import system, which would look at its attributes and so load it.
    setattr(importlib.import_module(package), child, module)
