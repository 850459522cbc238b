"""Exercises of lesson 5: trainable attention."""

import torch
from torch import nn

from utils.attention import SelfAttention
from utils.exercise import Exercise, numbers

# 5.1 Fill three layers


def _filled_and_trained(answer, X, W_q, W_k, W_v):
    """Rows of context vectors: as filled, after a step of training; then the three matrices after that step."""
    matrices = [W.clone() for W in (W_q, W_k, W_v)]
    module = SelfAttention(*W_q.shape).double()
    with torch.no_grad():
        for i, layer in enumerate((module.W_q, module.W_k, module.W_v)):
            layer.weight.copy_(torch.linspace(-1, 1 + i, W_q.numel()).view(W_q.mT.shape))
    module = answer(module, *matrices)
    if module is None or module is ...:
        return module
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected the module itself, got a value of type {type(module).__name__}")
    before = _context_vectors(module, X)
    if before.requires_grad:
        before.square().sum().backward()
    with torch.no_grad():
        for W in module.parameters():
            W -= 0.1 * W.grad if W.grad is not None else 0
    return torch.cat([before, _context_vectors(module, X), *matrices])


def _context_vectors(module, X):
    result = module(X)
    return result[0] if isinstance(result, tuple) else result


def _copying(change=lambda W: W.mT, order=(0, 1, 2), only=3, transposed=()):
    """Copy change(W), or W.mT where i is in transposed, the matrices taken in this order and only so many of them."""

    def filled(module, *matrices):
        layers = (module.W_q, module.W_k, module.W_v)
        with torch.no_grad():
            for layer, i in list(zip(layers, order, strict=True))[:only]:
                layer.weight.copy_(matrices[i].mT if i in transposed else change(matrices[i]))
        return module

    return filled


def _each(put):
    """Apply put(layer, W) to each layer and its matrix."""

    def filled(module, W_q, W_k, W_v):
        for layer, W in ((module.W_q, W_q), (module.W_k, W_k), (module.W_v, W_v)):
            put(layer, W)
        return module

    return filled


def _assign(layer, W):
    layer.weight = W


def _assign_data(layer, W):
    layer.weight.data = W


def _write(change):
    def put(layer, W):
        with torch.no_grad():
            layer.weight[:] = change(W)

    return put


def _add(layer, W):
    with torch.no_grad():
        layer.weight += W.mT


def _load(module, name, *matrices):
    module.load_state_dict({name.format(each): W for each, W in zip(("W_q", "W_k", "W_v"), matrices, strict=True)})
    return module


def _replace_layer(module, W_q, W_k, W_v):
    module.W_q, module.W_k, module.W_v = W_q, W_k, W_v
    return module


def _fill_and_freeze(module, *matrices):
    return _copying()(module, *matrices).requires_grad_(False)


filled = Exercise(
    number="5.1",
    name="filled",
    asked=_copying(),
    inputs=(
        (numbers(1, 2, 3), numbers(2, 3, 2), numbers(3, 3, 2), numbers(4, 3, 2)),
        (numbers(5, 5, 3), numbers(6, 3, 3), numbers(7, 3, 3), numbers(8, 3, 3)),
        (numbers(9, 4, 3), numbers(10, 3, 5), numbers(11, 3, 5), numbers(12, 3, 5)),
    ),
    use=_filled_and_trained,
    confirmed="The layers give the C of the formulas, whether d = c or not, and a step of training moves them alone.",
    wrong={
        "A matrix is copied as it is, (in, out), but nn.Linear stores (out, in). Copy W.mT, for all three.": [
            _copying(lambda W: W),
            _each(_assign_data),
            _each(lambda layer, W: _assign(layer, nn.Parameter(W))),
            _copying(lambda W: W, transposed=(1, 2)),
            _copying(lambda W: W, transposed=(0, 2)),
            _copying(lambda W: W, transposed=(0, 1)),
            _each(_write(lambda W: W)),
            lambda module, *matrices: _load(module, "{}.weight", *matrices),
        ],
        "You transpose only where the shapes differ. With d = c the untransposed copy fits and is wrong: "
        "transpose always.": _copying(lambda W: W if W.shape[0] == W.shape[1] else W.mT),
        "The shape is right, but .view and .reshape deal out the numbers in another order. Exchange rows and columns "
        "with W.mT.": _copying(lambda W: W.reshape(W.mT.shape)),
        "Two matrices are exchanged. Each belongs into the layer of its own name.": [
            _copying(order=(1, 0, 2)),
            _copying(order=(0, 2, 1)),
        ],
        "The layer W_v still has its old numbers. Copy the third matrix too.": _copying(only=2),
        "All three layers got W_q. Take the matrix that belongs to the layer.": _copying(order=(0, 0, 0)),
        "The layers still have their old numbers. weight = W.mT, .clone() and state_dict()[…] = W.mT leave a layer as "
        "it was; weight.copy_(W.mT) writes into it.": [
            lambda module, W_q, W_k, W_v: module,
            _each(lambda layer, W: layer.weight.detach().clone().copy_(W.mT)),
            _each(lambda layer, W: layer.state_dict().update(weight=W.mT)),
        ],
        "PyTorch keeps track of what is done to a parameter, and refuses to have it overwritten meanwhile. Copying is "
        "not training: put it under with torch.no_grad().": [
            _each(lambda layer, W: layer.weight.copy_(W.mT)),
            _each(lambda layer, W: layer.weight.copy_(W)),
        ],
        "A plain tensor cannot take the place of a parameter: it would not be on the list of what is trained. Copy the "
        "numbers into the one that is there, weight.copy_(W.mT).": [
            _each(lambda layer, W: _assign(layer, W.mT)),
            _each(_assign),
        ],
        "Your numbers were added to the old ones. Overwrite them: weight.copy_(W.mT).": _each(_add),
        "load_state_dict finds no such names. They are those that state_dict() lists: W_q.weight, not W_q.": [
            lambda module, *matrices: _load(module, "{}", *(W.mT for W in matrices)),
            lambda module, *matrices: _load(module, "{}", *matrices),
        ],
        "load_state_dict returns a report about names. Return module on a line of its own.": (
            lambda module, *matrices: module.load_state_dict(module.state_dict())
        ),
        "You put a matrix where a layer belongs. Keep the layer and copy the numbers into its weight, "
        "module.W_q.weight.": _replace_layer,
        "The numbers are right, but layer and matrix share their memory: training the module changed your W_q, W_k and "
        "W_v. Copy the numbers with weight.copy_(W.mT).": [
            _each(lambda layer, W: _assign(layer, nn.Parameter(W.mT))),
            _each(lambda layer, W: _assign_data(layer, W.mT)),
        ],
        "The numbers are right, but a step of training moves nothing: your weights no longer ask for a slope. Keep "
        "requires_grad=True.": [
            _fill_and_freeze,
            _each(lambda layer, W: _assign(layer, nn.Parameter(W.mT.clone(), requires_grad=False))),
        ],
    },
)

# 5.2 Let the slopes through


def _with_slopes(answer, X, W_q, W_k, W_v):
    """The context vectors and the slopes of a number made from them at each input, all in one row."""
    leaves = [W.clone().requires_grad_() for W in (X, W_q, W_k, W_v)]
    C = answer(*leaves)
    if isinstance(C, tuple):
        raise TypeError("expected C alone, got a tuple")
    if not torch.is_tensor(C) or not C.dtype.is_floating_point:
        return C
    if C.requires_grad:
        (C * torch.linspace(1, 2, C.numel()).view(C.shape)).sum().backward()
    slopes = [torch.zeros_like(W) if W.grad is None else W.grad for W in leaves]
    return torch.cat([each.flatten().to(X.dtype) for each in (C, *slopes)])


def _same(tensor):
    return tensor


def _cut(tensor):
    return tensor.detach()


def _attend(
    q=_same, k=_same, v=_same, Q=_same, K=_same, V=_same, Omega=_same, A=_same, C=_same, X=_same, root=lambda c: c**0.5
):
    """Attention with a detour for any of its matrices; q, k, v are W_q, W_k, W_v."""

    def trainable_attention(words, W_q, W_k, W_v):
        queries, keys, values = Q(X(words) @ q(W_q)), K(X(words) @ k(W_k)), V(X(words) @ v(W_v))
        scores = Omega(queries @ keys.mT) / root(W_k.shape[-1])
        return C(A(torch.softmax(scores, dim=-1)) @ values)

    return trainable_attention


def _anew(tensor):
    return tensor.detach().clone().requires_grad_()


def _rewrite(tensor):
    return torch.tensor(tensor.tolist(), dtype=tensor.dtype)


def _without_slopes(*given):
    with torch.no_grad():
        return _attend()(*given)


trainable_attention = Exercise(
    number="5.2",
    name="trainable_attention",
    asked=_attend(),
    inputs=(
        (numbers(1, 2, 3), numbers(2, 3, 2), numbers(3, 3, 2), numbers(4, 3, 2)),
        (numbers(5, 5, 4), numbers(6, 4, 3), numbers(7, 4, 3), numbers(8, 4, 3)),
        (numbers(9, 4, 2), numbers(10, 2, 5), numbers(11, 2, 5), numbers(12, 2, 5)),
    ),
    use=_with_slopes,
    confirmed="The context vectors are right, and so are the slopes at all four inputs: training moves each of them.",
    wrong={
        "The context vectors are right, but no slope reaches any matrix: the result itself is cut, by no_grad, .detach "
        "or torch.tensor(…), or each way to it is. A requires_grad_() afterwards does not join it again.": [
            _attend(q=_cut, V=_cut, Omega=_rewrite),
            _attend(q=_cut, V=_cut, Omega=_cut),
            _attend(V=_cut, Omega=_rewrite),
            _attend(V=_cut, A=_cut),
            _attend(C=_cut),
            _attend(C=_rewrite),
            _attend(C=_anew),
            _without_slopes,
        ],
        "W_v gets its slopes, W_q and W_k get none: the way from them to the weights is cut. "
        "torch.tensor(…) and .detach() keep the numbers and forget where they come from; a requires_grad afterwards "
        "does not join them again. Go on with Omega itself.": [
            _attend(Omega=_rewrite),
            _attend(Omega=_cut),
            _attend(A=_cut),
            _attend(q=_cut, Omega=_rewrite),
            _attend(Omega=_anew),
        ],
        "W_k gets its slopes, W_q and W_v get none. Take the .detach() from W_q and the .data from the values.": [
            _attend(q=_cut, V=_cut),
            _attend(Q=_cut, V=_cut),
            _attend(q=_cut, v=_cut),
        ],
        "W_q gets no slope: it, or the queries, are cut off with .detach() or .data. Write X @ W_q.": [
            _attend(q=_cut),
            _attend(Q=_cut),
        ],
        "W_k gets no slope: it, or the keys, are cut off. Write X @ W_k.": [_attend(k=_cut), _attend(K=_cut)],
        "W_v gets no slope: .data, like .detach(), gives the numbers without their past. Write X @ W_v.": [
            _attend(v=_cut),
            _attend(V=_cut),
        ],
        "No matrix gets a slope, X does: each matrix is cut with .detach(), or made into a new tensor in the function, "
        "with nn.Parameter or torch.tensor, and the slopes end there. Use the matrices that are given.": [
            _attend(q=nn.Parameter, k=nn.Parameter, v=nn.Parameter),
            _attend(q=_rewrite, k=_rewrite, v=_rewrite),
            _attend(q=_cut, k=_cut, v=_cut),
            _attend(q=_anew, k=_anew, v=_anew),
        ],
        "The matrices get their slopes, X gets none. Embeddings are trained too: use X without .detach().": _attend(
            X=_cut
        ),
        "Slopes pass, but the scores are not divided by √c: it got lost in the repair.": _attend(root=lambda c: 1),
        "You divide by √2 whatever c is. Read the width from K.shape[-1].": _attend(root=lambda c: 2**0.5),
        "You divide by c. Divide by its root, K.shape[-1] ** 0.5.": _attend(root=lambda c: c),
        "You return C and A, as the modules of this lesson do. The task asks for C alone.": [
            lambda X, *W: (_attend()(X, *W), X),
        ],
        "numpy knows nothing of slopes. What PyTorch advises here, .detach().numpy(), is what cuts them: stay with "
        "tensors.": [_attend(Omega=lambda Omega: torch.from_numpy(Omega.numpy())), _attend(C=lambda C: C.numpy())],
    },
)

# 5.3 Predict what training has to find

to_learn = Exercise(
    number="5.3",
    name="to_learn",
    asked=40 * 10 + 12 * 10 + 3 * 10 * 3 + (3 * 6 + 6),
    confirmed="Every number that training can move is counted, and counted once.",
    wrong={
        "You left out the 6 biases of the last layer. It is an nn.Linear without bias=False.": 628,
        "You gave the three layers of attention biases. They have bias=False: d · c numbers each.": 643,
        "You left out the positions: 12 rows of d numbers are trained too.": 514,
        "You left out the embeddings of the words: 40 rows of d numbers are trained too.": 234,
        "You left out both embeddings, 40 rows for words and 12 for places. They are trained like the rest.": 114,
        "You counted W_q, W_k or W_v alone. Attention has all three, d · c numbers each.": 574,
        "You counted attention alone. Embeddings and the last layer are trained with it.": 90,
        "Your three matrices are d · d. They lead from d to c numbers, so each has d · c.": 844,
        "You left out attention itself: three matrices of d · c numbers.": 544,
        "Your last layer starts from d numbers. It reads a context vector, which has c.": [676, 670],
        "You counted Q, K and V, for 12 words. They are computed anew for each sentence; only the matrices that make "
        "them are kept.": [742, 652],
        "You counted the weights A, 12 · 12. They are computed anew for each sentence and not kept.": 778,
        "You left out the last layer: c · 6 numbers and 6 biases.": 610,
        "You kept the 8 places of the model above. This one reads up to 12 words.": 594,
        "This is the number of the model above. Take the widths and counts of the task.": 495,
    },
)
