"""Cutting planes: the next weights are where the maximum of all planes is least.

A semi-infinite linear program for p = 1 (SILP), and for p > 1 the same with the ball of the norm behind
tangent planes (SIP); see `cutting_planes.py`.
"""


def propose(problem, weights):
    """Yield weights, and take the evaluation at each."""
    problem.has_planes = True
    while True:
        yield weights
        weights = problem.lowest
