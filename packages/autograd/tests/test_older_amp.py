"""Mixed precision by its older places, `torch.cuda.amp` and `torch.cpu.amp`: it works, and says where it is now."""

import warnings

import pytest

import tenfold
from tenfold.amp import cpu, cuda


@pytest.mark.parametrize(("module", "device"), [(cpu, "cpu"), (cuda, "cuda")])
def test_classes_at_their_older_places_warn(module, device):
    for name, options in (("autocast", {"enabled": False}), ("GradScaler", {"init_scale": 2.0, "enabled": False})):
        words = rf"^`torch\.{device}\.amp\.{name}\(args\.\.\.\)` is deprecated\..*`torch\.amp\.{name}\('{device}', args"
        with pytest.warns(FutureWarning, match=words):
            made = getattr(module, name)(**options)
        assert isinstance(made, getattr(tenfold.amp, name))


def test_the_cpu_has_its_place():
    assert tenfold.cpu.amp is cpu
    with pytest.raises(AttributeError, match=r"module 'tenfold\.cpu' has no attribute 'surely_missing'"):
        tenfold.cpu.surely_missing
    with pytest.warns(FutureWarning):
        region = cpu.autocast()
    with region:
        assert (tenfold.ones(2, 2) @ tenfold.ones(2, 2)).dtype is tenfold.bfloat16


def test_decorators_at_their_older_place_warn():
    def forward(ctx, x):
        return x

    for name in ("custom_fwd", "custom_bwd"):
        with pytest.warns(FutureWarning, match=rf"`torch\.cuda\.amp\.{name}.*device_type='cuda'"):
            getattr(cuda, name)(forward)


def test_today_s_places_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tenfold.autocast("cpu"), tenfold.amp.GradScaler("cpu", init_scale=2.0)
        tenfold.amp.custom_fwd(device_type="cpu"), tenfold.amp.custom_bwd(device_type="cpu")
