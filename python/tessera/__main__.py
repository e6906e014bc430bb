"""`python -m tessera` runs the command tessera."""
import os
import sys

from . import _command


def main():
    """Replaces this process with the command installed beside this file."""
    os.environ.setdefault("TESSERA_PYTHON", sys.executable)  # for `tessera mcp`
    os.execv(_command.path(), ["tessera", *sys.argv[1:]])


if __name__ == "__main__":
    main()
