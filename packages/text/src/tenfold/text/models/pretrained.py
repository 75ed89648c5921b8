"""Models that load published checkpoints from a folder, and write such folders."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import tenfold
from tenfold import Tensor, nn
from tenfold.text.models.config import Config, read_json
from tenfold.text.models.output import Output
from tenfold.text.models.weights import read_parts, write_weights
from tenfold.text.models.words import Worded

_OLD_NAMES = {"gamma": "weight", "beta": "bias"}  # of LayerNorm, in checkpoints that came from TensorFlow
BASES = ("model", "transformer")
GENERATION = "generation_config.json"
MAX_SHARD_BYTES = 5_000_000_000


class PretrainedModel(Worded):
    """A model with a `Config`, whose parameters have the keys of the published checkpoints.

    `base_prefix` names the part that every task's model has, `ignored` the endings of keys that files have and the model
    computes by itself.
    """

    config_class: ClassVar[type[Config]] = Config
    ignored: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.generation_config: dict[str, Any] = {}  # how this model writes, where `generate` is not told otherwise

    def __call__(self, *inputs: Any, return_dict: bool | None = None, **options: Any) -> Any:
        """What `forward` gives; its results alone, in order, where `return_dict` or the configuration says False."""
        found = super().__call__(*inputs, **options)
        named = self.config.return_dict if return_dict is None else return_dict
        return found if named or not isinstance(found, Output) else found.to_tuple()

    def wants(self, name: str, given: bool | None) -> bool:
        """Whether to give what is asked for; where nothing is said, as the configuration has it."""
        return bool(getattr(self.config, name) if given is None else given)

    # Loading and saving

    @classmethod
    def from_pretrained(
        cls,
        folder: str | os.PathLike[str],
        dtype: Any = None,
        device: Any = None,
        mmap: bool = False,
        config: Config | None = None,
        ignore_mismatched_sizes: bool = False,
        **changes: Any,
    ) -> Self:
        """The model in a folder with ``config.json`` and weights (one file, or parts with an index), in evaluation mode.

        A model for a task can be made from the weights of the base or of another task; parameters that the files lack are
        new, and a warning names them; so are those of other shapes with `ignore_mismatched_sizes`. `config` stands in for that
        of the folder, `changes` are entries of it, such as `num_labels=5`. `dtype` (or
        `torch_dtype`) is one, its name, or "auto" for that of the configuration; by default the default dtype. With `mmap`
        parameters of that dtype stay in the files until they are used, so that these may be larger than the memory. `device` is
        the default one where it is not given.

        Raises: FileNotFoundError naming the missing file; RuntimeError for weights of other shapes, or where nothing fits;
        TypeError for an entry or a dtype that there is not.
        """
        home = checkpoint_home(folder)
        config = cls.config_class.from_file(home / "config.json") if config is None else config
        dtype = _dtype(changes.pop("torch_dtype", dtype), config)
        config = config.changed(changes) if changes else config
        with tenfold.device("meta"):
            model = cls(config)
        missing = model.load_parts(
            read_parts(home), str(home), dtype or tenfold.get_default_dtype(), mmap, ignore_mismatched_sizes
        )
        if missing:
            model._add_new(cls(config), missing)
        if (home / GENERATION).is_file():
            model.generation_config = read_json(home / GENERATION)
        return model.to(tenfold.get_default_device() if device is None else device).eval()

    def load_parts(
        self,
        parts: Iterator[dict[str, Tensor]],
        source: str,
        dtype: Any,
        mmap: bool = False,
        ignore_mismatched_sizes: bool = False,
    ) -> set[str]:
        """Put a checkpoint's tensors in place of parameters, whether its keys name the base or not; which keys it lacks.

        Keys of one parameter go on to be of one. Those that are lacking, if others are there, are named in a warning.
        """
        own = self.state_dict(keep_vars=True)
        same: dict[int, list[str]] = {}
        for name, tensor in own.items():
            same.setdefault(id(tensor), []).append(name)
        missing, unknown, other = set(own), [], set[str]()
        for part in parts:
            for key, tensor in part.items():
                name = self._own_key(key, own)
                if name is None:
                    unknown.append(key)
                    continue
                if ignore_mismatched_sizes and tensor.shape != own[name].shape:
                    other.add(name)
                    continue
                self._check_shape(name, tensor, own[name], source)
                names = same[id(own[name])]
                self._put(names, tensor.to(dtype if own[name].is_floating_point() else own[name].dtype, copy=not mmap))
                missing -= set(names)
        self._report(missing, other, unknown, len(own), source)
        return missing

    def _put(self, names: list[str], tensor: Tensor) -> None:
        """Let a tensor be the parameter, or the buffer, of these names."""
        new = nn.Parameter(tensor) if tensor.is_floating_point() else None
        for name in names:
            module, last = self._home_of(name)
            if last in module._parameters:
                module._parameters[last] = new
            else:
                module._buffers[last] = tensor

    def _home_of(self, name: str) -> tuple[nn.Module, str]:
        path, _, last = name.rpartition(".")
        return self.get_submodule(path), last

    def _add_new(self, made: PretrainedModel, missing: set[str]) -> None:
        """Take what the files lack from a new model."""
        state, done = made.state_dict(keep_vars=True), set[int]()
        for name in missing:
            if id(state[name]) not in done:
                done.add(id(state[name]))
                same = [other for other, tensor in state.items() if tensor is state[name]]
                self._put(same, state[name].detach().to(self.dtype))

    def _own_key(self, key: str, own: Mapping[str, Any]) -> str | None:
        """The name here of a checkpoint's key."""
        head, _, last = key.rpartition(".")
        renamed = f"{head}.{_OLD_NAMES[last]}" if last in _OLD_NAMES else key
        prefix = self.base_prefix + "."
        first, _, rest = renamed.partition(".")
        elsewhere = prefix + (rest if first in BASES else renamed)  # tasks of one kind name their base differently
        return next((name for name in (renamed, prefix + renamed, renamed.removeprefix(prefix), elsewhere) if name in own), None)

    def _check_shape(self, name: str, given: Tensor, own: Tensor, source: str) -> None:
        if given.shape != own.shape:
            raise RuntimeError(
                f"{type(self).__name__}: {source} has weights of other shapes: {name}: {tuple(given.shape)} in place of "
                f"{tuple(own.shape)}; does its config.json fit? With ignore_mismatched_sizes they would be new"
            )

    def _report(self, missing: set[str], other: set[str], unknown: list[str], count: int, source: str) -> None:
        if len(missing) == count:
            raise RuntimeError(
                f"{type(self).__name__}: nothing in {source} fits; it has {', '.join(unknown[:5])} ..., "
                f"this model {', '.join(sorted(missing)[:5])} ..."
            )
        for names, what in ((missing - other, "no"), (other, "other shapes of")):
            if names:
                new = f"{', '.join(sorted(names))}; these are new, train them"
                warnings.warn(f"{type(self).__name__}: {source} has {what} {new}", stacklevel=4)
        self.unused_keys = [key for key in unknown if not key.endswith(self.ignored or ("\0",))]

    def save_pretrained(self, folder: str | os.PathLike[str], max_shard_size: int = MAX_SHARD_BYTES) -> None:
        """Write ``config.json`` and the weights, each shared parameter once; large ones in parts with an index."""
        home = Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        self.config.extra["architectures"] = [type(self).__name__]
        self.config.save(home / "config.json")
        if self.generation_config:
            (home / GENERATION).write_text(json.dumps(self.generation_config, indent=2) + "\n", encoding="utf-8")
        once: dict[int, str] = {}
        state = self.state_dict(keep_vars=True)
        kept = {name: tensor for name, tensor in state.items() if once.setdefault(id(tensor), name) == name}
        write_weights({name: tensor.detach() for name, tensor in kept.items()}, home, max_shard_size)

    # What new parameters are

    def initialize(self) -> None:
        """Give new parameters to all layers, as the papers do: normal weights, no biases."""
        for module in self.modules():
            self._initialize(module)

    def _initialize(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=self.config.initializer_range)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            with tenfold.no_grad():
                module.weight[module.padding_idx] = 0

    @property
    def device(self) -> Any:
        """Where the parameters are."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> Any:
        """What the parameters are."""
        return next(self.parameters()).dtype

    def num_parameters(self) -> int:
        """How many numbers the model has, shared ones once."""
        return sum(p.numel() for p in self.parameters())


def checkpoint_home(folder: str | os.PathLike[str]) -> Path:
    """The folder of a checkpoint.

    Raises: FileNotFoundError where it is not there or has no ``config.json``.
    """
    home = Path(folder).expanduser()
    if not (home / "config.json").is_file():
        raise FileNotFoundError(
            f"from_pretrained: {home} has no config.json; put the published files there, or bring them with "
            "tenfold.text.models.download(name)"
        )
    return home


def _dtype(given: Any, config: Config) -> Any:
    """A dtype of itself, of its name, or of what the configuration names.

    Raises: TypeError for anything else.
    """
    if given == "auto":
        given = config.extra.get("dtype") or config.extra.get("torch_dtype")
    found = getattr(tenfold, given.removeprefix("torch."), None) if isinstance(given, str) else given
    if given is not None and (not isinstance(found, tenfold.dtype) or not found.is_floating_point):
        raise TypeError(f"from_pretrained: dtype is a floating one such as tenfold.bfloat16, its name, or 'auto'; got {given!r}")
    return found
