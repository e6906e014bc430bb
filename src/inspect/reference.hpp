// What the outputs of a launch should be, and whether they are correct: the reference of `tessera
// judge`.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tessera/io/array.hpp"

namespace tessera::inspect {

/// One array of a launch, before or after the launch.
struct NamedArray {
  std::string name;
  Array array;
};

/// One launch of a judged case, in the order of the kernel's arguments.
struct JudgedLaunch {
  std::string data;  ///< "random numbers", "other random numbers", "small numbers", ...
  std::vector<NamedArray> inputs, outputs;
};
/// The arrays that the program of a launch has kept in the folder; see
/// src/plain_cuda/runtime/requested_launch.cpp.
std::vector<JudgedLaunch> read_launches(const std::filesystem::path& folder);

struct WrongResult {
  std::string kind;  ///< "wrong-result", "all-zero", "never-computed"
  std::string data;  ///< of the launch
  std::string text;
};

struct JudgedCase {
  std::vector<WrongResult> wrong;
  /// the exception that the script raises for an array without elements; empty: compared
  std::string why_not;
  bool timed_out = false;  ///< the script was ended at the time limit, and nothing compared
};

/// Either "naive", C = A * B of the first two inputs and the only output, or a Python script that
/// defines reference(**arrays) in f64.
class Reference {
 public:
  /// Throws Error(file) if there is no such script.
  explicit Reference(std::string name);
  /// Compares every element. `shape`: m, n and k, which a script may request; it is ended after
  /// `seconds`. Throws Error(argument) if the arrays do not fit the reference, Error(unavailable)
  /// if the script fails.
  JudgedCase judge(const std::vector<JudgedLaunch>& launches,
                   const std::map<std::string, index_t>& shape, const std::filesystem::path& folder,
                   double seconds) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace tessera::inspect
