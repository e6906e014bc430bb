"""Runs one of the recipe's commands: `python -m tessera.recipe matmul --help`."""
import importlib
import sys

COMMANDS = ("matmul", "benchmarks")


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in COMMANDS:
        print(f"tessera.recipe: error: expected {' or '.join(COMMANDS)}, got {name!r}", file=sys.stderr)
        return 2
    sys.argv = [f"tessera.recipe {name}", *sys.argv[2:]]
    return importlib.import_module(f"tessera.recipe.{name}").main()


if __name__ == "__main__":
    sys.exit(main())
