// The only exception type of the project: a category and four short texts (problem, expected, got,
// advice).
// The category decides the exit code of the command and the exception type in Python.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace tessera {

/// What kind of thing went wrong. `exit_code` gives the process exit code of each.
enum class Category {
  argument,     ///< a value, name or combination that is not allowed
  shape,        ///< extents or strides that do not fit together
  type,         ///< element types that do not fit together
  file,         ///< a file that cannot be read, or is not what it says
  unavailable,  ///< a device, feature or package that is not there
  resource,     ///< memory, disk or threads ran out
  kernel,  ///< a kernel diverged at a barrier, overflowed its stack or threw something other than
           ///< an Error
  failed   ///< a check or comparison that did not hold
};

/// Exit code of a category: 1 failed, 2 wrong usage, 3 input file, 4 not available.
constexpr int exit_code(Category category) {
  switch (category) {
    case Category::argument:
    case Category::shape:
    case Category::type: return 2;
    case Category::file: return 3;
    case Category::unavailable: return 4;
    default: return 1;
  }
}

/// Thrown by every public call, before any memory has been touched unless the call says otherwise.
class Error : public std::exception {
 public:
  /// `problem` is a main clause ("multiply: A has 64 columns but B has 32 rows"); the others may be
  /// empty.
  explicit Error(Category category, std::string problem, std::string expected = {},
                 std::string got = {}, std::string advice = {})
      : category_(category),
        problem_(std::move(problem)),
        expected_(std::move(expected)),
        got_(std::move(got)),
        advice_(std::move(advice)) {
    message_ = problem_;
    if (!expected_.empty()) message_ += ": expected " + expected_;
    if (!got_.empty()) message_ += (expected_.empty() ? ": got " : ", got ") + got_;
    if (!advice_.empty()) message_ += "; " + advice_;
  }

  Category category() const noexcept { return category_; }
  const std::string& problem() const noexcept { return problem_; }
  const std::string& expected() const noexcept { return expected_; }
  const std::string& got() const noexcept { return got_; }
  const std::string& advice() const noexcept { return advice_; }
  /// One line: problem, expected, got, what to do.
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Category category_;
  std::string problem_, expected_, got_, advice_, message_;
};

}  // namespace tessera
