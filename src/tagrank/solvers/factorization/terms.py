"""One term of a factorization, |known * (T - Z D')|^2 over a batch, less |T|^2; and its slopes.

T is (n_samples, n_columns), dense or sparse, Z the codes (n_samples, n_components), D the decoder
(n_columns, n_components). Where all of T is known, the residual is never formed:

    |T - Z D'|^2 - |T|^2 = <Z'Z, D'D> - 2 <Z, T D>

This costs n_components^2 for each row and each column in the place of n_components for each entry of T, and
of a sparse T it reads what is stored.
"""


def known_term(T, D, codes, TD):
    """The sum of the terms of `codes`, pairs of a weight and a Z, on a T of which everything is known.

    `TD` is T @ D. Returns the sum, half its slope for each Z, and half its slope for D.
    """
    inner = D.T @ D
    value, slopes, outer, mixed = 0, [], 0, 0
    for weight, Z in codes:
        ZZ = Z.T @ Z
        value = value + weight * ((ZZ * inner).sum() - 2 * (Z * TD).sum())
        slopes.append(weight * (Z @ inner - TD))
        outer, mixed = outer + weight * ZZ, mixed + weight * Z
    return value, slopes, D @ outer - T.T @ mixed


def masked_term(T, D, codes, known):
    """As `known_term`, for a dense T, zero where `known` is: only what is one there counts."""
    value, slopes, slope = 0, [], 0
    for weight, Z in codes:
        residual = (Z @ D.T - T) * known
        value = value + weight * ((residual * residual).sum() - (T * T).sum())
        slopes.append(weight * (residual @ D))
        slope = slope + residual.T @ (weight * Z)
    return value, slopes, slope
