"""OpenCV on one thread, since some of its results (Canny's edges) differ with their number; resizing."""

from functools import cache

from tagrank.parallel import SharedSetting


def one_opencv_thread():
    """A context in which OpenCV uses one thread, so that its numbers are the same on every machine."""
    return _setting().limited(1)


@cache
def _setting():
    import cv2

    return SharedSetting(cv2.getNumThreads, cv2.setNumThreads)


def resize(image, *, height, width):
    """An image, uint8 or float32, stretched to a given size, whatever its proportions were.

    One axis after the other, so that an axis that shrinks is averaged even where the other one grows.
    """
    import cv2

    for axis, length in enumerate((height, width)):
        smaller = length < image.shape[axis]
        size = (image.shape[1], length) if axis == 0 else (length, image.shape[0])
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
    return image
