// A separate file: files that include run_checked.hpp record accesses, and this one must not.
#include <string>

#include "tessera/check/format.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

void throw_findings(const check::Report& report);

void throw_findings(const check::Report& report) {
  const int code = check::exit_code(report.summary);
  if (code == 0) return;
  std::string text = check::to_gcc(report);  // one line for each finding
  text.resize(text.find('\n') == std::string::npos ? text.size() : text.find('\n'));
  throw Error(code == 1 ? Category::failed : Category::unavailable,
              cat("kernel ", report.kernel, " on checked: ", check::summary_line(report)), {}, {},
              text);
}

}  // namespace tessera::detail
