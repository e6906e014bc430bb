// `tessera doctor`: what this machine offers, what is missing, and which Debian package provides
// it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/environment.hpp"
#include "bench/gpu_tools.hpp"
#include "bench/peers.hpp"
#include "commands.hpp"
#include "shell/build_info.hpp"
#include "shell/json_text.hpp"
#include "shell/machine.hpp"
#include "shell/options.hpp"
#include "shell/suggest.hpp"
#include "shell/wrap.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/device/devices.hpp"
#include "tessera/io/array.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;

/// Something that a user may want and this machine may lack.
struct Optional {
  std::string name, purpose, package, found;  // found: its path; empty: missing
  std::string made_by = {};                   ///< a script of the repository
};

/// The version of the CUDA driver as "13.0", or "" without one. The query does not initialize a
/// device.
std::string cuda_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {};
  using GetVersion = int (*)(int*);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return "unknown";
  return cat(version / 1000, ".", version % 1000 / 10);
}

/// The instruction set that the packed path uses, and why.
std::string packed_path() {
  const char* requested = std::getenv("TESSERA_CPU");
  // An unknown name has caused a warning and is ignored.
  const bool obeyed =
      requested != nullptr && (requested == name(vector_path()) || requested == best_cpu_name());
  return cat(cpu_text(), obeyed
                             ? cat(" (selected by TESSERA_CPU; the CPU has ", best_cpu_name(), ")")
                             : std::string(" (the best of the CPU)"));
}

/// Which instructions multiply each type in the packed path.
std::vector<std::pair<std::string_view, std::string>> multiplied_by() {
  const CpuFeatures features = cpu_features();
  const ProductInstructions by = product_instructions(vector_path(), features);
  std::string f16(by.f16);
  if (features.fp16 && !features.amx_fp16) f16 += " (AVX512-FP16 has no sums in f32)";
  return {
      {"f64", std::string(by.floats)}, {"f32", std::string(by.floats)}, {"f16", f16},
      {"bf16", std::string(by.bf16)},  {"i8", std::string(by.i8)},      {"u8", std::string(by.u8)}};
}

struct MadePeer {
  const char *name, *package, *script;
};
/// Peers that no package provides as a library: scripts/peers builds them.
constexpr std::array<MadePeer, 3> kMadePeers = {{{"eigen", "libeigen3-dev", "eigen"},
                                                 {"xsmm", "libxsmm-dev", "xsmm"},
                                                 {"openblas-new", "", "openblas"}}};

std::vector<Optional> optional_things(const bench::PeerSearch& peers) {
  std::vector<Optional> out = {
      {"nvcc", "compiles the kernels for CUDA", "nvidia-cuda-toolkit", shell::nvcc_path()},
      {"rsvg-convert", "turns the SVG pictures into PNG or PDF", "librsvg2-bin",
       find_program("rsvg-convert")},
      {"scdoc", "builds the man pages", "scdoc", find_program("scdoc")},
  };
  for (const auto& peer : peers.missing) {
    if (!peer.package.empty())
      out.push_back({peer.name, "a peer for tessera bench", peer.package, ""});
  }
  for (const auto& [name, package, script] : kMadePeers) {
    const bool there =
        std::any_of(peers.found.begin(), peers.found.end(),
                    [&, name = name](const bench::Peer& peer) { return peer.name == name; });
    if (!there)
      out.push_back({name, "a peer for tessera bench", package, "", cat("scripts/peers ", script)});
  }
  return out;
}

/// What provides it: a package, a script, or both.
std::string made_from(const Optional& thing) {
  std::string out = thing.package.empty() ? "" : "package " + thing.package;
  if (!thing.made_by.empty())
    out += cat(out.empty() ? "" : ", then ", thing.made_by, " in the sources");
  return out;
}

std::string device_text(const cuda::Device& device) {
  return fmt::format("{}, sm_{}{}, {} SMs at {:.2f} GHz, {}", device.name, device.major,
                     device.minor, device.sms, device.clock_hz * 1e-9,
                     bytes_text(device.memory_bytes));
}

ordered_json devices_json() {
  auto out = ordered_json::array();
  for (const auto& device : cuda::devices())
    out.push_back({{"name", cat("cuda:", device.number)},
                   {"model", device.name},
                   {"compute_capability", cat(device.major, ".", device.minor)},
                   {"sms", device.sms},
                   {"clock_hz", device.clock_hz},
                   {"memory", device.memory_bytes},
                   {"l2", device.l2_bytes}});
  return out;
}

/// The devices of the kind of `first`, or why there is none.
struct DevicesOfKind {
  std::vector<DeviceInfo> devices;
  std::string problem;
  explicit DevicesOfKind(const Device& first) {
    for (auto& each : tessera::devices())
      if (each.device.kind() == first.kind()) devices.push_back(std::move(each));
    try {
      describe(first);
    } catch (const Error& error) {
      problem = error.what();
    }
  }
};

std::string device_text(const DeviceInfo& device) {
  return fmt::format("{}, {}, blocks of {} threads and {} of shared storage, {}", device.name,
                     bytes_text(device.memory_bytes), device.most_block_threads,
                     bytes_text(device.shared_bytes), device.has_f64 ? "f64" : "no f64");
}

ordered_json json_of(const DevicesOfKind& found) {
  auto devices = ordered_json::array();
  for (const auto& device : found.devices)
    devices.push_back({{"name", to_string(device.device)},
                       {"model", device.name},
                       {"memory", device.memory_bytes},
                       {"block_threads", device.most_block_threads},
                       {"shared_bytes", device.shared_bytes},
                       {"f64", device.has_f64}});
  return {{"devices", devices},
          {"problem", found.problem.empty() ? ordered_json() : ordered_json(found.problem)}};
}

/// Version, environment, and which setting would select kernels for this CPU.
std::string text_of(const bench::Peer& peer) {
  std::string out = peer.version.empty() ? "version unknown" : peer.version;
  if (!peer.settings.empty()) out += ", " + peer.settings;
  if (!peer.environment.empty()) out += ", with " + bench::environment_text(peer);
  if (!peer.better.empty()) out += cat("; ", peer.better, " selects kernels for this CPU");
  return cat(out, "  ", peer.path);
}

ordered_json gpu_tools_json() {
  auto out = ordered_json::array();
  for (const auto& tool : bench::gpu_tools())
    out.push_back(
        {{"name", tool.name},
         {"purpose", tool.purpose},
         {"path", tool.path.empty() ? ordered_json() : ordered_json(tool.path)},
         {"version", tool.version.empty() ? ordered_json() : ordered_json(tool.version)}});
  return out;
}

// Over 60 lines: a table, one case or field a line.
ordered_json to_json(const shell::Machine& machine, const bench::PeerSearch& peers,
                     const std::vector<Optional>& things) {
  ordered_json out = shell::json_object();
  out["version"] = TESSERA_VERSION;
  out["compiler"] = shell::compiler_text();
  out["build_type"] = shell::build_type();
  out["host"] = machine.host;
  out["kernel"] = machine.kernel;
  auto multiplied = shell::json_object();
  for (const auto& [type, instruction] : multiplied_by())
    multiplied[std::string(type)] = instruction;
  out["cpu"] = {{"model", machine.cpu_model},
                {"features", machine.cpu_flags},
                {"engine_path", packed_path()},  // the old name, from when there was only one path
                {"packed_path", packed_path()},
                {"multiplied_by", multiplied},
                {"thread_engine", thread_engine_path()},
                {"online", machine.cpus_online},
                {"allowed", machine.cpus_allowed},
                {"cgroup_quota",
                 machine.cgroup_cpus > 0 ? ordered_json(machine.cgroup_cpus) : ordered_json()},
                {"available", available_cores()},
                {"default_threads", default_threads()},
                {"mhz", machine.mhz},
                {"governor", machine.governor}};
  auto caches = ordered_json::array();
  for (const auto& cache : machine.caches)
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"size", cache.bytes},
                      {"num_sharing", cache.shared_by}});
  out["caches"] = caches;
  out["memory"] = {
      {"total", machine.memory_bytes},
      {"available", machine.available_bytes},
      {"cgroup_limit", machine.cgroup_memory_bytes > 0 ? ordered_json(machine.cgroup_memory_bytes)
                                                       : ordered_json()},
      {"transparent_huge_pages", machine.transparent_huge_pages},
      {"huge_pages_reserved", machine.huge_pages_reserved}};
  auto found = ordered_json::array();
  for (const auto& peer : peers.found)
    found.push_back({{"name", peer.name},
                     {"path", peer.path},
                     {"version", peer.version},
                     {"settings", peer.settings},
                     {"environment", bench::environment_text(peer)},
                     {"better", peer.better}});
  out["peers"] = found;
  const std::string driver = cuda_driver(), nvcc = shell::nvcc_path();
  out["cuda"] = {{"engine", cuda::is_built()},
                 {"driver", driver.empty() ? ordered_json() : ordered_json(driver)},
                 {"nvcc", nvcc.empty() ? ordered_json() : ordered_json(nvcc)},
                 {"devices", devices_json()},
                 {"tools", gpu_tools_json()}};
  out["opencl"] = json_of(DevicesOfKind(Device::opencl()));
  out["hip"] = json_of(DevicesOfKind(Device::hip()));
  auto missing = ordered_json::array();
  for (const auto& thing : things) {
    if (thing.found.empty())
      missing.push_back(
          {{"name", thing.name},
           {"purpose", thing.purpose},
           {"package", thing.package.empty() ? ordered_json() : ordered_json(thing.package)},
           {"made_by", thing.made_by.empty() ? ordered_json() : ordered_json(thing.made_by)}});
  }
  out["missing"] = missing;
  return out;
}

class DoctorReport {
 public:
  explicit DoctorReport(const shell::Context& context) : context_(context) {}
  void heading(std::string_view text) {
    out_ += cat(out_.empty() ? "" : "\n", context_.paint(text, shell::Ink::bold), "\n");
  }
  void line(std::string_view label, std::string_view value) {
    const std::string rest = '\n' + std::string(kIndent, ' ');
    out_ += fmt::format("  {:<17} ", label);
    for (const char c : value.empty() ? "unknown" : shell::wrapped(value, columns_))
      out_ += c == '\n' ? rest : std::string(1, c);
    out_ += '\n';
  }
  const std::string& text() const { return out_; }

 private:
  static constexpr std::size_t kIndent = 20;
  const shell::Context& context_;
  const std::size_t terminal_ = shell::terminal_columns(shell::Stream::out);
  const std::size_t columns_ = terminal_ < kIndent + 20 ? 0 : terminal_ - kIndent;  ///< 0: any
  std::string out_;
};

// Over 60 lines: a table, one case or field a line.
std::string to_text(const shell::Context& context, const shell::Machine& machine,
                    const bench::PeerSearch& peers, const std::vector<Optional>& things) {
  DoctorReport report(context);
  report.heading("Program");
  report.line("version", TESSERA_VERSION);
  report.line("compiler", cat(shell::compiler_text(), ", ", shell::build_type()));
  report.line("system", machine.kernel);

  report.heading("Processor");
  report.line("model", machine.cpu_model);
  report.line("features", shell::join(machine.cpu_flags, " "));
  report.line("packed path", packed_path());
  for (const auto& [type, instruction] : multiplied_by()) report.line(cat("  ", type), instruction);
  report.line("thread engine",
              cat(thread_engine_path(), " (runs the kernels of the ladder thread by thread)"));
  report.line("cores",
              cat(machine.cpus_online, " online, ", machine.cpus_allowed, " allowed by affinity, ",
                  machine.cgroup_cpus > 0 ? fmt::format("cgroup quota {:.3g}", machine.cgroup_cpus)
                                          : std::string("no cgroup quota")));
  report.line("threads",
              cat(default_threads(),
                  " by default (TESSERA_NUM_THREADS, then OMP_NUM_THREADS, then cores)"));
  if (!machine.governor.empty()) report.line("governor", machine.governor);
  for (const auto& cache : machine.caches)
    report.line(cat("L", cache.level, " ", cache.type),
                cat(bytes_text(cache.bytes), ", shared by ", cache.shared_by));

  report.heading("Memory");
  report.line("total", bytes_text(machine.memory_bytes));
  report.line("available", bytes_text(machine.available_bytes));
  if (machine.cgroup_memory_bytes > 0)
    report.line("cgroup limit", bytes_text(machine.cgroup_memory_bytes));
  report.line(
      "huge pages",
      cat("transparent: ",
          machine.transparent_huge_pages.empty() ? "not offered" : machine.transparent_huge_pages,
          "; reserved: ", machine.huge_pages_reserved));

  report.heading("CUDA");
  const std::string driver = cuda_driver(), nvcc = shell::nvcc_path();
  report.line("engine", cuda::is_built() ? "built in" : "not built in; kernels run on the CPU");
  report.line("driver", driver.empty() ? "not found (libcuda.so.1)" : driver);
  const auto devices = cuda::devices();
  for (const auto& device : devices) report.line(cat("cuda:", device.number), device_text(device));
  if (devices.empty()) report.line("devices", cat("none: ", cuda::why_unavailable()));
  report.line("toolkit", nvcc.empty() ? "nvcc not found" : nvcc);
  for (const auto& tool : bench::gpu_tools())
    report.line(tool.name, tool.path.empty()
                               ? cat("not found; ", tool.purpose)
                               : cat(tool.version.empty() ? "version unknown" : tool.version, "  ",
                                     tool.path));

  for (const auto& [heading, first] :
       {std::pair{"OpenCL", Device::opencl()}, {"AMD (compiled, not run)", Device::hip()}}) {
    report.heading(heading);
    const DevicesOfKind found(first);
    for (const auto& device : found.devices)
      report.line(to_string(device.device), device_text(device));
    if (!found.problem.empty()) report.line("devices", found.problem);
  }

  report.heading("Peers for tessera bench");
  if (peers.found.empty()) report.line("none found", "see the packages below");
  for (const auto& peer : peers.found) report.line(peer.name, text_of(peer));

  report.heading("Optional, missing");
  std::vector<std::string> packages;
  for (const auto& thing : things) {
    if (!thing.found.empty()) continue;
    report.line(thing.name, cat(thing.purpose, "; ", made_from(thing)));
    const std::string package =
        thing.package.substr(0, thing.package.find(' '));  // "name (remark)"
    if (!package.empty() && std::find(packages.begin(), packages.end(), package) == packages.end())
      packages.push_back(package);
  }
  const bool complete = std::all_of(things.begin(), things.end(),
                                    [](const Optional& thing) { return !thing.found.empty(); });
  if (complete) report.line("nothing", "no optional package is missing");
  if (!packages.empty()) report.line("to install", "apt-get install " + shell::join(packages, " "));
  return report.text();
}

int run_doctor(const shell::Context& context) {
  const shell::Machine machine = shell::describe_machine();
  const bench::PeerSearch peers = bench::search_peers();
  const auto things = optional_things(peers);
  if (context.json) context.print(shell::json_text(to_json(machine, peers, things)));
  else context.print(to_text(context, machine, peers, things));
  return 0;
}

}  // namespace

void add_doctor(CLI::App& root, shell::Context& context) {
  CLI::App* app = shell::add_command(root, context, "doctor",
                                     "Show what this machine offers and what is missing",
                                     "  tessera doctor\n"
                                     "  tessera doctor --json | jq .missing");
  shell::add_json_option(*app, context, "One JSON document on stdout");
  shell::on_run(*app, context, [&context] { return run_doctor(context); });
}

}  // namespace tessera::cli
