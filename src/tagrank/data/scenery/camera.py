"""The camera: exposure, white balance, mist on the lens, old film, and grain."""

import numpy as np

from tagrank.data.scenery.canvas import OVERSAMPLING, Canvas

_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_FILMS = {"grey": (1.0, 1.0, 1.0), "sepia": (1.07, 0.95, 0.78)}
OLD_FILM = 0.08


def take_picture(canvas: Canvas) -> np.ndarray:
    """The painted scene as a small camera would keep it, uint8 of shape (size, size, 3)."""
    rng = canvas.rng
    picture = np.asarray(canvas.image.reduce(OVERSAMPLING), dtype=np.float32)
    warmth, green = rng.normal(0, [0.075, 0.02])
    picture = picture * canvas.between(0.8, 1.06) * (1 + warmth, 1 + green, 1 - warmth)
    if canvas.chance(0.12):
        veil = canvas.between(0.15, 0.45)
        picture = picture * (1 - veil) + np.mean(canvas.light.haze) * veil
    if canvas.chance(OLD_FILM):
        tint = _FILMS["sepia" if canvas.chance(0.5) else "grey"]
        picture = (picture @ _LUMA)[..., None] * tint
    grain = canvas.between(1.5, 6)
    shape = (canvas.size, canvas.size, 1)
    picture = picture + rng.normal(0, grain, shape) + rng.normal(0, grain / 2, picture.shape)
    return np.clip(picture, 0, 255).astype(np.uint8)
