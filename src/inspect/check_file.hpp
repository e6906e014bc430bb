// A kernel as its own program under the checker: a file of the user, or a kernel of the ladder
// in a tile or type that is not built in. There is a report even if the program crashes or hangs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "check/formats/formats.hpp"
#include "checked_kernel.hpp"
#include "process/compile.hpp"
#include "process/temporary_folder.hpp"

namespace tessera::inspect {

/// How the program is run.
struct FileCheck {
  process::Compilation compilation;
  std::vector<std::string> more_sources;  ///< of a program in plain CUDA
  std::vector<std::string> arguments;     ///< arguments of that program
  std::string launch;    ///< one launch instead of main(); see plain_cuda::launch_source
  CheckedKernel kernel;  ///< its limits, order, seed and device
  std::string stop_at;   ///< run it in gdb and stop here; see check::parse_stop_at
  std::string suppress;  ///< a file of accepted findings
  /// how the report names the product; empty: as the program does
  std::string problem;
  std::string arrays;               ///< a folder for the arrays of the launch; empty: not kept
  std::string results;              ///< a folder for the results of the launch; empty: not kept
  bool sized = false;               ///< the kernel's shape and strides must reach the program
  std::string format = "text";      ///< of the printed output: a name of check::formats()
  std::vector<std::string> others;  ///< further formats to write
};

struct FileReport {
  int code = 0;
  std::string printed;
  std::map<std::string, std::string> others;  ///< by format
};
/// A report in the requested formats; what is printed fits the terminal. `source` reads the files
/// that it names.
FileReport written(const check::Report& report, const check::DeviceModel& device,
                   const std::string& format, const std::vector<std::string>& others,
                   const check::SourceReader& source);

/// A file that is compiled once and can run many times.
class CheckedProgram {
 public:
  /// Throws Error(file) if there is no such file, Error(unavailable) if it does not compile,
  /// Interrupted.
  explicit CheckedProgram(const FileCheck& check);
  /// A program that ends without a report gets a report with one finding. A program that has said
  /// why it checks nothing leaves no report. Throws Error(unavailable) if there is no debugger,
  /// Interrupted.
  FileReport run(const FileCheck& check) const;

 private:
  process::TemporaryFolder folder_;
  std::filesystem::path program_;
};

/// Compiles it and runs it once.
FileReport check_file(const FileCheck& check);

}  // namespace tessera::inspect
