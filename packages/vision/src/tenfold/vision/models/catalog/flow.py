"""Published checkpoints, optical flow: names, sizes and errors as their publisher gives them."""

from __future__ import annotations

from typing import Any

from tenfold.vision.models.catalog.kinds import optical_flow
from tenfold.vision.models.weights import WeightsEnum

LARGE: dict[str, Any] = {"num_params": 5_257_536, "ops": 211.007, "file_size": 20.129}
SMALL: dict[str, Any] = {"num_params": 990_162, "ops": 47.655, "file_size": 3.821}


def _trained(clean: float, final: float, kitti: tuple[float, float]) -> dict[str, dict[str, float]]:
    """Errors on what the checkpoint was not trained on."""
    sintel = {"Sintel-Train-Cleanpass": {"epe": clean}, "Sintel-Train-Finalpass": {"epe": final}}
    return {**sintel, "Kitti-Train": {"per_image_epe": kitti[0], "fl_all": kitti[1]}}


def _tested(clean: float, final: float) -> dict[str, dict[str, float]]:
    return {"Sintel-Test-Cleanpass": {"epe": clean}, "Sintel-Test-Finalpass": {"epe": final}}


class Raft_Large_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `raft_large`, by what they were trained on: (C)hairs, (T)hings, (S)intel, (K)itti, (H)D1K."""

    C_T_V1 = optical_flow("raft_large_C_T_V1-22a6c225.pth", metrics=_trained(1.4411, 2.7894, (5.0172, 17.4506)), **LARGE)
    C_T_V2 = optical_flow("raft_large_C_T_V2-1bb1363a.pth", metrics=_trained(1.3822, 2.7161, (4.5118, 16.0679)), **LARGE)
    C_T_SKHT_V1 = optical_flow("raft_large_C_T_SKHT_V1-0b8c9e55.pth", metrics=_tested(1.94, 3.18), **LARGE)
    C_T_SKHT_V2 = optical_flow("raft_large_C_T_SKHT_V2-ff5fadd5.pth", metrics=_tested(1.819, 3.067), **LARGE)
    C_T_SKHT_K_V1 = optical_flow("raft_large_C_T_SKHT_K_V1-4a6a5039.pth", metrics={"Kitti-Test": {"fl_all": 5.1}}, **LARGE)
    C_T_SKHT_K_V2 = optical_flow("raft_large_C_T_SKHT_K_V2-b5c70766.pth", metrics={"Kitti-Test": {"fl_all": 5.19}}, **LARGE)
    DEFAULT = C_T_SKHT_V2


class Raft_Small_Weights(WeightsEnum):  # noqa: N801
    """Checkpoints of `raft_small`, by what they were trained on: (C)hairs and (T)hings."""

    C_T_V1 = optical_flow("raft_small_C_T_V1-ad48884c.pth", metrics=_trained(2.1231, 3.279, (7.6557, 25.2801)), **SMALL)
    C_T_V2 = optical_flow("raft_small_C_T_V2-01064c6d.pth", metrics=_trained(1.9901, 3.2831, (7.5978, 25.2369)), **SMALL)
    DEFAULT = C_T_V2
