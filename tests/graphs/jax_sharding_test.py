"""tessera.jax under jit with sharded operands: the product is cut where they are, on the devices of one process and of two."""
import os
import pathlib
import socket
import subprocess
import sys

import pytest

pytest.importorskip("jax", reason="tessera.jax is NOT tested: install jax")
SCRIPT = pathlib.Path(__file__).with_name("jax_sharded.py")


def started(*arguments):
    env = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", "JAX_PLATFORMS")}
    return subprocess.Popen([sys.executable, SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def is_right(process):
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0 and out.endswith("right\n"), err[-6000:]  # gloo writes to stdout, too


def test_devices_of_one_process():
    is_right(started())


def test_devices_of_two_processes():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    processes = [started(address, "2", str(index)) for index in range(2)]
    try:
        for process in processes:
            is_right(process)
    finally:
        for process in processes:
            process.kill()
