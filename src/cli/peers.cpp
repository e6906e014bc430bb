// Finding and calling other BLAS libraries: see peers.hpp. The declarations below are the public C
// interfaces of these libraries, written down so that no header of theirs is needed.
#include "peers.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "child.hpp"
#include "options.hpp"
#include "tessera/core/error.hpp"

namespace tessera::cli {

namespace {

constexpr double kProbeSeconds = 20;  // a library that takes longer to load is of no use here

struct KnownPeer {
  const char* name;
  std::array<const char*, 7>
      files;  ///< the first that loads is it; those with '/' are below kFolder
  const char* package;
};

#if defined(__aarch64__)
constexpr const char* kFolder = "/usr/lib/aarch64-linux-gnu/";
#else
constexpr const char* kFolder = "/usr/lib/x86_64-linux-gnu/";
#endif

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

template <class F>
F* symbol(void* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

// ---- what a library says about itself -----------------------------------------------------------

struct OneDnnVersion {  // dnnl_version_t of oneDNN 1 to 3: what comes later is not read
  int major, minor, patch;
  const char* hash;
};

/// Version and set-up of a loaded library, as text; empty where it does not tell.
struct Description {
  std::string version, settings, core;
  /// What would select better kernels than the library selected by itself.
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
  auto* config = symbol<char*()>(library, "openblas_get_config");
  if (config == nullptr) return;
  const std::string text = config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Haswell ..."
  const auto words = split(text, ' ');
  out.version = words.size() > 1 ? words[0] + " " + words[1] : text;
  if (auto* core = symbol<char*()>(library, "openblas_get_corename")) out.core = core();
  out.settings = "kernels for " + out.core;
  if (auto* parallel = symbol<int()>(library, "openblas_get_parallel")) {
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
  // Asked before its tables are set up, BLIS 0.9 aborts where BLIS_ARCH_TYPE is set.
  if (auto* init = symbol<void()>(library, "bli_init")) init();
  auto* query = symbol<int()>(library, "bli_arch_query_id");
  auto* text = symbol<const char*(int)>(library, "bli_arch_string");
  if (query != nullptr && text != nullptr) {
    out.core = text(query());
    out.settings = "kernels for " + out.core;
    // skx is the one configuration with 512-bit vectors in versions before 1.0.
    const bool wide = out.core == "skx" || out.core == "zen4" || out.core == "zen5";
    std::string better;
    if (has_avx512() && !wide) better = "skx";
    else if (has_avx2() && out.core == "generic") better = "haswell";
    // The numbers differ between versions; "generic" is the last one that has a name.
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
  if (auto* version = symbol<void(char*, int)>(library, "mkl_get_version_string")) {
    std::array<char, 256> text{};
    version(text.data(), static_cast<int>(text.size()) - 1);
    out.version = text.data();
  }
  return out;
}

// ---- loading ------------------------------------------------------------------------------------

void* load(const std::string& path) {
  dlerror();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* reason = dlerror();
  throw Error(Category::unavailable,
              cat("cannot load '", path, "': ", reason == nullptr ? "unknown reason" : reason));
}

std::string real_path(void* library, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return asked;
  std::error_code failed;
  const auto path = std::filesystem::canonical(map->l_name, failed);
  return failed ? std::string(map->l_name) : path.string();
}

/// "libblas.so.3.11.0" as "3.11.0"; "version unknown" where the name has none.
std::string version_in_name(const std::string& file) {
  const auto at = file.rfind(".so.");
  return at == std::string::npos ? "version unknown" : file.substr(at + 4);
}

struct Entry {
  PeerInterface interface;
  const char *sgemm, *dgemm;
};
/// In order of preference.
constexpr std::array kEntries = {Entry{PeerInterface::onednn, "dnnl_sgemm", "dnnl_dgemm"},
                                 Entry{PeerInterface::cblas, "cblas_sgemm", "cblas_dgemm"},
                                 Entry{PeerInterface::fortran, "sgemm_", "dgemm_"}};

/// Runs in a child: loads the library and describes it, one "key value" line for each fact.
std::string probe(const std::string& path) {
  void* library = load(path);
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    const bool f32 = dlsym(library, kEntries[i].sgemm) != nullptr;
    const bool f64 = dlsym(library, kEntries[i].dgemm) != nullptr;
    if (!f32 && !f64) continue;
    const std::string file = real_path(library, path);
    Description said = describe(library);
    if (said.version.empty()) said.version = version_in_name(file);
    return cat("path ", file, "\ninterface ", i, "\nf32 ", f32 ? 1 : 0, "\nf64 ", f64 ? 1 : 0,
               "\nversion ", said.version, "\nsettings ", said.settings, "\ncore ", said.core,
               "\nvariable ", said.variable, "\nvalue ", said.value, "\nvariant ", said.variant,
               "\n");
  }
  throw Error(Category::unavailable, cat("'", path, "' multiplies no matrices"),
              "a library with cblas_sgemm, sgemm_ or dnnl_sgemm");
}

void set_environment(const Peer& peer) {
  for (const auto& [variable, value] : peer.environment) setenv(variable.c_str(), value.c_str(), 1);
}

struct Probed {
  Peer peer;
  std::string core, variable, value, variant;
};

Probed probe_in_child(Peer peer) {
  Child child([&peer]() -> Child::Answer {
    set_environment(peer);
    return [](const std::string& path) { return probe(path); };
  });
  Probed out;
  std::istringstream lines(child.ask(peer.path, kProbeSeconds));
  for (std::string line; std::getline(lines, line);) {
    const auto blank = line.find(' ');
    const std::string key = line.substr(0, blank), value = line.substr(blank + 1);
    if (key == "path") peer.path = value;
    else if (key == "interface")
      peer.interface = kEntries[static_cast<std::size_t>(std::stoi(value))].interface;
    else if (key == "f32") peer.f32 = value == "1";
    else if (key == "f64") peer.f64 = value == "1";
    else if (key == "version") peer.version = value;
    else if (key == "settings") peer.settings = value;
    else if (key == "core") out.core = value;
    else if (key == "variable") out.variable = value;
    else if (key == "value") out.value = value;
    else if (key == "variant") out.variant = value;
  }
  out.peer = std::move(peer);
  return out;
}

/// The name with a number behind it where it is taken.
std::string unique_name(const std::string& name, const std::vector<Peer>& taken) {
  const auto free = [&](const std::string& candidate) {
    return std::none_of(taken.begin(), taken.end(),
                        [&](const Peer& each) { return each.name == candidate; });
  };
  std::string out = name;
  for (int i = 2; !free(out); ++i) out = cat(name, "-", i);
  return out;
}

/// Adds the peer, unless its file is there already, and its variant for this processor's widest
/// vectors.
void add(std::vector<Peer>& out, const Probed& probed) {
  if (std::any_of(out.begin(), out.end(), [&](const Peer& each) {
        return each.path == probed.peer.path && each.environment.empty();
      }))
    return;
  Peer peer = probed.peer;
  peer.name = unique_name(peer.name, out);
  out.push_back(peer);
  // What the user has set stays as it is.
  if (probed.variable.empty() || std::getenv(probed.variable.c_str()) != nullptr) return;
  Peer told = peer;
  told.name = unique_name(peer.name + "-" + probed.variant, out);
  told.environment = {{probed.variable, probed.value}};
  try {
    const Probed again = probe_in_child(told);
    if (again.core != probed.core) out.push_back(again.peer);
  } catch (const Error&) {
    // It cannot run those kernels after all: the peer as it comes is the only one.
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

/// The folder says how the file is built where several builds of one library are installed:
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
  // A library that is simply not there needs no loader message.
  const bool absent = reason.empty() || reason.find("No such file") != std::string::npos;
  out.missing.push_back({known.name, known.package, absent ? "not installed" : reason});
}

/// A number of threads as every library here reads it from the environment.
void set_thread_environment(int threads) {
  const std::string text = std::to_string(threads);
  for (const char* variable :
       {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"})
    setenv(variable, text.c_str(), 1);
}

int as_int(index_t extent) {
  if (extent > INT_MAX)
    throw Error(Category::argument, "the size does not fit into the peer's 32-bit integers", {},
                std::to_string(extent));
  return static_cast<int>(extent);
}

template <class T>
void call(PeerInterface interface, void* function, index_t M, index_t N, index_t K, const T* A,
          const T* B, T* C) {
  const T one = 1, zero = 0;
  if (interface == PeerInterface::onednn) {
    using Gemm = int(char, char, std::int64_t, std::int64_t, std::int64_t, T, const T*,
                     std::int64_t, const T*, std::int64_t, T, T*, std::int64_t);
    const int status =
        reinterpret_cast<Gemm*>(function)('N', 'N', M, N, K, one, A, K, B, N, zero, C, N);
    if (status != 0) throw Error(Category::failed, cat("the peer reports status ", status));
    return;
  }
  const int m = as_int(M), n = as_int(N), k = as_int(K);
  if (interface == PeerInterface::cblas) {
    constexpr int row_major = 101, no_transpose = 111;
    using Gemm = void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
    reinterpret_cast<Gemm*>(function)(row_major, no_transpose, no_transpose, m, n, k, one, A, k, B,
                                      n, zero, C, n);
    return;
  }
  // Fortran counts by columns: the same memory holds the transposed matrices, and C' = B' A'.
  using Gemm =
      void(const char*, const char*, const int*, const int*, const int*, const T*, const T*,
           const int*, const T*, const int*, const T*, T*, const int*, std::size_t, std::size_t);
  reinterpret_cast<Gemm*>(function)("N", "N", &n, &m, &k, &one, B, &n, A, &k, &zero, C, &n, 1, 1);
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
  const char* paths = std::getenv("TESSERA_PEERS");
  for (const auto& path : split(paths == nullptr ? "" : paths, ':')) {
    if (path.empty()) continue;
    Peer peer;
    peer.name = name_from(path);
    peer.path = path;
    try {
      add(out.found, probe_in_child(peer));
    } catch (const Error& error) {
      out.missing.push_back({path, "", error.what()});
    }
  }
  return out;
}

std::vector<Peer> find_peers() { return search_peers().found; }

PeerLibrary::PeerLibrary(const Peer& peer, int threads)
    : name_(peer.name), interface_(peer.interface) {
  set_environment(peer);
  set_thread_environment(threads);
  void* library = load(peer.path);
  // The environment is not enough for libraries that count the cores themselves.
  for (const char* setter :
       {"openblas_set_num_threads", "MKL_Set_Num_Threads", "omp_set_num_threads"}) {
    if (auto* set = symbol<void(int)>(library, setter)) set(threads);
  }
  // BLIS takes the widest integer; the register holds it either way.
  if (auto* set = symbol<void(long)>(library, "bli_thread_set_num_threads")) set(threads);
  for (const Entry& entry : kEntries) {
    if (entry.interface != interface_) continue;
    sgemm_ = dlsym(library, entry.sgemm);
    dgemm_ = dlsym(library, entry.dgemm);
  }
}

void PeerLibrary::multiply(DType type, index_t M, index_t N, index_t K, const void* A,
                           const void* B, void* C) const {
  if (type == DType::f32 && sgemm_ != nullptr) {
    call(interface_, sgemm_, M, N, K, static_cast<const float*>(A), static_cast<const float*>(B),
         static_cast<float*>(C));
  } else if (type == DType::f64 && dgemm_ != nullptr) {
    call(interface_, dgemm_, M, N, K, static_cast<const double*>(A), static_cast<const double*>(B),
         static_cast<double*>(C));
  } else {
    throw Error(Category::type, cat(name_, " has no product of ", type, " matrices"));
  }
}

}  // namespace tessera::cli
