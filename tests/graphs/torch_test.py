"""tessera.torch against torch and finite differences; opcheck, gradcheck, vmap, torch.compile, strides and addresses.

Over 400 lines: what torch promises, promise by promise, with the same operands.
"""
import doctest
import functools
import pathlib
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="tessera.torch is NOT tested: install torch")
from torch.autograd import forward_ad, gradcheck, gradgradcheck  # noqa: E402

import tessera  # noqa: E402
import tessera.torch as tt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]

ON_GPU = pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA is NOT tested: no GPU answers"))
devices = pytest.mark.parametrize("device", ["cpu", ON_GPU])


def random(*shape, dtype=torch.float32, seed=0, device="cpu", grad=False):
    numbers = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return torch.from_numpy(numbers).to(device=device, dtype=dtype).requires_grad_(grad)


double = functools.partial(random, dtype=torch.float64, grad=True)
close = functools.partial(torch.testing.assert_close, rtol=1e-5, atol=1e-5)

SHAPES = [((3, 5), (5, 4)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((3, 0), (0, 2)), ((17, 33), (33, 70)), ((5,), (5, 4)), ((3, 5), (5,)),
          ((5,), (5,)), ((6, 3, 5), (5, 4)), ((6, 3, 5), (6, 5, 4)), ((3, 5), (6, 5, 4)), ((2, 1, 3, 5), (7, 5, 4)), ((0, 3, 5), (5, 4))]


@devices
@pytest.mark.parametrize("left, right", SHAPES)
def test_is_the_product_of_torch(left, right, device):
    a, b = random(*left, device=device), random(*right, seed=1, device=device)
    c = tt.matmul(a, b)
    assert c.device == a.device and c.dtype == a.dtype and c.is_contiguous()
    close(c, torch.matmul(a, b))


@pytest.mark.parametrize("dtype, out, tolerance", [(torch.float64, None, 1e-13), (torch.float16, None, 1e-2), (torch.bfloat16, None, 5e-2),
                                                   (torch.bfloat16, torch.float32, 1e-5), (torch.int32, None, 0), (torch.int8, None, 0),
                                                   (torch.uint8, None, 0)])
def test_multiplies_every_type(dtype, out, tolerance):
    a, b = (torch.from_numpy(np.random.default_rng(i).integers(0, 9, (2, 7, 7))).to(dtype) for i in (1, 2))
    c = tt.matmul(a, b, dtype=out)
    assert c.dtype == (out or (torch.int32 if dtype.itemsize == 1 else dtype))
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=tolerance, atol=0)


@pytest.mark.parametrize("algorithm", list(tessera.algorithms()))
def test_every_algorithm(algorithm):
    a, b = random(19, 23), random(23, 21, seed=1)
    torch.testing.assert_close(tt.matmul(a, b, algorithm=algorithm), a @ b, rtol=5e-3, atol=1e-2 if algorithm == "tensor_core" else 1e-5)


def test_operands_of_any_strides_are_multiplied_where_they_lie(monkeypatch):
    seen = []
    multiply = tt._multiply
    monkeypatch.setattr(tt, "_multiply", lambda a, b, out, **how: (seen.append((a, b, out)), multiply(a, b, out=out, **how)))
    base = random(40, 60)
    views = [(base[::2, 3:20], base[:17]), (base.mT[:10], base), (base[None, 5:6].expand(3, 4, 60), base.mT.flip(0).mT[:, :].mT)]
    for a, b in views:
        c = tt.matmul(a, b)
        close(c, a @ b)
        for mine, theirs in zip(seen.pop(), (a, b, c)):
            assert mine.data_ptr() == theirs.data_ptr() and mine.stride() == theirs.stride()


@devices
@pytest.mark.parametrize("how", [{}, {"alpha": 2.0}, {"activation": "gelu"}, {"activation": "relu"}])
def test_opcheck(how, device):
    for a, b, bias in [(random(3, 5, grad=True, device=device), random(5, 4, grad=True, device=device), random(4, grad=True, device=device)),
                       (random(2, 5, 3, device=device).mT, random(5, 4, device=device, grad=True), None),
                       (random(2, 1, 3, 5, device=device), random(6, 4, 5, device=device).mT, None)]:
        torch.library.opcheck(torch.ops.tessera.matmul.default, (a, b, bias), how)


@pytest.mark.parametrize("left, right", SHAPES[:2] + SHAPES[5:12])
def test_gradcheck_of_matmul(left, right):
    a, b = double(*left), double(*right, seed=1)
    assert gradcheck(tt.matmul, (a, b)) and gradgradcheck(tt.matmul, (a, b))


@pytest.mark.parametrize("activation", [None, "relu", "gelu", "silu"])
def test_linear_has_the_framework_s_values_and_gradients(activation):
    act = {None: lambda z: z, "relu": torch.relu, "gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu}[activation]
    x, w, bias = double(2, 9, 8), double(16, 8, seed=1), double(16, seed=2)
    mine = functools.partial(tt.linear, activation=activation)
    expected = act(torch.nn.functional.linear(x, w, bias))
    torch.testing.assert_close(mine(x, w, bias), expected, rtol=1e-12, atol=1e-13)
    grads = [torch.autograd.grad((y ** 2).sum(), (x, w, bias)) for y in (mine(x, w, bias), expected)]
    torch.testing.assert_close(*grads, rtol=1e-10, atol=1e-11)
    small = double(2, 3), double(4, 3, seed=1), double(4, seed=2)
    assert gradcheck(mine, small)
    fused = functools.partial(torch.ops.tessera.matmul, activation=activation or "none")  # its own backward, not that of linear
    assert gradcheck(lambda x, w, bias: fused(x, w.mT, bias), small) and gradgradcheck(lambda x, w, bias: fused(x, w.mT, bias), small)
    with torch.no_grad():
        torch.testing.assert_close(mine(x, w, bias), expected, rtol=1e-12, atol=1e-13)


def test_linear_without_gradients_is_one_operation():
    x, w, bias = random(3, 5), random(4, 5, seed=1), random(4, seed=2)
    with torch.profiler.profile() as profile:
        tt.linear(x, w, bias, activation="gelu")
    names = [event.key for event in profile.key_averages()]
    assert "tessera::matmul" in names and not {"aten::gelu", "aten::add", "aten::mm", "aten::addmm"} & set(names)


@pytest.mark.parametrize("length, others, width, causal", [(1, 1, 1, False), (16, 16, 16, True), (5, 9, 7, False), (37, 37, 24, True)])
def test_attention_has_the_framework_s_values_and_gradients(length, others, width, causal):
    q, k, v = double(2, 3, length, width), double(2, 3, others, width, seed=1), double(2, 3, others, width + 1, seed=2)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    mine = tt.attention(q, k, v, causal=causal)
    torch.testing.assert_close(mine, expected, rtol=1e-10, atol=1e-12)
    grads = [torch.autograd.grad((y ** 2).sum(), (q, k, v)) for y in (mine, expected)]
    torch.testing.assert_close(*grads, rtol=1e-9, atol=1e-11)


def test_attention_by_finite_differences_with_masks():
    q, k, v = (double(3, 4, seed=i) for i in range(3))
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    assert gradcheck(functools.partial(tt.attention, causal=True), (q, k, v))
    assert gradcheck(functools.partial(tt.attention, mask=mask), (q, k, v))
    assert torch.equal(tt.attention(q, k, v, mask=mask)[1], torch.zeros(4, dtype=torch.float64)), "a row that sees nothing is zero"


@pytest.mark.parametrize("in_dims", [(0, None), (None, 0), (0, 0), (1, 0), (0, 2)])
def test_vmap_is_one_batched_product(in_dims, monkeypatch):
    calls = []
    multiply = tt._multiply
    monkeypatch.setattr(tt, "_multiply", lambda *args, **how: (calls.append(args), multiply(*args, **how)))
    a = random(*{None: (4, 5), 0: (6, 4, 5), 1: (4, 6, 5)}[in_dims[0]])
    b = random(*{None: (5, 3), 0: (6, 5, 3), 2: (5, 3, 6)}[in_dims[1]], seed=1)
    close(torch.vmap(tt.matmul, in_dims)(a, b), torch.vmap(torch.matmul, in_dims)(a, b))
    assert len(calls) == 1


def test_vmap_of_linear_and_of_a_gradient():
    x, w, bias = random(3, 4, 5), random(2, 5, seed=1), random(3, 2, seed=2)
    close(torch.vmap(lambda x, bias: tt.linear(x, w, bias, activation="silu"))(x, bias), torch.nn.functional.silu(x @ w.mT + bias[:, None]))
    x = x.requires_grad_()
    rows = torch.eye(4 * 2).reshape(8, 4, 2)  # all gradients of one result at once: vmap of the backward
    for mine, theirs in zip(*(torch.autograd.grad(y, x, rows, is_grads_batched=True) for y in (tt.matmul(x[0], w.mT), x[0] @ w.mT))):
        close(mine, theirs)


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiles_as_one_graph(dynamic):
    def layer(x, w, bias):
        return tt.attention(*(tt.linear(x, each, bias, activation="gelu") for each in w), causal=True).sum()

    compiled = torch.compile(layer, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for length in (6, 9):
        x, w, bias = random(2, length, 5, grad=True), random(3, 8, 5, seed=1, grad=True), random(8, seed=2, grad=True)
        results = [(y, *torch.autograd.grad(y, (x, w, bias))) for y in (layer(x, w, bias), compiled(x, w, bias))]
        torch.testing.assert_close(*results)


def test_compiles_with_inductor():
    compiled = torch.compile(lambda x, w: torch.relu(tt.matmul(x, w.mT)) * 2, fullgraph=True)
    x, w = random(4, 5), random(3, 5, seed=1)
    close(compiled(x, w), torch.relu(x @ w.mT) * 2)


def test_what_is_wrong_is_said():
    a, b = random(3, 5), random(4, 2)
    with pytest.raises(ValueError, match=r"got shapes \(3, 5\) and \(4, 2\)"):
        tt.matmul(a, b)
    with pytest.raises(ValueError, match=r"do not broadcast: got shapes \(2, 3, 5\) and \(3, 5, 1\)"):
        tt.matmul(random(2, 3, 5), random(3, 5, 1))
    with pytest.raises(TypeError, match="got torch.float32 and torch.float64"):
        tt.matmul(a, a.mT.double())
    with pytest.raises(TypeError, match="got torch.complex64"):
        tt.matmul(a.to(torch.complex64), a.mT.to(torch.complex64))
    with pytest.raises(BufferError, match="got cpu and meta"):
        tt.matmul(a, a.mT.to("meta"))
    with pytest.raises(ValueError, match="'tild'.*tiled"):
        tt.matmul(a, a.mT, algorithm="tild")
    with pytest.raises(ValueError, match="unknown activation 'tanh'"):
        tt.matmul(a, a.mT, activation="tanh")
    with pytest.raises(ValueError, match=r"bias of shape \(3,\)"):
        tt.matmul(a, a.mT, bias=random(5))
    with pytest.raises(BufferError, match="a bias on cpu, as a and b, got meta"):
        tt.matmul(a, a.mT, bias=random(3).to("meta"))
    with pytest.raises(TypeError, match="mask has elements of torch.int64: expected torch.bool, or floating"):
        tt.attention(a, a, a, mask=torch.ones(3, 3, dtype=torch.int64))
    with pytest.raises(TypeError, match="mask has elements of torch.uint8"):
        tt.attention(a, a, a, mask=np.ones((3, 3), np.uint8))


@pytest.mark.parametrize("how, message", [
    ({"alpha": "2"}, "alpha is '2', a str: expected a number"), ({"threads": 1.5}, "threads is 1.5, a float: expected a whole number"),
    ({"alpha": torch.tensor(2.0, requires_grad=True)}, "alpha is .* expected a number; it gets no gradient here"),
    ({"algorithm": None}, "algorithm is None: expected 'auto'"), ({"activation": []}, r"activation is \[\], a list: expected None, 'relu'"),
    ({"dtype": 5}, "dtype is 5, an int: expected float64"), ({"bias": [1.0]}, r"bias is \[1.0\], a list: expected a torch.Tensor"),
])
def test_arguments_of_another_kind_are_refused_in_a_sentence(how, message):
    a = random(3, 3)
    with pytest.raises(TypeError, match="^matmul: " + message) as error:
        tt.matmul(a, a, **how)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("operands, kind, message", [
    ((random(3, 5), random(4, 2)), ValueError, r"got shapes \(3, 5\) and \(4, 2\)"),
    ((random(5), random(5, 2)), ValueError, r"expected two matrices or batches of them, got shapes \(5,\) and \(5, 2\)"),
    ((random(3, 5), random(5, 2), random(1, 2)), ValueError, r"a bias of shape \(2,\), .* got \(1, 2\)"),
    ((random(3, 5), random(5, 2).double()), TypeError, "got torch.float32 and torch.float64"),
    ((random(3, 5).to_sparse(), random(5, 2)), TypeError, r"a has layout torch.sparse_coo: expected torch.strided; give its to_dense\(\)"),
    ((random(3, 5), random(5, 2), random(2).to_sparse()), TypeError, "bias has layout torch.sparse_coo"),
])
def test_the_operation_itself_refuses_in_a_sentence(operands, kind, message):
    operation = torch.ops.tessera.matmul
    ways = [operation, lambda *x: operation(x[0].requires_grad_(), *x[1:])]
    if not any(each.is_sparse for each in operands):  # vmap has none
        ways.append(lambda *x: torch.vmap(operation, (0, 0) + (0,) * (len(x) - 2))(*(each.detach().expand(6, *each.shape) for each in x)))
    for call in ways:
        with pytest.raises(kind, match="^matmul: .*" + message) as error:
            call(*operands)
        assert "\n" not in str(error.value)


def test_the_example_compiles_every_algorithm():
    run = subprocess.run([sys.executable, "-m", "tessera.recipe", "matmul", "-m", "9", "-n", "7", "-k", "5", "--framework", "torch"],
                         capture_output=True, text=True)
    assert [line.split()[1:3] for line in run.stdout.splitlines()[1:]] == [[name, "ok"] for name in tessera.algorithms()], run.stderr


def test_what_is_no_tensor_is_named():
    a = random(3, 3)
    for call, message in [(lambda: tt.matmul(a.numpy(), a), "matmul: a is a ndarray: expected a torch.Tensor; torch.as_tensor makes one"),
                          (lambda: tt.matmul(a, tessera.PackedMatrix(a)), "matmul: b is a PackedMatrix: expected a torch.Tensor"),
                          (lambda: tt.linear(a, None), "linear: weight is None: expected a torch.Tensor"),
                          (lambda: tt.matmul(torch.nested.nested_tensor([a, a]), a), "matmul: a is a nested tensor: expected one block"),
                          (lambda: tt.linear(a, torch.quantize_per_tensor(a, 0.1, 0, torch.qint8)), "linear: weight is quantized"),
                          (lambda: tt.attention(a, a, a.to_sparse()), "attention: v has layout torch.sparse_coo"),
                          (lambda: tt.attention(a, a, 5), "attention: v is 5, an int"),
                          (lambda: tt.attention(a, a, a, scale="1"), "attention: scale is '1', a str: expected a number"),
                          (lambda: tt.attention(a, a, a, causal="no"), "attention: causal is 'no', a str: expected True or False")]:
        with pytest.raises(TypeError, match=message):
            call()


def test_vectors_keep_their_shapes_in_messages():
    vector, matrix = random(5), random(4, 2)
    for call, message in [(lambda: tt.matmul(vector, matrix), r"got shapes \(5,\) and \(4, 2\)"),
                          (lambda: tt.matmul(matrix, vector), r"got shapes \(4, 2\) and \(5,\)"),
                          (lambda: tt.matmul(matrix, vector[:2], bias=vector), r"a bias needs columns to be added to, got b of shape \(2,\)"),
                          (lambda: tt.linear(vector, vector), r"linear: weight has shape \(5,\): expected \(N, K\)"),
                          (lambda: tt.attention(vector, matrix, matrix), r"attention: q has shape \(5,\): expected \(..., L, D\)")]:
        with pytest.raises(ValueError, match=message):
            call()


def test_element_types_have_one_set_of_spellings():
    a = random(3, 3, dtype=torch.bfloat16)
    for spelling in (torch.float32, "float32", "f32", "f4", np.float32, np.dtype("float32")):
        assert tt.matmul(a, a, dtype=spelling).dtype == torch.float32 == tessera.matmul(a, a, dtype=spelling).dtype
    assert tt.matmul(a, a, dtype="bf16").dtype == torch.bfloat16
    assert tessera.matmul(a, a, device=torch.device("cpu")).dtype == torch.bfloat16


def test_tensors_without_elements_have_results_without():
    a, b, bias = (random(*shape).to("meta") for shape in ((2, 3, 5), (4, 5), (4,)))
    c = tt.linear(a, b, bias, activation="relu")
    assert c.device.type == "meta" and c.shape == (2, 3, 4) and c.is_contiguous()
    with pytest.raises(ValueError, match=r"got shapes \(2, 3, 5\) and \(4, 5\)"):
        tt.matmul(a, b)


@pytest.mark.parametrize("compiled", [False, True])
def test_autocast_is_that_of_the_framework(compiled):
    def layer(x, w, bias):
        return tt.linear(x, w, bias, activation="relu")

    x, w, bias = random(3, 5, grad=True), random(4, 5, seed=1, grad=True), random(4, seed=2, grad=True)
    function = torch.compile(layer, fullgraph=True, backend="aot_eager") if compiled else layer
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mine, theirs = function(x, w, bias), torch.relu(torch.nn.functional.linear(x, w, bias))
        assert torch.ops.tessera.matmul(x, w.mT).dtype == mine.dtype == theirs.dtype == torch.bfloat16
        assert tt.matmul(x, w.mT, dtype=torch.float32).dtype == torch.float32
        assert tt.matmul(x.double(), w.mT.double()).dtype == torch.float64 and tt.matmul(*[torch.ones(2, 2, dtype=torch.int8)] * 2).dtype == torch.int32
        assert tt.attention(x, w, w).dtype == torch.bfloat16
    torch.testing.assert_close(mine, theirs, rtol=2e-2, atol=2e-2)
    for grad, other in zip(torch.autograd.grad(mine.float().sum(), (x, w, bias)), torch.autograd.grad(theirs.float().sum(), (x, w, bias))):
        assert grad.dtype == torch.float32
        torch.testing.assert_close(grad, other, rtol=3e-2, atol=3e-2)
    assert layer(x, w, bias).dtype == torch.float32


def test_whole_numbers_have_whole_results_or_none():
    a = torch.ones(3, 3, dtype=torch.int8)
    assert tt.matmul(a, a, bias=torch.ones(3, dtype=torch.int32), activation="relu").eq(4).all()
    assert tt.matmul(a, a, bias=a[0]).eq(4).all()
    for activation in ("gelu", "silu"):
        with pytest.raises(TypeError, match=f"torch.int8 has no activation '{activation}'"):
            tt.linear(a, a, activation=activation)
    with pytest.raises(TypeError, match="bias has elements of torch.float32: expected torch.int32 or torch.int8"):
        tt.matmul(a, a, bias=torch.ones(3))
    with pytest.raises(TypeError, match="bias has elements of torch.float64: expected torch.float32; convert"):
        tt.matmul(a.float(), a.float(), bias=random(3, dtype=torch.float64))
    with pytest.raises(TypeError, match="bias has elements of torch.float32"):
        torch.vmap(lambda bias: tt.matmul(a, a, bias=bias))(random(2, 3))


def test_a_negated_view_is_multiplied_as_it_reads():
    negated = torch.view_as_complex(random(3, 4, 2)).conj().imag
    close(tt.matmul(negated, negated.mT), negated.resolve_neg() @ negated.resolve_neg().mT)


def test_a_mask_of_numpy_is_applied():
    q, mask = random(3, 3), np.tri(3, dtype=bool)
    close(tt.attention(q, q, q, mask=mask), tt.attention(q, q, q, causal=True))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="streams are NOT tested: no GPU answers")
def test_runs_on_the_caller_s_stream():
    a, b = random(512, 512, device="cuda"), random(512, 512, seed=1, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        late = a * 2  # done long after the call returns
        c = tt.matmul(late, b)
    stream.synchronize()
    close(c, 2 * a @ b, rtol=1e-4, atol=1e-3)


def test_the_examples_of_the_document():
    found = doctest.testfile(str(ROOT / "docs/torch.md"), module_relative=False)
    assert found.attempted > 8 and found.failed == 0


def test_forward_mode_is_refused_and_not_zero():
    """By the operation itself, whoever calls it."""
    a, b, bias, operation, func = random(3, 5), random(5, 4), random(4), torch.ops.tessera.matmul, torch.func
    for name, call, given in [("a", lambda x: tt.matmul(x, b), a), ("a", lambda x: tt.linear(x, b.mT), a), ("b", lambda w: tt.linear(a, w), b.mT),
                              ("a", lambda x: tt.attention(x, x, x), a), ("b", lambda v: tt.attention(a, a, v), a),
                              ("a", lambda x: operation(x, b), a), ("b", lambda x: operation(a, x), b), ("bias", lambda x: operation(a, b, x), bias),
                              ("a", lambda x: torch.vmap(operation, (0, None))(x[None], b), a)]:
        for forward in (lambda: func.jvp(call, (given,), (given,)), lambda: func.jacfwd(call)(given)):
            with pytest.raises(NotImplementedError, match=f"^matmul: {name} carries a tangent.*expected reverse mode"):
                forward()
        with forward_ad.dual_level(), pytest.raises(NotImplementedError, match=f"{name} carries a tangent"):
            call(forward_ad.make_dual(given, given))
    value, tangent = func.jvp(lambda x: x * operation(a, b).sum(), (a,), (a,))  # what has none is multiplied
    close(tangent, value)
    close(torch.autograd.functional.jvp(lambda x: operation(x, b), a, a)[1], a @ b)  # what the message offers


def test_transforms_that_the_framework_refuses_are_named():
    a, b = random(3, 5), random(5, 4)
    for call in (torch.func.grad, torch.func.jacrev, lambda f: lambda x: torch.func.vjp(f, x)):
        for product in (tt.matmul, torch.ops.tessera.matmul):
            with pytest.raises(NotImplementedError, match=r"torch.func.grad, .* do not know this operation: expected backward\(\)"):
                call(lambda x: product(x, b).sum())(a)
    close(torch.autograd.functional.jacobian(lambda x: tt.matmul(x, b).sum(), a), b.sum(1).expand(3, 5))


@pytest.mark.parametrize("activation", [None, "relu", "gelu", "silu"])
def test_a_checkpoint_computes_the_same_gradients(activation):
    from torch.utils.checkpoint import checkpoint
    weight = random(4, 5)
    kept, again = (random(3, 5, grad=True) for _ in range(2))
    tt.linear(kept, weight, activation=activation).sum().backward()
    checkpoint(lambda x: tt.linear(x, weight, activation=activation), again, use_reentrant=False).sum().backward()
    close(again.grad, kept.grad)
    checkpoint(lambda x: tt.matmul(x, weight.mT, activation=activation), again, use_reentrant=False).sum().backward()


@pytest.mark.parametrize("left, right", [((2, 5, 0), (0, 3)), ((2, 5, 7), (7, 0)), ((0, 5, 7), (7, 3))])
def test_gradients_of_products_without_elements(left, right):
    a, b = random(*left, grad=True), random(*right, grad=True)
    tt.matmul(a, b).sum().backward()
    assert a.grad.shape == left and b.grad.shape == right and not a.grad.any() and (not b.grad.any())


def test_a_written_tensor_is_not_used_for_an_older_gradient():
    weight, out = random(5, 3, grad=True), random(5, 3)
    y = (weight * out).sum()
    tessera.matmul(random(5, 4), random(4, 3), out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with torch.inference_mode():
        inside = torch.empty(5, 3)
        assert tessera.matmul(random(5, 4), random(4, 3), out=inside) is inside


@pytest.mark.parametrize("how, error, message", [
    ({"k": (2, 9, 6)}, ValueError, r"attention: k has shape \(2, 9, 6\): expected \(..., S, 8\)"),
    ({"v": (2, 7, 4)}, ValueError, r"attention: v has shape \(2, 7, 4\): expected \(..., 9, E\)"),
    ({"k": (3, 9, 8)}, ValueError, "attention: the batches do not broadcast"),
    ({"mask": (4, 4)}, ValueError, r"attention: mask has shape \(4, 4\): expected one that broadcasts to \(2, 5, 9\)")])
def test_attention_names_what_does_not_fit(how, error, message):
    shapes = {"q": (2, 5, 8), "k": (2, 9, 8), "v": (2, 9, 4), **how}
    given = {name: random(*shape) for name, shape in shapes.items()}
    with pytest.raises(error, match=message):
        tt.attention(given.pop("q"), given.pop("k"), given.pop("v"), **given)
    q = torch.ones(2, 3, dtype=torch.int32)
    with pytest.raises(TypeError, match="attention: q has elements of torch.int32: expected floating numbers"):
        tt.attention(q, q, q)
    with pytest.raises(ValueError, match=r"linear: x has shape \(2, 3\): expected \(..., 4\)"):
        tt.linear(random(2, 3), random(5, 4))


def test_f8_is_widened():
    a, b = random(4, 9).to(torch.float8_e4m3fn), random(9, 3).to(torch.float8_e5m2)
    for multiply in (tt.matmul, torch.compile(tt.matmul, fullgraph=True, backend="aot_eager"), tessera.matmul):
        c = multiply(a, b)
        assert c.dtype == torch.float32
        torch.testing.assert_close(c, a.float() @ b.float())
    assert tt.matmul(a, b, dtype=torch.bfloat16).dtype == torch.bfloat16
    ml_dtypes = pytest.importorskip("ml_dtypes")
    mixed = tessera.matmul(a, b.float().numpy().astype(ml_dtypes.float8_e5m2))  # one of each library
    torch.testing.assert_close(mixed, a.float() @ b.float())
