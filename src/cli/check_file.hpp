// A kernel as a program of its own under the checker: a file of the user's, or a kernel of the
// ladder in a tile or type that is not built in. Whatever becomes of the program, there is a
// report.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checked_kernel.hpp"
#include "process/compile.hpp"
#include "process/temporary_folder.hpp"
#include "tessera/check/formats.hpp"

namespace tessera::cli {

/// How the program is run.
struct FileCheck {
  process::Compilation compilation;
  std::vector<std::string> more_sources;  ///< of a program in plain CUDA
  std::vector<std::string> arguments;     ///< of that program
  std::string launch;               ///< one launch in its place; see plain_cuda::launch_source
  CheckedKernel kernel;             ///< its limits, order, seed and device
  std::string stop_at;              ///< run it in gdb, which stops there; see check::parse_stop_at
  std::string suppress;             ///< a file
  std::string problem;              ///< what the report says was run; empty: the program's own text
  std::string arrays;               ///< a folder for those of the launch; empty: they are not kept
  std::string results;              ///< a folder for what the launch writes; empty: it is not kept
  bool sized = false;               ///< the kernel's shape and strides must reach the program
  std::string format = "text";      ///< of what is printed: a name of check::formats()
  std::vector<std::string> others;  ///< further formats that are wanted
};

struct FileReport {
  int code = 0;
  std::string printed;
  std::map<std::string, std::string> others;  ///< by their names
};
/// A report in the formats that are wanted. `source` reads the files that it names.
FileReport written(const check::Report& report, const check::DeviceModel& device,
                   const std::string& format, const std::vector<std::string>& others,
                   const check::SourceReader& source);

/// A file made into a program, for as many runs as are wanted.
class CheckedProgram {
 public:
  /// Throws Error(file) where there is no such file, Error(unavailable) where it does not compile,
  /// Interrupted.
  explicit CheckedProgram(const FileCheck& check);
  /// A program that ends without a report gets one with a finding; one that has said why it checks
  /// nothing leaves nothing to print. Throws Error(unavailable) where there is no debugger,
  /// Interrupted.
  FileReport run(const FileCheck& check) const;

 private:
  process::TemporaryFolder folder_;
  std::filesystem::path program_;
};

/// Compiles it and runs it once.
FileReport check_file(const FileCheck& check);

}  // namespace tessera::cli
