"""OpenCV on one thread: some of its results (Canny's edges) differ with the number of threads."""

from contextlib import contextmanager


@contextmanager
def one_opencv_thread():
    """Run a block in which OpenCV uses one thread, so that its numbers are the same on every machine."""
    import cv2

    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
