"""Nested tensors beside PyTorch's: values, sizes, gradients, printed text and refusals."""

import re

import pytest

import tenfold
import tenfold.nn.functional

torch = pytest.importorskip("torch")
pytest.importorskip("torch.nested")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's: its nested tensors are a prototype

JAGGED = """
a; b; a.offsets(); a.values().tolist(); a.size(); a.stride(); a.numel(); a.dim(); len(a); a.is_contiguous(); a.is_leaf
a.lengths(); a.sum(); a.mean(); a.max(); a.any(); a.all(); a.exp(); a == a; a > 0; a.isnan(); a.half(); a.to(t.float64)
a.detach(); a.sum(-1).values(); a.sum(1); a.sum(2, keepdim=True); a.sum((0, 1)); a.mean(1); a.mean(-1); a.amax(1); a.max(1)
a.min(-1).indices; a.argmax(-1); a.prod(1); a[0]; a[0, 1]; a[..., 0]; a[..., 0].values(); list(a); a.unbind(); a.select(0, 1)
a.select(2, 1).values(); a.transpose(1, 2); a.transpose(1, 2).unbind(); a.permute(0, 2, 1).shape
(a @ t.arange(6.).reshape(3, 2)).values(); a.bmm(t.arange(12.).reshape(2, 3, 2)).values()
F.linear(a, t.arange(6.).reshape(2, 3)).values(); t.cat([a, a * 2], -1).values(); a.view(2, -1, 3); a.view(2, -1, 1, 3).shape
a.unflatten(-1, [1, 3]).shape; a.reshape(2, -1, 3, 1).shape; a.expand(2, -1, 3); a.clamp(0, 1).values()
a.softmax(-1).values(); a.softmax(1).values(); a.log_softmax(-1).values(); a.pow(2).values(); (2 / (a + 1)).values()
(1 - a).values(); (a + t.ones(3)).values(); (a + t.arange(6.).reshape(2, 1, 3)).values()
(a * t.arange(12.).reshape(2, 2, 3)).values(); t.where(a > 1, a, -a).values(); a.to_padded_tensor(0)
a.to_padded_tensor(-1., output_size=(2, 4, 3)); a.masked_fill(a > 1, 0).values(); a.squeeze(-1); a.unsqueeze(1).shape
a.unsqueeze(-1).shape; a.chunk(2); a.chunk(3, -1)[1].values(); a.split(1, -1)[2].values(); a.clone()
F.layer_norm(a, [3]).values(); F.rms_norm(a, [3]).values(); F.gelu(a / 4).values(); F.silu(a).values(); t.ones_like(a).values()
a.is_same_size(b); t.autograd.grad((a * a).sum(), a)[0].values(); F.dropout(a, 0.).values()
t.autograd.grad(a.to_padded_tensor(0).pow(3).sum(), a)[0].values()
F.scaled_dot_product_attention(*[a.unflatten(-1, [1, 3]).transpose(1, 2)] * 3).transpose(1, 2).values()
a._min_seqlen, a._max_seqlen; t.nested.nested_tensor_from_jagged(t.arange(10.).reshape(5, 2), t.tensor([0, 2, 5]))
t.nested.nested_tensor_from_jagged(t.arange(10.).reshape(5, 2), t.tensor([0, 2, 5]), t.tensor([1, 2])).unbind()
t.nested.nested_tensor_from_jagged(t.ones(5, 2), t.tensor([0, 2, 5]), t.tensor([1, 2]))
t.nested.as_nested_tensor(t.ones(2, 3, 4), layout=t.jagged)
t.nested.nested_tensor_from_jagged(t.ones(5, 2), lengths=t.tensor([1, 4]))
t.nested.nested_tensor_from_jagged(t.ones(5, 2), t.tensor([0, 2]), jagged_dim=2)
t.nested.masked_select(t.arange(6.).reshape(2, 3), t.tensor([[1, 0, 1], [0, 0, 1]]).bool()).values()
t.nested.nested_tensor([t.ones(2, 3), t.ones(2, 4)], layout=t.jagged); F.embedding(i, t.arange(6.).reshape(3, 2)).values()
t.nested.narrow(t.arange(8.).reshape(2, 4), 1, t.tensor([0, 1]), t.tensor([1, 2]), layout=t.jagged)
t.nested.as_nested_tensor(a, layout=t.jagged) is a
"""

STRIDED = """
s; s * 1; s + s; s - 1; -s; s / 2; s > 0; s.sin(); F.relu(s); s.detach().abs_(); s.values().tolist(); s.size(0); s.size(2)
s.numel(); s.dim(); s.is_contiguous(); s.transpose(1, 2); s.transpose(1, 2).is_contiguous(); s.mT; s.sum(-1, keepdim=True)
s.softmax(-1); s.softmax(1); s.view(2, -1, 3); s.reshape(2, -1, 3, 1); s[0]; s[1, 0]; s.unbind(); s.select(1, 0)
s.to(t.float64); s.unsqueeze(-1); s.chunk(3, -1); s.layout; F.linear(s, t.arange(6.).reshape(2, 3))
s.matmul(s.transpose(1, 2)); s.bmm(t.arange(12.).reshape(2, 3, 2)); s.to_padded_tensor(0); t.zeros_like(s)
t.cat([s.detach(), s.detach()]); t.autograd.grad(s.to_padded_tensor(0).pow(2).sum(), s); s._nested_tensor_size()
s._nested_tensor_strides(); t.nested.nested_tensor([]); t.nested.nested_tensor([3]); t.nested.nested_tensor([[3], [4, 5]])
t.nested.as_nested_tensor(t.ones(2, 3, 4)); F.layer_norm(s, [3], t.ones(3), t.zeros(3))
F.embedding(t.nested.nested_tensor([[1, 2], [0]]), t.arange(6.).reshape(3, 2))
t.nested.nested_tensor([t.ones(2), t.ones(1)]).to_padded_tensor(5.)
"""

REFUSED = """
a.sum((1, 2)); a.sum(0); a[1:]; a.unbind(1); a.matmul(a.transpose(1, 2)); t.cat([a, a]); a.softmax(0); a.flatten(1, 2)
a.select(1, 0); a + t.nested.nested_tensor(list(a.unbind()), layout=t.jagged)
t.nested.nested_tensor_from_jagged(t.ones(5, 2), None); a.narrow(0, 0, 1); a.T; t.nested.nested_tensor([], layout=t.jagged)
t.nested.nested_tensor([t.tensor(1.)], layout=t.jagged); t.nested.nested_tensor(3)
t.nested.nested_tensor([[3], [4, 5.]], layout=t.jagged); t.nested.nested_tensor([t.tensor(1.), t.ones(1)]); s.size()
s.size(1); s.stride(); s.sum(0, keepdim=True); s.transpose(0, 1); s.softmax(0); s @ t.ones(3, 2); s * t.ones(1)
s.view(-1, 3); s.unbind(1); F.linear(s, t.ones(2, 4)); t.nested.as_nested_tensor(t.ones(2))
t.nested.as_nested_tensor(a, layout=t.strided); a.cumsum(1); s.max()
"""


def programs(text):
    return [p.strip() for line in text.strip().splitlines() for p in line.split(";")]


def names(t):
    rows = [t.arange(6.0).reshape(2, 3), t.ones(1, 3)]
    a = t.nested.nested_tensor(rows, layout=t.jagged, requires_grad=True)
    i = t.nested.nested_tensor([[1, 2], [0]], layout=t.jagged)
    return {
        "t": t, "F": t.nn.functional, "a": a, "b": a * 1, "i": i, "s": t.nested.nested_tensor(rows, requires_grad=True),
    }  # fmt: skip


def text_of(t, program):
    found = repr(eval(program, names(t)))
    found = re.sub(r"\bj\d+", "j", found)
    return re.sub(r"<\w+?0?(AutogradNestedTensor\d)?( object at 0x\w+)?>|Backward\w*", "<>", found).replace("tenfold", "torch")


@pytest.mark.parametrize("program", programs(JAGGED) + programs(STRIDED))
def test_what_pytorch_prints(program):
    assert text_of(tenfold, program) == text_of(torch, program)


@pytest.mark.parametrize("program", programs(REFUSED))
def test_what_pytorch_refuses(program):
    kinds, said = [], []
    for t in (torch, tenfold):
        with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)) as error:
            eval(program, names(t))
        kinds.append(error.type)
        said.append(re.sub(r"\bj\d+", "j", str(error.value)).replace("torch.Size([2, 3, j])", "(2, 3, j)"))
    assert kinds[0] is kinds[1]
    if kinds[0] is not NotImplementedError:  # which names PyTorch's inner operator
        assert said[1].replace("tenfold", "torch").startswith(said[0].strip(". \n")[:60])


@pytest.mark.parametrize("pair", ["s t.ones(2)", "t.ones(2) s", "a t.ones(2)", "t.ones(2) a", "a s", "s a"])
def test_sizes_are_compared_within_one_layout(pair):
    for t in (torch, tenfold):
        one, other = (eval(name, names(t)) for name in pair.split())
        with pytest.raises(ValueError if "a" in pair.split() else RuntimeError, match=r"expected (other|self)|nested tensors"):
            one.is_same_size(other)
