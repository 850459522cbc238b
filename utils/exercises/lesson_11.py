"""Exercises of lesson 11: what a real language model adds to the five products."""

import torch
import torch.nn.functional as F  # noqa: N812

from utils.exercise import Exercise, numbers


def _squares(X):
    """The mean square of each row, as a column."""
    return X.pow(2).mean(dim=-1, keepdim=True)


def _centred(X):
    return X - X.mean(dim=-1, keepdim=True)


rms_norm = Exercise(
    number="11.1",
    name="rms_norm",
    asked=lambda X, g, epsilon: X / (_squares(X) + epsilon).sqrt() * g,
    inputs=(
        (numbers(111, 2, 3), numbers(112, 3), 0.2),
        (numbers(113, 5, 4) * torch.tensor([[200.0], [1], [1], [0.1], [1]]), numbers(114, 4), 0.01),
        (numbers(115, 2, 3, 5), numbers(116, 5), 0.5),
    ),
    confirmed="Each row is divided by its own root mean square, with epsilon under the root, and g treats columns.",
    gradient=True,
    wrong={
        "These are the lines as they were. rho is one number for the whole matrix, and epsilon stands beside the "
        "root.": lambda X, g, epsilon: X / (X.norm() / X.numel() ** 0.5 + epsilon) * g,
        "epsilon is under the root now, but rho is one number for the whole matrix, and a single long row decides it. "
        "Take the mean of each row: dim=-1, keepdim=True.": (
            lambda X, g, epsilon: X / (X.pow(2).mean() + epsilon).sqrt() * g
        ),
        "Each row has its own rho now, but epsilon is added beside the root. Add it to the mean square, before the "
        "root.": [
            lambda X, g, epsilon: X / (_squares(X).sqrt() + epsilon) * g,
            lambda X, g, epsilon: X / (X.norm(dim=-1, keepdim=True) / X.shape[-1] ** 0.5 + epsilon) * g,
        ],
        "You take the length of each row but divide it by the root of all numbers, X.numel(). A row has only "
        "X.shape[-1] of them.": [
            lambda X, g, epsilon: X / (X.norm(dim=-1, keepdim=True) / X.numel() ** 0.5 + epsilon) * g,
            lambda X, g, epsilon: X / (X.pow(2).sum(dim=-1, keepdim=True) / X.numel() + epsilon).sqrt() * g,
        ],
        "You divide by a number of rows, len(X). The mean of a row is over its own numbers, X.shape[-1].": (
            lambda X, g, epsilon: X / (X.pow(2).sum(dim=-1, keepdim=True) / len(X) + epsilon).sqrt() * g
        ),
        "You normalise columns: the mean runs down, over the words. Each word has its own rho: dim=-1.": [
            lambda X, g, epsilon: X / (X.pow(2).mean(dim=0, keepdim=True) + epsilon).sqrt() * g,
            lambda X, g, epsilon: X / (X.pow(2).mean(dim=-2, keepdim=True) + epsilon).sqrt() * g,
            lambda X, g, epsilon: X / (X.norm(dim=0) / len(X) ** 0.5 + epsilon) * g,
        ],
        "dim=1 is the axis of the words when sentences stand in front. The numbers of a word are always the last "
        "axis: dim=-1.": lambda X, g, epsilon: X / (X.pow(2).mean(dim=1, keepdim=True) + epsilon).sqrt() * g,
        "X.shape[1] counts words when sentences stand in front. A row always has X.shape[-1] numbers.": (
            lambda X, g, epsilon: X / (X.pow(2).sum(dim=-1, keepdim=True) / X.shape[1] + epsilon).sqrt() * g
        ),
        "You go through the first axis, and with sentences in front each step is a whole sentence. Use dim=-1 and "
        "keepdim=True, and no loop.": (
            lambda X, g, epsilon: torch.stack([x / (x.pow(2).mean() + epsilon).sqrt() * g for x in X])
        ),
        "You take a root twice: the length of a row is a root already. Add epsilon to the mean square, and take the "
        "root once.": [
            lambda X, g, epsilon: X / (_squares(X).sqrt() + epsilon).sqrt() * g,
            lambda X, g, epsilon: X / (X.norm() / X.numel() ** 0.5 + epsilon).sqrt() * g,
        ],
        "The mean of each row lies down as a row, and does not fit to X. Keep it a column with keepdim=True.": [
            lambda X, g, epsilon: X / (X.pow(2).mean(dim=-1) + epsilon).sqrt() * g,
            lambda X, g, epsilon: X / (X.norm(dim=-1) / X.shape[-1] ** 0.5 + epsilon) * g,
        ],
        "You divide by the root of the sum of the squares, so your rows have length 1 before g. Take the mean of the "
        "squares.": lambda X, g, epsilon: X / (X.pow(2).sum(dim=-1, keepdim=True) + epsilon).sqrt() * g,
        "You divide by the length of each row, the root of the sum of its squares. Take the mean of the squares, and "
        "add epsilon before the root.": [
            lambda X, g, epsilon: X / X.norm(dim=-1, keepdim=True) * g,
            lambda X, g, epsilon: F.normalize(X, dim=-1) * g,
        ],
        "You divide by the length of each row plus epsilon. Take the mean of the squares in place of the sum, and add "
        "epsilon before the root.": lambda X, g, epsilon: X / (X.norm(dim=-1, keepdim=True) + epsilon) * g,
        "epsilon is divided by d too. Divide the sum of the squares first, then add epsilon.": (
            lambda X, g, epsilon: X / ((X.pow(2).sum(dim=-1, keepdim=True) + epsilon) / X.shape[-1]).sqrt() * g
        ),
        "You divide by the mean square. Take its root, .sqrt().": (
            lambda X, g, epsilon: X / (_squares(X) + epsilon) * g
        ),
        "epsilon is missing: a row of zeros would be divided by zero. Add it before the root.": [
            lambda X, g, epsilon: X / _squares(X).sqrt() * g,
            lambda X, g, epsilon: F.rms_norm(X, (X.shape[-1],), g, eps=1e-12),
            lambda X, g, epsilon: F.rms_norm(X, (X.shape[-1],), g),
        ],
        "You subtract the mean of each row: that is the layer norm of lesson 10. This normalisation divides only.": [
            lambda X, g, epsilon: _centred(X) / (_squares(_centred(X)) + epsilon).sqrt() * g,
            lambda X, g, epsilon: _centred(X) / (_squares(X) + epsilon).sqrt() * g,
        ],
        "You divide by the standard deviation, which is measured from the mean. The root mean square is measured from "
        "0: X.pow(2), without subtracting anything.": [
            lambda X, g, epsilon: X / (X.std(dim=-1, keepdim=True) + epsilon) * g,
            lambda X, g, epsilon: X / (X.var(dim=-1, keepdim=True) + epsilon).sqrt() * g,
            lambda X, g, epsilon: X / (X.var(dim=-1, keepdim=True, correction=0) + epsilon).sqrt() * g,
        ],
        "You take the mean first and square it, so positive and negative numbers cancel. Square first, then take the "
        "mean.": lambda X, g, epsilon: X / (X.mean(dim=-1, keepdim=True).pow(2) + epsilon).sqrt() * g,
        "The weights g are missing. Multiply by g at the end.": (
            lambda X, g, epsilon: X / (_squares(X) + epsilon).sqrt()
        ),
        "You divide by g too: X / (rho * g). Without the parentheses, X / rho * g, g multiplies.": (
            lambda X, g, epsilon: X / ((_squares(X) + epsilon).sqrt() * g)
        ),
        "torch.rsqrt is already 1 divided by the root, so you multiply by rho. Multiply by rsqrt, or divide by sqrt.": (
            lambda X, g, epsilon: X / torch.rsqrt(_squares(X) + epsilon) * g
        ),
    },
)


def _angles(Y, speeds, first=0):
    return torch.arange(first, first + len(Y))[:, None] * speeds


def _turned(x, y, angles):
    """The first and the second numbers of all pairs, turned to the left."""
    return x * angles.cos() - y * angles.sin(), x * angles.sin() + y * angles.cos()


def _neighbours(Y, angles, turned=_turned):
    return torch.stack(turned(Y[:, 0::2], Y[:, 1::2], angles), dim=-1).flatten(-2)


def _halves(Y, angles):
    return torch.cat(_turned(*Y.chunk(2, dim=-1), angles), dim=-1)


def _by_swap(Y, angles):
    """Y · cos + swapped Y · sin, with the angles as they are given, one per column."""
    swapped = torch.stack([-Y[:, 1::2], Y[:, 0::2]], dim=-1).flatten(-2)
    return Y * angles.cos() + swapped * angles.sin()


def _by_swapped_halves(Y, angles):
    x, y = Y.chunk(2, dim=-1)
    return Y * angles.cos() + torch.cat([-y, x], dim=-1) * angles.sin()


def _one_after_the_other(x, y, angles):
    x = x * angles.cos() - y * angles.sin()
    return x, x * angles.sin() + y * angles.cos()


def _without_minus(x, y, angles):
    return x * angles.cos() + y * angles.sin(), x * angles.sin() + y * angles.cos()


def _minus_below(x, y, angles):
    return x * angles.cos() - y * angles.sin(), y * angles.cos() - x * angles.sin()


def _overlapping(Y, speeds):
    Z, angles = Y.clone(), _angles(Y, speeds)
    for i in range(len(speeds)):
        Z[:, i], Z[:, i + 1] = _turned(Y[:, i], Y[:, i + 1], angles[:, i])
    return Z


turn_pairs = Exercise(
    number="11.2",
    name="turn_pairs",
    asked=lambda Y, speeds: _neighbours(Y, _angles(Y, speeds)),
    inputs=(
        (numbers(121, 3, 4), (1.0, 0.5)),
        (numbers(122, 5, 2), (0.7,)),
        (numbers(123, 4, 10), (1.0, 0.4, 0.16, 0.06, 0.02)),
    ),
    use=lambda turn_pairs, Y, speeds: turn_pairs(Y, torch.tensor(speeds, dtype=Y.dtype)),  # they are not trained
    confirmed="Each pair of neighbours turns at its own speed, and no row changes its length.",
    gradient=True,
    wrong={
        "You pair the halves: 0 with c/2. Here pairs are neighbours, Y[:, 0::2] with Y[:, 1::2].": [
            lambda Y, speeds: _halves(Y, _angles(Y, speeds)),
            lambda Y, speeds: torch.stack(_turned(*Y.chunk(2, dim=-1), _angles(Y, speeds)), dim=-1).flatten(-2),
        ],
        "Your pairs overlap: i with i + 1, then i + 1 with i + 2. Pair i is made of columns 2 * i and 2 * i + 1.": (
            _overlapping
        ),
        "The pairs are turned rightly and stand in the wrong order: all first numbers, then all second ones. Stack "
        "them along a new last axis and flatten, so that neighbours are neighbours again.": (
            lambda Y, speeds: torch.cat(_turned(Y[:, 0::2], Y[:, 1::2], _angles(Y, speeds)), dim=-1)
        ),
        "The turned pairs lie in an axis of their own, (n, c/2, 2). Flatten the last two axes: .flatten(-2).": (
            lambda Y, speeds: torch.stack(_turned(Y[:, 0::2], Y[:, 1::2], _angles(Y, speeds)), dim=-1)
        ),
        "You count places from 1, so the first word is turned too. The first place is 0.": (
            lambda Y, speeds: _neighbours(Y, _angles(Y, speeds, first=1))
        ),
        "You turn to the right: the minus stands at the wrong sine. To the left, (x, y) becomes "
        "(x cos − y sin, x sin + y cos).": lambda Y, speeds: _neighbours(Y, -_angles(Y, speeds)),
        "Without the minus it is no rotation, and lengths change. (x, y) becomes (x cos − y sin, x sin + y cos).": (
            lambda Y, speeds: _neighbours(Y, _angles(Y, speeds), _without_minus)
        ),
        "With two minus signs it is no rotation, and lengths change. (x, y) becomes (x cos − y sin, x sin + y cos).": (
            lambda Y, speeds: _neighbours(Y, _angles(Y, speeds), _minus_below)
        ),
        "You overwrite x before you compute y from it. Keep both old numbers until both new ones are there.": (
            lambda Y, speeds: _neighbours(Y, _angles(Y, speeds), _one_after_the_other)
        ),
        "The two numbers of each pair have changed places. The first one comes first, x cos − y sin.": (
            lambda Y, speeds: _neighbours(Y, _angles(Y, speeds), lambda x, y, angles: _turned(x, y, angles)[::-1])
        ),
        "All words are turned by the same angles: the place of the word is missing. The angle is m · speeds[i].": [
            lambda Y, speeds: _neighbours(Y, speeds),
            lambda Y, speeds: _neighbours(Y, speeds.expand(len(Y), -1)),
            lambda Y, speeds: _neighbours(Y, torch.arange(Y.shape[1] // 2) * speeds),
        ],
        "All pairs turn at the same speed, the first one. Pair i has its own, speeds[i].": (
            lambda Y, speeds: _neighbours(Y, _angles(Y, speeds[:1]))
        ),
        "All pairs turn by m radians: the speeds are missing. The angle is m · speeds[i].": (
            lambda Y, speeds: _neighbours(Y, _angles(Y, torch.ones_like(speeds)))
        ),
        "Only the first pair is turned. Every pair is, each at its own speed.": [
            lambda Y, speeds: torch.cat([_neighbours(Y[:, :2], _angles(Y, speeds[:1])), Y[:, 2:]], dim=-1),
            lambda Y, speeds: _neighbours(Y, _angles(Y, speeds * (torch.arange(len(speeds)) == 0))),
        ],
        "You treat the angles as degrees. They are radians, as .cos() and .sin() expect.": (
            lambda Y, speeds: _neighbours(Y, torch.deg2rad(_angles(Y, speeds)))
        ),
        "Two orders are mixed: neighbours are paired, but the angles are laid out for halves. Give both columns of a "
        "pair its angle: repeat_interleave(2, dim=-1).": (
            lambda Y, speeds: _by_swap(Y, torch.cat([_angles(Y, speeds)] * 2, dim=-1))
        ),
        "Two orders are mixed: the angles are laid out for neighbours, but the halves are paired. Pair Y[:, 0::2] "
        "with Y[:, 1::2].": lambda Y, speeds: _by_swapped_halves(Y, _angles(Y, speeds).repeat_interleave(2, dim=-1)),
        "You add cosine and sine, as lesson 1 adds a row for each place. Here each pair is turned: multiply.": (
            lambda Y, speeds: _neighbours(
                Y, _angles(Y, speeds), lambda x, y, angles: (x + angles.cos(), y + angles.sin())
            )
        ),
        "Your table of angles stands upright, one row per pair. It needs one row per place: "
        "torch.arange(n)[:, None] * speeds.": [
            lambda Y, speeds: _neighbours(Y, _angles(Y, speeds).mT),
            lambda Y, speeds: _neighbours(Y, speeds[:, None] * torch.arange(len(Y))),
        ],
        "Places and speeds are multiplied one by one, and their numbers differ. Make the places a column: "
        "torch.arange(n)[:, None] * speeds.": lambda Y, speeds: _neighbours(Y, torch.arange(len(Y)) * speeds),
    },
)

group_of = Exercise(
    number="11.3",
    name="group_of",
    asked=lambda q, h, h_kv: q // (h // h_kv),
    inputs=((3, 8, 2), (5, 8, 2), (7, 8, 4), (10, 12, 6), (5, 9, 3), (31, 32, 8), (5, 7, 1), (4, 6, 6), (0, 9, 3)),
    confirmed="Neighbours share, in nine cases, a single group and no sharing among them.",
    wrong={
        "You deal the groups out in turn, q % h_kv. Heads that share stand next to each other: divide by the number "
        "of heads per group.": [lambda q, h, h_kv: q % h_kv, lambda q, h, h_kv: q % 3],
        "You divide by the number of groups. It works for 9 heads and 3 groups by chance: divide by the number of "
        "heads per group, h // h_kv.": lambda q, h, h_kv: q // h_kv,
        "That is the place of a head within its group. Divide by the number of heads per group, //, in place of the "
        "remainder, %.": lambda q, h, h_kv: q % (h // h_kv),
        "You divide by three, as many heads as share in this model. Use the arguments: h // h_kv heads share.": (
            lambda q, h, h_kv: q // 3
        ),
        "That is how many heads one group serves. Divide q by it.": lambda q, h, h_kv: h // h_kv,
        "You multiply by the heads per group. Divide by them.": lambda q, h, h_kv: q * (h // h_kv),
        "The number of a group has no fraction. Divide with //, which drops it.": [
            lambda q, h, h_kv: q / (h / h_kv),
            lambda q, h, h_kv: q / (h // h_kv),
        ],
        "You round to the nearest group, and the last heads of a group land in the next one. Drop the fraction, "
        "with //.": [lambda q, h, h_kv: round(q / (h / h_kv)), lambda q, h, h_kv: round(q * h_kv / h)],
        "You round up, so heads land in the next group, and the last ones in a group that does not exist. Drop the "
        "fraction, with //.": lambda q, h, h_kv: -(-q * h_kv // h),
        "You count groups from 1. They are counted from 0, as the heads are.": lambda q, h, h_kv: q // (h // h_kv) + 1,
        "You shift q by one. Heads are counted from 0 and so are groups: divide q itself.": [
            lambda q, h, h_kv: (q - 1) // (h // h_kv),
            lambda q, h, h_kv: (q + 1) // (h // h_kv),
        ],
        "q // h comes first here, and is 0, since q is below h. Put parentheses: q // (h // h_kv).": [
            lambda q, h, h_kv: q // h // h_kv,
            lambda q, h, h_kv: q // h * h_kv,
        ],
        "h_kv // h is 0, and nothing can be divided by it. The number of heads per group is h // h_kv.": (
            lambda q, h, h_kv: q // (h_kv // h)
        ),
    },
)
