"""Writes the headers of GCC's C++ library into a folder, without comments and without those that programs in Tessera rarely include:
for compilers that come without them.

    library_headers.py COMPILER GENERAL TARGET FOLDER     GENERAL, TARGET: where the compiler has them
"""
import pathlib
import re
import shutil
import subprocess
import sys

NAMES = """algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits cmath compare
complex concepts condition_variable cstdarg cstddef cstdint cstdio cstdlib cstring ctime deque exception forward_list fstream functional
future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list map memory mutex new numbers numeric optional
ostream queue random ranges ratio set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility variant vector version""".split()
# Texts in quotes stay.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'" r"|(/\*.*?\*/|//[^\n]*)", re.DOTALL)


def main():
    compiler, general, target, folder = sys.argv[1:]
    general, target, folder = pathlib.Path(general), pathlib.Path(target), pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    text = "".join(f"#include <{name}>\n" for name in NAMES)
    rule = subprocess.run([compiler, "-std=c++20", "-x", "c++", "-M", "-"], input=text, capture_output=True, text=True, check=True).stdout
    for file in map(pathlib.Path, rule.replace("\\\n", " ").split()[1:]):
        if file.is_relative_to(target):
            to = folder / "target" / file.relative_to(target)
        elif file.is_relative_to(general):
            to = folder / file.relative_to(general)
        else:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        bare = COMMENT.sub(lambda found: " " if found[1] else found[0], file.read_text(encoding="utf-8"))
        to.write_text(re.sub(r"\n\s*\n", "\n", re.sub(r"[ \t]+\n", "\n", bare)), encoding="utf-8")


main()
