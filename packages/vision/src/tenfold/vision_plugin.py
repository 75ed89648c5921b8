"""What tenfold-vision registers: its datasets and models by name.

It has no kernels or gradients: its operators are compositions of core's, so that they run on every device and
differentiate by themselves.
"""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
NO_DATASETS = {"VisionDataset", "wrap_dataset_for_transforms_v2"}  # of the names there


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_datasets() -> dict[str, str]:
    from tenfold.vision import datasets

    return {name: f"tenfold.vision.datasets:{name}" for name in datasets.__all__ if name not in NO_DATASETS}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_models() -> dict[str, str]:
    from tenfold.vision import models

    return {name: f"tenfold.vision.models:{name}" for name in models.__all__ if not name.endswith("_Weights")}
