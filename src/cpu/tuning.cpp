// Which values are in use, and their text form.
#include "tuning.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <system_error>
#include <utility>

#include "blocking.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tuning/sapphire_rapids.hpp"
#include "tuning/zen4.hpp"
#include "tuning/zen5.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tessera::cpu {

namespace {

constexpr const Tuning* kAll[] = {&kSapphireRapids, &kZen4, &kZen5};

/// A TESSERA_CPU_TUNING that cannot be read is reported once and ignored.
Tuning first_tuning() {
  const Tuning* own = tuning_named(microarchitecture());
  const Tuning base = own != nullptr ? *own : tuning_like(caches());
  const char* path = std::getenv("TESSERA_CPU_TUNING");
  if (path == nullptr || *path == '\0') return base;
  std::string why = "it cannot be read";
  struct stat about {};
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
    why = "it is no file";
  } else if (std::FILE* file = std::fopen(path, "re"); file != nullptr) {
    char text[1 << 14];
    const std::size_t size = std::fread(text, 1, sizeof text, file);
    std::fclose(file);
    try {
      if (size == sizeof text) throw Error(Category::file, "it is too long", "less than 16 KiB");
      Tuning found = tuning_from({text, size}, base);
      found.name = "TESSERA_CPU_TUNING";
      return found;
    } catch (const Error& error) {
      why = error.what();
    }
  }
  std::fprintf(stderr, "tessera: ignoring TESSERA_CPU_TUNING='%s': %s\n", printable(path).c_str(),
               why.c_str());
  return base;
}

Tuning& current() {
  static Tuning found = first_tuning();
  return found;
}

}  // namespace

const Tuning& tuning() { return current(); }
Tuning assume_tuning(const Tuning& tuning) { return std::exchange(current(), tuning); }

const Tuning* tuning_named(std::string_view name) {
  for (const Tuning* each : kAll)
    if (each->name == name) return each;
  return nullptr;
}

/// AMD's family 25 (19h) is Zen 3 and, with AVX-512, Zen 4, family 26 Zen 5 (AMD's processor
/// programming references); of Intel's family 6, Sapphire, Emerald and Granite Rapids are models
/// 143, 207, 173 and 174 (Intel SDM vol. 4, table 2-1).
std::string_view microarchitecture() {
#if defined(__x86_64__)
  // The compiler's runtime library has already read this family. A virtual machine traps CPUID,
  // which the first product of a process would wait for.
  if (__builtin_cpu_is("amdfam19h")) return __builtin_cpu_supports("avx512f") ? kZen4.name : "";
  unsigned a = 0, b = 0, c = 0, d = 0;
  __cpuid(0, a, b, c, d);  // not __get_cpuid, which asks twice
  const bool is_amd = b == signature_AMD_ebx, is_intel = b == signature_INTEL_ebx;
  __cpuid(1, a, b, c, d);
  const unsigned base = a >> 8 & 15, family = base + (base == 15 ? a >> 20 & 255 : 0);
  const unsigned model = (a >> 4 & 15) + (a >> 12 & 0xF0);
  if (is_amd && family == 26) return kZen5.name;
  if (is_intel && family == 6 && (model == 143 || model == 207 || model == 173 || model == 174))
    return kSapphireRapids.name;
#endif
  return "";
}

const Tuning& tuning_like(const Caches& caches) {
  if (caches.l2 >= index_t{3} << 19) return kSapphireRapids;
  return caches.l1 >= index_t{48} << 10 ? kZen5 : kZen4;
}

std::string to_text(const Tuning& tuning) {
  std::string out;
  for (const TuningValue& value : kTuningValues)
    out += cat(value.name, " = ", tuning.*value.member, "\n");
  return out;
}

Tuning tuning_from(std::string_view text, const Tuning& base) {
  Tuning out = base;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const auto trim = [](std::string_view part) {
      const std::size_t first = part.find_first_not_of(" \t\r");
      if (first == part.npos) return std::string_view{};
      return part.substr(first, part.find_last_not_of(" \t\r") + 1 - first);
    };
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    const std::string_view name = trim(line.substr(0, equals)),
                           digits = equals == line.npos ? "" : trim(line.substr(equals + 1));
    const auto* value = std::find_if(std::begin(kTuningValues), std::end(kTuningValues),
                                     [&](const TuningValue& each) { return each.name == name; });
    if (value == std::end(kTuningValues))
      throw Error(Category::argument, cat("line ", number, ": '", printable(name), "'"),
                  "a value of the packed path", {},
                  "'tessera tune --device cpu' writes such a file");
    index_t found = 0;
    const auto [rest, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), found);
    if (failed != std::errc{} || rest != digits.data() + digits.size() || found < value->least ||
        found > value->most)
      throw Error(Category::argument, cat("line ", number, ": ", name),
                  cat("an integer from ", value->least, " to ", value->most),
                  cat("'", printable(digits), "'"), {});
    out.*value->member = found;
  }
  return out;
}

}  // namespace tessera::cpu
