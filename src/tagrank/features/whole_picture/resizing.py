"""Pictures stretched to one size."""


def resize(image, *, height, width):
    """An image stretched to a given size, whatever its proportions were.

    One axis after the other, so that an axis that shrinks is averaged even where the other one grows.

    Parameters
    ----------
    image : uint8 or float32 array, shape (old height, old width) or (old height, old width, n_channels)

    Returns
    -------
    resized : array of the same dtype, shape (height, width) or (height, width, n_channels)
    """
    import cv2

    for axis, length in enumerate((height, width)):
        smaller = length < image.shape[axis]
        size = (image.shape[1], length) if axis == 0 else (length, image.shape[0])
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
    return image
