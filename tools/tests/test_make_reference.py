from __future__ import annotations

import types

import make_reference


def scale(x: list[float], by: str = "two") -> list[float]:
    """Multiply.

    >>> scale([1.0])
    [2.0]
    """
    return [2 * value for value in x] if by == "two" else x


class Base:
    """A base."""

    def shown(self) -> int:
        """A method."""
        return 1

    def _hidden(self) -> None:
        """Not a public method."""


def test_signatures_show_annotations_as_written() -> None:
    assert make_reference.signature(scale) == "(x: list[float], by: str = 'two') -> list[float]"
    assert make_reference.signature(3) == ""


def test_a_function_has_its_summary_as_prose_and_its_example_fenced() -> None:
    text = "\n".join(make_reference.describe("scale", scale, 3))
    assert "### `scale`" in text
    assert "\nMultiply.\n" in text
    assert "```text\n>>> scale([1.0])\n[2.0]\n```" in text


def test_a_class_shows_its_public_methods() -> None:
    text = "\n".join(make_reference.describe("Base", Base, 3))
    assert "class Base" in text
    assert "#### `Base.shown`" in text
    assert "_hidden" not in text


def test_public_members_follow_all_else_what_the_module_defines() -> None:
    module = types.ModuleType("m")
    module.scale, module.Base, module._private = scale, Base, 1  # type: ignore[attr-defined]
    assert make_reference.public_members(module) == []
    module.__all__ = ["Base"]  # type: ignore[attr-defined]
    assert make_reference.public_members(module) == [("Base", Base)]
