"""The emulator of compiled code (ptx/): instructions by hand, where what they do is known, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("triton")  # of which the emulator runs what it compiles

from ptx.exchange import Divergence
from ptx.machine import Deadlock, Machine
from ptx.operations import Unsupported
from ptx.spans import MemoryFault, Spans
from ptx.translation import Program

HEAD = """
.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 global_smem[];
.visible .entry kernel({parameters}) .reqntid {threads}
{{
	.reg .pred %p<9>;
	.reg .b16 %rs<19>;
	.reg .b32 %r<29>;
	.reg .b64 %rd<29>;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mad.lo.s32 %r2, %r1, {threads}, %r0;
{addresses}
{body}
	ret;
}}
"""


def run(body, *arrays, threads=32, blocks=1, shared=0):
    """Run instructions: %r0 is the thread, %r1 the block, %r2 the lane; %rd20, %rd21 ... are the lane's places in the arrays."""
    parameters = ", ".join(f".param .u64 p{i}" for i in range(len(arrays)))
    addresses = "\n".join(
        f"\tld.param.b64 %rd{10 + i}, [p{i}];\n\tmad.wide.u32 %rd{20 + i}, %r2, {a.itemsize}, %rd{10 + i};"
        for i, a in enumerate(arrays)
    )
    program = Program(HEAD.format(parameters=parameters, threads=threads, addresses=addresses, body=body), shared)
    memory = Spans()
    for a in arrays:
        memory.add(a.ctypes.data, a.ctypes.data + a.nbytes)
    machine = Machine(program, np.arange(blocks), (blocks, 1, 1), threads, memory)
    code = program.codes["kernel"]
    for i, a in enumerate(arrays):
        machine.R[code.parameters[f"p{i}"]] = np.array([[a.ctypes.data]], np.uint64)
    machine.run()


def of_each(instruction, *given, out, kinds=None):
    """What an instruction makes of each lane's operands: `instruction` has {d} for its result, and {a}, {b}, {c}."""
    given = [np.resize(np.asarray(g), 32 * -(-len(g) // 32)) for g in given]
    result = np.zeros(len(given[0]), out)
    names = {8: "%rd", 4: "%r", 2: "%rs", 1: "%rs"}
    lines, words = [], {}
    for i, g in enumerate(given):
        words["abc"[i]] = f"{names[g.itemsize]}{5 + i}"
        lines.append(f"ld.global.b{8 * g.itemsize} {words['abc'[i]]}, [%rd{21 + i}];")
    words["d"] = f"{names[result.itemsize]}4"
    lines += [instruction.format(**words) + ";", f"st.global.b{8 * result.itemsize} [%rd20], {words['d']};"]
    run("\n".join(lines), result, *given, blocks=len(result) // 32)
    return result


F32 = np.array([0.0, -0.0, 1.5, -1.5, 2.5, np.inf, -np.inf, np.nan, 3e9, -3e9, 1e-40, 300.7, -1.0, 1e20, -1e20], np.float32)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("s32", [0, 0, 1, -1, 2, 2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31), 0, 300, -1, 2**31 - 1, -(2**31)]),
        ("u32", [0, 0, 1, 0, 2, 2**32 - 1, 0, 0, 3 * 10**9, 0, 0, 300, 0, 2**32 - 1, 0]),
        ("s64", [0, 0, 1, -1, 2, 2**63 - 1, -(2**63), -(2**63), 3 * 10**9, -3 * 10**9, 0, 300, -1, 2**63 - 1, -(2**63)]),
        ("u16", [0, 0, 1, 0, 2, 65535, 0, 0, 65535, 0, 0, 300, 0, 65535, 0]),
    ],
)
def test_conversions_out_of_range_saturate(target, expected):
    out = {"s32": np.int32, "u32": np.uint32, "s64": np.int64, "u16": np.uint16}[target]
    assert of_each(f"cvt.rzi.{target}.f32 {{d}}, {{a}}", F32, out=out)[: len(F32)].tolist() == expected


def test_roundings_to_whole_numbers():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1.2, -1.2], np.float32)
    for mode, function in (("rni", np.rint), ("rmi", np.floor), ("rpi", np.ceil), ("rzi", np.trunc)):
        assert (of_each(f"cvt.{mode}.f32.f32 {{d}}, {{a}}", x, out=np.float32)[:7] == function(x)).all()


def test_halves_are_rounded_once_to_even():
    import ml_dtypes  # which the package needs anyway

    x = np.random.default_rng(0).standard_normal(4096).astype(np.float32) * np.float32(1e-3)
    x[:4] = [1 + 2**-8, 1 + 3 * 2**-8, np.nan, 3.4e38]
    got = of_each("cvt.rn.bf16.f32 {d}, {a}", x, out=np.uint16)
    expected = x.astype(ml_dtypes.bfloat16).view(np.uint16)
    expected[2] = 0x7FFF
    assert (got == expected).all()
    got = of_each("cvt.rn.f16.f32 {d}, {a}", x[4:], out=np.uint16)
    assert (got[:4092] == x[4:].astype(np.float16).view(np.uint16)).all()


@pytest.mark.parametrize(
    ("instruction", "out", "expected"),
    [
        ("div.s32 {d}, {a}, {b}", np.int32, lambda a, b: a if b == -1 and a == -(2**31) else -1 if b == 0 else int(a / b)),
        ("rem.s32 {d}, {a}, {b}", np.int32, lambda a, b: a if b == 0 else int(math.fmod(a, b))),
        ("mul.hi.s32 {d}, {a}, {b}", np.int32, lambda a, b: a * b >> 32),
        ("mul.wide.s32 {d}, {a}, {b}", np.int64, lambda a, b: a * b),
        ("min.relu.s32 {d}, {a}, {b}", np.int32, lambda a, b: max(0, min(a, b))),
        ("shr.s32 {d}, {a}, {b}", np.int32, lambda a, b: a >> min(b % 2**32, 31)),
        ("shl.b32 {d}, {a}, {b}", np.uint32, lambda a, b: (a << b) % 2**32 if 0 <= b < 32 else 0),
        ("bfe.s32 {d}, {a}, 3, 5", np.int32, lambda a, b: ((a >> 3 & 31) ^ 16) - 16),
        ("bfe.u32 {d}, {a}, 28, 8", np.uint32, lambda a, b: a % 2**32 >> 28),
        ("prmt.b32 {d}, {a}, {b}, 0x3340U", np.uint32, lambda a, b: a & 255 | (b & 255) << 8 | (a >> 24 & 255) * 0x01010000),
        ("lop3.b32 {d}, {a}, {b}, 7, 0x96", np.uint32, lambda a, b: (a ^ b ^ 7) % 2**32),
        ("shf.l.wrap.b32 {d}, {a}, {b}, 36", np.uint32, lambda a, b: (b << 4 | a % 2**32 >> 28) % 2**32),
        ("clz.b32 {d}, {a}", np.uint32, lambda a, b: 32 - (a % 2**32).bit_length()),
        ("brev.b32 {d}, {a}", np.uint32, lambda a, b: int(f"{a % 2**32:032b}"[::-1], 2)),
        ("popc.b32 {d}, {a}", np.uint32, lambda a, b: (a % 2**32).bit_count()),
        ("add.s16x2 {d}, {a}, {b}", np.uint32, lambda a, b: (a + b) % 2**16 | (((a >> 16) + (b >> 16)) % 2**16) << 16),
    ],
)
def test_whole_numbers(instruction, out, expected):
    numbers = [0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 33, 12345678]
    a, b = (np.array(x, np.int32) for x in zip(*[(a, b) for a in numbers for b in numbers]))
    got = of_each(instruction, a, b, out=out)[: len(a)]
    want = np.array([expected(int(x), int(y)) % 2 ** (8 * got.itemsize) for x, y in zip(a, b)], f"u{got.itemsize}")
    assert (got.view(want.dtype) == want).all(), (a[got.view(want.dtype) != want], b[got.view(want.dtype) != want])


def test_upper_halves_of_products_of_64_bits():
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-(2**63), 2**63, 64) for _ in range(2))
    got = of_each("mul.hi.s64 {d}, {a}, {b}", a, b, out=np.int64)
    assert got.tolist() == [int(x) * int(y) >> 64 for x, y in zip(a, b)]
    got = of_each("mul.hi.u64 {d}, {a}, {b}", a, b, out=np.uint64)
    assert got.tolist() == [(int(x) % 2**64) * (int(y) % 2**64) >> 64 for x, y in zip(a, b)]


def test_carries():
    a, b = (np.array(x, np.uint64) for x in ([2**32 - 1, 2**64 - 1, 5], [1, 1, 2**33]))
    body = """
    ld.global.v2.b32 {%r5, %r6}, [%rd21];
    ld.global.v2.b32 {%r7, %r8}, [%rd22];
    add.cc.u32 %r9, %r5, %r7;
    addc.u32 %r10, %r6, %r8;
    st.global.v2.b32 [%rd20], {%r9, %r10};"""
    out, a, b = (np.resize(x, 32) for x in (a, a, b))
    run(body, out, a, b)
    assert (out == a + b).all()


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_sums_and_multiply_adds_are_rounded_once(mode):
    rng = np.random.default_rng(2)
    a, b, c = (rng.standard_normal(512).astype(np.float32) for _ in range(3))
    c[:128] = -a[:128] * b[:128]
    c[128:256] *= np.float32(1e-9)
    got = of_each(f"fma.{mode}.f32 {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, out=np.float32)
    for x, y, z, r in zip(a, b, c, got):
        assert_rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), r, mode)
    got = of_each(f"add.{mode}.f32 {{d}}, {{a}}, {{c}}", a, b, c, out=np.float32)
    for x, z, r in zip(a, c, got):
        assert_rounded(Fraction(float(x)) + Fraction(float(z)), r, mode)


def assert_rounded(exact, got, mode):
    """`got` is next to the exact number, on the side that the mode says."""
    below, above = (Fraction(float(np.nextafter(got, got.dtype.type(s)))) for s in (-np.inf, np.inf))
    value = Fraction(float(got))
    if mode == "rn":
        assert abs(value - exact) <= min(abs(below - exact), abs(above - exact))
    elif mode == "rm" or (mode == "rz" and exact > 0):
        assert value <= exact < above
    else:
        assert below < exact <= value


def test_multiply_adds_of_doubles_are_rounded_once():
    rng = np.random.default_rng(3)
    a, b, c = (rng.standard_normal(512) for _ in range(3))
    c[:256] = -a[:256] * b[:256]
    a[256:260], b[256:260] = [1e300, 1e-300, 3e-200, np.inf], [1e10, 1e-20, 7e-120, 0.0]
    got = of_each("fma.rn.f64 {d}, {a}, {b}, {c}", a, b, c, out=np.float64)
    for x, y, z, r in zip(a, b, c, got):
        if np.isfinite(r):
            assert_rounded(Fraction(x) * Fraction(y) + Fraction(z), r, "rn")
    assert np.isinf(got[256])
    assert np.isnan(got[259])


def test_extremes_leave_out_what_is_no_number():
    a, b = np.array([np.nan, 1, np.nan, -0.0, 0.0], np.float32), np.array([2, np.nan, np.nan, 0.0, -0.0], np.float32)
    got = of_each("min.f32 {d}, {a}, {b}", a, b, out=np.float32)[:5]
    assert got[:2].tolist() == [2, 1]
    assert got.view(np.uint32)[2:].tolist() == [0x7FFFFFFF, 0x80000000, 0x80000000]
    assert np.isnan(of_each("max.NaN.f32 {d}, {a}, {b}", a, b, out=np.float32)[:3]).all()


def test_divisors_beyond_2_to_126_give_0():
    a, b = np.array([1e38, np.inf, 1e38], np.float32), np.array([1e38, 1e38, 8e37], np.float32)
    assert of_each("div.approx.f32 {d}, {a}, {b}", a, b, out=np.float32)[0] == 0
    assert np.isnan(of_each("div.approx.f32 {d}, {a}, {b}", a, b, out=np.float32)[1])
    assert of_each("div.full.f32 {d}, {a}, {b}", a, b, out=np.float32)[[0, 2]].tolist() == [1.0, 1.25]


def test_subnormal_numbers_are_flushed_where_the_instruction_says_so():
    x = np.array([1e-40, -1e-40, 1e-20], np.float32)
    assert (of_each("mul.f32 {d}, {a}, 0f3F800000", x, out=np.float32)[:3] == x).all()
    got = of_each("mul.ftz.f32 {d}, {a}, 0f3F800000", x, out=np.float32)[:3]
    assert got.tolist() == [0, 0, float(x[2])]
    assert np.signbit(got).tolist() == [False, True, False]


def test_lanes_go_different_ways_and_meet_again():
    out = np.zeros(64, np.uint32)
    body = """
    mov.u32 %r4, 0;
    and.b32 %r5, %r0, 7;
$L1:
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 bra $L2;
    add.s32 %r4, %r4, 1;
    bra.uni $L1;
$L2:
    vote.sync.ballot.b32 %r6, %p1, -1;
    shfl.sync.bfly.b32 %r7, %r4, 1, 31, -1;
    mad.lo.s32 %r8, %r7, 10, %r4;
    setp.ne.s32 %p2, %r6, -1;
    @%p2 mov.u32 %r8, 0;
    st.global.b32 [%rd20], %r8;"""
    run(body, out, blocks=2)
    lane = np.arange(64) % 8
    assert (out == (lane ^ 1) * 10 + lane).all()


def test_a_barrier_holds_the_lanes_of_its_block():
    out = np.zeros(256, np.uint32)
    body = """
    mov.b32 %r4, global_smem;
    shl.b32 %r5, %r0, 2;
    add.s32 %r6, %r4, %r5;
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra $L1;
    st.shared.b32 [%r6], %r0;
    bar.sync 0;
    bra.uni $L2;
$L1:
    bar.sync 0;
    xor.b32 %r5, %r5, 252;
    add.s32 %r6, %r4, %r5;
    ld.shared.b32 %r7, [%r6];
    st.global.b32 [%rd20], %r7;
$L2:"""
    run(body, out, threads=64, blocks=4, shared=256)
    assert (out.reshape(4, 64)[:, :32] == 63 - np.arange(32)).all()
    with pytest.raises(Deadlock, match="not all threads reach"):
        run("setp.lt.u32 %p1, %r0, 32;\n@%p1 bra $L1;\nbar.sync 1, 64;\n$L1:", out, threads=64)


def test_what_a_warp_exchanges():
    x = np.arange(32, dtype=np.uint32) * 3
    assert of_each("shfl.sync.up.b32 {d}, {a}, 1, 0, -1", x, out=np.uint32).tolist() == [0, *x[:31]]
    assert of_each("shfl.sync.down.b32 {d}, {a}, 2, 31, -1", x, out=np.uint32).tolist() == [*x[2:], *x[30:]]
    assert of_each("shfl.sync.idx.b32 {d}, {a}, 5, 0x181f, -1", x, out=np.uint32).tolist() == np.repeat(x[5::8], 8).tolist()
    assert of_each("redux.sync.max.s32 {d}, {a}, -1", x - 50, out=np.int32).tolist() == [43] * 32
    assert of_each("match.any.sync.b32 {d}, {a}, -1", x % 2, out=np.uint32).tolist() == [0x55555555, 0xAAAAAAAA] * 16
    with pytest.raises(Divergence):
        run("setp.lt.u32 %p1, %r0, 9;\n@%p1 shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;", x)


def test_atomic_operations_come_one_after_the_other():
    count, out = np.zeros(4, np.uint32), np.zeros(64, np.uint32)
    run("atom.global.gpu.acq_rel.add.u32 %r4, [%rd10], 2;\nst.global.b32 [%rd21], %r4;", count, out, blocks=2)
    assert count[0] == 128
    assert out.tolist() == list(range(0, 128, 2))
    body = "mov.u32 %r5, 7;\natom.global.cas.b32 %r4, [%rd10], 0, %r0;\nred.global.max.s32 [%rd10+4], %r0;"
    count[:] = 0
    run(body.replace("%r0", "%r2"), count, out, blocks=2)
    assert count.tolist()[1] == 63
    parts = np.zeros((2, 4), np.float32)
    run("mov.b32 %r4, 0f3F800000;\nred.global.gpu.relaxed.add.v4.f32 [%rd10+16], {%r4, %r4, %r4, %r4};", parts)
    assert parts.tolist() == [[0] * 4, [32] * 4]


def test_a_masked_load_leaves_what_was_there():
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    body = "setp.lt.u32 %p1, %r0, 9;\n{}@%p1 ld.global.b32 {{ %r4 }}, [ %rd21 + 0 ];\nst.global.b32 [%rd20], %r4;"
    run(body.format("mov.u32 %r4, 0x3f800000;\n"), out, x)
    assert out.tolist() == [*range(9), *[1] * 23]
    run(body.format(""), out, x)
    assert np.isnan(out[9:]).all()  # nobody said what else


def test_what_the_hardware_refuses_is_refused():
    x = np.zeros(256, np.float32)[1:]
    x = x[: 128 + 4 - x.ctypes.data // 4 % 4]
    with pytest.raises(MemoryFault, match="misaligned load of 16 bytes") as told:
        run(
            "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd10+4];"
            if x.ctypes.data % 16 == 0
            else "ld.global.v2.b64 {%rd4, %rd5}, [%rd10];",
            x,
        )
    assert any("line" in note for note in told.value.__notes__)
    with pytest.raises(MemoryFault, match="outside of the launch's arrays: 1 of 32 lanes"):
        run("ld.global.b32 %r4, [%rd20+4];", np.zeros(32, np.float32))
    with pytest.raises(MemoryFault, match="shared memory has 64 bytes"):
        run("mov.b32 %r4, global_smem;\nst.shared.b32 [%r4+64], %r0;", x, shared=64)
    with pytest.raises(Unsupported, match="no builder"):
        run("frobnicate.b32 %r4, %r5;", x)


def test_functions_are_called():
    text = HEAD.format(
        parameters=".param .u64 p0",
        threads=32,
        addresses="\tld.param.b64 %rd10, [p0];\n\tmad.wide.u32 %rd20, %r2, 8, %rd10;",
        body="""
    ld.global.b64 %rd1, [%rd20];
    { // callseq 0, 0
    .param .b64 param0;
    .param .b64 retval0;
    st.param.b64 [param0], %rd1;
    call.uni (retval0), twice, (param0);
    ld.param.b64 %rd2, [retval0];
    } // callseq 0
    st.global.b64 [%rd20], %rd2;""",
    )
    text += """
.func  (.param .b64 func_retval0) twice(.param .b64 twice_param_0)
{
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [twice_param_0];
    add.f64 %rd2, %rd1, %rd1;
    st.param.b64 [func_retval0], %rd2;
    ret;
}
"""
    x = np.arange(32.0)
    program, memory = Program(text), Spans()
    memory.add(x.ctypes.data, x.ctypes.data + x.nbytes)
    machine = Machine(program, np.arange(1), (1, 1, 1), 32, memory)
    machine.R[program.codes["kernel"].parameters["p0"]] = np.array([[x.ctypes.data]], np.uint64)
    machine.run()
    assert x.tolist() == [2.0 * i for i in range(32)]
