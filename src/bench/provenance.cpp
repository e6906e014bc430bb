// The date, the machine's current state, the build, the request and the method. Keys that
// google/benchmark also has keep its names.
#include "provenance.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "peak.hpp"
#include "shell/build_info.hpp"
#include "shell/json_text.hpp"
#include "shell/machine.hpp"
#include "shell/suggest.hpp"

namespace tessera::bench {

namespace {

using nlohmann::ordered_json;

#if !defined(TESSERA_CXX_FLAGS)
#define TESSERA_CXX_FLAGS ""
#endif

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[40];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
  return {text, size};
}

std::string device_method_text(const BenchSettings& settings) {
  return fmt::format(
      "every element of every result is compared with an independent, more precise product before "
      "anything is timed; then all contestants are timed on one stream of one process, {} rounds "
      "after a warm-up of {:g} s, each sample at least {:g} s between two events of the device "
      "around call after call; operands are normal random numbers, in so many copies, used in "
      "rotation, that together they exceed three times the L2 cache; figures are medians, spread "
      "is the median distance from the median, ratios are taken round by round; a peak is "
      "multiprocessors x multiply-adds of the units in a clock x 2 x clock.",
      settings.repetitions, kDeviceWarmUp, settings.min_time);
}

std::string method_text(const BenchSettings& settings) {
  if (settings.device) return device_method_text(settings);
  return fmt::format(
      "every element of every result is compared with an independent, more precise product before "
      "anything is timed; then all contestants are timed in {} rounds, in each for at "
      "least {:g} s and one call; each contestant runs in a process of its own, stopped while "
      "others are "
      "measured; figures are medians, spread is the median distance from the median, shares of "
      "the peak and ratios are taken round by round.",
      settings.repetitions, settings.min_time);
}

ordered_json peers_json(const std::vector<Peer>& peers) {
  ordered_json out = ordered_json::array();
  for (const auto& peer : peers) {
    out.push_back({{"name", peer.name},
                   {"version", peer.version},
                   {"settings", peer.settings},
                   {"environment", environment_text(peer)},
                   {"better", peer.better},
                   {"file", peer.path}});
  }
  return out;
}

}  // namespace

ordered_json context_json(const BenchRequest& request, const BenchSettings& settings) {
  const shell::Machine machine = shell::describe_machine();
  ordered_json out = shell::json_object();
  out["date"] = date_text();
  if (!request.no_host) out["host_name"] = machine.host;
  out["executable"] = "tessera";
  out["num_cpus"] = machine.cpus_allowed;
  out["mhz_per_cpu"] = std::lround(machine.mhz);
  out["cpu_scaling_enabled"] = !machine.governor.empty() && machine.governor != "performance";
  out["caches"] = ordered_json::array();
  for (const auto& cache : machine.caches) {
    out["caches"].push_back({{"type", cache.type},
                             {"level", cache.level},
                             {"size", cache.bytes},
                             {"num_sharing", cache.shared_by}});
  }
  out["load_avg"] = machine.load;
  out["others_busy"] = std::round(10 * shell::busy_processors(0.2)) / 10;
  out["library_build_type"] = shell::build_type();
  out["json_schema_version"] = 1;
  out["version"] = TESSERA_VERSION;
  out["compiler"] = shell::compiler_text();
  out["flags"] = TESSERA_CXX_FLAGS;
  out["cpu_model"] = machine.cpu_model;
  if (!machine.cpu_stepping.empty()) out["cpu_stepping"] = machine.cpu_stepping;
  out["instruction_sets"] = shell::join(shell::instruction_sets(), " ");
  out["kernel"] = machine.kernel;
  out["transparent_huge_pages"] = machine.transparent_huge_pages;
  out["dtype"] = request.dtype;
  out["seed"] = request.seed;
  out["min_time"] = request.min_time;
  out["max_time"] = request.max_time;
  if (!request.suite.empty()) out["suite"] = request.suite;
  if (settings.device) out["device"] = settings.device->description();
  else out["peak"] = peak_chain(settings.types.in).instructions;
  out["method"] = method_text(settings);
  out["peers"] = peers_json(settings.peers);
  for (const auto& each : request.extra_context) {
    const auto equals = each.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(Category::argument, "--context", "KEY=VALUE", cat("'", each, "'"));
    const std::string key = each.substr(0, equals);
    if (out.contains(key))
      throw Error(Category::argument,
                  cat("--context: '", key, "' is a measured field and cannot be set"));
    out[key] = each.substr(equals + 1);
  }
  return out;
}

}  // namespace tessera::bench
