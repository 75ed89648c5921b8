"""`tenfold.utils.data`: the modules of `tenfold.data` under PyTorch's path."""

import tenfold.data.sampler
import tenfold.utils.data.sampler


def test_modules_are_the_same_objects() -> None:
    import tenfold.utils.data.dataset as dataset

    assert tenfold.utils.data is tenfold.data
    assert tenfold.utils.data.sampler is tenfold.data.sampler
    assert dataset is tenfold.data.dataset
    assert tenfold.data.sampler.__spec__.name == "tenfold.data.sampler"
