// The header that a file for `tessera check FILE.cpp` includes. It defines the kernel, and one
// function that
// checks it on its own data:
//
//   tessera::check::Report check_kernel(const tessera::check::Options& options);
//
// or, for any shape, which `-m -n -k` and `--sweep` choose,
//
//   tessera::check::Report check_kernel(const tessera::check::Options& options,
//                                       const tessera::check::ProductProblem& problem);
//
// The command compiles the file with TESSERA_CHECK=1, gives it the options of the command line, and
// prints the report.
#pragma once

#include <cstdint>

#include "tessera/check/check.hpp"
#include "tessera/check/product.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera::check {

/// The two forms of check_kernel; null where the file does not define it.
using CheckKernel = Report(const Options&);
using CheckKernelOfShape = Report(const Options&, const ProductProblem&);
/// Begin and end of the heap block that contains an address, 0 and 0 where none does.
using HeapBlockOf = std::pair<std::uint64_t, std::uint64_t>(std::uint64_t address);

/// The program that the command makes of the file. The arguments are key=value: what Options and
/// ProductProblem hold, and format=NAME and NAME=FILE with a name of formats(), device=NAME,
/// source=FILE (what was checked), sized=1 (the form with a shape, and no other), report=FILE (else
/// stdout). The report is written last and atomically, with the exit code as its first line: where
/// it is missing, the program did not finish. Returns the exit code: 0 clean, 1 findings, 2 no
/// such form, 4 could not check. By `heap_block_of` a tensor that is larger than its heap block is
/// found; null: unknown.
int file_main(int argc, char** argv, CheckKernel* check_kernel, HeapBlockOf* heap_block_of,
              CheckKernelOfShape* check_shape = nullptr);

/// The report of such a program that wrote none: one finding. `how` is what became of it, "ended by
/// signal 9 (Killed)".
Report report_of_crash(const std::string& program, Kind kind, const std::string& how);

}  // namespace tessera::check
