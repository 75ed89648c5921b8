"""`torch.distributed.fsdp`: modules whose parameters lie on many devices."""

from __future__ import annotations

from tenfold.as_torch.stand_ins.absent import classes, functions, show

_WHY = "sharded modules are in the package tenfold-distributed, which is not installed"

_CLASSES = (
    "BackwardPrefetch CPUOffload FSDPModule FullOptimStateDictConfig FullStateDictConfig FullyShardedDataParallel "
    "MixedPrecision MixedPrecisionPolicy OptimStateKeyType ShardedOptimStateDictConfig ShardedStateDictConfig "
    "ShardingStrategy StateDictConfig StateDictType"
)
globals().update(classes(_CLASSES, _WHY))
globals().update(functions("fully_shard", _WHY))
fully_sharded_data_parallel = show(f"{__name__}.fully_sharded_data_parallel", {n: globals()[n] for n in _CLASSES.split()})
api = show(f"{__name__}.api", {n: globals()[n] for n in _CLASSES.split()})
