// Selecting what is measured: see selection.hpp.
#include "selection.hpp"

#include <algorithm>

#include "contestant.hpp"
#include "cuda.hpp"
#include "opencl.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/device.hpp"
#include "shell/machine.hpp"
#include "shell/suggest.hpp"
#include "sizes.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::bench {

namespace {

std::vector<Shape> shapes_of(const BenchRequest& request) {
  const bool rectangles = !request.m.empty() || !request.n.empty() || !request.k.empty();
  if (int{rectangles} + int{!request.sizes.empty()} + int{!request.suite.empty()} > 1)
    throw Error(Category::argument, "more than one of --sizes, --suite and -m, -n, -k given",
                "one of them");
  if (!request.suite.empty()) return suite_shapes(request.suite);
  if (!rectangles) return parse_sizes(request.sizes.empty() ? "64:1024:x2" : request.sizes);
  if (request.m.empty() || request.n.empty() || request.k.empty())
    throw Error(Category::argument, "-m, -n and -k belong together", "all three", {},
                "use --sizes for cubes");
  return all_combinations(parse_extents(request.m), parse_extents(request.n),
                          parse_extents(request.k));
}

std::vector<int> threads_of(const BenchRequest& request) {
  if (request.threads.empty()) return {default_threads()};
  std::vector<int> out;
  for (index_t count : parse_thread_counts(request.threads)) out.push_back(static_cast<int>(count));
  return out;
}

/// Measures call by call, and for each measurement what the options ask for in addition.
std::vector<Readiness> readiness_of(const BenchRequest& request) {
  std::vector<Readiness> out = {{}};
  if (request.idle > 0) out.push_back({request.idle, false});
  if (request.first_call) out.push_back({0, true});
  return out;
}

/// Refuses options of the CPU with a GPU, so that none is silently ignored.
void require_no_processor(const BenchRequest& request) {
  const bool blas = std::find(request.algorithms.begin(), request.algorithms.end(), kOwnBlas) !=
                    request.algorithms.end();
  for (const auto& [requested, what] : {std::pair{!request.threads.empty(), "--threads"},
                                        {request.idle > 0, "--idle"},
                                        {request.first_call, "--first-call"},
                                        {blas, "the algorithm blas"}}) {
    if (requested)
      throw Error(Category::argument, cat(what, " applies to the CPU, not to a GPU"), {}, {},
                  "omit it, or omit --device");
  }
}

/// The device to measure on; none for the CPU.
std::shared_ptr<BenchDevice> device_of(const BenchRequest& request) {
  if (request.device == "cpu") return nullptr;
  require_no_processor(request);
  const std::string device = shell::named_device(request.device);
  if (!device.starts_with("cuda")) return open_opencl_bench(device);
  return open_cuda_bench(device);
}

std::vector<std::string> names_of(const std::vector<Peer>& peers) {
  std::vector<std::string> out;
  for (const auto& peer : peers) out.push_back(peer.name);
  return out;
}

/// The peers on a device; warns about a peer that is skipped.
std::vector<Peer> device_peers(const shell::Context& context, const BenchRequest& request,
                               const shell::Types& types, const BenchDevice& device) {
  std::vector<Peer> out;
  if (request.peers == "none") return out;
  const bool automatic = request.peers == "auto";
  const auto there = device.peers();
  if (automatic && there.empty()) context.warn(cat("peer skipped: ", device.missing_peers()));
  if (automatic) {
    for (const auto& peer : there) {
      if (peer.supports(types)) out.push_back(peer);
    }
    return out;
  }
  for (const auto& wanted : shell::split(request.peers, ',')) {
    const auto at = std::find_if(there.begin(), there.end(),
                                 [&](const Peer& each) { return each.name == wanted; });
    if (at == there.end())
      throw Error(Category::unavailable, cat("no peer '", wanted, "' on ", device.name()),
                  there.empty() ? "" : shell::join(names_of(there)), {}, device.missing_peers());
    out.push_back(*at);
  }
  return out;
}

/// The peers to measure against; warns about libraries that are installed but do not work.
std::vector<Peer> peers_of(const shell::Context& context, const BenchRequest& request,
                           const shell::Types& types) {
  if (request.peers == "none") return {};
  std::vector<Peer> out;
  const bool automatic = request.peers == "auto";
  const PeerSearch search = search_peers();
  for (const auto& missing : search.missing) {
    if (missing.package.empty()) context.warn(cat("peer skipped: ", missing.reason));
  }
  if (automatic) {
    for (const auto& peer : search.found) {
      if (peer.supports(types)) out.push_back(peer);
    }
    return out;
  }
  for (const auto& wanted : shell::split(request.peers, ',')) {
    if (wanted.find('/') != std::string::npos) {
      out.push_back(peer_at(wanted, ""));
      continue;
    }
    const auto at = std::find_if(search.found.begin(), search.found.end(),
                                 [&](const Peer& each) { return each.name == wanted; });
    if (at != search.found.end()) {
      out.push_back(*at);
      continue;
    }
    std::vector<std::string> names;
    for (const auto& each : search.found) names.push_back(each.name);
    std::string advice = "give a path for a library elsewhere";
    for (const auto& each : search.missing) {
      if (each.name == wanted && !each.package.empty()) advice = "install " + each.package;
    }
    throw Error(Category::unavailable, cat("no peer '", wanted, "' on this machine"),
                names.empty() ? "" : "one of " + shell::join(names), {}, advice);
  }
  return out;
}

/// As below, for a device, whose algorithms do not say how much memory a product needs.
void choose_device_algorithms(const BenchRequest& request, BenchSettings& out) {
  const Problem any = problem_of({out.types, {1, 1, 1}});
  const bool all = request.algorithms.empty();
  std::vector<std::string> names = all ? shell::algorithm_names() : request.algorithms;
  if (all) names.emplace_back(kAutomatic);
  for (const auto& name : names) {
    try {
      (void)make_plan(any, {.algorithm = name, .device = out.device->name()});
      out.algorithms.push_back(name);
    } catch (const Error&) {
      if (!all) throw;
    }
  }
}

/// An algorithm that is named must be able to run. Without names, all that can run do; -v names the
/// others.
void choose_algorithms(const shell::Context& context, const BenchRequest& request,
                       BenchSettings& out) {
  const auto& named = request.algorithms;
  const bool all = named.empty();
  const bool blas_named = std::find(named.begin(), named.end(), kOwnBlas) != named.end();
  out.algorithms = all ? shell::algorithm_names() : named;
  std::erase(out.algorithms, kOwnBlas);
  const Problem any = problem_of({out.types, {1, 1, 1}});
  std::erase_if(out.algorithms, [&](const std::string& name) {
    try {
      (void)make_plan(any, {.algorithm = name == kPlanOnce ? "packed" : name});
      return false;
    } catch (const Error& error) {  // refused before any work
      if (!all) throw;
      context.detail(cat(name, " skipped: ", error.what()));
      return true;
    }
  });
  if (!all && !blas_named) return;
  out.blas = own_blas();
  if (blas_named && !out.blas)
    throw Error(Category::unavailable, "libtessera_blas.so.0 is not found beside the command", {},
                {}, "build or install it");
  if (out.blas && !out.blas->supports(out.types)) {
    if (blas_named)
      throw Error(Category::argument, cat("blas cannot run this product: it has no ",
                                          to_string(out.types), " product"));
    out.blas.reset();
  }
}

}  // namespace

void require_memory_for(const std::vector<Shape>& shapes, const shell::Types& types,
                        std::size_t contestants) {
  double most = 0;
  for (const auto& shape : shapes) {
    const BenchCase now{types, shape};
    const auto sets = static_cast<double>(now.sets());
    const double verifier = 24.0 * static_cast<double>(shape.M) * static_cast<double>(shape.N) *
                            static_cast<double>(now.products());
    most = std::max(most, sets * now.bytes() * static_cast<double>(contestants + 1) + verifier);
  }
  shell::require_memory(most, cat("the largest size with ", contestants, " contestants"));
}

BenchSettings settings_of(const shell::Context& context, const BenchRequest& request) {
  BenchSettings out;
  out.types = shell::parse_types(request.dtype);
  require_product(out.types);
  out.shapes = shapes_of(request);
  const auto updates = std::find_if(out.shapes.begin(), out.shapes.end(),
                                    [](const Shape& shape) { return shape.updates; });
  if (request.device != "cpu" && updates != out.shapes.end())
    throw Error(Category::argument,
                cat("updates cannot be measured on a GPU: '", to_string(*updates), "'"),
                "sizes without the suffix -update", {}, "leave it out, or --device");
  out.threads = threads_of(request);
  out.readiness = readiness_of(request);
  out.device = device_of(request);
  out.repetitions = request.repetitions > 0 ? request.repetitions
                    : out.device            ? kDeviceRepetitions
                                            : kDefaultRepetitions;
  out.min_time = request.min_time, out.max_time = request.max_time;
  out.seed = request.seed;
  if (out.device) {
    out.threads = {1};
    choose_device_algorithms(request, out);
    out.peers = device_peers(context, request, out.types, *out.device);
  } else {
    choose_algorithms(context, request, out);
    out.peers = peers_of(context, request, out.types);
  }
  return out;
}

}  // namespace tessera::bench
