"""Networks run by onnxruntime, an optional library."""

from importlib import import_module


def require(module):
    """Import a library of the extra "embedding", or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(
            f"embeddings need {module}, which is not installed: pip install 'tagrank[embedding]'"
        ) from None


def open_session(model, *, threads=1):
    """A network ready to run on the CPU.

    Parameters
    ----------
    model : bytes of an ONNX file
    threads : int. One by default: many pictures run in parallel processes, and then the numbers do not
        depend on the machine's number of cores.

    Returns
    -------
    session : onnxruntime.InferenceSession
    """
    onnxruntime = require("onnxruntime")
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # errors come as exceptions; nothing is to be printed beside them
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
