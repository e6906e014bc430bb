"""The components of this installation and the features of this machine."""
import platform
import sys

import numpy

from . import _core


def devices():
    """The devices of this machine: for each a dict of device, name, memory_bytes, block_threads, shared_bytes and f64."""
    return _core.devices()


def show_config():
    """Prints versions, compiler, threads, CUDA and the loaded array libraries."""
    facts = _core.config()
    cuda = facts["cuda"]
    if not cuda["built"]:
        gpu = "not built in"
    else:
        gpu = ", ".join(cuda["devices"]) or f"built in, not available: {cuda['unavailable']}"
    loaded = [f"{name} {sys.modules[name].__version__}" for name in ("jax", "torch", "cupy", "ml_dtypes") if name in sys.modules]
    print(f"tessera {facts['version']}")
    print(f"compiler: {facts['compiler']}")
    print(f"CPU: {facts['cpu']}")
    print(f"threads: {facts['threads']}")
    print(f"CUDA: {gpu}")
    print(f"Python {platform.python_version()}, NumPy {numpy.__version__}" + "".join(f", {each}" for each in loaded))
