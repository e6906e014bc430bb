# The flags of a checked compile, once: the library's own kernels (src/matmul), the tests, tessera_add_kernels(), the command's
# compiled headers and, through process/checked_flags.hpp, the compiles of the command itself.

# Every access is recorded by the checker; variables without a value are filled with a pattern that it knows.
set(TESSERA_CHECK_OPTIONS -DTESSERA_CHECK=1 -ftrivial-auto-var-init=pattern)
# What a file needs that is compiled without CMake: stack probes, and no multiply-adds of the compiler's own.
set(TESSERA_CHECK_ALONE_OPTIONS -std=c++20 ${TESSERA_CHECK_OPTIONS} -fstack-clash-protection -ffp-contract=off)
# `tessera check FILE.cpp`, to which it adds how much to optimise; `tessera puzzle`.
set(TESSERA_CHECK_FILE_OPTIONS ${TESSERA_CHECK_ALONE_OPTIONS} -g)
set(TESSERA_CHECK_PUZZLE_OPTIONS ${TESSERA_CHECK_ALONE_OPTIONS} -O0 -w -fsanitize=bounds -pthread)
