"""Where the model looks while it writes a date."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

import tenfold
from tenfold import Tensor
from tenfold.text import Encoder
from tenfold.text.models import T5ForConditionalGeneration
from tenfold.text.models.attention import split_heads


@tenfold.no_grad()
def attention(model: T5ForConditionalGeneration, source: Tensor, target: Tensor) -> Tensor:
    """The weights of the decoder's last layer on the source, the mean of its heads. Shape: (1, S), (1, T) -> (T, S)."""
    layer, seen = model.decoder.block[-1].layer[1], list[Tensor]()
    hook = layer.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    memory = model.eval().encoded(source)
    model(encoder_outputs=memory, labels=target)
    hook.remove()
    part = layer.EncDecAttention
    query, key = split_heads(part.q(layer.layer_norm(seen[0])), part.heads), split_heads(part.k(memory), part.heads)
    return (query @ key.transpose(2, 3)).softmax(-1).mean(1)[0]


def draw(path: Path, model: T5ForConditionalGeneration, read: Encoder, pairs: list[tuple[str, str]]) -> None:
    """A square for each date: what is written from top to bottom, what is read from left to right."""
    figure = Figure(figsize=(4.2 * len(pairs), 4.2), layout="constrained")
    for axes, (text, iso) in zip(figure.subplots(1, len(pairs), squeeze=False)[0], pairs):
        source, target = read(text).input_ids, read(iso).input_ids[:, :-1]
        axes.imshow(attention(model, source, target).numpy(), cmap="Blues", vmin=0)
        for axis, ids in ((axes.xaxis, source), (axes.yaxis, target)):
            axis.set_ticks(range(ids.shape[1]), read.vocabulary.lookup_tokens(ids[0].tolist()))
        axes.tick_params(axis="x", rotation=60)
        axes.set_title(text, fontsize=10)
    figure.savefig(path, dpi=80)
