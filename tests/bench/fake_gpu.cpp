// `tessera tune` and `tessera bench` as scripts/gpu calls them, on a fake GPU: the tuner, the
// peers' rounds and the files are the real ones, the products are multiplied here and their times
// modelled. FAKE_GPU names what goes wrong: "hangs=warpgroup
// 64x64/64x64;wrong=...;crashes=...;slow=0.5".
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

#include "bench/outputs.hpp"
#include "bench/provenance.hpp"
#include "bench/run.hpp"
#include "bench/sizes.hpp"
#include "bench/tune.hpp"
#include "fake_device.hpp"
#include "process/signals.hpp"
#include "shell/suggest.hpp"

namespace {

using namespace tessera;
using namespace tessera::bench;

std::map<std::string, std::string> faults() {
  std::map<std::string, std::string> out;
  const char* const given = std::getenv("FAKE_GPU");
  std::istringstream words(given == nullptr ? "" : given);
  for (std::string word; std::getline(words, word, ';');)
    out[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return out;
}

/// Flops per second, as small as the products are: of other libraries 7e9, of kernels by their
/// tile; the clock drifts, each sample is off by a percent or two.
double modelled(const std::string& name, const BenchCase& now, double slow) {
  static unsigned samples = 0;
  ++samples;
  const double clock = 1 + 0.05 * std::sin(samples * 0.01) + 0.01 * std::sin(samples * 1.7);
  double speed = 7e9;
  if (const auto blank = name.find(' '); blank != name.npos) {
    const TileShape tile = parse_tile(name.substr(blank + 1));
    const double reuse = 2.0 * tile.bm * tile.bn / (tile.bm + tile.bn + 64);
    speed = (name.starts_with("warpgroup") ? 5e7 : 3e6) * reuse * (tile.cm > 1 ? 0.96 : 1);
  }
  constexpr double launch = 2e-6;
  return now.flops() / (launch + now.flops() / (speed * clock * slow));
}

std::shared_ptr<testing::FakeDevice> opened(const shell::Types& types) {
  auto out = std::make_shared<testing::FakeDevice>();
  auto given = faults();
  out->never_ends = given["hangs"], out->wrong_everywhere = given["wrong"];
  out->crashes = given["crashes"];
  const double slow = given["slow"].empty() ? 1 : std::stod(given["slow"]);
  out->modelled = [slow](const std::string& name, const BenchCase& now) {
    return modelled(name, now, slow);
  };
  for (const char* name : {"cublas", "cublaslt", "cublaslt-2"}) {
    Peer peer;
    peer.name = name;
    peer.types = {types};
    out->there.push_back(peer);
  }
  return out;
}

std::vector<Candidate> candidates(const Problem& problem) {
  std::vector<Candidate> out;
  for (const char* name : {"warpgroup", "pipelined", "block_tiled"}) {
    const Algorithm& algorithm = find_algorithm(name);
    if (!algorithm.supports(problem.in, problem.out)) continue;
    for (const TileShape& tile : algorithm.tiles_of(problem.in)) out.push_back({name, tile});
  }
  return out;
}

int tune_sizes(const shell::Context& context, std::map<std::string, std::string>& given) {
  TuneRequest request;
  request.sizes = given["--sizes"], request.dtype = given["--dtype"];
  request.cache = given["--cache"], request.seconds = std::stod(given["--seconds"]);
  request.candidates = candidates, request.again = true;
  const auto device = opened(shell::parse_types(request.dtype));
  return tune_on(context, request, *device, {"Fake GPU", "9.0", "13.0", TESSERA_VERSION});
}

int measure(const shell::Context& context, std::map<std::string, std::string>& given) {
  BenchRequest request;
  request.sizes = given["--sizes"], request.dtype = given["--dtype"];
  request.output = given["-o"], request.force = true, request.no_host = true;
  BenchSettings settings;
  settings.types = shell::parse_types(request.dtype);
  settings.algorithms = shell::split(given["--algorithms"], ',');
  settings.shapes = parse_sizes(request.sizes);
  settings.threads = {1}, settings.repetitions = 5;
  settings.device = opened(settings.types);
  settings.peers = settings.device->peers();
  const Outputs outputs(context, request);
  Bench run(context, settings, context_json(request, settings));
  run.run([&](const BenchResults& so_far) { outputs.write(so_far); });
  return judged(context, run.results());
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "--version") return std::puts("tessera of a fake GPU") < 0;
  std::map<std::string, std::string> given;
  for (int i = 2; i + 1 < count; ++i) {
    const std::string option = words[i];
    if (option != "--no-host" && option != "--force" && option != "--again")
      given[option] = words[++i];
  }
  shell::Context context;
  context.command = "tessera " + what;
  const process::InterruptsAreNoted noted;
  try {
    const int code = what == "tune" ? tune_sizes(context, given) : measure(context, given);
    context.flush();
    return code;
  } catch (const Error& error) {
    context.error(error.what());
    return exit_code(error.category());
  } catch (const process::Interrupted& interrupted) {
    return 128 + interrupted.signal;
  }
}
