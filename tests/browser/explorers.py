"""What the tests do with an attention explorer in a browser, and what PyTorch says that it has to show."""

import torch

STOPS = {0: lambda c: 1, 1: lambda c: c**0.5, 2: lambda c: c}
BODY = """table => [...table.rows].filter(row => row.querySelector("td"))
    .map(row => [...row.querySelectorAll("td")].map(cell => cell.innerText.trim()))"""
# Choose row after row; of each, the body of its ledger and the line for screen readers.
LEDGERS = f"""figure => [...figure.querySelectorAll("tbody th button")].map(button => {{
    button.click();
    return [({BODY})(figure.querySelectorAll("table")[1]), figure.querySelector("[role=status]").innerText];
}})"""


def explorer_of(page, number=0):
    """Return the locator of one of the explorers on a page."""
    return page.locator(".attention-explorer").nth(number)


def cells(figure, table=0):
    """Return the texts of a table's body, without the words at the left."""
    return figure.locator("table").nth(table).evaluate(BODY)


def choose(figure, stage="weights", stop=None):
    """Choose a stage by its name, and a stop of the divisor by its number."""
    figure.locator("label", has_text=stage).click()
    if stop is not None:
        figure.locator("form button").nth(stop).click()


def two(x):
    """Write a number with two decimals, as the explorer does."""
    return f"{round(float(x), 2) + 0.0:.2f}".replace("-", "−")


def vector(numbers):
    """Write a row of numbers, as the explorer does."""
    return f"({', '.join(map(two, numbers))})"


def written(scores, numbers):
    """Write numbers, and in the place of a masked score the word."""
    return [two(x) if score > -torch.inf else "masked" for score, x in zip(scores, numbers, strict=True)]


def check_all_stops(figure, scores, c, labels, values=None, causal=False):
    """Compare every number at the three stops with PyTorch, in each row, with the mask and without where it is causal.

    scores, values: float64 tensors, (n, n) and (n, width). Leaves the explorer with its mask off.
    """
    later = torch.ones_like(scores).triu(1).bool()
    for hidden in [True, False] if causal else [False]:
        if causal and not hidden:
            figure.locator("label", has_text="hide later words").click()
        seen = scores.masked_fill(later, -torch.inf) if hidden else scores
        for stop, divisor_of in STOPS.items():
            divisor = divisor_of(c)
            A = torch.softmax(seen / divisor, dim=-1)
            shown = [written(*rows) for rows in zip(seen, seen, strict=True)]
            scaled = [written(*rows) for rows in zip(seen, seen / divisor, strict=True)]
            weights = [written(*rows) for rows in zip(seen, A, strict=True)]
            choose(figure, "scores", stop)
            assert cells(figure) == [[*row, ""] for row in shown]
            choose(figure, "scaled")
            assert cells(figure) == [[*row, ""] for row in scaled]
            choose(figure, "weights")
            assert cells(figure) == [[*row, "1.00"] for row in weights]
            ledgers = figure.evaluate(LEDGERS)
            assert len(ledgers) == len(labels)
            for m, (ledger, status) in enumerate(ledgers):
                lines = [shown[m], scaled[m], weights[m]]
                last = ["", "", "sum 1.00"]
                if values is not None:
                    lines.append(
                        [
                            "masked" if score == -torch.inf else vector(a * v)
                            for score, a, v in zip(seen[m], A[m], values, strict=True)
                        ]
                    )
                    last.append("C: " + vector(A[m] @ values))
                assert ledger == [*map(list, zip(*lines, strict=True)), last]
                looking = (seen[m] > -torch.inf).sum()
                bits = torch.special.entr(A[m]).sum() / torch.log(torch.tensor(2.0))
                assert f"looks most at {labels[seen[m].argmax()]}" in status and f"divisor {two(divisor)}." in status
                assert f"Entropy {two(bits)} of log₂ {looking} = {two(looking.log2())} bits" in status
