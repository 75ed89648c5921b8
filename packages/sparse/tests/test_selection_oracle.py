"""One index of a sparse tensor's dimensions, tensors made like it, copies into it: results and refusals beside PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*(Sparse|sparse).*:UserWarning")  # PyTorch's, on what it has not finished

LAYOUTS = ["sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]


def ramp(t: Any, *size: int) -> Any:
    count = 1
    for n in size:
        count *= n
    return t.arange(1.0, count + 1).reshape(size)


def source(t: Any, name: str) -> Any:
    if name in LAYOUTS:
        return ramp(t, 4, 6).to_sparse(layout=getattr(t, name), blocksize=(2, 3) if "bs" in name else None)
    if name == "coo":
        return ramp(t, 4, 6).to_sparse()
    if name == "hybrid coo":
        return ramp(t, 4, 6, 2).to_sparse(2)
    if name == "hybrid":
        return t.sparse_csr_tensor(t.tensor([0, 1, 2]), t.tensor([0, 1]), ramp(t, 2, 3), (2, 2, 3))
    if name == "hybrid blocks":
        return t.sparse_bsr_tensor(t.tensor([0, 1, 2]), t.tensor([0, 1]), ramp(t, 2, 2, 1, 3), (4, 2, 3))
    starts, places = t.tensor([0, 1, 2]), t.tensor([0, 1])
    batch = (2,) if name == "batch" else (2, 3)
    return t.sparse_csr_tensor(
        starts.expand(*batch, 3).clone(), places.expand(*batch, 2).clone(), ramp(t, *batch, 2), (*batch, 2, 2)
    )


SOURCES = [*LAYOUTS, "coo", "hybrid coo", "hybrid", "hybrid blocks", "batch", "batches"]


def outcome(t: Any, program: Any) -> tuple[Any, ...]:
    try:
        made = program(t)
    except (RuntimeError, IndexError, NotImplementedError) as error:
        return type(error).__name__, str(error)
    return str(made.layout).split(".")[1], tuple(made.shape), str(made.dtype).split(".")[1], made.to_dense().tolist()


def agree(program: Any) -> None:
    ours, theirs = outcome(tenfold, program), outcome(torch, program)
    if "Error" in theirs[0]:
        assert ours[0] == theirs[0], (ours, theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("dim", [-1, 0, 1, 2, 3, 9])
@pytest.mark.parametrize("index", [0, -1, 9])
def test_select(name: str, dim: int, index: int) -> None:
    operator = "select" if "coo" in name else "select_copy"  # of which PyTorch has the one or the other
    agree(lambda t: getattr(t, operator)(source(t, name), dim, index))


INDICES: list[Any] = [(slice(None), 1), (..., 1), (0, ...), (slice(None), slice(None), 0), (0, 1), (1, slice(None)), (0,) * 5]


@pytest.mark.parametrize("name", [n for n in SOURCES if "bs" not in n])  # of whose blocks PyTorch has no views, and refuses
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indices_that_name_dimensions(name: str, index: Any) -> None:
    agree(lambda t: source(t, name)[index])


@pytest.mark.parametrize("name", [*LAYOUTS, "batch", "hybrid"])
@pytest.mark.parametrize("layout", [*LAYOUTS, "sparse_coo", "strided"])
@pytest.mark.parametrize("make", ["zeros_like", "ones_like", "empty_like"])
def test_likenesses_in_another_layout(name: str, layout: str, make: str) -> None:
    def program(t: Any) -> Any:
        made = getattr(t, make)(source(t, name), layout=getattr(t, layout), dtype=t.float64)
        return t.zeros_like(made) if make == "empty_like" else made

    if make == "zeros_like" and name == "hybrid" and layout in ("sparse_csc", "sparse_coo"):
        pytest.skip("PyTorch's to_dense() of what it makes fails")
    agree(program)


def test_a_likeness_may_require_gradients() -> None:
    assert tenfold.zeros_like(source(tenfold, "sparse_csr"), requires_grad=True).requires_grad


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("src", [*LAYOUTS, "coo", "batch"])
def test_copies_keep_their_layout(name: str, src: str) -> None:
    def program(t: Any) -> Any:
        return source(t, name).copy_(source(t, src))

    agree(program)
    if name != src:
        with pytest.raises(RuntimeError, match=r"having different layouts is not supported|same number of specified elements"):
            program(tenfold)


@pytest.mark.parametrize("size", [(2, 3), (2, 2, 3), (0, 3), (0, 2, 3)])
def test_checks_of_a_tensor_without_elements(size: tuple[int, ...]) -> None:
    def program(t: Any) -> Any:
        starts = t.zeros(*size[:-2], size[-2] + 1, dtype=t.int64)
        places, held = t.zeros(*size[:-2], 0, dtype=t.int64), t.zeros(*size[:-2], 0)
        return t.sparse_csr_tensor(starts, places, held, size, check_invariants=True)

    agree(program)


COPIES = {
    "rows": lambda t: source(t, "sparse_csr").copy_(ramp(t, 8, 3).to_sparse_csr()),
    "columns": lambda t: source(t, "sparse_csc").copy_(ramp(t, 3, 8).to_sparse_csc()),
    "blocks": lambda t: source(t, "sparse_bsr").copy_(ramp(t, 8, 3).to_sparse_bsr((2, 3))),
    "block sizes": lambda t: source(t, "sparse_bsr").copy_(ramp(t, 4, 6).to_sparse_bsr((1, 6))),
    "dense sizes": lambda t: source(t, "hybrid").copy_(t.ones(2, 2, 4).to_sparse_csr(dense_dim=1)),
}


@pytest.mark.parametrize("case", COPIES)
def test_copies_keep_their_shape(case: str) -> None:
    agree(COPIES[case])
    with pytest.raises(RuntimeError):
        COPIES[case](tenfold)


UNCHANGED = {
    "its dtype": lambda t, x: x.to(x.dtype), "its device": lambda t, x: x.to("cpu"), "itself": lambda t, x: x.to(x),
    "float": lambda t, x: x.float(), "cpu": lambda t, x: x.cpu(), "its type": lambda t, x: x.type_as(x),
    "a copy": lambda t, x: x.to(x.dtype, copy=True), "another dtype": lambda t, x: x.to(t.float64),
    "positive": lambda t, x: x.positive(), "conj": lambda t, x: x.conj(), "real": lambda t, x: x.real,
    "real of": lambda t, x: t.real(x), "detach": lambda t, x: x.detach(), "abs": lambda t, x: x.abs(),
}  # fmt: skip


@pytest.mark.parametrize("name", ["coo", "sparse_csr", "sparse_bsc"])
@pytest.mark.parametrize("case", UNCHANGED)
def test_what_changes_nothing_is_the_tensor_itself(name: str, case: str) -> None:
    found = []
    for t in (tenfold, torch):
        x = source(t, name)
        found.append(UNCHANGED[case](t, x) is x)
    assert found[0] == found[1]


def test_parts_of_complex_numbers() -> None:
    for part in ("real", "imag"):
        agree(lambda t: getattr(t.tensor([[0, 1 + 2j], [3j, 0]]).to_sparse(), part))  # noqa: B023
    x = tenfold.tensor([[0, 1 + 2j], [3j, 0]]).to_sparse_csr()
    assert x.imag.to_dense().tolist() == [[0.0, 2.0], [3.0, 0.0]]


@pytest.mark.parametrize("size", [(2, 3), (4, 3), (2, 5), (4, 5), (0, 3), (6,), (2, 2), (1, 5)])
def test_resized_matrices_of_rows(size: tuple[int, ...]) -> None:
    def program(t: Any) -> Any:
        x = ramp(t, 2, 3).to_sparse_csr()
        y = x.resize_(size)
        assert y is x
        assert tuple(x.shape) == size
        return x.to_dense() if size != (1, 5) else x.values()  # its columns are those of two rows, in one

    agree(program)


def test_resized_batches() -> None:
    for size in [(2, 3, 2, 4), (3, 2, 3), (2, 3)]:
        agree(lambda t: source(t, "batches").resize_(size).values())  # noqa: B023
    with pytest.raises(RuntimeError, match="not as many"):
        source(tenfold, "batch").resize_(5, 2, 2)


def test_sums_of_other_shapes_are_refused() -> None:
    def program(t: Any) -> Any:
        return source(t, "sparse_csr") + ramp(t, 4, 1).to_sparse_csr()

    agree(program)
    with pytest.raises(RuntimeError, match="Expected input tensors to have the same shape"):
        program(tenfold)


@pytest.mark.parametrize("name", [*LAYOUTS, "coo"])
def test_resized_as_another_sparse_tensor(name: str) -> None:
    def program(t: Any) -> Any:
        x, other = source(t, name), t.ones(8, 6).to_sparse()
        if name != "coo":
            other = t.ones(8, 6).to_sparse(layout=getattr(t, name), blocksize=(4, 2) if "bs" in name else None)
        y = x.resize_as_sparse_(other)
        assert y is x
        return x.to_dense() * 0 if name == "coo" else t.zeros_like(x.values())

    agree(program)
    for dense in (tenfold.ones(8, 6), tenfold.ones(8, 6).to_sparse()) if name != "coo" else ():
        with pytest.raises(RuntimeError, match="expected sparse compressed tensor layout"):
            source(tenfold, name).resize_as_sparse_(dense)
    for wrong in ({*LAYOUTS} - {name}) if name != "coo" else ():
        with pytest.raises(RuntimeError, match="must have the same layout"):
            source(tenfold, name).resize_as_sparse_(source(tenfold, wrong))


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_transposed_matrix_is_a_view(name: str) -> None:
    found = []
    for t in (tenfold, torch):
        x = source(t, name).requires_grad_()
        y = x.t()
        z, same = y.transpose(0, 1), x.transpose(0, 0)
        found.append(
            [y._is_view(), y._base is x, y.is_leaf, x.is_leaf, z._base is x, same._base is x, x._is_view(), y.values()._is_view()]
        )
    assert found[0] == found[1]
    x = source(tenfold, name).requires_grad_()
    (x.t() @ tenfold.ones(4, 1)).sum().backward()
    assert x.grad.values().eq(1).all()


@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (-4, 1), (2, 3), (-1, -2), (0, 2), (1, 3)])
def test_dimensions_of_a_batch_change_places(dims: tuple[int, int]) -> None:
    agree(lambda t: source(t, "batches").transpose(*dims))
