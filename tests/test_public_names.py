"""No two public classes share a name, so that a name in an error or a docstring means one thing."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import defaultdict

import corel


def test_no_two_public_classes_share_a_name() -> None:
    modules = [each.name for each in pkgutil.walk_packages(corel.__path__, "corel.")]
    found: dict[str, set[type]] = defaultdict(set)
    for name in ["corel", *(each for each in modules if "._" not in each)]:
        module = importlib.import_module(name)
        public = {each: getattr(module, each) for each in dir(module) if not each.startswith("_")}
        for each, thing in public.items():
            if inspect.isclass(thing) and thing.__module__.startswith("corel") and thing.__name__ == each:
                found[each].add(thing)
    assert {name: things for name, things in found.items() if len(things) > 1} == {}
    assert len(found) > 100
