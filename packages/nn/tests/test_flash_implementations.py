"""Implementations of flash attention by name: registered, chosen, taken back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenfold.nn import attention
from tenfold.nn.attention import flash_implementations


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    yield
    flash_implementations._known.clear()
    flash_implementations._active.clear()


def test_one_is_active_at_a_time(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []

    class Handle:
        def __init__(self, name: str) -> None:
            calls.append(f"+{name}")
            self.name = name

        def remove(self) -> None:
            calls.append(f"-{self.name}")

    for name in ("B", "A"):
        attention.register_flash_attention_impl(name, register_fn=lambda name=name: Handle(name))
    assert attention.list_flash_attention_impls() == ["A", "B"]
    assert attention.current_flash_attention_impl() is None
    attention.activate_flash_attention_impl("A")
    attention.activate_flash_attention_impl("B")
    assert attention.current_flash_attention_impl() == "B"
    attention.restore_flash_attention_impl()
    assert attention.current_flash_attention_impl() is None
    assert calls == ["+A", "-A", "+B", "-B"]
    attention.restore_flash_attention_impl()
    assert "no implementation is active" in caplog.text


def test_names_that_nobody_registered() -> None:
    with pytest.raises(ValueError, match="Unknown flash attention impl 'FA4'"):
        attention.activate_flash_attention_impl("FA4")
    attention.register_flash_attention_impl("plain", register_fn=lambda: None)
    attention.activate_flash_attention_impl("plain")
    assert attention.current_flash_attention_impl() is None
