"""Exercises of lesson 4: context vectors."""

import torch

from utils.exercise import Exercise, numbers


def _softmax(scores):
    return torch.softmax(scores, dim=-1)


def _mixed(mix):
    """The mechanism, except for what mix makes of Q, K, V and the right divisor."""
    return lambda X, W_q, W_k, W_v: mix(X @ W_q, X @ W_k, X @ W_v, W_k.shape[-1] ** 0.5)


context_vectors = Exercise(
    number="4.1",
    name="context_vectors",
    asked=_mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root) @ V),
    inputs=(
        (numbers(1, 3, 4), numbers(2, 4, 2), numbers(3, 4, 2), numbers(4, 4, 2)),
        (numbers(5, 5, 6), numbers(6, 6, 3) / 2, numbers(7, 6, 3) / 2, numbers(8, 6, 4)),
        (numbers(9, 6, 2), numbers(10, 2, 5) / 2, numbers(11, 2, 5) / 2, numbers(12, 2, 3)),
    ),
    confirmed="All n context vectors, also where values have another width than keys.",
    gradient=True,
    wrong={
        "Queries and keys come from one matrix. Queries take W_q, keys W_k.": [
            lambda X, W_q, W_k, W_v: _softmax(X @ W_q @ (X @ W_q).mT / W_k.shape[-1] ** 0.5) @ (X @ W_v),
            lambda X, W_q, W_k, W_v: _softmax(X @ W_k @ (X @ W_k).mT / W_k.shape[-1] ** 0.5) @ (X @ W_v),
        ],
        "Queries and keys have changed places: K asks and Q answers. Row m of the scores is the query of word m "
        "times all keys, Q @ K.mT, and softmax runs along dim=-1.": (
            _mixed(lambda Q, K, V, root: _softmax(K @ Q.mT / root) @ V)
        ),
        "K is not transposed. A score is a query times a key, so both must bring their c numbers: Q @ K.mT.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K / root) @ V)
        ),
        "You transposed Q, not K. Then words are summed away, and c × c numbers are left: Q @ K.mT.": (
            _mixed(lambda Q, K, V, root: _softmax(Q.mT @ K / root) @ V)
        ),
        "You multiply queries and keys entry by entry. A score sums the products up: Q @ K.mT.": (
            _mixed(lambda Q, K, V, root: _softmax(Q * K / root) @ V)
        ),
        "Queries meet values. A word is found by its key: Q @ K.mT.": [
            _mixed(lambda Q, K, V, root: _softmax(Q @ V.mT / root) @ V),
            _mixed(lambda Q, K, V, root: _softmax(Q @ V.mT / root) @ K),
        ],
        "The matrices stand at the wrong side. With one word per row, it is X @ W_q.": (
            lambda X, W_q, W_k, W_v: _softmax((W_q @ X) @ (W_k @ X).mT / W_k.shape[-1] ** 0.5) @ (W_v @ X)
        ),
        "The scores are not projected: that is X times X transposed, the toy of lesson 1. Compare Q = X @ W_q with "
        "K = X @ W_k.": [
            lambda X, W_q, W_k, W_v: _softmax(X @ X.mT / W_k.shape[-1] ** 0.5) @ (X @ W_v),
            lambda X, W_q, W_k, W_v: _softmax(X @ X.mT) @ (X @ W_v),
        ],
        "That is the toy of lesson 1, which mixes X by the scores X @ X.mT. Project first: Q, K and V have a matrix "
        "each.": lambda X, W_q, W_k, W_v: _softmax(X @ X.mT) @ X,
        "The scores are not divided. Divide them by the root of K.shape[-1] before softmax.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT) @ V)
        ),
        "You divide by √2 whatever c is: the c of the notebook stays 2. Take it from the arguments: K.shape[-1].": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / 2**0.5) @ V)
        ),
        "You divide by c. Divide by its root, K.shape[-1] ** 0.5.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root**2) @ V)
        ),
        "You divide by c and then by 2: ... / K.shape[-1] ** 1/2 reads from left to right. The root is "
        "K.shape[-1] ** 0.5.": _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root**2 / 2) @ V),
        "You multiply the scores by √c. Divide them.": _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT * root) @ V),
        "You divide by √d, the width of the words, X.shape[-1]. A score is a sum of c products: use K.shape[-1].": (
            [
                lambda X, W_q, W_k, W_v: _softmax(X @ W_q @ (X @ W_k).mT / X.shape[-1] ** 0.5) @ (X @ W_v),
                _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / 4**0.5) @ V),  # the d of the notebook
            ]
        ),
        "You divide by √n, the number of words. The width is the last axis of K: K.shape[-1].": (
            [
                _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / len(K) ** 0.5) @ V),
                _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / 7**0.5) @ V),  # the n of the notebook
            ]
        ),
        "You divide by the root of the width of the values. A score knows no values: use K.shape[-1].": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / V.shape[-1] ** 0.5) @ V)
        ),
        "You divide after softmax, so your weights no longer sum to 1. Divide the scores.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT) / root @ V)
        ),
        "Softmax runs along dim=0, so the columns of your weights sum to 1 and not the rows. Use dim=-1.": (
            _mixed(lambda Q, K, V, root: torch.softmax(Q @ K.mT / root, dim=0) @ V)
        ),
        "Two mistakes: the scores are not divided, and softmax runs along dim=0. Divide by K.shape[-1] ** 0.5 and use "
        "dim=-1.": _mixed(lambda Q, K, V, root: torch.softmax(Q @ K.mT, dim=0) @ V),
        "torch.softmax has to be told the axis. Add dim=-1.": (
            _mixed(lambda Q, K, V, root: torch.softmax(Q @ K.mT / root) @ V)
        ),
        "torch.sqrt takes tensors, and a width is a number. Write K.shape[-1] ** 0.5.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / torch.sqrt(K.shape[-1])) @ V)
        ),
        "There is no softmax: you mix with the scores themselves, which are no shares. Take softmax along dim=-1.": [
            _mixed(lambda Q, K, V, root: Q @ K.mT / root @ V),
            _mixed(lambda Q, K, V, root: Q @ K.mT @ V),
        ],
        "Softmax comes too late: the scores mix the values, then softmax takes what comes out. Take softmax of the "
        "scores alone, then @ V.": _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root @ V)),
        "Your weights are transposed. Row m of A holds what word m gives to others: A @ V.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root).mT @ V)
        ),
        "You multiply weights and values entry by entry. Each row of A weighs all rows of V: A @ V.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root) * V)
        ),
        "A and V have changed places. The words summed over are columns of A and rows of V: A @ V.": (
            _mixed(lambda Q, K, V, root: V @ _softmax(Q @ K.mT / root))
        ),
        "V.mT @ A lies on its side, and it mixes with the columns of A. Write A @ V.": (
            _mixed(lambda Q, K, V, root: V.mT @ _softmax(Q @ K.mT / root))
        ),
        "Your result lies on its side, one context vector per column. Write A @ V.": (
            _mixed(lambda Q, K, V, root: (_softmax(Q @ K.mT / root) @ V).mT)
        ),
        "That is one context vector. All n are asked for, one per row: A @ V.": [
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root)[0] @ V),
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root)[2] @ V),
        ],
        "You mix the words themselves, A @ X. What is handed over is a value: A @ V with V = X @ W_v.": (
            lambda X, W_q, W_k, W_v: _softmax(X @ W_q @ (X @ W_k).mT / W_k.shape[-1] ** 0.5) @ X
        ),
        "You mix the keys. What a word is found by is not what it hands over: A @ V.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root) @ K)
        ),
        "You mix the queries. They ask, the values are handed over: A @ V.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root) @ Q)
        ),
        "These are the weights A. The context vectors are one product further: A @ V.": (
            _mixed(lambda Q, K, V, root: _softmax(Q @ K.mT / root))
        ),
        "These are the values, not mixed. Weigh them: A @ V.": _mixed(lambda Q, K, V, root: V),
        "Every word gets the same, the mean of the values. Weigh the values with the rows of A: A @ V.": (
            _mixed(lambda Q, K, V, root: V.mean(dim=0).expand(V.shape))
        ),
    },
)

flops = Exercise(
    number="4.2",
    name="flops",
    asked=lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * c + n * n * v),
    inputs=((7, 4, 2, 3), (5, 6, 3, 2), (100, 64, 16, 48)),
    confirmed="All five products are counted, also where values are wider or narrower than keys.",
    tolerance=1e-9,
    wrong={
        "You count multiply-adds. Each is a multiplication and an addition: times 2.": (
            lambda n, d, c, v: 2 * n * d * c + n * d * v + n * n * c + n * n * v
        ),
        "You double the projections only. The steps of both products of pairs count twice too.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v) + n * n * c + n * n * v
        ),
        "You double the products of pairs only. The steps of the projections count twice too.": (
            lambda n, d, c, v: 2 * n * d * c + n * d * v + 2 * (n * n * c + n * n * v)
        ),
        "That is the formula for values of width c. Here X @ W_v and A @ V make n·v numbers each, not n·c.": (
            lambda n, d, c, v: 2 * (3 * n * d * c + 2 * n * n * c)
        ),
        "You give queries and keys the width v. It is that of the values only; queries and keys keep c.": (
            lambda n, d, c, v: 2 * (3 * n * d * v + 2 * n * n * v)
        ),
        "V = X @ W_v still counts as n·d·c. It makes n·v numbers, each from d steps.": (
            lambda n, d, c, v: 2 * (3 * n * d * c + n * n * c + n * n * v)
        ),
        "A @ V still counts as n·n·c. It makes n·v numbers, each from n steps.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + 2 * n * n * c)
        ),
        "A @ V counts as n·c·v. It makes n·v numbers, each from n steps, one for each word looked at: n·n·v.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * c + n * c * v)
        ),
        "The scores count as n·n·v. Each is a query times a key, so it takes c steps.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + 2 * n * n * v)
        ),
        "The scores count as n·n·d. They compare queries and keys, which have c numbers and not d.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * d + n * n * v)
        ),
        "Both products of pairs count as n·n·d. After the projections no row is d wide: they take n·n·c and n·n·v.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + 2 * n * n * d)
        ),
        "You count the pairs twice. The 2 in 2n²c stands for the two products, which are n·n·c and n·n·v here.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + 2 * n * n * (c + v))
        ),
        "You give two of the projections the width v. Only X @ W_v has it; queries and keys keep c.": (
            lambda n, d, c, v: 2 * (n * d * c + 2 * n * d * v + n * n * c + n * n * v)
        ),
        "You count too many products: three projections and two products of pairs for each of c and v. "
        "Queries, keys and scores go with c only, values and A @ V with v only.": (
            lambda n, d, c, v: 2 * (3 * n * d * (c + v) + 2 * n * n * (c + v))
        ),
        "n^2 is no power in Python: ^ compares bits. Write n**2 or n * n.": [
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n ^ 2 * c + n ^ 2 * v),
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n ^ 2 * (c + v)),
            lambda n, d, c, v: 2 * (n * d * (2 * c + v) + (n ^ 2) * (c + v)),
        ],
        "You left V = X @ W_v out: it makes n·v numbers, each from d steps.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * n * c + n * n * v)
        ),
        "You left A @ V out: it makes n·v numbers, each from n steps.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * c)
        ),
        "You left the scores out: they are n·n numbers, each from c steps.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * v)
        ),
        "You count one projection to width c. There are two, queries and keys.": (
            lambda n, d, c, v: 2 * (n * d * c + n * d * v + n * n * c + n * n * v)
        ),
        "You count the projections only. The scores and A @ V are missing.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v)
        ),
        "You count the products of pairs only. The three projections are missing.": (
            lambda n, d, c, v: 2 * (n * n * c + n * n * v)
        ),
        "Each word is compared with one word only. With n words there are n·n pairs, in the scores and in A @ V.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * c + n * v)
        ),
        "You count the division or the softmax too. The formula is that of the five products alone.": [
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * c + n * n * v) + n * n,
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * c + n * n * v) + 2 * n * n,
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * c + n * n * v + n * n) + 2 * n * n,
        ],
        "You count the transpose too. It computes nothing: it reads the same numbers in another order.": (
            lambda n, d, c, v: 2 * (2 * n * d * c + n * d * v + n * n * c + n * n * v) + n * c
        ),
    },
)


def _repaired(scale=True, dim=-1, transposed=False):
    def answer(Q, K, V):
        Omega = Q @ K.mT / (K.shape[-1] ** 0.5 if scale else 1)
        A = torch.softmax(Omega, dim=dim)
        return (A.mT if transposed else A) @ V

    return answer


repaired = Exercise(
    number="4.3",
    name="repaired",
    asked=_repaired(),
    inputs=(
        (numbers(1, 3, 2), numbers(2, 3, 2), numbers(3, 3, 4)),
        (numbers(4, 6, 3), numbers(5, 6, 3), numbers(6, 6, 2)),
        (numbers(7, 4, 5), numbers(8, 4, 5), numbers(9, 4, 7)),
    ),
    confirmed="The scores are divided, each row of weights sums to 1, and each word is mixed by its own row.",
    gradient=True,
    wrong={
        "These are still the broken lines: no division by √c, softmax along dim=0, and A transposed in the product.": (
            _repaired(scale=False, dim=0, transposed=True)
        ),
        "Scaled, but with two mistakes left that hide each other: softmax along dim=0 and A transposed. Together they "
        "are softmax(K Qᵀ) by rows: keys ask and queries answer.": [
            _repaired(dim=0, transposed=True),
            lambda Q, K, V: _repaired()(K, Q, V),
        ],
        "Each word is mixed by its own row now. Two mistakes are left: the scores are not divided by √c, and softmax "
        "still runs along dim=0.": _repaired(scale=False, dim=0),
        "Your rows of A sum to 1 now. Two mistakes are left: the scores are not divided by √c, and (V.mT @ A).mT is "
        "A.mT @ V.": _repaired(scale=False, transposed=True),
        "One mistake is left: the scores are not divided by √c, K.shape[-1] ** 0.5.": _repaired(scale=False),
        "One mistake is left: softmax runs along dim=0, so the columns of A sum to 1. Use dim=-1.": _repaired(dim=0),
        "One mistake is left: (V.mT @ A).mT is A.mT @ V, so each word is mixed by what others give it. Write A @ V.": (
            _repaired(transposed=True)
        ),
        "You divide by c. Divide by its root, K.shape[-1] ** 0.5.": (
            lambda Q, K, V: _softmax(Q @ K.mT / K.shape[-1]) @ V
        ),
        "You divide by √n: Q.shape[0] and K.shape[0] count words. The width is K.shape[-1].": (
            lambda Q, K, V: _softmax(Q @ K.mT / len(Q) ** 0.5) @ V
        ),
        "You divide by √d, and d is the width of the words. A score is a sum of c products: K.shape[-1].": (
            lambda Q, K, V: _softmax(Q @ K.mT / 4**0.5) @ V  # the d of the notebook
        ),
        "You divide by c and then by 2: ... / K.shape[-1] ** 1/2 reads from left to right. The root is "
        "K.shape[-1] ** 0.5.": lambda Q, K, V: _softmax(Q @ K.mT / K.shape[-1] / 2) @ V,
        "You divide by the root of the width of V. A score is a sum over the width of the keys: K.shape[-1].": (
            lambda Q, K, V: _softmax(Q @ K.mT / V.shape[-1] ** 0.5) @ V
        ),
        "You divide by √2 whatever c is: the c of the notebook stays 2. Take it from the arguments: K.shape[-1].": (
            lambda Q, K, V: _softmax(Q @ K.mT / 2**0.5) @ V
        ),
        "You multiply the scores by √c. Divide them.": lambda Q, K, V: _softmax(Q @ K.mT * K.shape[-1] ** 0.5) @ V,
        "You divide after softmax, so the rows of A no longer sum to 1. Divide the scores.": (
            lambda Q, K, V: _softmax(Q @ K.mT) / K.shape[-1] ** 0.5 @ V
        ),
        "Your result lies on its side, one context vector per column. Transpose it back, or write A @ V.": (
            lambda Q, K, V: (_repaired()(Q, K, V)).mT
        ),
        "V.mT @ A is not yet transposed back, and it mixes with the columns of A. Write A @ V.": (
            lambda Q, K, V: V.mT @ _softmax(Q @ K.mT / K.shape[-1] ** 0.5)
        ),
        "V @ A does not fit: the words summed over are columns of A and rows of V. Write A @ V.": (
            lambda Q, K, V: V @ _softmax(Q @ K.mT / K.shape[-1] ** 0.5)
        ),
        "These are the weights A. Mix the values with them: A @ V.": (
            lambda Q, K, V: _softmax(Q @ K.mT / K.shape[-1] ** 0.5)
        ),
        "You mix the keys. What a word is found by is not what it hands over: A @ V.": (
            lambda Q, K, V: _softmax(Q @ K.mT / K.shape[-1] ** 0.5) @ K
        ),
        "A @ V.mT does not fit: the columns of A are words, and so must be the rows of what it meets. Write A @ V.": (
            lambda Q, K, V: _softmax(Q @ K.mT / K.shape[-1] ** 0.5) @ V.mT
        ),
    },
)
