"""`python -m tessera` is the command tessera."""
import os
import pathlib
import sys


def main():
    """Becomes the command that was installed beside this file."""
    command = pathlib.Path(__file__).with_name("bin") / "tessera"
    if not command.exists():
        sys.exit(f"tessera: the command is not beside this package: expected {command}")
    os.execv(command, ["tessera", *sys.argv[1:]])


if __name__ == "__main__":
    main()
