"""`torch.cuda.random`: the seeds and states of the devices' generators, which `torch.cuda` has, too."""

import importlib

_DEVICES = importlib.import_module("torch.cuda")
_NAMES = "get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all set_rng_state set_rng_state_all"
globals().update({name: getattr(_DEVICES, name) for name in _NAMES.split()})
