"""`tenfold.__future__`: how modules change their parameters' dtype, device or values; PyTorch will change its defaults."""

from __future__ import annotations

_settings = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether `Module.to` and its like give a module new parameters instead of new data for those that it has.

    >>> set_overwrite_module_params_on_conversion(True)
    >>> get_overwrite_module_params_on_conversion()
    True
    >>> set_overwrite_module_params_on_conversion(False)
    """
    _settings["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """What `set_overwrite_module_params_on_conversion` said; False at first."""
    return _settings["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether `Module.to`, its like and `load_state_dict` let new tensors change places with a module's (`utils.swap_tensors`).

    It comes before `set_overwrite_module_params_on_conversion`. Loading asks `Tensor.module_load` for what to put in place.

    >>> set_swap_module_params_on_conversion(True)
    >>> get_swap_module_params_on_conversion()
    True
    >>> set_swap_module_params_on_conversion(False)
    """
    _settings["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """What `set_swap_module_params_on_conversion` said; False at first."""
    return _settings["swap"]
