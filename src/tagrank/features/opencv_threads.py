"""OpenCV on one thread: some of its results (Canny's edges) differ with the number of threads."""

from functools import cache

from tagrank.parallel import SharedSetting


def one_opencv_thread():
    """A context in which OpenCV uses one thread, so that its numbers are the same on every machine."""
    return _setting().limited(1)


@cache
def _setting():
    import cv2

    return SharedSetting(cv2.getNumThreads, cv2.setNumThreads)
