"""`torch.distributed` on one machine: it is not available, and says so.

The names that programs import are there; what would need other processes raises NotImplementedError and names the package.
"""

from __future__ import annotations

import datetime
import enum

from tenfold.as_torch.stand_ins.absent import classes, functions, show, show_missing
from tenfold.as_torch.stand_ins.distributed import state_dicts
from tenfold.as_torch.stand_ins.distributed.errors import (
    DistBackendError as DistBackendError,
    DistError as DistError,
    DistNetworkError as DistNetworkError,
    DistStoreError as DistStoreError,
)
from tenfold.as_torch.stand_ins.distributed.paths import PATHS
from tenfold.as_torch.stand_ins.distributed.stores import (
    HashStore as HashStore,
    PrefixStore as PrefixStore,
    Store as Store,
    TCPStore as TCPStore,
)

_WHY = (
    "process groups are in the package tenfold-distributed, which is not installed; programs ask "
    "torch.distributed.is_available(), which is False"
)
default_pg_timeout = datetime.timedelta(minutes=30)


def is_available() -> bool:
    """False: there are no process groups.

    >>> is_available()
    False
    """
    return False


is_initialized = is_gloo_available = is_mpi_available = is_nccl_available = is_ucc_available = is_available
is_torchelastic_launched = is_xccl_available = is_available


def is_backend_available(backend: str) -> bool:
    """False: there are no process groups."""
    return False


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The rank that the launcher gave, else the fallback: no launcher is here."""
    if fallback_rank is None:
        raise RuntimeError(
            "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow get_node_local_rank to work"
        )
    return fallback_rank


_FUNCTIONS = (
    "all_gather all_gather_coalesced all_gather_into_tensor all_gather_object all_reduce all_reduce_coalesced all_to_all "
    "all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list destroy_process_group gather gather_object "
    "get_backend get_backend_config get_default_backend_for_device get_global_rank get_group_rank get_pg_count "
    "get_process_group_ranks get_rank get_world_size init_device_mesh init_process_group irecv isend monitored_barrier new_group "
    "new_subgroups new_subgroups_by_enumeration recv recv_object_list reduce reduce_scatter reduce_scatter_tensor rendezvous "
    "scatter scatter_object_list send send_object_list split_group supports_complex _get_default_group _rank_not_in_group"
)
_CLASSES = "Backend DeviceMesh FileStore GroupMember P2POp ProcessGroup ProcessGroupGloo ProcessGroupNCCL Reducer Work group"
globals().update(functions(_FUNCTIONS, _WHY))
globals().update(classes(_CLASSES, _WHY))
globals()["group"].WORLD = None


class ReduceOp(enum.Enum):
    """How a collective operation puts numbers together."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


reduce_op = ReduceOp
constants = show(f"{__name__}.constants", {"default_pg_timeout": default_pg_timeout})
distributed_c10d = show(f"{__name__}.distributed_c10d", {name: value for name, value in globals().items() if name[:2] != "__"})
device_mesh = show(f"{__name__}.device_mesh", {name: globals()[name] for name in ("DeviceMesh", "init_device_mesh")})
show_missing(__name__, PATHS, _WHY)
show(f"{__name__}.checkpoint.state_dict", {name: getattr(state_dicts, name) for name in state_dicts.__all__})
for _asked in ("rpc", "autograd"):
    globals()[_asked].is_available = is_available  # libraries ask before they use it
__all__ = [name for name in globals() if name[0] != "_"]
