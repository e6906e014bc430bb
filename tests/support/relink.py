"""Another configuration of the project, linked from the objects of the build that is tested: what is compiled alike is compiled once."""
import json
import pathlib
import re
import shlex
import subprocess


def run(*words, **named):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, **named)


def entries(build):
    """(which source, its file, its object, its macros and the files compiled with it, the command that compiles it) of each source. Generated
    ones are in the build folder."""
    for each in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(each["command"])
        file = each["file"]
        yield source_of(file), file, build / words[words.index("-o") + 1], {word for word in words if word.startswith("-D")} | together(file), each["command"]


def source_of(file):
    """The file without the folder of its checkout or build."""
    return file[file.rindex("/src/"):] if "/src/" in file else file


def together(file):
    """The files that are compiled as this one, if CMake has written it."""
    if "/Unity/" not in file:
        return set()
    return set(map(source_of, re.findall(r'^#include "(.*)"$', pathlib.Path(file).read_text(), re.M)))


def linked(build, tested, *targets):
    """Makes the targets in `build`, which is configured for Ninja; returns the sources that had to be compiled. Raises RuntimeError."""
    there = {source: (made, macros) for source, _, made, macros, _ in entries(tested)}
    compiled, reused = [], set()
    for source, file, made, macros, command in entries(build):
        made.parent.mkdir(parents=True, exist_ok=True)
        known, with_macros = there.get(source, (None, None))
        if known is not None and with_macros == macros and known.exists():
            made.unlink(missing_ok=True)
            made.symlink_to(known.resolve())
            reused.add(file)
        else:
            compiled.append(source)
            execute(command, build)
    for command in run("ninja", "-C", build, "-t", "commands", *targets).stdout.splitlines():
        # What generates a source, such as GPU code, is not needed either where its object is there.
        if " -c " not in command and not command.startswith("ninja:") and reused.isdisjoint(shlex.split(command)):
            execute(command, build)
    return compiled


def execute(command, build):
    done = run("sh", "-c", command, cwd=build)
    if done.returncode != 0:
        raise RuntimeError(f"{command[:200]} ...\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def build_type(tested):
    """The options that configure another build as `tested` was: its kind and its compiler's flags."""
    kept = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_RELWITHDEBINFO", "TESSERA_UNITY_BATCH")
    lines = (pathlib.Path(tested) / "CMakeCache.txt").read_text().splitlines()
    return [f"-D{line}" for line in lines if line.split(":")[0] in kept]
