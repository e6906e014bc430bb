// Finds other BLAS libraries: see peers.hpp. The declarations below are these libraries' functions
// for version and settings, written here so that none of their headers is needed.
#include "peers.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "peer_library.hpp"
#include "process/child.hpp"
#include "shell/options.hpp"
#include "tessera/core/error.hpp"

namespace tessera::bench {

namespace {

constexpr double kProbeSeconds = 20;  // a library that loads longer is not used

struct KnownPeer {
  const char* name;
  std::array<const char*, 7>
      files;  ///< the first that loads is used; those with '/' are below kFolder
  const char* package;
};

#if defined(__aarch64__)
constexpr const char* kFolder = "/usr/lib/aarch64-linux-gnu/";
#else
constexpr const char* kFolder = "/usr/lib/x86_64-linux-gnu/";
#endif

std::filesystem::path folder_of_command() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
}

constexpr std::array kKnown = {
    KnownPeer{"openblas",
              {"libopenblas.so.0", "openblas-pthread/libopenblas.so.0",
               "openblas-openmp/libopenblas.so.0", "openblas-serial/libopenblas.so.0"},
              "libopenblas0-pthread"},
    KnownPeer{"blis",
              {"libblis.so.4", "blis-pthread/libblis.so.4", "blis-openmp/libblis.so.4",
               "blis-serial/libblis.so.4", "libblis-mt.so", "libblis.so"},
              "libblis4-pthread"},
    KnownPeer{"onednn", {"libdnnl.so.3", "libdnnl.so.2"}, "libdnnl2"},
    KnownPeer{"mkl",
              {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"},
              "libmkl-rt (section non-free)"},
    KnownPeer{"reference", {"blas/libblas.so.3"}, "libblas3"},
};

// ---- what a library says about itself -----------------------------------------------------------

struct OneDnnVersion {  // dnnl_version_t of oneDNN 1 to 3; later fields are not read
  int major, minor, patch;
  const char* hash;
};

/// Version and settings of a loaded library, as text; empty if it does not report them.
struct Description {
  std::string version, settings, core;
  /// The setting that selects better kernels than the library's own choice.
  std::string variable, value, variant;
};

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

void describe_openblas(void* library, Description& out) {
  // Python wheels prefix every name.
  const std::string prefix = dlsym(library, "openblas_get_config") != nullptr ? "" : "scipy_";
  auto* config = symbol<char*()>(library, prefix + "openblas_get_config");
  if (config == nullptr) return;
  const std::string text = config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Haswell ..."
  const auto words = shell::split(text, ' ');
  out.version = words.size() > 1 ? words[0] + " " + words[1] : text;
  if (auto* core = symbol<char*()>(library, prefix + "openblas_get_corename")) out.core = core();
  out.settings = "kernels for " + out.core;
  if (auto* parallel = symbol<int()>(library, prefix + "openblas_get_parallel")) {
    const int kind = parallel();
    out.settings += kind == 0 ? ", one thread only" : kind == 1 ? ", own threads" : ", OpenMP";
  }
  std::string core = out.core;
  std::transform(core.begin(), core.end(), core.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const bool wide = core == "skylakex" || core == "cooperlake" || core == "sapphirerapids";
  if (!wide && has_avx512() && text.find("DYNAMIC_ARCH") != std::string::npos) {
    out.variable = "OPENBLAS_CORETYPE";
    out.value = "SKYLAKEX";
    out.variant = "skylakex";
  }
}

void describe_blis(void* library, Description& out) {
  auto* version = symbol<const char*()>(library, "bli_info_get_version_str");
  if (version == nullptr) return;
  out.version = cat("BLIS ", version());
  // If queried before its tables are set up, BLIS 0.9 aborts when BLIS_ARCH_TYPE is set.
  if (auto* init = symbol<void()>(library, "bli_init")) init();
  auto* query = symbol<int()>(library, "bli_arch_query_id");
  auto* text = symbol<const char*(int)>(library, "bli_arch_string");
  if (query != nullptr && text != nullptr) {
    out.core = text(query());
    out.settings = "kernels for " + out.core;
    // skx is the only configuration with 512-bit vectors in versions before 1.0.
    const bool wide = out.core == "skx" || out.core == "zen4" || out.core == "zen5";
    std::string better;
    if (has_avx512() && !wide) better = "skx";
    else if (has_avx2() && out.core == "generic") better = "haswell";
    // The numbers differ between versions; "generic" is the last one with a name.
    for (int id = 0; !better.empty() && id < 64; ++id) {
      const std::string name = text(id);
      if (name == better) {
        out.variable = "BLIS_ARCH_TYPE";
        out.value = std::to_string(id);
        out.variant = name;
      }
      if (name == better || name == "generic") break;
    }
  }
  const auto enabled = [library](const char* name) {
    auto* f = symbol<long()>(library, name);
    return f != nullptr && f() != 0;
  };
  out.settings += enabled("bli_info_get_enable_openmp")     ? ", OpenMP"
                  : enabled("bli_info_get_enable_pthreads") ? ", own threads"
                                                            : ", one thread only";
}

Description describe(void* library) {
  Description out;
  describe_openblas(library, out);
  describe_blis(library, out);
  if (auto* version = symbol<const OneDnnVersion*()>(library, "dnnl_version")) {
    const OneDnnVersion& v = *version();
    out.version = cat("oneDNN ", v.major, ".", v.minor, ".", v.patch);
    out.settings = "kernels generated for this processor";
  }
  if (auto* version = symbol<const char*()>(library, "tessera_peer_version"))
    out.version = version();
  if (auto* config = symbol<const char*()>(library, "tessera_get_config")) {
    out.version = config();
    out.settings = cat("kernels for ", symbol<const char*()>(library, "tessera_get_corename")());
  }
  if (auto* version = symbol<void(char*, int)>(library, "mkl_get_version_string")) {
    std::array<char, 256> text{};
    version(text.data(), static_cast<int>(text.size()) - 1);
    out.version = text.data();
    out.version.resize(out.version.find_last_not_of(' ') + 1);  // it is padded with blanks
  }
  return out;
}

// ---- loading ------------------------------------------------------------------------------------

std::string real_path(void* library, const std::string& requested) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return requested;
  std::error_code failed;
  const auto path = std::filesystem::canonical(map->l_name, failed);
  return failed ? std::string(map->l_name) : path.string();
}

/// "libblas.so.3.11.0" as "3.11.0"; "version unknown" if the name has none.
std::string version_in_name(const std::string& file) {
  const auto at = file.rfind(".so.");
  return at == std::string::npos ? "version unknown" : file.substr(at + 4);
}

/// Runs in a child: loads the library and describes it, one "key value" line for each fact.
std::string probe(const std::string& path) {
  void* library = load_library(path);
  const Offer offer = offer_of(library);
  if (offer.types.empty())
    throw Error(Category::unavailable, cat("'", path, "' has no matrix product"),
                "a library with cblas_sgemm, sgemm_ or dnnl_sgemm");
  const std::string file = real_path(library, path);
  Description said = describe(library);
  if (said.version.empty()) said.version = version_in_name(file);
  std::string types;
  for (const shell::Types& each : offer.types)
    types += cat(types.empty() ? "" : " ", to_string(each));
  return cat("path ", file, "\ninterface ", static_cast<int>(offer.interface), "\ntypes ", types,
             "\nversion ", said.version, "\nsettings ", said.settings, "\ncore ", said.core,
             "\nvariable ", said.variable, "\nvalue ", said.value, "\nvariant ", said.variant,
             "\n");
}

struct Probed {
  Peer peer;
  std::string core, variable, value, variant;
};

Probed probe_in_child(Peer peer) {
  process::Child child([&peer]() -> process::Child::Answer {
    set_environment(peer);
    return [](const std::string& path) { return probe(path); };
  });
  Probed out;
  std::istringstream lines(child.ask(peer.path, kProbeSeconds));
  for (std::string line; std::getline(lines, line);) {
    const auto blank = line.find(' ');
    const std::string key = line.substr(0, blank), value = line.substr(blank + 1);
    if (key == "path") peer.path = value;
    else if (key == "interface") peer.interface = static_cast<PeerInterface>(std::stoi(value));
    else if (key == "types") {
      for (const auto& each : shell::split(value, ' '))
        peer.types.push_back(shell::parse_types(each));
    } else if (key == "version") peer.version = value;
    else if (key == "settings") peer.settings = value;
    else if (key == "core") out.core = value;
    else if (key == "variable") out.variable = value;
    else if (key == "value") out.value = value;
    else if (key == "variant") out.variant = value;
  }
  out.peer = std::move(peer);
  return out;
}

/// The name, with a number appended if it is taken.
std::string unique_name(const std::string& name, const std::vector<Peer>& taken) {
  const auto free = [&](const std::string& candidate) {
    return std::none_of(taken.begin(), taken.end(),
                        [&](const Peer& each) { return each.name == candidate; });
  };
  std::string out = name;
  for (int i = 2; !free(out); ++i) out = cat(name, "-", i);
  return out;
}

/// Adds the peer, unless its file is in the list, and its variant for this CPU's widest vectors.
void add(std::vector<Peer>& out, const Probed& probed) {
  if (std::any_of(out.begin(), out.end(), [&](const Peer& each) {
        return each.path == probed.peer.path && each.environment.empty();
      }))
    return;
  Peer peer = probed.peer;
  peer.name = unique_name(peer.name, out);
  if (const char* set = std::getenv(probed.variable.c_str()); set != nullptr)
    peer.settings += cat(", as ", probed.variable, "=", set, " says");
  out.push_back(peer);
  if (probed.variable.empty()) return;
  Peer variant = peer;
  variant.name = unique_name(peer.name + "-" + probed.variant, out);
  variant.environment = {{probed.variable, probed.value}};
  try {
    const Probed again = probe_in_child(variant);
    if (again.core == probed.core) return;
    out.back().better = cat(probed.variable, "=", probed.value);
    out.push_back(again.peer);
  } catch (const Error&) {
    // It cannot run those kernels after all: only the default variant is listed.
  }
}

/// "libopenblas.so.0" and "/opt/x/libmine.so" as "openblas" and "mine".
std::string name_from(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  name = name.substr(0, name.find(".so"));
  if (name.size() > 3 && name.starts_with("lib")) name.erase(0, 3);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  return name.empty() ? "peer" : name;
}

/// If several builds of one library are installed, the folder names the build:
/// "openblas-openmp/libopenblas.so.0" as "openblas-openmp".
std::string name_of_build(const KnownPeer& known, const std::string& file, bool first) {
  const auto slash = file.find('/');
  if (first || slash == std::string::npos) return known.name;
  return file.substr(0, slash);
}

void search(const KnownPeer& known, PeerSearch& out) {
  std::string reason;
  const std::size_t before = out.found.size();
  for (const char* file : known.files) {
    if (file == nullptr) break;
    const bool in_folder = std::string_view(file).find('/') != std::string_view::npos;
    Peer peer;
    peer.path = in_folder ? cat(kFolder, file) : std::string(file);
    if (in_folder && !std::filesystem::exists(peer.path)) continue;
    peer.name = name_of_build(known, file, out.found.size() == before);
    try {
      add(out.found, probe_in_child(peer));
    } catch (const Error& error) {
      if (reason.empty() || in_folder) reason = error.what();
    }
  }
  if (out.found.size() > before) return;
  // A library that is not installed needs no loader message.
  const bool absent = reason.empty() || reason.find("No such file") != std::string::npos;
  out.missing.push_back({known.name, known.package, absent ? "not installed" : reason});
}

void search_file(const std::string& path, const std::string& name, PeerSearch& out) {
  Peer peer;
  peer.name = name;
  peer.path = path;
  try {
    add(out.found, probe_in_child(peer));
  } catch (const Error& error) {
    out.missing.push_back({path, "", error.what()});
  }
}

/// The output of scripts/peers in build/peers. The link has the peer's name; the file that it
/// points to is loaded, since a library may look for others beside itself.
void search_made(PeerSearch& out) {
  std::vector<std::filesystem::path> files;
  std::error_code failed;
  const auto folder = folder_of_command() / "../../peers";
  for (const auto& each : std::filesystem::directory_iterator(folder, failed)) {
    if (each.path().extension() == ".so") files.push_back(each.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const std::string name = name_from(file.string());
    search_file(std::filesystem::canonical(file, failed).string(), name, out);
    std::erase_if(out.missing, [&](const MissingPeer& each) {
      return each.name == name &&
             std::any_of(out.found.begin(), out.found.end(),
                         [&](const Peer& found) { return found.name == name; });
    });
  }
}

}  // namespace

std::string environment_text(const Peer& peer) {
  std::string out;
  for (const auto& [variable, value] : peer.environment)
    out += cat(out.empty() ? "" : " ", variable, "=", value);
  return out;
}

Peer peer_at(const std::string& path, const std::string& name) {
  Peer peer;
  peer.name = name.empty() ? name_from(path) : name;
  peer.path = path;
  return probe_in_child(std::move(peer)).peer;
}

PeerSearch search_peers() {
  PeerSearch out;
  for (const KnownPeer& known : kKnown) search(known, out);
  search_made(out);
  const char* paths = std::getenv("TESSERA_PEERS");
  for (const auto& path : shell::split(paths == nullptr ? "" : paths, ':')) {
    if (!path.empty()) search_file(path, name_from(path), out);
  }
  return out;
}

std::optional<Peer> own_blas() {
  const auto bin = folder_of_command();
  const auto multiarch = std::filesystem::path(kFolder).parent_path().filename();
  for (const auto& folder : {bin, bin / "..", bin / "../lib", bin / "../lib" / multiarch}) {
    const auto file = folder / "libtessera_blas.so.0";
    if (!std::filesystem::exists(file)) continue;
    Peer out = peer_at(file.string(), kOwnBlas);
    std::erase_if(out.types,
                  [](const shell::Types& each) {  // products that it only passes on do not count
                    return !(each == shell::Types{DType::f32, DType::f32} ||
                             each == shell::Types{DType::f64, DType::f64});
                  });
    return out;
  }
  return std::nullopt;
}

}  // namespace tessera::bench
