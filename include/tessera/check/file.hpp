// What a file for `tessera check FILE.cpp` includes. It defines the kernel, and one function that
// checks it on data of its own:
//
//   tessera::check::Report check_kernel(const tessera::check::Options& options);
//
// The command compiles the file with TESSERA_CHECK=1, gives it the options of the command line, and
// prints the report.
#pragma once

#include "tessera/check/check.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera::check {

/// The program that the command makes of the file. The arguments are key=value: what Options holds,
/// and format=text|json, device=NAME, junit=FILE, html=FILE. Returns the exit code: 0 clean, 1
/// findings, 4 could not check.
int file_main(int argc, char** argv, Report (*check_kernel)(const Options&));

}  // namespace tessera::check
