"""`torch.utils.dlpack`: memory shared with other array libraries."""

from tenfold.scientific.dlpack import DLDeviceType, from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
