"""What tenfold-text registers: its tokenizers, datasets and models by name."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_tokenizers() -> dict[str, str]:
    return {
        name: f"tenfold.text.tokenizers:{name}" for name in ("SentencePiece", "SubwordTokenizer", "basic_english", "characters")
    }


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_datasets() -> dict[str, str]:
    from tenfold.text import datasets

    return {name: f"tenfold.text.datasets:{name}" for name in ["CharacterDataset", "Multi30k", *datasets.DATASETS]}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_models() -> dict[str, str]:
    from tenfold.text.models.auto import HOME

    return {name: f"tenfold.text.models:{name}" for name in HOME if not name.endswith("Config")}
