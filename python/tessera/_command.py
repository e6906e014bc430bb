"""The command that is installed beside this package."""
import os
import pathlib
import subprocess

# with a report on stdout: the part that was checked; without one: not available here
INCOMPLETE = 4
_EXCEPTIONS = {2: ValueError, 3: OSError, INCOMPLETE: NotImplementedError}


def path():
    """The path of the command. NotImplementedError if it is missing."""
    found = pathlib.Path(__file__).with_name("bin") / "tessera"
    if not found.exists():
        raise NotImplementedError(f"tessera: the command is not beside this package: expected {found}")
    return found


def run(*arguments):
    """(stdout, exit status, stderr) of the command that has printed a report, 0, 1 or INCOMPLETE; what else it ends with is an exception
    with its message."""
    done = subprocess.run([path(), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "NO_COLOR": "1"})
    if done.returncode == 0 or (done.returncode in (1, INCOMPLETE) and done.stdout):
        return done.stdout, done.returncode, done.stderr
    raise _EXCEPTIONS.get(done.returncode, RuntimeError)(done.stderr.strip().removeprefix("tessera "))
