# What all puzzles include, compiled once: half of the time that `tessera puzzle run` takes for a learner's file. The options are those of
# src/course/program.cpp; with others, or with another compiler, GCC reads the header itself, which therefore is there too.
set(header ${PROJECT_SOURCE_DIR}/include/tessera/puzzle/run.hpp)
set(folder ${CMAKE_BINARY_DIR}/compiled_headers/tessera/puzzle)
set(compiled ${folder}/run.hpp.gch)
set(options -std=c++20 -O0 -w -DTESSERA_CHECK=1 -ftrivial-auto-var-init=pattern -fstack-clash-protection -ffp-contract=off -fsanitize=bounds -pthread)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/tessera/*)  # of all of them it must be the newer
file(MAKE_DIRECTORY ${folder})
file(CREATE_LINK ${header} ${folder}/run.hpp SYMBOLIC)
# Written beside and renamed: a puzzle that runs meanwhile has the old one or the new one.
add_custom_command(
  OUTPUT ${compiled}
  COMMAND ${CMAKE_CXX_COMPILER} ${options} -I${PROJECT_SOURCE_DIR}/include -x c++-header ${header} -o ${compiled}.new
  COMMAND ${CMAKE_COMMAND} -E rename ${compiled}.new ${compiled}
  DEPENDS ${headers} COMMENT "Compiling the header of the puzzles" VERBATIM)
add_custom_target(tessera_puzzle_header ALL DEPENDS ${compiled})
