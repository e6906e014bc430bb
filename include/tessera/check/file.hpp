// What a file for `tessera check FILE.cpp` includes. It defines the kernel, and one function that
// checks it on data of its own:
//
//   tessera::check::Report check_kernel(const tessera::check::Options& options);
//
// The command compiles the file with TESSERA_CHECK=1, gives it the options of the command line, and
// prints the report.
#pragma once

#include <cstdint>

#include "tessera/check/check.hpp"
#include "tessera/check/product.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera::check {

/// The program that the command makes of the file. The arguments are key=value: what Options holds,
/// and format=NAME and NAME=FILE with a name of formats(), device=NAME, source=FILE (what was
/// checked), report=FILE (else stdout).
/// The report is written last and whole, with the exit code as its first line: where it is missing,
/// the program has not come to its end. Returns the exit code: 0 clean, 1 findings, 4 could not
/// check. `end_of_block` says where the block of the heap ends that holds an address, 0 where none
/// does: a tensor that begins in a block and is larger is one that lies outside of it; null: nobody
/// knows.
int file_main(int argc, char** argv, Report (*check_kernel)(const Options&),
              std::uint64_t (*end_of_block)(std::uint64_t address));

/// The report of such a program that left none: one finding. `how` is what became of it, "ended by
/// signal 9 (Killed)".
Report report_of_crash(const std::string& program, Kind kind, const std::string& how);

}  // namespace tessera::check
