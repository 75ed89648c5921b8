"""Short programs that write have PyTorch's outcome: assignments, overlaps, numbers that do not fit, faults, gradients."""

from __future__ import annotations

import itertools

import pytest
from short_programs import outcome

import tenfold

torch = pytest.importorskip("torch")

ASSIGNMENTS = """
x = zeros(2, dtype=int64); x[0] = 1+2j
x = zeros(2, dtype=int64); x[0] = t([1+0j]).real
x = zeros(2, dtype=uint8); x[:] = t(300)
x = zeros(2, dtype=uint8); x[0] = -1
x = zeros(2, dtype=uint8); x[0] = -1.5
x = zeros(2, dtype=uint8); x[0] = 300
x = zeros(2, dtype=int64); x[0] = 1.5
x = zeros(2, dtype=bfloat16); x[0] = 1.5
x = zeros(2, dtype=float32); x[0] = 1e300
x = zeros(2, dtype=bool); x[0] = 300
x = zeros(2, dtype=uint8); x[t([True, False])] = 300
x = zeros(2, dtype=uint8); x[t([True, False])] = t(300)
x = zeros(2, dtype=uint8); x[t([0])] = t(300)
x = zeros(2, dtype=uint8); x[t([0])] = 300
x = zeros(2); x[t([1, 0], dtype=uint8)] = 3.
x = zeros(2); x[t([1, 1], dtype=uint8)] = t([3., 4])
x = zeros(2); x[t([1, 0], dtype=uint8)] = t([3., 4])
x = zeros(2); x[t([True, False])] = t([[3]])
x = zeros(2); x.index_put_((t([True, False]),), t([[[3]]]))
x = zeros(2); x.index_put_((t([0]),), t([[[3.]]]))
x = zeros(2); x.index_put_((t([True, False]),), t([[3.]]), accumulate=True)
x = zeros(2); x.index_put_((t([True, False]),), t(3), accumulate=True)
x = zeros(2); x[False] = 3
x = zeros(2); x[False,] = t([3., 4])
x = zeros(2); x[False,] = t(4)
x = zeros(2, 3); x[True] = t([1, 1, 1])
x = zeros(2, 3); x[True,] = t([1, 1, 1])
x = zeros(2, 3); x[0, True] = t([1, 1, 1.])
x = zeros(2, 3); x[0, True] = 1
x = zeros(2, 3); x[t([True, False])] = t([[1.], [2.]])
x = zeros(2, 3); x[t([True, False]), 0] = t([[1., 2]])
x = zeros(2, 3); x[:, t([True, False, True])] = t(1)
x = zeros(2, 3); x[:, t([True, False, True])] = t([1, 1])
x = zeros(2, 3); x[t([5]), 3:] = t([[1.], [2.]])
x = zeros(2, 3); x[t([5]), 3:] = 0.5
x = zeros(2, 3); y = x[t([5]), 3:]
x = zeros(2, 0); y = x[t([0]), t([0])]
x = zeros(2, 0); x[t([0]), t([0])] = 1
x = zeros(2, 0); x[t([5])] = 1
x = zeros(2, 3); x[t([0, 1])] = t([True])
x = zeros(2, 3); x[t([True, False])] = x
x = zeros(2, 3); x[t([[True, False, True], [True, True, True]])] = t([[1, 2, 3, 4, 5.]])
x = zeros(2, 3); x[range(2), -2] = t([1., 2])
x = zeros(2, 3); x[[range(2), -2]] = t([1., 2])
x = zeros(2, 3); y = x[[range(1)]]
x = zeros(2, 3); y = x[[slice(t(2), None), t([-1])]]
""".strip().splitlines()

OVERLAPS = """
x = ones(1).expand(2, 1); x[::1, t([True])] = x
x = ones(1).expand(2, 1); x[0:9, t([0, 0])] = x
x = ones(1).expand(2, 1); x[:, t([0, 0])] = x
x = ones(1).expand(2, 1); x[-2:, t([0, 0])] = x
x = ones(3).expand(2, 3); x[t([True, True]), ::1] = x
x = arange(6).view(2, 3).t(); x[::1, t([0, 1])] = x
x = arange(6).view(2, 3).t(); x[::2, t([0, 1])] = x[::2, :]
x = ones(1).expand(3); x.fill_(2)
x = ones(1).expand(3); x.fill_(t(2.))
x = ones(3); x.put_(t([0, 1]), t(2.))
x = arange(4.); x[1:] = x[:-1]
x = arange(4.); x[:] = x
x = arange(4.).view(2, 2); x[0] = x[1]
x = arange(4.); x[t([0, 1, 2, 3])] = x
x = arange(4.); x[t([0, 1, 2])] = x[1:]
x = arange(4); x[x] = 5
x = arange(4); x.scatter_(0, x, x)
x = arange(4); x.scatter_add_(0, t([1, 1, 1, 1]), x)
x = arange(4); x.index_copy_(0, x, t([1, 1, 1, 1]))
x = arange(4); x.index_add_(0, t([0, 1]), x[:2])
x = arange(4); x.put_(t([1, 1, 1, 1]), x)
x = arange(4); x.masked_scatter_(t([True, False, True, False]), x)
x = t([True, False]); x.masked_fill_(x, False)
x = arange(6.).view(2, 3); x.copy_(x[0])
x = arange(6.).view(2, 3); x.add_(x[0])
x = arange(6.).view(2, 3); torch.add(x[0], x[1], out=x[1])
x = arange(6.).view(2, 3); torch.add(x[0], x[1], out=x[:2])
x = arange(4.).view(2, 2); x.t().add_(x)
x = arange(4.); x[1:].lerp_(x[:3], 0.5)
x = arange(4.); x[1:].addcmul_(x[1:], x[:3])
x = arange(4.); torch.cumsum(x[:3], 0, out=x[1:])
x = arange(4.); torch.cat([x[:2], x[1:3]], out=x)
x = arange(4.); torch.index_select(x, 0, t([0, 1]), out=x[:2])
x = arange(4.); torch.where(x[1:] > 1, x[1:], x[1:], out=x[:3])
x = arange(4.); x[:2].add_(x[2:])
x = arange(4.); y = x.expand(2, 4); y.copy_(y)
x = arange(4.); x.expand(2, 4).copy_(x)
x = arange(1, 5.); x.expand(2, 4).tril_()
x = arange(1, 5.); x.expand(4, 4).triu_(1)
x = arange(1, 5.); x.expand(2, 4).index_fill_(1, t([0]), 9.)
x = arange(1, 5.); x.expand(4, 4).fill_diagonal_(5.)
""".strip().splitlines()

# What is asked first, where two things are wrong: the ints and slices of an index, its tensors, the shape of values, their dtype.
ORDER = """
x = zeros(1, 3); x[t([0,0,0]), t([True, False, True])] = t(1)
x = zeros(2, 3); x[t([0]), t([True, False, True])] = t([1, 2])
x = zeros(2,3,4); x.index_put_((t([0,0]), t([True,True,False]),t([1,2,3])), t(1))
x = zeros(2,3,4); x.index_put_((t([0,0]), t([True,True,False])), t([1,2,3]))
x = zeros(2,3,4); x.index_put_((t([0,0]), t([True,True])), t([1,2,3.]))
x = zeros(2,3,4); x.index_put_((t([0,0],dtype=int16),), t(1.))
x = zeros(2,3,4); x.index_put_((t([0,0.]),), t(1))
x = zeros(2,3,4); y = x[t([0,0],dtype=int16)]
x = zeros(2,3,4); y = x[t(1.), 9]
x = zeros(0, 2); x[0, :2:-1]
x = zeros(3, 2); x[::-1, t([],dtype=uint8)] = 1
x = zeros(3, 2); x[t([],dtype=uint8)] = 1
x = zeros(3, 2); x[t([True]), ::-1] = 1
x = zeros(3, 2); x[t([True]), ::-1, 0, 0] = 1
x = zeros(3, 2); x[t([1.5]), ::-1] = 1
x = zeros(3, 2); x[5, 0, ::-1]
x = zeros(3, 2); x[0, ::-1] = 5
x = zeros(0,3); x[t([1,0]), t([True,True,False])] = t([1,2])
x = zeros(0,3); x[t([1,0,1]), t([True,True,False])] = 1
x = zeros(2,0); x[t([0])] = x
x = t([5],dtype=uint8); x[x == 5] = x
x=t([1.,2]); torch.any(x,-2,out=zeros(2))
x=t([1.,2]); torch.all(x,-2,out=zeros(2,dtype=int8))
x=t([1.,2]); torch.amax(x,-2,out=zeros(2,dtype=int8))
x=zeros(3,2); x.index_add_(0,t([5]),t([[1.,2]]))
x=zeros(3,2); x.index_add_(1,t([5]),ones(3,1),alpha=2)
x=zeros(3,2,2); x.index_add_(1,t([5]),ones(3,1,2))
x=zeros(3,2,2); x.index_add_(2,t([-1]),ones(3,2,1))
x=zeros(3); x.index_reduce_(0,t([-1]),ones(1),'amax')
x=torch.gather(zeros(2),5,t([0.]))
x=torch.scatter(zeros(2),5,t([0.]),1)
x=zeros(2).scatter_reduce(5,t([0]),t([1.]),'summ')
x=torch.index_select(zeros(2),5,t([0.]))
x=zeros(2).index_add_(5,t([0.]),t([1.]))
x=zeros(2).index_copy_(5,t([0.]),t([1.]))
x=zeros(2).index_fill_(0,t([0.]),1)
x=zeros(2,3,dtype=int64).renorm(2,-4,1.)
x=zeros(2,dtype=int64).renorm(2,-4,1.)
x=torch.norm(zeros(2,dtype=int64),2,5)
x=torch.nansum(zeros(2,dtype=complex64),5)
x=torch.argmax(zeros(2,dtype=complex64),5)
x=torch.argmax(zeros(2,dtype=bool),5)
x=torch.quantile(zeros(2),1.5,5)
x=torch.stack([zeros(2),zeros(3)],5)
x=zeros(2).split(-1,5)
x=torch.cdist(zeros(2,2),zeros(2,2).double())
x=zeros(2).scatter(0,t([0]),1j)
x=zeros(2,requires_grad=True); x[t([0],dtype=int16)] = 1
x=torch.nn.functional.glu(zeros(2,dtype=uint8),3)
x=torch.nn.functional.glu(zeros((),dtype=uint8),0)
""".strip().splitlines()

# Numbers that a dtype does not hold.
RANGES = """
x=zeros(2,dtype=int32); x.fill_(1e30)
x=zeros(2,dtype=float16); x.fill_(1e30)
x=zeros(2,dtype=bfloat16); x.fill_(1e30)
x=zeros(2,dtype=bfloat16); x.fill_(1e300)
x=zeros(2); x.fill_(1e300)
x=zeros(2,dtype=float16); x.fill_(t(1e30))
x=zeros(2,dtype=float16); x.masked_fill_(x==0,1e30)
x=zeros(2,dtype=float16); x[0]=1e30
x=zeros(2,dtype=uint8); x.fill_(300)
x=zeros(2,dtype=uint8); x.fill_(-1)
x=zeros(2,dtype=bool); x.fill_(1e30)
x=zeros(2,dtype=int64); x.fill_(nan)
x=zeros(0,dtype=int32); x.fill_(1e30)
x=zeros(2); x.fill_(1j)
x=zeros(2); x.fill_(inf)
x=zeros(2); x.copy_(1+2j)
x=zeros(2,dtype=int32); x.copy_(1e10)
x=zeros(2,dtype=uint8); x.copy_(300)
x=torch.full((2,),1e30,dtype=float16)
x=torch.full_like(zeros(2,dtype=float16),1e30)
x=zeros(2,dtype=float16).new_full((2,),1e30)
x=torch.where(t([True]),t([1],dtype=uint8),300)
x=torch.where(t([True]),300,t([1],dtype=uint8))
x=torch.where(t([True]),t([1],dtype=uint8),-1)
x=torch.where(t([True]),t([1],dtype=float16),1e30)
""".strip().splitlines()

GRADIENTS = """
x=t([-1.5,2.],requires_grad=True); z=x*1; y=t([1,3]).ldexp(z); z.add_(1); y.sum().backward(); y=x.grad
x=t([-3.,-1,0.5,1,1.5,nan,inf],requires_grad=True); x.acosh().sum().backward(); y=x.grad
x=t([-3.,0.,0.5,1,1.5,nan,inf],requires_grad=True); x.logit().sum().backward(); y=x.grad
x=t([-3.,0.,0.5,1,1.5,nan,inf],requires_grad=True); x.logit(eps=0.1).sum().backward(); y=x.grad
x=t([-3.,-1,0,1,3,6,inf],requires_grad=True); torch.nn.functional.hardtanh(x).sum().backward(); y=x.grad
x=t([-3.,-1,0,1,3,6,inf],requires_grad=True); torch.nn.functional.relu6(x).sum().backward(); y=x.grad
x=t([-3.,-1,0,1,3,6,inf],requires_grad=True); torch.nn.functional.hardswish(x).sum().backward(); y=x.grad
x=t([3.,nan,1],requires_grad=True); x.aminmax()[0].backward(); y=x.grad
x=t([[3.,nan,1],[1.,1.,5]],requires_grad=True); x.amax(1).sum().backward(); y=x.grad
x=t([[3.,nan,1],[1.,1.,5]],requires_grad=True); x.amin((0,1)).sum().backward(); y=x.grad
x=t([[3.,nan,nan],[1.,1.,5]],requires_grad=True); x.max().backward(); y=x.grad.clone()
x=t([1.,2.],requires_grad=True); y=x.unique()
x=t([1.,2.],requires_grad=True); y=x.unique_consecutive(return_counts=True)
x=t([1.,2.],requires_grad=True); y=x.unique(); y.sum().backward()
x=t([1.,2.],requires_grad=True); y=x.heaviside(x)
x=t([1.,2.],requires_grad=True); y=x.heaviside(x.detach()); y.sum().backward()
x=t([1.,2.],requires_grad=True); y=x.frac(); y[0]=0; y.sum().backward(); y.sum().backward()
x=t([[1.,2],[3,4]],requires_grad=True); y=x.neg(); z=y.t(); y.detach_(); z[0]=1
x=t([[1.,2],[3,4]],requires_grad=True); y=x.neg(); z=y.t(); y.detach_(); z.add_(1)
x=t([1.,2.],requires_grad=True); y=x.fmod(t(2.)); y.sum().backward(); y.sum().backward(); y=x.grad
x=t([1.,2.],requires_grad=True); y=x.square(); y.sum().backward(); y.sum().backward()
x=t(3.,requires_grad=True); y=x.mH.is_leaf, x.mT.is_leaf, x.H.is_leaf, x.adjoint().is_leaf
x = t([1.], requires_grad=True); x.conj_physical_()
x = t([1., 2], requires_grad=True); x.logical_not_()
x = t([1., 2], requires_grad=True); x.eq_(x)
x = t([1., 2], requires_grad=True); y = x.sum(dtype=int64)
x = t([1., 2], requires_grad=True); y = torch.logical_not(t([1]), out=x)
x = t([1., 2], requires_grad=True); y = torch.stack([x, x], out=t([1.]))
x=ones(4,requires_grad=True); y=x@ones(4); x.detach().sub_(1); y.backward(); y=x.grad
x=ones(2,4,requires_grad=True); y=x@ones(4); x.detach().sub_(1); y.sum().backward(); y=x.grad
x=ones(4,requires_grad=True); y=x@ones(4,3); x.detach().sub_(1); y.sum().backward(); y=x.grad
x=ones(2,3,4,requires_grad=True); y=x@ones(4,3); x.detach().sub_(1); y.sum().backward(); y=x.grad
x=ones(4,requires_grad=True); y=ones(3,4)@x; x.detach().sub_(1); y.sum().backward(); y=x.grad
x=ones(4,requires_grad=True); w=ones(4); y=x@w; w.sub_(1); y.sum().backward(); y=x.grad
x=ones(4,requires_grad=True); y=x[1]; y.logical_xor_(t(4.)); y=x.grad_fn
x=ones(4,requires_grad=True); y=x[1]; y.logical_not_(); y=x.is_leaf
x=t([1+1j,-1+1j,0j,2j,1,-1],requires_grad=True); y=torch.float_power(False,x); y.real.sum().backward(); y=x.grad
x=t([1+1j,-1+1j,0j,2j,1,-1],requires_grad=True); y=torch.pow(zeros(6),x); y.real.sum().backward(); y=x.grad
x=t([1., 2],requires_grad=True); y=torch.lerp(x,zeros(2),-1.); y.sum().backward(); y.sum().backward(); y=x.grad
x=t([1., 2],requires_grad=True); y=torch.lerp(x,zeros(2),t(-1.)); y.sum().backward(); y.sum().backward()
x=t([1., 2],requires_grad=True); y=torch.norm(x,p=0); y.backward(); y=x.grad
x=ones(2,3,requires_grad=True); x.clamp_(min=ones(3),max=1)
x=t([[1.,2],[inf,1],[nan,0],[.1,.1],[0,0]],requires_grad=True); y=x.renorm(2,0,1.5); y.sum().backward(); y=y,x.grad
x=t([1.,0,2],requires_grad=True); y=x.xlogy(t(-1.864)); y.fill_(2); y.sum().backward(); y=x.grad
x=t([1.,0,2],requires_grad=True); y=x.xlogy(t([2.,-1,3])); y.sum().backward(); y=x.grad
x=t([1.,0,2],requires_grad=True); y=x.xlogy(-2); y.sum().backward(); y=x.grad
x=t([1.,0,2],requires_grad=True); y=torch.cat([x, x]); y=torch.autograd.grad(y.square().sum(),[x],create_graph=True)[0]; y.zero_()
x=t([1.,0,2],requires_grad=True); y=torch.cat([x]); y=torch.autograd.grad(y.square().sum(),[x],create_graph=True)[0]; y.mul_(2)
x=t([1.,0,2],requires_grad=True); y=(x*x).split(1)[2]; y.logical_or_(t([2.])); y=y.detach()
x=t([1.,0,2],requires_grad=True); y=x.exp(); y.detach_()
x=t([nan,1,2],requires_grad=True); y=x.scatter_reduce(0,t([],dtype=int64),zeros(0),'amin'); y.sum().backward(); y=x.grad
x=t([nan,1,2],requires_grad=True); y=x.scatter_reduce(0,t([1,2]),t([nan,3]),'amax'); y.sum().backward(); y=x.grad
x=t([nan,1,2],requires_grad=True); y=ones(3).scatter_reduce(0,t([0,0,1]),x,'amax'); y.sum().backward(); y=x.grad
x=t([nan,1],requires_grad=True); y=x.scatter_reduce(0,t([1,0]),t([nan,3]),'amax',include_self=False); y.sum().backward(); y=x.grad
x=t([1.,2.],requires_grad=True); y=x.exp(); z=y*1; y.detach_(); y.mul_(3); z.sum().backward()
x=t([1.,2.],requires_grad=True); y=x.exp(); z=y*1; y.detach_(); y[0]=3; z.sum().backward()
x=t([1.,2.],requires_grad=True); y=x.neg(); z=y[:]; y.detach_(); z.sum().backward(); y=x.grad
x=t([1.,2.],requires_grad=True); y=x.neg(); z=y[:]; y.detach_(); y.mul_(3); z.sum().backward(); y=x.grad,z._version
x=t([1.,2.],requires_grad=True); y=x.neg(); z=y[:]; y.detach_(); y[0]=3; z.sum().backward(); y=x.grad,z._version
x=t([1.,2.],requires_grad=True); y=x.neg(); z=y[:]; y.detach_(); v=y[0]; v.fill_(3); z.sum().backward(); y=x.grad,v.is_leaf
x=t([1.,2.],requires_grad=True); y=x.neg(); z=y[:]; y.detach_(); y.mul_(x); z.sum().backward(); y=x.grad,y.grad_fn is None
x=t([1.,2.],requires_grad=True); y=x.neg(); z=y[:]; y.detach_(); v=y[1:]; y.zero_(); z.sum().backward(); y=x.grad,z._version
x=ones(2,2,requires_grad=True); y=x.sqrt(); z=y[0]; y.detach_(); y.t_(); z.sum().backward(); y=x.grad
x=ones(2,2,requires_grad=True); y=x*1; z=y[0]; z.register_hook(lambda g: -g); z.mul_(2); y.sum().backward(); y=x.grad
x=ones(2,2,requires_grad=True); y=x*1; z=y[0]; z.register_hook(lambda g: -g); z[1].mul_(2); (y.sum()+z.sum()).backward(); y=x.grad
x=ones(2,2,requires_grad=True); y=x*1; z=y[0]; z.register_hook(torch.neg); z[1]=4; (y.sum()+z.sum()).backward(); y=x.grad
x=ones(2,requires_grad=True); y=x*1; z=y[0]; z.retain_grad(); z.mul_(z); z.register_hook(torch.neg); y.sum().backward(); y=z.grad
x=ones(2,2,requires_grad=True); y=x*1; y.register_hook(lambda g: -g); z=y[0]; z.mul_(z); y.sum().backward(); y=x.grad
x=ones(2,2,requires_grad=True); y=x*1; z=y[0]; y.mul_(2); y.t_(); z.mul_(3); (y*t([[1.,2],[3,4]])).sum().backward(); y=x.grad
x=ones(2,3,requires_grad=True); y=x*1; z=y[0]; z.mul_(2); y.unsqueeze_(0); z.mul_(3); (y*y).sum().backward(); y=x.grad
x=t([1.,2.],requires_grad=True); y=x.neg().detach_(); y.mul_(x).detach_(); z=y*x; y.add_(1); z.sum().backward()
x=t([1.,0,2],requires_grad=True); y=x.exp(); y.detach_(); y.add_(x); y=y.detach()
""".strip().splitlines()

# Which of two faults is told.
_PLACES = ("[-1]", "[5]", "[0, 0]", "[0]")

_SOURCES = ("ones(1, dtype=int16)", "ones(2)", "ones(())", "ones(1, 1)", "ones(2, dtype=int32)")

_TARGETS = ("zeros(3)", "zeros(())", "zeros(3, 1)", "zeros(3, 2)")

_WRITES = ("index_add_({}, t({}), {})", "index_copy_({}, t({}), {})", "index_reduce_({}, t({}), {}, 'amax')")

FAULTS = [
    f"x = {target}; x.{write.format(dim, place, source)}"
    for write, target, dim, place, source in itertools.product(_WRITES, _TARGETS, (0, -1), _PLACES, _SOURCES)
]


@pytest.mark.parametrize("program", [*ASSIGNMENTS, *OVERLAPS, *ORDER, *RANGES])
def test_outcome(program: str) -> None:
    assert outcome(tenfold, program) == outcome(torch, program)


def test_which_fault_is_told() -> None:
    different = {program: (outcome(tenfold, program), outcome(torch, program)) for program in FAULTS}
    assert not {program: pair for program, pair in different.items() if pair[0] != pair[1]}


@pytest.mark.parametrize("program", GRADIENTS)
def test_outcome_with_gradients(program: str) -> None:
    pytest.importorskip("tenfold.autograd")
    assert outcome(tenfold, program) == outcome(torch, program)
