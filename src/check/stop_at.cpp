// Where a debugger stops a kernel: see StopAt in check/check.hpp.
#include "stop_at.hpp"

#include <charconv>

#include "key_values.hpp"
#include "tessera/check/check.hpp"

/// The breakpoint. An empty function; the kernel is a frame or two up the call stack.
extern "C" [[gnu::noinline, gnu::used]] void tessera_stop() { asm volatile("" ::: "memory"); }

namespace tessera::check {

namespace {

/// "3", "3,1" or "3,1,0".
Dim3 coordinates_in(const std::string& key, const std::string& text) {
  int out[3] = {0, 0, 0}, count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (; count < 3; ++count) {
    const auto [stop, error] = std::from_chars(at, end, out[count]);
    if (error != std::errc{} || out[count] < 0) break;
    if (stop == end) return {out[0], out[1], out[2]};
    if (*stop != ',') break;
    at = stop + 1;
  }
  throw Error(Category::argument, cat("stop-at: cannot read ", key), "coordinates such as 3,1,0",
              cat("'", text, "'"));
}

}  // namespace

StopAt parse_stop_at(std::string_view text) {
  StopAt out;
  for (const auto& [key, value] : parse_key_values(text, "stop-at", Category::argument)) {
    if (key == "block") out.block = coordinates_in(key, value);
    else if (key == "thread") out.thread = coordinates_in(key, value);
    else if (key == "superstep") out.superstep = value;
    else
      throw Error(Category::argument, cat("stop-at: unknown key '", key, "'"),
                  "block, thread or superstep");
  }
  return out;
}

void require_inside(const StopAt& stop, const detail::Launch& launch) {
  const auto require = [](const char* what, const Dim3& at, const Dim3& all) {
    if (at.x >= all.x || at.y >= all.y || at.z >= all.z)
      throw Error(Category::argument, cat("stop-at: there is no ", what, " ", to_string(at)),
                  cat("less than ", to_string(all)));
  };
  require("block", stop.block, launch.grid);
  require("thread", stop.thread, launch.block);
}

}  // namespace tessera::check
