"""The command that is installed beside this package."""
import os
import pathlib
import subprocess

_EXCEPTIONS = {2: ValueError, 3: OSError, 4: NotImplementedError}


def path():
    """Where the command is. NotImplementedError where it is not."""
    found = pathlib.Path(__file__).with_name("bin") / "tessera"
    if not found.exists():
        raise NotImplementedError(f"tessera: the command is not beside this package: expected {found}")
    return found


def run(*arguments):
    """(stdout, exit status) of the command, 0 or 1; what else it ends with is an exception with its message."""
    done = subprocess.run([path(), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "NO_COLOR": "1"})
    if done.returncode in (0, 1) and (done.stdout or done.returncode == 0):
        return done.stdout, done.returncode
    raise _EXCEPTIONS.get(done.returncode, RuntimeError)(done.stderr.strip().removeprefix("tessera "))
