"""Short programs whose every step has PyTorch's outcome: the values, dtypes, strides and versions, or the kind of error."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

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

# What out= takes, numbers for tensors, tensors without dimensions, complex numbers as numbers, sums of integers.
MIXED = """
x=t(3.); y = x.mT
x=t(3.); y = x.mH
x=t([1.,2]); o=zeros(2,dtype=bool); y = torch.sum(x,0,out=o)
x=t([1.5,2.5]); o=zeros(2,dtype=int64); y = torch.sum(x,0,out=o)
x=t([1.5,2.5]); o=zeros(2,dtype=int64); y = torch.prod(x,0,out=o)
x=t([1.5,2.5]); o=zeros(2,dtype=int64); y = torch.mean(x,0,out=o)
x=t([1.5,2.5]); o=zeros(2,dtype=float64); y = torch.mean(x,0,out=o)
x=t([1.5+1j,2.5]); o=zeros(2,dtype=float64); y = torch.mean(x,0,out=o)
x=t([1,2]); o=zeros(2,dtype=float64); y = torch.mean(x,0,out=o)
x=t([1.5,2.5]); y = torch.nansum(x,0,dtype=int64)
x=t([1.5,2.5]); o=zeros(2,dtype=int64); y = torch.cumsum(x,0,out=o)
x=t([1.5,2.5]); o=zeros(2,dtype=int64); y = torch.cumprod(x,0,out=o)
x=t([1.5,2.5]); o=zeros(2,dtype=int64); y = torch.nanmean(x,0,out=o)
x=t([1.5,2.5]); o=zeros(2,dtype=int64); y = torch.any(x,0,out=o)
x=t([1.5,2.5]); o=zeros(2,dtype=uint8); y = torch.any(x,0,out=o)
x=t([1,2]); o=zeros(2,dtype=uint8); y = torch.all(x,out=o)
x=t([1,2]); o=zeros(2,dtype=float32); y = torch.all(x,out=o)
x=t([1,2]); o=zeros(2,dtype=int32); y = torch.where(x>1,x,x,out=o)
x=t([1,2]); o=zeros(2,dtype=float32); y = torch.index_select(x,0,t([0]),out=o)
x=t([1,2]); o=zeros(2,dtype=float32); y = torch.take(x,t([0]),out=o)
x=t([1,2]); o=zeros(2,dtype=float32); y = torch.cat([x,x],out=o)
x=t([1.,2]); o=zeros(2,dtype=int64); y = torch.cat([x,x],out=o)
x=t([1.,2]); o=zeros(2,dtype=int64); y = torch.stack([x,x],out=o)
x=t([1.,2]); o=zeros(2,dtype=int64); y = torch.hstack([x,x],out=o)
x=t([1.,2]); o=zeros(2,dtype=complex128); y = torch.float_power(x,2,out=o)
x=t([1.,2]); o=zeros(2,dtype=float64); y = torch.heaviside(x,x,out=o)
x=t([[1.,2]]); o=zeros(2,dtype=float64); y = torch.tril(x,out=o)
x=t([[1.,2]]); o=zeros(2,dtype=float64); y = torch.amax(x,0,out=o)
x=t([[1.,2]]); o=zeros(2,dtype=float64); y = torch.aminmax(x,dim=0,out=(o, o))
x=t([[1.,2]]); o=zeros(2,dtype=float64); y = torch.max(x,0,out=(o, o))
x=t([[1.,2]]); o=zeros(2,dtype=float64); y = torch.sort(x,0,out=(o, o))
x=t([1.,2]); o=zeros(2,dtype=float64); y = torch.dot(x,x,out=o)
x=t([1.,2]); o=zeros(2,dtype=float64); y = torch.kthvalue(x,1,out=(o, o))
x=t([[1.,2]]); o=zeros(2,dtype=float64); i=zeros(2,dtype=int64); y = torch.sort(x,0,out=(o,i))
x=t([[1.,2]]); o=zeros(2); i=zeros(2,dtype=int64); y = torch.sort(x,0,out=(o,i))
y = t([1.,2]).logical_or(2)
y = t([1.,2]).logical_or_(2)
y = t([1.,2]).clamp(1,t(2))
y = t([1.,2]).clamp(t(2),1)
y = t([1.,2]).clamp(t(2))
y = t([1.,2]).clamp_(1,t(2))
y = t(1.).unbind()
y = t(1.).unbind(-1)
y = t(1.).unflatten(0,(1,))
y = t([True]).cummax(3)
y = t([1j]).cummax(3)
y = t([1j]).aminmax(dim=1)
y = t([1]).softmax(2)
y = t([1]).logcumsumexp(2)
y = t([True]).topk(1,2)
y = t([1]).renorm(2,2,1.5)
y = torch.zeros(0,dtype=complex64).kthvalue(1,0)
y = torch.zeros(0,dtype=complex64).aminmax(dim=0)
y = t(1j).kthvalue(1,0)
x=t([1,2]); y = torch.add(x,2.,alpha=.5)
x=t([1,2]); y = x.conj_physical() is x
x=t([True,False]); y = torch.bucketize(x,t([-1.,0.,1.,2.]),right=True)
x=t([True,False]); y = torch.searchsorted(t([-1.,0.,1.,2.]),x)
y = t(1)[0:1:0]
y = t(1)[0:1:-1]
y = t([1])[0:1:-1]
y = t([1])[0:1:0]
x=t([1.,2]); y = x.conj_physical_()
y = t(True).kthvalue(1,0)
y = t(1).kthvalue(1,0)
y = t(1j).kthvalue(2,0)
x=t([1j]); y = x.conj_physical_()
x=t([1j]); y = torch.conj_physical(x)
x=t([1.]); y = torch.conj_physical(x,out=t([2.]))
y = t(3).cummin(1)
y = t(3).cummax(-2)
y = t(3).median(2)
y = t(3).mode(2)
y = t(3).sort(2)
y = t(3).kthvalue(1,2)
y = t(3).topk(1,2)
y = t(3).max(2)
y = t(3.).quantile(.5,dim=1)
y = t(3.).nanquantile(.5,dim=1)
y = t(3.).nanmedian(1)
y = t(3).argsort(1)
y = t(3).cumsum(1)
y = t(3.).logcumsumexp(1)
y = t(3).cumprod(1)
y = t(3.).softmax(1)
y = t(3.).log_softmax(1)
y = t(3).sum(1)
y = t(3).amax(1)
y = t(3).any(1)
y = t(3).argmax(1)
y = t(3.).std(1)
y = t(3.).norm(2,1)
y = t(3.).logsumexp(1)
y = t(3).flip(1)
y = t(3).roll(1,1)
y = t(3).squeeze(1)
y = t(3).unsqueeze(2)
y = t(3).transpose(0,1)
y = t(3).diff(dim=1)
y = t(3).index_select(1,t([0]))
y = t(3).gather(1,t(0))
y = t(3).scatter(1,t(0),1)
y = arange(6).reshape(2,3).scatter(1,zeros(2,0,dtype=int64),1+2j)
y = t(3).index_add(1,t([0]),t([1]))
y = t(3).count_nonzero(1)
y = t(3).aminmax(dim=1)
y = t(3.).renorm(2,1,1.)
y = t(-32768,dtype=int16).gcd(t(-32768,dtype=int16))
y = t([-32768,5],dtype=int16).gcd(t([-32768,0],dtype=int16))
y = t([-128,5,-128],dtype=int8).gcd(t([-128,0,3],dtype=int8))
y = t([-128,5,-128],dtype=int8).lcm(t([-128,0,3],dtype=int8))
y = int(t(3+0j))
y = float(t(3+0j))
y = int(t(3+1j))
y = float(t(3+1j))
y = t(3+0j).__index__()
y = bool(t(3+1j))
y = complex(t(3))
y = int(t([3.5]))
y = float(t([3j]))
y = torch.zeros(0,dtype=int16).median()
y = torch.zeros(0,dtype=int8).median()
y = torch.zeros(0,dtype=uint8).median()
y = torch.zeros(0,dtype=int32).median()
y = torch.zeros(0,dtype=int64).median()
y = torch.zeros(0,dtype=int64).nanmedian()
y = t([0j]).pow(t([0j]))
y = t([0j,0j,0j]).pow(0)
y = t([0j,0j,0j]).pow(1)
y = torch.pow(1,t([0j,1,1j]))
y = t([0j,1],dtype=complex64).pow(t([0j,0j],dtype=complex64))
y = torch.float_power(t([0j,1]),t([0j,1]))
y = t([0j])**0j
y = t([0j])**t(0j)
y = t([1],dtype=uint8).addcmul(t([2],dtype=uint8),t([3],dtype=uint8),value=-1)
y = t([1],dtype=uint8).addcmul_(t([2],dtype=uint8),t([3],dtype=uint8),value=-1)
y = t([1],dtype=uint8).add(t([2],dtype=uint8),alpha=-1)
y = t([1],dtype=int8).addcmul(t([2],dtype=int8),t([3],dtype=int8),value=300)
y = torch.einsum('bij,bjk->b',torch.ones(5,3,1,dtype=int32),torch.zeros(5,1,0,dtype=int32))
y = torch.einsum('bij,bjk->b',torch.ones(5,3,1,dtype=int32),torch.zeros(5,1,2,dtype=int32))
y = torch.einsum('ij,jk->ik',torch.ones(3,1,dtype=int32),torch.zeros(1,2,dtype=int32))
y = torch.einsum('ij,jk->i',torch.ones(3,1,dtype=int32),torch.zeros(1,2,dtype=int32))
y = torch.einsum('ij,jk->j',torch.ones(3,4,dtype=int32),torch.zeros(4,2,dtype=int32))
y = torch.einsum('ij,jk->j',torch.ones(3,1,dtype=int32),torch.zeros(1,2,dtype=int32))
y = torch.einsum('ij->i',torch.ones(3,4,dtype=int32))
y = torch.einsum('ij->i',torch.ones(3,1,dtype=int32))
y = torch.index_select(torch.zeros(3,4),1,t([5,1]))
y = torch.index_select(torch.zeros(3,4),0,t([5,1]))
y = torch.index_select(torch.zeros(3,4).t(),0,t([5,1]))
y = torch.index_select(torch.zeros(3,4).t(),1,t([5,1]))
y = torch.index_select(torch.zeros(3),0,t([5,1]))
y = torch.index_select(torch.zeros(3,4),0,t([-1]))
y = torch.index_select(torch.zeros(3,4,2),1,t([-1]))
y = torch.index_select(torch.zeros(3,4,2),2,t([-1]))
y = torch.index_select(torch.zeros(3,4,2),0,t([-1]))
y = torch.index_select(torch.zeros(3,0,2),0,t([-1]))
y = torch.index_select(torch.zeros(0,2),0,t([1]))
y = t([1.]*3).index_reduce_(0,t([0,0]),t([1j,1]),'mean')
y = t(1).index_reduce_(0,t([0,0]),t(1,dtype=int32),'mean')
y = t([1j,2,3]).index_reduce_(0,t([0,1]),t([2j,1]),'amax')
y = t([1j,2,3]).index_reduce_(0,t([0,1]),t([2j,1]),'prod')
y = t([1j,2,3]).scatter_reduce(0,t([0,1]),t([2j,1]),'amin')
y = t([1j,2,3]).scatter_reduce(0,t([0,1]),t([2j,1]),'sum')
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

MORE = """
x=t([1,2,3]).expand(2,3); x.data.add_(1)
x=t([1,2]).clamp(min=t(1.,dtype=float16),max=2)
x=t([1,2]).clamp(-1.5,t(1.,dtype=float16))
x=t([1,2],dtype=int8).clamp(1,t(2))
x=t([1.5]).double().ldexp(t([-1.1],dtype=bfloat16))
x=t([complex('inf+nanj'),complex('-inf+nanj'),complex('nan+infj')]).logaddexp(t([2+2j]))
x=t([2.,3.]).ldexp(t([-0.427,2.1]))
x=t([1.5+2j]).ldexp(t([-0.427],dtype=bfloat16))
x=zeros(2,dtype=uint8); x.fill_(-1.5)
x=t(1.).as_strided((0,0,3),(1,1,2),2)
x=zeros(3).as_strided((2,0),(9,9),4)
x=t(1.).as_strided((),(),2)
x=t(3+1j); y=x.cummax(0)
x=zeros(0,dtype=complex64); y=x.cummin(-1)
x=t([3+1j]); y=x.cummin(-1)
x=t(True); x.cumsum_(0)
x=t(True); x.cumprod_(-1)
x=t([True,True]); x.cumsum_(0)
x=t(5,dtype=int8); x.cumsum_(0)
x=t([5,3],dtype=int8); x.cumprod_(0)
x=zeros(0,dtype=bool); x.cumprod_(0)
x=t([True,True]); torch.cumsum(x,0,out=t([False,False]))
x=t([True,False,False]); x.index_put_((t([0,1,1]),),t([True,False,True]),accumulate=True)
x=t([True,False,False]); x.index_put_((t([0,1,1]),),t(True),accumulate=True)
x=t([True,False,False]); x.put_(t([0,1,1]),t([True,True,True]),accumulate=True)
x=t(1.).expand(4,3,3); x.tril_()
x=t(1.).expand(4,4,3,3); x.tril_()
x=zeros(3,3).expand(4,3,3); x.triu_()
x=zeros(4,3,3).expand(2,4,3,3); x.triu_()
x=zeros(4,1,3,3).expand(4,2,3,3); x.triu_()
x=t([1j]).expand(3); x.conj_physical_()
x=t([1.]).expand(3); x.conj_physical_()
x=ones(2,6).unbind(1)[1]; y=x.ravel()
x=ones(1,2,6).unbind(2)[1]; y=x.ravel(), x.flatten(), x.reshape(-1)
x=torch.einsum('bij,bjk->bik',ones(2,2,1,dtype=bool),ones(2,1,2,dtype=bool))
x=torch.einsum('bij,bjk->bik',ones(2,1,3,dtype=bool),ones(2,3,1,dtype=bool))
x=torch.select_scatter(zeros(1,0,3),zeros(1,0),-1,2)
x=t([[1j,2]]).index_reduce_(1,t([0,0]),t([[2j,3]]),'prod')
x=t([[1j,2]]).index_reduce_(1,t([0,1]),t([[2j,3]]),'mean')
x=t([[1j,2]]).index_reduce_(1,t([0,0]),t([[2j,3]]),'amax')
x=t([True,False]).index_reduce_(0,t([0,0]),t([True,False]),'prod')
x=t([True,False]); torch.clamp(x,0,1,out=zeros(2))
x=t([1,0]); torch.clamp(x,0,1.,out=zeros(2,dtype=float64))
x=t([1.,0]); torch.clamp(x,t(0),t(1),out=zeros(2,dtype=float64))
x=t([1,0]); torch.clamp_max(x,0.5,out=zeros(2,dtype=float64))
x=torch.cdist(t([[1.,nan]]),t([[1.,2],[nan,5]]),p=0)
x=t(-1.,dtype=float64).ldexp(t([[1],[2]],dtype=int8))
x=t([-1],dtype=int8).ldexp(t([[1],[2]],dtype=int8))
x=t(-1.).ldexp(t([[1],[2]],dtype=float64))
x=t([1e-30,0,1,-2,inf,nan]).ldexp(t([150,2000,-149,-3000,-3000,7]))
x=t([1e-300,0,1,-2]).double().ldexp(t([1100,2000,-1074,-3000]))
x=t([1.,3.,0.]).half().ldexp(t([15,-20,300]))
x=t([1.,2]); x.sub_(True,alpha=2)
x=t([1.,2]).sub(t(True),alpha=2)
x=t([1.,2]); x -= True
x=zeros(3,2); y=zeros(2,requires_grad=True); torch.gcd(t([1,2]),t([1,2]),out=y)
x=zeros(3,2); y=zeros(2,requires_grad=True); torch.eq(t([1,2]),t([1,2]),out=y)
x=zeros(3,2); y=zeros(2,requires_grad=True); torch.bitwise_and(t([1,2]),t([1,2]),out=y)
x=t([1.,2],requires_grad=True); y=zeros(2,dtype=int64); z=y.unbind()[0]; z.copy_(x[0])
x = zeros(0, 5); x[None, t([[0, 0, 0]]), :6] = t(-6)
x = zeros(5); x.copy_(zeros(1, 5))
x = zeros(()); x.copy_(zeros(1))
x = zeros(2, 1); x.copy_(x.unsqueeze(0))
x = zeros(0, 2, dtype=bool); x.argmax()
x = torch.float_power(1, t([complex(nan, 0), complex(nan, 1), 2j])); y = torch.pow(1, t([complex(nan, 0), 2j]))
x = t([True, False, True]).view(3, 1, 1).expand(3, 4, 2).clone(); x.index_add_(0, t([1, 0, 1]), ones(3, 4, 2, dtype=bool))
x = zeros(3, 4, 2, dtype=bool); x.index_put_((t([1, 0, 1]),), ones(3, 4, 2, dtype=bool), accumulate=True)
x = ones(3).scatter_(0, t([0, 1]), 1+0j)
x = ones(3).scatter_(0, t([0, 1]), 1+2j)
x = ones(3, dtype=uint8).scatter_(0, t([0, 1]), -1)
x = ones(3, dtype=int8).scatter(0, t([0, 1]), 300)
x = ones(3, dtype=bfloat16).scatter(0, t([0, 1]), 2**63)
x = ones(3, dtype=float16).scatter(0, t([0, 1]), 1e30)
x = ones(3, dtype=int64).scatter(0, t([0]), 2.5)
x = arange(3.); x.clamp_(min=x[1], max=.5)
x = ones(2, 3); x.clamp_(min=ones(3), max=1)
x = t([True, False]); x.sub_(x.clone(), alpha=2)
x = t([1, 2]); x.sub_(x.bool(), alpha=2)
x = ones(3, 2, dtype=float16).scatter_reduce(0, t([[0], [0]]), t([[True], [False]]), 'prod')
x = ones(3, 2, dtype=float16).scatter_reduce(0, t([[0], [0]]), t([[1.], [2.]]), 'sum')
x = torch.add(True, 2), torch.sub(3, 2, alpha=2), torch.mul(2.5, 3), torch.div(7, 2), torch.div(7, 2, rounding_mode='floor')
x = torch.mul(1j, 2), torch.add(2, 3, alpha=2), torch.add(1, 2.5)
x = torch.add(2, 3, out=ones(()))
x = torch.sub(True, 1)
x = torch.pow(True, 2)
x = torch.float_power(2, 2)
x = torch.xlogy(2, 2)
x = torch.remainder(3, 2)
x = torch.as_strided(ones(4), (2, 2), (1, -1), 2)
x = torch.as_strided_copy(ones(4), (2, 2), (1, -1), 2)
x = ones(4).as_strided_scatter(ones(2), (2,), (-1,), 2)
x = torch.polar(ones(2), ones(2, dtype=float64))
x = torch.empty(2, 2).resize_([2, 4, 2**29, 2**29])
x = ones(2, 3, 4, 4).to(memory_format=torch.channels_last); y = zeros(96); y.resize_as_(x, memory_format=torch.preserve_format)
x = zeros(3, 4); torch.zeros(3, 4, layout=torch.sparse_coo, out=x)
x = t([1]); x.new(x, device='cpu')
x = t([1e19, -1e20, 3e18]).std(), t([[1e30, -1e30, 3.]]).std(1), t([1e19, -1e20]).bfloat16().std()
x = t([1e30, 1e30, 1e10]).std(), t([9e18, -9e18] * 40).var(), t([1e19, -1e20, inf]).std()
x = torch.nn.functional.cosine_similarity(t([1e19, -1e20, 3e18]), ones(3), dim=0)
x = zeros(2, dtype=float16).pow(1e30)
x = zeros(2, dtype=bfloat16) ** 1e300
x = ones(3).expand(2, 3); x.copy_(4)
x = ones(3).expand(2, 3); x.fill_(4)
x = ones(3, dtype=int8).cumsum(1, dtype=bool)
x = ones(2, 2, dtype=uint8); y = torch.any(x, -1, out=zeros(3, dtype=bool)), torch.all(x, -1, out=zeros(2, dtype=bool))
x = arange(24.).reshape(2, 3, 4).permute(2, 1, 0); y = torch.nn.functional.pad(x, (0, 0)), torch.nn.functional.pad(x, (0, 1))
x = ones(2, 1, dtype=bool).index_reduce(0, t([0, 1]), ones(2, 1, dtype=bool), 'prod', include_self=False)
x = ones(2, 1, dtype=bool).index_reduce(0, t([0, 1]), ones(2, 1, dtype=bool), 'prod')
x = ones(2, 1, dtype=bool).index_reduce(0, t([0, 1]), ones(2, 1, dtype=bool), 'mean')
x = ones(2, 1, dtype=complex64).index_reduce(0, t([0, 1]), ones(2, 1, dtype=complex64), 'prod', include_self=False)
x = ones(2, dtype=bool).index_reduce(0, t([2, 1]), ones(2, dtype=bool), 'prod')
x = ones(1, dtype=float16) + 1j; x.tril(1)
x = t([2-3j, 0j, 1j, 3+7j, -2-9j]).logaddexp(t([2+4j, 5+6j, 0j, -9j, 11j]))
x = t([-0., 0, -inf, inf, nan, -2, 3]); y = x ** t(.5), x ** t(-.5), x ** t(2.), x ** t(-1.), x ** .5, x ** -.5, x ** t([.5])
x = t([-0., 0, -inf, inf, nan, -2, 3]).half(); y = x ** t(.5), x ** t(-.5), x ** t(2.), x ** t(-1.), x ** .5, x ** -.5
x = t(-inf); y = x ** t(.5), x ** t(-.5), x ** .5, t(-inf, dtype=bfloat16) ** t(.5)
x = t(1., dtype=float16); x.addcdiv_(t(.2, dtype=float16), ones(1, 1, dtype=float16), value=-1)
x = ones(3, dtype=float16); x.lerp_(ones(1, 3, dtype=float16), .5)
x = torch.trapezoid(t([0, 1, 7, 127, -128, 100], dtype=int8)), torch.trapezoid(t([inf, 1, 2])), torch.trapezoid(ones(2, 3))
x = torch.trapezoid(ones(3, 0, dtype=uint8)).dtype.itemsize, torch.trapezoid(ones(1))
x = torch.trapezoid(ones(3, dtype=bool))
x = t([6e4, -6e4, .999, -7.3, inf, nan], dtype=float16).round(decimals=1)
x = torch.nn.functional.pad(t(-2.), (0, 0))
x = torch.nn.functional.pad(t([2.]), (0, 0, 0, 0))
x = torch.logcumsumexp(t([2-3j, 2+1.29j, 2+4j, 1j, 1-9j, 5+2j, 5-3j]), 0)
x = torch.pow(True, t([complex(nan, 0), 2j])); y = torch.float_power(True, t([complex(nan, 0), 1]))
x = t([[[True, True], [False, False]]]).expand(2, -1, 2); x.index_put_((t([1]),), t(True), accumulate=True)
x = ones(3, 1, 50, 7, 1); y = x.sum((4, -4)); y.add_(1); z = x.mean((1, 4), keepdim=True); z.mul_(5); x = x.sum()
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
x=t([1.,0,2],requires_grad=True); y=x.exp(); y.detach_(); y.add_(x); y=y.detach()
""".strip().splitlines()

# Which numbers and options a call takes, and which it refuses.
OPTIONS = """
x=t([1]); y=torch.add(x,x,alpha=True)
x=t([1]); y=torch.add(x,x,alpha=1.)
x=t([1.]); y=torch.add(x,x,alpha=1.)
x=t([1.]); y=torch.add(x,x,alpha=False)
x=t([True]); y=torch.add(x,x,alpha=True)
x=t([True]); y=torch.add(x,x,alpha=1.)
x=t([1]); y=torch.sub(x,1,alpha=True)
x=t([1]); y=torch.rsub(x,1,alpha=True)
x=t([1]); y=x.add_(x,alpha=True)
y=torch.add(1,1,alpha=True)
x=ones(1,1,dtype=int64); y=torch.addmm(x,x,x,alpha=True), torch.addmm(x,x,x,alpha=1.)
x=t([1.,2]); y=torch.lerp(x,x+1,t(.5,dtype=float64)), torch.lerp(x,x+1,t(1)), torch.lerp(x,x+1,t(True)), torch.lerp(x,x+1,t(1j))
x=t([1.,2]); y=torch.lerp(x,x+1,t([1]))
x=t([1.,2]); y=torch.lerp(x,t(3,dtype=float64),t(.5))
x=t(.5,dtype=float64,requires_grad=True); y=torch.lerp(ones(2),zeros(2),x); y.sum().backward(); y=x.grad
x=t([2],dtype=uint8); y=torch.bitwise_or(300,x), torch.bitwise_and(-300,x), torch.bitwise_xor(2**40,x)
x=t([2],dtype=uint8); y=torch.bitwise_left_shift(300,x), torch.bitwise_right_shift(-300,x)
x=t([2],dtype=uint8); y=torch.bitwise_or(2**70,x)
x=t([2],dtype=uint8); y=torch.bitwise_or(x,300)
x=t([1.,0]); y=torch.nonzero(x,out=zeros(0))
x=t([1.,0]); y=torch.nonzero(x,out=zeros(0,dtype=int32))
x=t([1.,0]); y=torch.nonzero(x,out=zeros(0,1,dtype=int64))
y=torch.where(t([True]),2**70,1.)
y=torch.trapezoid(ones(2,2),dx=1+1j)
y=torch.cumulative_trapezoid(ones(2,2),dx=1+1j)
y=torch.floor_divide(2.5,2), torch.floor_divide(-5,2)
y=torch.floor_divide(5,0)
x=zeros(2,3); y=x[...,...], x[...,0,...], x[0,...,1,...], x[...,...,...]
x=zeros(2,3); y=x[...,...,None]
x=zeros(2,3); y=x[...,1,...,0]
x=zeros(2,3); y=x[0,...,1,...,None]
x=zeros(2,3); y=x[0,...,...,t([1,2])]
x=zeros(2,3); y=x[t([0]),...,...]
x=zeros(2,3); x[...,...]=1
x=zeros(2,3); x[0,...,1,...]=1
x=t([[nan,0],[1,2],[nan,0]]); y=torch.unique(x,dim=0,return_inverse=True,return_counts=True)
x=zeros(0); y=torch.index_select(x,0,t([0]))
x=zeros(0); y=torch.index_select(x,0,t([0]),out=zeros(1))
x=zeros(0,2); y=torch.index_select(x,0,t([0]))
x=zeros(2,0); y=torch.index_select(x,0,t([5]))
x=t([inf+1j,inf+2j,1,-inf+1j,2j]); y=torch.logcumsumexp(x,0)
x=t([inf,inf+2j]); y=torch.logcumsumexp(x,0)
""".strip().splitlines()

# Results lie in memory as PyTorch lays them: after the first argument that says so, or row by row.
STRIDES = """
a = ones(3, 4, 5); y = a.quantile(.5, 0).stride(), a.quantile(.5, 1).stride(), a.quantile(.5, -3).stride()
a = ones(3, 4, 5); y = a.quantile(t([.5, .2]), 1).stride(), a.nanquantile(t([.5, .1]), 0).stride()
a = ones(3, 4, 5, 2); y = a.quantile(.5, 2).stride(), a.quantile(.5, 2, keepdim=True).shape
a, b = zeros(3, 4).t(), zeros(4, 3); y = a + b, b + a, torch.atan2(a, b), torch.where(a > b, b, a), a.lerp(b, .5), a == b
a, b = zeros(3, 4).t(), zeros(4, 3); y = a.div(b, rounding_mode='floor'), a % b, a.xlogy(b), a.float_power(b), a.logical_and(b)
a, b = zeros(3, 4).t().half(), zeros(4, 3).half(); y = a + b, b + a, a / b, a.pow(b), a.exp(), a.clamp(0, 1)
a = zeros(3).expand(2, 3); y = a.exp(), a.clone(), a.double(), a + 1, a.sigmoid(), a * a, a.xlogy(a), a.sign()
a = zeros(3, 1).expand(3, 4); y = a.exp(), a.clone(), a.double(), a + 1, a.sigmoid(), a * a, a.neg(), torch.zeros_like(a)
a = zeros(2, 5).unfold(1, 2, 1); y = a.exp(), a.clone(), a.double(), a + 1, torch.zeros_like(a), torch.empty_like(a).zero_()
a = zeros(6, 4)[::2, ::2].t(); y = a.exp(), a.clone(), a.double(), a + 1, torch.zeros_like(a)
a = zeros(3, 4).t(); y = torch.zeros_like(a), torch.full_like(a, 1), torch.ones_like(a, dtype=int64), a.double(), a.clone()
a = zeros(3, 4).t(); y = torch.cat([a, a]), torch.cat([a, a], 1), torch.stack([a, a]), torch.stack([a, a], 2), torch.cat([a])
a = ones(2, 3, 4, 5).permute(0, 2, 3, 1); y = a.sum(1), a.sum((1, 2)), a.mean(0), a.amax(2), a.var(1), a.any(0), a.prod(1)
a = ones(2, 3, 4, 5).permute(3, 2, 1, 0); y = a.sum(1, keepdim=True), a.norm(2, 1), a.logsumexp(1), a.std(1), a.argmax(2)
a = zeros(3, 4, 5).permute(2, 0, 1); y = a.softmax(0), a.log_softmax(2), a.cumsum(0), a.cumprod(1), a.logcumsumexp(1), a.flip(0)
a, b = zeros(3, 4, 5).permute(2, 0, 1), zeros(5, 1, 4); y = a + b, b + a, torch.where(b > 0, a, b)
a = zeros(2, 3, 4, 5).contiguous(memory_format=torch.channels_last); y = a + a.contiguous(), a.contiguous() + a, a.sum(1)
a = zeros(2, 3, 4, 5).contiguous(memory_format=torch.channels_last); y = torch.cat([a, a], 1), torch.cat([a, a.contiguous()])
a = ones(2, 3, 4).permute(2, 0, 1); y = 2**a, a**2, torch.pow(3, a), a**a, 2**a.long(), torch.ldexp(a, a)
a = ones(2, 4).roll(5).unfold(-2, 2, 1); y = torch.nn.functional.batch_norm(a.flip(0), None, None, training=True)
a = ones(3, 5, 2).half().permute(2, 1, 0); y = (a.to(torch.complex32).stride(), (a + 1j).stride(), (a * t(1j)).abs().stride())
a = arange(24.).view(2, 3, 4).permute(2, 1, 0); y = torch.nn.functional.layer_norm(a, (2,)).stride()
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


def outcome(library: Any, program: str) -> dict[str, Any]:
    """The names that a program defines, or the kind of error that it ends with; PyTorch's NotImplementedError is one of many."""
    names = "zeros ones arange int64 int32 int16 int8 uint8 bool bfloat16 float16 float32 float64 complex64 complex128".split()
    scope = {"torch": library, "t": library.tensor, "np": np, "inf": np.inf, "nan": np.nan}
    scope |= {name: getattr(library, name) for name in names}
    known = set(scope)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(program, scope)
        except Exception as error:  # noqa: BLE001 - what it is, is compared
            return {"error": "RuntimeError" if isinstance(error, NotImplementedError) else type(error).__name__}
    return {name: shown(value) for name, value in scope.items() if name not in known and name[:2] != "__"}


def shown(value: Any) -> Any:
    """What can be asked of a result; strides count where there are elements to stride over."""
    if isinstance(value, (tuple, list)):
        return [shown(v) for v in value]
    if not hasattr(value, "stride"):
        return value
    strides = [s for s, n in zip(value.stride(), value.shape) if n > 1] if value.numel() else []
    dtype = str(value.dtype).rpartition(".")[2]
    return dtype, tuple(value.shape), strides, value._version, value.requires_grad, Near(value.detach().tolist())


class Near:
    """Numbers, equal within a few roundings; nan equals nan."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Near)
        return np.allclose(np.asarray(self.values), np.asarray(other.values), rtol=1e-5, atol=1e-6, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.values)


@pytest.mark.parametrize("program", [*ASSIGNMENTS, *OVERLAPS, *MIXED, *ORDER, *RANGES, *MORE, *OPTIONS, *STRIDES])
def test_outcome(program: str) -> None:
    assert outcome(tenfold, program) == outcome(torch, program)


def test_which_fault_is_told() -> None:
    different = {program: (outcome(tenfold, program), outcome(torch, program)) for program in FAULTS}
    assert not {program: pair for program, pair in different.items() if pair[0] != pair[1]}


@pytest.mark.parametrize("program", GRADIENTS)
def test_outcome_with_gradients(program: str) -> None:
    pytest.importorskip("tenfold.autograd")
    assert outcome(tenfold, program) == outcome(torch, program)
