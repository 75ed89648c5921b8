"""What the package registers by name can be imported under that name."""

from __future__ import annotations

import pytest

from tenfold import plugins

HOOKS = tuple(f"tenfold_{kind}" for kind in "tokenizers,datasets,models".split(","))


def own(hook: str) -> dict[str, str]:
    return dict(next((table for plugin, table in plugins.hook_results(hook) if plugin.name == "text"), {}))


@pytest.mark.parametrize("hook", HOOKS)
def test_every_registered_name_resolves(hook):
    names = own(hook)
    assert names
    for name in names:
        assert plugins.named(hook, name).__name__ == name


def test_an_unknown_name_says_where_it_was_looked_for():
    assert "CharacterDataset" in {name for hook in HOOKS for name in own(hook)}
    with pytest.raises(KeyError, match=f"no plugin registers 'Nothing' in {HOOKS[0]}"):
        plugins.named(HOOKS[0], "Nothing")
