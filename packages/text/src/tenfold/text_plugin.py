"""What tenfold-text registers: its tokenizers and datasets by name."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_tokenizers() -> dict[str, str]:
    return {name: f"tenfold.text.tokenizers:{name}" for name in ("SubwordTokenizer", "basic_english", "characters")}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_datasets() -> dict[str, str]:
    return {"CharacterDataset": "tenfold.text.datasets:CharacterDataset"}
