"""The recipe for Dask and Ray in docs/scale.md."""
import concurrent.futures
import os
import pathlib
import re

import numpy as np
import pytest
import tessera

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/scale.md"


def run_recipe(client, folder):
    (recipe,) = (block for block in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.S) if "client" in block)
    random = np.random.default_rng(3)
    a, b = random.standard_normal((2000, 70)), random.standard_normal((70, 90))
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    names = {"client": client}
    exec(recipe, names)
    assert names["C"].tobytes() == tessera.matmul(a, b).tobytes()


def test_with_an_executor(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with concurrent.futures.ThreadPoolExecutor(2) as client:
        run_recipe(client, tmp_path)


def test_with_dask(tmp_path, monkeypatch):
    distributed = pytest.importorskip("dask.distributed", reason="the recipe is NOT tested with Dask, which is not installed")
    monkeypatch.chdir(tmp_path)
    with distributed.Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
        run_recipe(client, tmp_path)
