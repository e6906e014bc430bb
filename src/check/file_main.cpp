// The program of `tessera check FILE.cpp`: see file.hpp.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tessera/check/file.hpp"
#include "tessera/check/format.hpp"
#include "tessera/check/html_report.hpp"

namespace tessera::check {

namespace {

struct Printing {
  std::string format = "text", device = "h200", junit, html;
};

void set(Options& options, Printing& printing, std::string_view key, const std::string& value) {
  if (key == "order") options.order = parse_order(value);
  else if (key == "seed") options.seed = std::strtoull(value.c_str(), nullptr, 10);
  else if (key == "threads") options.threads = std::atoi(value.c_str());
  else if (key == "blocks") options.blocks = std::atoll(value.c_str());
  else if (key == "time_limit_s") options.time_limit_s = std::atof(value.c_str());
  else if (key == "correctness") options.correctness = value == "1";
  else if (key == "forget_tiles") options.forget_tiles = value == "1";
  else if (key == "registers") options.registers = std::atoi(value.c_str());
  else if (key == "format") printing.format = value;
  else if (key == "device") printing.device = value;
  else if (key == "junit") printing.junit = value;
  else if (key == "html") printing.html = value;
}

bool write(const std::string& path, const std::string& text) {
  std::FILE* const file = path.empty() ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = path.empty() ? std::fflush(file) == 0 : std::fclose(file) == 0;
  return written && closed;
}

}  // namespace

int file_main(int argc, char** argv, Report (*check_kernel)(const Options&)) {
  constexpr int kCouldNotCheck = 4;
  try {
    Options options;
    Printing printing;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      const auto equals = word.find('=');
      if (equals != std::string_view::npos)
        set(options, printing, word.substr(0, equals), std::string(word.substr(equals + 1)));
    }
    const DeviceModel& device = device_model(printing.device);
    const Report report = check_kernel(options);
    const bool written =
        (printing.junit.empty() || write(printing.junit, to_junit(report))) &&
        (printing.html.empty() || write(printing.html, html_report(report, device))) &&
        write({}, printing.format == "json" ? to_json(report, device) : to_text(report, device));
    if (!written) {
      std::fputs("tessera check: the report cannot be written\n", stderr);
      return kCouldNotCheck;
    }
    return exit_code(report.summary);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera check: %s\n", error.what());
    return kCouldNotCheck;
  }
}

}  // namespace tessera::check
