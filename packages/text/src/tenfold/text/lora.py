"""LoRA: a trained model learns a task by a small matrix beside each large one, which stays as it is.

Source: E. Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, 2021.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.checkpoint.safetensors import load_file, save_file

FILE, SETTINGS = "adapter_model.safetensors", "adapter_config.json"
_PREFIX = "base_model.model."  # of keys in published adapters


class LoraLinear(nn.Module):
    """base(x) + alpha / r * B A x, where A is (r, inputs), B (outputs, r) and zero at first; only these are trained.

    `base_layer` is a `Linear`, or a layer like GPT-2's whose weight is (inputs, outputs).

    Raises: ValueError for a rank below 1.
    """

    def __init__(self, base: nn.Module, r: int = 8, alpha: float = 16.0, dropout: float = 0.0) -> None:
        super().__init__()
        if r < 1:
            raise ValueError(f"LoraLinear: r must be at least 1, got {r}")
        weight = _weight(base)
        outputs, inputs = weight.shape if isinstance(base, nn.Linear) else weight.shape[::-1]
        like: dict[str, Any] = {"dtype": weight.dtype, "device": weight.device}
        self.dropout, self.is_merged = nn.Dropout(dropout), False  # before anything is frozen: it may refuse
        self.base_layer = base.requires_grad_(False)
        self.r, self.alpha, self.scale = r, alpha, alpha / r
        self.lora_A, self.lora_B = nn.Linear(inputs, r, bias=False, **like), nn.Linear(r, outputs, bias=False, **like)
        nn.init.kaiming_uniform_(self.lora_A.weight, a=math.sqrt(5))
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x: Tensor) -> Tensor:
        if self.is_merged:
            whole: Tensor = self.base_layer(x)
            return whole
        learned: Tensor = self.lora_B(self.lora_A(self.dropout(x)))
        result: Tensor = self.base_layer(x) + learned * self.scale
        return result

    def merged(self) -> nn.Module:
        """The large layer with what was learned added to its weight."""
        self.merge()
        return self.base_layer

    def merge(self) -> None:
        """Add what was learned to the large weight, by which alone the layer then computes."""
        if not self.is_merged:
            self._add(1.0)

    def unmerge(self) -> None:
        """Take what was learned out of the large weight again, up to rounding; the small part goes on to be trained."""
        if self.is_merged:
            self._add(-1.0)

    def _add(self, sign: float) -> None:
        change = self.lora_B.weight.detach() @ self.lora_A.weight.detach() * (sign * self.scale)
        with tenfold.no_grad():
            _weight(self.base_layer).add_(change if isinstance(self.base_layer, nn.Linear) else change.t())
        self.is_merged = sign > 0


def _has_matrix(module: nn.Module) -> bool:
    """Whether it multiplies by a matrix, which looking up a row does not."""
    weight = getattr(module, "weight", None)
    return isinstance(weight, Tensor) and weight.dim() == 2 and not isinstance(module, nn.Embedding)


def _weight(base: nn.Module) -> Tensor:
    weight = getattr(base, "weight", None)
    if not _has_matrix(base) or not isinstance(weight, Tensor):
        raise TypeError(f"LoRA is for layers with a matrix as weight, got {type(base).__name__}")
    return weight


def add_lora(
    model: nn.Module,
    targets: Iterable[str] | str,
    r: int = 8,
    alpha: float = 16.0,
    dropout: float = 0.0,
    train: Iterable[str] = (),
) -> nn.Module:
    """Freeze a model and put a `LoraLinear` in place of each layer whose name is, or ends in, one of `targets`.

    `train` names parts, such as a new classifier, that are trained whole. The model is changed and given back.

    Raises: ValueError where no layer, or no part, has such a name; TypeError for a layer without a matrix.

    >>> model = add_lora(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)), targets=["0"], r=2, train=["2"])
    >>> [name for name, p in model.named_parameters() if p.requires_grad]
    ['0.lora_A.weight', '0.lora_B.weight', '2.weight', '2.bias']
    """
    wanted, whole = [targets] if isinstance(targets, str) else list(targets), list(train)
    found = [name for name, _ in model.named_modules() if any(_named(name, target) for target in wanted)]
    if not found:
        raise ValueError(f"add_lora: no layer is called {', '.join(wanted)}; {type(model).__name__} has {_some_names(model)}")
    unknown = [part for part in whole if not any(_within(part, name) for name, _ in model.named_parameters())]
    if unknown:
        raise ValueError(f"add_lora: no part is called {', '.join(unknown)}, which `train` names")
    for name in found:
        _weight(model.get_submodule(name))  # before anything is changed
    layers = [LoraLinear(model.get_submodule(name), r, alpha, dropout) for name in found]
    model.requires_grad_(False)
    for name, layer in zip(found, layers, strict=True):
        parent, last = _parent(model, name)
        setattr(parent, last, layer)
    for name, p in model.named_parameters():
        if any(_within(part, name) for part in whole):
            p.requires_grad_(True)
    return model


def _within(part: str, name: str) -> bool:
    """Whether a parameter is one of a part's."""
    return re.search(rf"(^|\.){re.escape(part)}\.", name) is not None


def merge_lora(model: nn.Module, unload: bool = True) -> nn.Module:
    """Add what was learned to the large matrices and put these back in their places: the model is as published ones are.

    With `unload=False` the LoRA layers stay, and `unmerge_lora` takes out again what was added.

    Raises: ValueError for a matrix that another layer has, too, and which would change with it, such as GPT-2's head.
    """
    _check_shared(model)
    for name, layer in list(_layers(model)):
        layer.merge()
        if unload:
            parent, last = _parent(model, name)
            setattr(parent, last, layer.base_layer)
    return model


def _check_shared(model: nn.Module) -> None:
    own = {id(layer.base_layer.weight): (name, layer.base_layer) for name, layer in _layers(model)}
    for other, module in model.named_modules():
        name, base = own.get(id(getattr(module, "weight", None)), ("", module))
        if base is not module:
            raise ValueError(
                f"merge_lora: {name} shares its weight with {other}, which would change with it; give {name}.base_layer a weight "
                "of its own first"
            )


def unmerge_lora(model: nn.Module) -> nn.Module:
    """Take out of the large matrices what `merge_lora(model, unload=False)` has added."""
    for _, layer in _layers(model):
        layer.unmerge()
    return model


def lora_state_dict(model: nn.Module) -> dict[str, Tensor]:
    """What is trained, under the keys of published adapters."""
    trained = [(name, p.detach()) for name, p in model.named_parameters() if p.requires_grad]
    return {_PREFIX + name: tensor for name, tensor in trained}


def save_lora(model: nn.Module, folder: str | os.PathLike[str]) -> None:
    """Write what is trained into ``adapter_model.safetensors``, and the settings into ``adapter_config.json``."""
    layers = list(_layers(model))
    if not layers:
        raise ValueError(f"save_lora: {type(model).__name__} has no LoRA layers; put them in with add_lora")
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    first = layers[0][1]
    settings = {
        "peft_type": "LORA",
        "r": first.r,
        "lora_alpha": first.alpha,
        "lora_dropout": first.dropout.p,
        "target_modules": sorted({name for name, _ in layers}),
        "fan_in_fan_out": not isinstance(first.base_layer, nn.Linear),
    }
    (home / SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    save_file(lora_state_dict(model), home / FILE)


def load_lora(model: nn.Module, folder: str | os.PathLike[str]) -> nn.Module:
    """Put an adapter's layers into a model, unless they are there, and read their weights.

    Raises: FileNotFoundError where the folder has none; RuntimeError for weights that fit no layer; ValueError for an adapter of
    another kind, such as DoRA.
    """
    home = Path(folder)
    settings = json.loads((home / SETTINGS).read_text(encoding="utf-8"))
    other = [name for name in ("use_dora", "rank_pattern", "alpha_pattern") if settings.get(name)]
    if other:
        raise ValueError(f"load_lora: {home / SETTINGS} has {', '.join(other)}; plain LoRA with one rank can be read")
    given = {key.removeprefix(_PREFIX): tensor for key, tensor in load_file(home / FILE).items()}
    if not list(_layers(model)):
        r, alpha = settings["r"], settings["lora_alpha"]
        if settings.get("use_rslora"):  # which divides by the root of r (D. Kalajdzievski, 2023), not by r
            alpha *= math.sqrt(r)
        # The layers by the weights: what the settings name may be an expression, or "all-linear".
        names = sorted({key.partition(".lora_")[0] for key in given if ".lora_" in key})
        add_lora(model, names or settings["target_modules"], r, alpha, settings.get("lora_dropout", 0.0))
    own = model.state_dict()
    unknown = [key for key in given if key not in own]
    if unknown:
        raise RuntimeError(f"load_lora: {type(model).__name__} has no {', '.join(unknown[:5])}; is the adapter another model's?")
    model.load_state_dict(given, strict=False)
    return model


def _layers(model: nn.Module) -> Iterator[tuple[str, LoraLinear]]:
    for name, module in model.named_modules():
        if isinstance(module, LoraLinear):
            yield name, module


def _named(name: str, target: str) -> bool:
    return name == target or name.endswith("." + target)


def _parent(model: nn.Module, name: str) -> tuple[nn.Module, str]:
    path, _, last = name.rpartition(".")
    return (model.get_submodule(path) if path else model), last


def _some_names(model: nn.Module) -> str:
    names = dict.fromkeys(name.rpartition(".")[2] for name, module in model.named_modules() if _has_matrix(module))
    return ", ".join(list(names)[:12])
