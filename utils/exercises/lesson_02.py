"""Exercises of lesson 2: projections."""

import torch

from utils.exercise import Exercise, numbers
from utils.sentence import LABELS, hand_made_projections, input_embeddings

FRUSTUM = torch.tensor(
    [[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 2.0], [0.0, 0.0, -4.0, 0.0]], dtype=torch.float64
)
LESSON_FRUSTUM = torch.tensor(
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.4, 1.0], [0.0, 0.0, -2.4, 0.0]], dtype=torch.float64
)
CORNERS = torch.tensor([[1.0, 2.0, 4.0], [-2.0, 0.0, 2.0]], dtype=torch.float64)


def _append(points, last=1.0):
    """Return the points with a fourth coordinate: n × 4."""
    return torch.cat([points, torch.full_like(points[:, :1], last)], dim=1)


def _moved(points, M):
    return _append(points) @ M


def _divided(moved):
    return moved[:, :3] / moved[:, 3:]


screen_points = Exercise(
    number="2.1",
    name="screen_points",
    asked=lambda points, M: _divided(_moved(points, M)),
    inputs=(
        (CORNERS, FRUSTUM),
        (numbers(1, 5, 3), numbers(5, 4, 4)),
        (numbers(3, 6, 3), numbers(4, 4, 4) + 3 * torch.eye(4)),
    ),
    confirmed="Every camera shows its points where it should, near and far.",
    wrong={
        "You did not divide. Divide each row by its fourth coordinate, moved[:, 3:].": (
            lambda points, M: _moved(points, M)[:, :3]
        ),
        "The result still has the fourth coordinate. After the division keep the first three columns, [:, :3].": [
            lambda points, M: _moved(points, M) / _moved(points, M)[:, 3:],
        ],
        "You return the product itself, four columns. Divide the first three by the fourth.": _moved,
        "The fourth coordinate is missing. Append a 1 to each point before the product, so that row 4 of M counts.": [
            lambda points, M: _divided(_append(points, 0.0) @ M),
            lambda points, M: points @ M[:3, :3],
            lambda points, M: points @ M,
        ],
        "You put the 1 in front of x, y and z. It is the fourth coordinate: append it.": (
            lambda points, M: _divided(_append(points).roll(1, 1) @ M)
        ),
        "Your M is transposed. Points are rows and M stands to their right: h @ M, where h has the 1 appended.": [
            lambda points, M: _divided(_append(points) @ M.mT),
            lambda points, M: (M @ _append(points).mT)[:3].mT,
            lambda points, M: (M @ _append(points).mT)[:3],
            lambda points, M: _divided((M @ _append(points).mT).mT).mT,
        ],
        "M stands to the left of the points, and the shapes do not fit. Points are rows, so it is h @ M.": (
            lambda points, M: M @ _append(points)
        ),
        "You divide by the depth z that a point had before. Divide by the fourth coordinate after the product; M "
        "decides what it is.": [
            lambda points, M: _moved(points, M)[:, :3] / points[:, 2:],
            lambda points, M: (_append(points / points[:, 2:]) @ M)[:, :3],
            lambda points, M: (_append(points) / points[:, 2:]) @ M,
            lambda points, M: points / points[:, 2:] @ M[:3, :3],
        ],
        "You divide by the third coordinate after the product, so every depth becomes 1. Divide by the fourth.": [
            lambda points, M: _moved(points, M)[:, :3] / _moved(points, M)[:, 2:3],
        ],
        "You multiply by the fourth coordinate. Divide by it: what is far away gets smaller.": (
            lambda points, M: _moved(points, M)[:, :3] * _moved(points, M)[:, 3:]
        ),
        "You divide x and y, but not the third number. All three are divided.": (
            lambda points, M: torch.cat(
                [_divided(_moved(points, M))[:, :2], _moved(points, M)[:, 2:3]],
                dim=1,
            )
        ),
        "Your third number is the z that a point had before. Like x and y, the depth on the screen comes out of the "
        "product and is divided.": lambda points, M: torch.cat(
            [_divided(_moved(points, M))[:, :2], points[:, 2:]],
            dim=1,
        ),
        "You multiply by the frustum of the lesson, not by the argument M. A camera may be any matrix.": (
            lambda points, M: _divided(_moved(points, LESSON_FRUSTUM))
        ),
        "You append the 1 after the product, where it changes nothing. Append it before, so that row 4 of M counts, "
        "and divide afterwards.": lambda points, M: _append(points @ M[:3, :3]),
        "All points are divided by the fourth coordinate of the first one. Each has its own: moved[:, 3:].": (
            lambda points, M: _moved(points, M)[:, :3] / _moved(points, M)[0, 3]
        ),
        "You divide by the fourth coordinates added up. Each point has its own: moved[:, 3:].": (
            lambda points, M: _moved(points, M)[:, :3] / _moved(points, M)[:, 3].sum()
        ),
        "You appended the depth z. The fourth coordinate is 1 before the product; after it, M has made it what is "
        "divided by.": lambda points, M: _divided(torch.cat([points, points[:, 2:]], dim=1) @ M),
        "You append eight ones, as for the corners of the cube. There are len(points) points.": (
            lambda points, M: torch.cat([points, torch.ones(8, 1).to(M)], dim=1) @ M
        ),
        "The ones are a vector, the points a matrix. They need a column: torch.ones(len(points), 1).": (
            lambda points, M: torch.cat([points, torch.ones(len(points)).to(M)], dim=1) @ M
        ),
        "The ones are put below the points, as another row, and do not fit. They are another column: dim=1.": (
            lambda points, M: torch.cat([points, torch.ones(len(points), 1).to(M)], dim=0) @ M
        ),
        "You take rows, [3], for the fourth coordinate. A point is a row, its coordinates are columns: [:, 3:].": [
            lambda points, M: _moved(points, M)[:, :3] / _moved(points, M)[3],
            lambda points, M: _moved(points, M)[:3] / _moved(points, M)[3],
        ],
        "You return x and y only. The third number, the depth, is divided and kept as well.": (
            lambda points, M: _divided(_moved(points, M))[:, :2]
        ),
        "You divide by a vector, which stands along the columns. Keep its axis: moved[:, 3:], not moved[:, 3].": (
            lambda points, M: _moved(points, M)[:, :3] / _moved(points, M)[:, 3]
        ),
        "You divide each row by its sum. That is for shares; divide by the fourth coordinate.": [
            lambda points, M: _moved(points, M)[:, :3] / _moved(points, M)[:, :3].sum(dim=1, keepdim=True),
            lambda points, M: _moved(points, M)[:, :3] / _moved(points, M).sum(dim=1, keepdim=True),
        ],
    },
)

WORDS = torch.tensor([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 1.0, 0.0], [2.0, 1.0, 0.0, 1.0]], dtype=torch.float64)
LOOKS = torch.tensor([[2.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
OFFERS = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 0.0], [0.0, -1.0]], dtype=torch.float64)


def _column_tokens(X, W_q, W_k):
    Q = W_q @ X.mT
    K = W_k @ X.mT
    return Q.mT @ K


all_scores = Exercise(
    number="2.2",
    name="all_scores",
    asked=lambda X, W_q, W_k: X @ W_q @ (X @ W_k).mT,
    inputs=(
        (WORDS, LOOKS, OFFERS),
        (numbers(1, 5, 3), numbers(2, 3, 4), numbers(3, 3, 4)),
        (numbers(4, 4, 6), numbers(5, 6, 3), numbers(6, 6, 3)),
    ),
    confirmed="Rows belong to the words that look, columns to the words looked at, for any n, d and c.",
    wrong={
        "W_q stands to the left, as in the broken lines, and d × c does not fit d × n. A word is a row here, so the "
        "queries are X @ W_q, one row per word.": [
            _column_tokens,
            lambda X, W_q, W_k: (W_q @ X.mT) @ (W_k @ X.mT).mT,
        ],
        "Your result is c × c: the sum runs over the words, so you compare axes. With words as rows of Q and of K, it "
        "is Q @ K.mT.": [
            lambda X, W_q, W_k: (X @ W_q).mT @ (X @ W_k),
            lambda X, W_q, W_k: (X @ W_k).mT @ (X @ W_q),
            lambda X, W_q, W_k: (W_q.mT @ X.mT) @ (W_k.mT @ X.mT).mT,
        ],
        "K is not transposed, so the inner sizes do not fit. Write Q @ K.mT: rows of Q against rows of K.": (
            lambda X, W_q, W_k: (X @ W_q) @ (X @ W_k)
        ),
        "W stands to the left of X, and the shapes do not fit. A word is a row of X, so it is X @ W_q.": [
            lambda X, W_q, W_k: (W_q @ X) @ (W_k @ X).mT,
            lambda X, W_q, W_k: (W_q @ X).mT @ (W_k @ X),
            lambda X, W_q, W_k: (W_q.mT @ X) @ (W_k.mT @ X).mT,
            lambda X, W_q, W_k: (W_q.mT @ X).mT @ (W_k.mT @ X),
        ],
        "W_q is transposed without need. A row of X has d numbers, W_q has d rows: X @ W_q.": (
            lambda X, W_q, W_k: (X @ W_q.mT) @ (X @ W_k.mT).mT
        ),
        "Queries and keys are swapped: row m holds what all words look for in word m. Rows are for the words that "
        "look, Q @ K.mT.": lambda X, W_q, W_k: (X @ W_k) @ (X @ W_q).mT,
        "W_q does both jobs, so your Ω is symmetric. The keys come from W_k.": (
            lambda X, W_q, W_k: (X @ W_q) @ (X @ W_q).mT
        ),
        "W_k does both jobs, so your Ω is symmetric. The queries come from W_q.": (
            lambda X, W_q, W_k: (X @ W_k) @ (X @ W_k).mT
        ),
        "On the left stands X itself, where Q belongs: n × d does not fit c × n. Project the words that look as well, "
        "Q = X @ W_q.": (lambda X, W_q, W_k: X @ (X @ W_k).mT),
        "On the right stands X itself, where K belongs: n × c does not fit d × n. Project the words looked at as well, "
        "K = X @ W_k.": (lambda X, W_q, W_k: (X @ W_q) @ X.mT),
        "Here X stands turned on the left, so axes are compared and not words. Words stay in rows: X @ (W_q @ W_k.mT) "
        "@ X.mT.": lambda X, W_q, W_k: X.mT @ (W_q @ W_k.mT) @ X,
        "reshape gives K the right shape and the wrong numbers: the entries stay in their order. A transpose exchanges "
        "rows and columns: K.mT.": lambda X, W_q, W_k: (X @ W_q) @ (X @ W_k).reshape(W_k.shape[1], -1),
        "These are the queries, n × c. Compare them with the keys: Q @ K.mT.": lambda X, W_q, W_k: X @ W_q,
        "These are the keys, n × c. Compare the queries with them: Q @ K.mT.": lambda X, W_q, W_k: X @ W_k,
        "This is the toy of lesson 1, X Xᵀ: no projection takes part. Compare Q = X @ W_q with K = X @ W_k.": (
            lambda X, W_q, W_k: X @ X.mT
        ),
        "You have one score per word, that of the word against itself. Every query meets every key: Q @ K.mT.": [
            lambda X, W_q, W_k: ((X @ W_q) * (X @ W_k)).sum(dim=-1),
            lambda X, W_q, W_k: torch.diag(((X @ W_q) * (X @ W_k)).sum(dim=-1)),
        ],
        "* multiplies Q and K entry by entry and never adds up. A score is one number, so it is @: Q @ K.mT.": [
            lambda X, W_q, W_k: (X @ W_q) * (X @ W_k),
            lambda X, W_q, W_k: (X @ W_q)[:, None] * (X @ W_k),
        ],
        "These are weights. Only the scores are asked for, before softmax.": [
            lambda X, W_q, W_k: torch.softmax(X @ W_q @ (X @ W_k).mT, dim=-1),
            lambda X, W_q, W_k: torch.softmax(X @ W_q @ (X @ W_k).mT, dim=0),
            lambda X, W_q, W_k: torch.softmax(X @ W_q @ (X @ W_k).mT / W_q.shape[1] ** 0.5, dim=-1),
        ],
        "You divide by √c. That comes in lesson 3; here the scores are the plain dot products.": (
            lambda X, W_q, W_k: X @ W_q @ (X @ W_k).mT / W_q.shape[1] ** 0.5
        ),
        "This is the middle matrix, d × d: no word is in it. Put X to its left and X.mT to its right.": (
            lambda X, W_q, W_k: W_q @ W_k.mT
        ),
        "One factor is missing, n × d is not yet n × n: the words looked at. Put X.mT to the right.": (
            lambda X, W_q, W_k: X @ (W_q @ W_k.mT)
        ),
        "You count on seven words, the n of the lesson. Here n may be any number: len(X).": (
            lambda X, W_q, W_k: X[len(X)]
        ),
        "Your middle matrix is turned round: W_k @ W_q.mT exchanges looking and being looked at. It is W_q @ W_k.mT.": (
            lambda X, W_q, W_k: W_k @ W_q.mT
        ),
        "Your scores are cosines: queries and keys were cut to length 1. A score is the plain dot product, lengths "
        "count.": lambda X, W_q, W_k: torch.nn.functional.cosine_similarity((X @ W_q)[:, None], X @ W_k, dim=-1),
    },
)

X = input_embeddings()
W_Q, W_K, _ = hand_made_projections()
FAT, CAT, MAT = 1, 2, 6
ENOUGH = 0.75


def _does(pair):
    """Say in words what mat does under (W_q, W_k), and where that is right, what cat does."""
    if not hasattr(pair, "__len__") or isinstance(pair, (str, dict)) or len(pair) != 2:
        return "not a pair"
    W_q, W_k = (torch.as_tensor(each, dtype=torch.float64) for each in pair)
    if W_q.shape != W_Q.shape or W_k.shape != W_K.shape:
        return "on their side" if W_q.mT.shape == W_Q.shape and W_k.mT.shape == W_K.shape else "not 4 × 2"
    scores = X @ W_q @ (X @ W_k).mT
    weights = torch.softmax(scores, dim=-1)
    if not weights.isfinite().all():
        return "scores that are no numbers"
    if scores[MAT].max() - scores[MAT].min() < 1e-6:
        return "mat₇ looks at all words alike"
    if weights[MAT, CAT] >= ENOUGH:
        return "mat₇ looks at cat₃, cat₃ at fat₂" if weights[CAT, FAT] >= ENOUGH else "cat₃ no longer looks at fat₂"
    if torch.allclose(scores, scores.mT):
        return "one score for mat₇ against cat₃ and cat₃ against mat₇"
    if weights[CAT].argmax() == MAT and weights[CAT, MAT] > weights[MAT, CAT]:
        return "cat₃ looks at mat₇ more than mat₇ at cat₃"
    enough = ", but not enough" if weights[MAT].argmax() == CAT else ""
    return f"mat₇ looks most at {LABELS[weights[MAT].argmax()]}{enough}"


def _chosen(q_1, q_2, k_1, k_2):
    """Return W_q and W_k from their columns: what is looked for and what is offered, on axis 1 and on axis 2."""
    return tuple(torch.tensor(columns, dtype=torch.float64).mT for columns in ([q_1, q_2], [k_1, k_2]))


SIZE_Q, PLACE_Q, SIZE_K, PLACE_K = *W_Q.mT.tolist(), *W_K.mT.tolist()  # the columns of the lesson
ANIMAL, PLACE, NOTHING = (2, 0, 0, 0), (0, 0, 2, 0), (0, 0, 0, 0)


def _offered(*k_2):
    """Return the matrices of the lesson with another second column in W_k."""
    return _chosen(SIZE_Q, PLACE_Q, SIZE_K, k_2)


mat_seeks_cat = Exercise(
    number="2.3",
    name="mat_seeks_cat",
    asked=_offered(*ANIMAL),
    seen=_does,
    confirmed="mat₇ gives 0.75 or more of its attention to cat₃, and cat₃ still gives 0.75 or more to fat₂.",
    wrong={
        "mat₇ looks most at on₅, which has place and link. W_q has to ask where mat is large, place; W_k has to offer "
        "there what cat has, animal, and not place or "
        "link.": [(W_Q, W_K), _chosen(SIZE_Q, (1, 0, 1, 0), SIZE_K, PLACE_K)],
        "mat₇ looks most at itself: what it asks for, it offers. W_q has to ask where mat is large, place; W_k has to "
        "offer there what cat has, animal, and mat has not.": [
            _offered(*PLACE),
            _offered(-2, 0, 0, 0),
            (W_K, W_Q),
        ],
        "mat₇ looks most at fat₂, an animal with more size than cat. W_q has to ask where mat is large, place; W_k has "
        "to offer there what cat has, animal, and no size.": _offered(0, 1, 0, 0),
        "mat₇ looks most at sat₄, which has more place than animal. W_q has to ask where mat is large, place; W_k has "
        "to offer there what cat has, animal, and no place.": (_offered(1, 0, 2, 0)),
        "mat₇ looks most at the₁, which has more link than any other word. W_q has to ask where mat is large, place; "
        "W_k has to offer there what cat has, animal, and no link.": [
            _offered(0, 0, 0, 1),
            _chosen(SIZE_Q, (1, 0, 0, 0), SIZE_K, (1, 0, 0, 0)),
        ],
        "mat₇ looks most at the₆, which has no animal in it: is a sign wrong? W_q has to ask where mat is large, "
        "place; W_k has to offer there what cat has, animal, both with a plus or both with a "
        "minus.": _offered(-1, 1, -2, 1),
        "The right word: mat₇ looks most at cat₃, but with less than 0.75 of its attention. Larger numbers where mat "
        "asks and cat offers make the row sharper.": [
            _offered(1, 0, 0, 0),
            _offered(1, -1, 0, 0),
            _chosen(SIZE_Q, (0, 0, 1, 0), NOTHING, (1, 0, 0, 0)),
        ],
        "mat₇ looks at cat₃, but cat₃ no longer gives 0.75 to fat₂. Leave axis 1 of both matrices as it was and work "
        "on axis 2.": [
            _chosen((0, 0, 3, 0), NOTHING, ANIMAL, NOTHING),
            _chosen((0, 0, 3, 0), PLACE_Q, ANIMAL, PLACE_K),
            _chosen(NOTHING, (0, 0, 3, 0), SIZE_K, ANIMAL),
        ],
        "Exchanged: cat₃ looks at mat₇, more than mat₇ at cat₃. W_q says what the word that looks asks for, place for "
        "mat; W_k what the other offers, animal for cat.": [
            _offered(*ANIMAL)[::-1],
            _chosen(SIZE_Q, ANIMAL, SIZE_K, PLACE),
            _chosen(ANIMAL, NOTHING, (0, 0, 3, 0), NOTHING),
        ],
        "Your scores are symmetric, as with one matrix for both jobs: mat₇ cannot look at cat₃ unless cat₃ looks at "
        "mat₇. Choose W_q and W_k differently.": [(W_Q, W_Q), (W_K, W_K), (_offered(*ANIMAL)[1],) * 2],
        "mat₇ looks at all words alike: its scores are all the same, as with a query of zeros. Let W_q ask for "
        "something where place is, since mat is place.": [
            (0 * W_Q, 0 * W_K),
            (W_Q, 0 * W_K),
            (torch.ones(4, 2).double(), torch.zeros(4, 2).double()),
        ],
        "Your matrices lie on their side. Both are d × c, four rows and two columns; .mT turns them.": (
            tuple(each.mT for each in _offered(*ANIMAL))
        ),
        "Each matrix is to be 4 × 2: a row for each of animal, size, place, link, a column for each axis.": [
            tuple(torch.cat([each, torch.zeros(4, 1).to(each)], dim=1) for each in _offered(*ANIMAL)),
            tuple(each[:, :1] for each in _offered(*ANIMAL)),
            (W_Q, W_K.mT),
            (W_Q.mT, W_K),
        ],
        "Two matrices are asked for, no more and no less: a pair (W_q, W_k).": [
            W_Q,
            (W_Q, W_K, W_K),
            (W_Q @ W_K.mT,),
            {"W_q": W_Q, "W_k": W_K},
        ],
        "Your numbers are so large that the scores overflow. Numbers of about 2 will do.": (1e200 * W_Q, 1e200 * W_K),
    },
)
