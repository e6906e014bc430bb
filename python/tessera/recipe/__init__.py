"""The two commands of the MAX recipe: `python -m tessera.recipe matmul` and `benchmarks`."""
