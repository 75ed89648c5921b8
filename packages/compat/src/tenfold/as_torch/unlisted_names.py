"""Names of the module `torch` that are no operators and that `dir(torch)` does not list, as Tenfold's own."""

from __future__ import annotations

from tenfold.as_torch.stand_ins import _internal_names, _private_functions
from tenfold.as_torch.stand_ins.shell_dtypes import DTYPES
from tenfold.dispatch.operators import ALIASES

ALIASES.update(
    {
        name: getattr(module, name)
        for module, names in {
            _internal_names: "_check_with _check_tensor_all_with _convert_indices_from_coo_to_csr "
            "_has_compatible_shallow_copy_type _softmax_backward_data DeviceObjType legacy_contiguous_format",
            _private_functions: "_assert_tensor_metadata _unique _unique2 _compute_linear_combination "
            "_debug_has_internal_overlap _neg_view _efficientzerotensor _add_relu _masked_softmax _register_device_module "
            "_test_check_tensor _softmax _log_softmax SymInt set_vital",
        }.items()
        for name in names.split()
    }
)
ALIASES.update({**DTYPES, "bit": DTYPES["uint1"]})
