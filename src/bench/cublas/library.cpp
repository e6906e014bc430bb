// See library.hpp. The constants are those of library_types.h.
#include "library.hpp"

#include <cstdlib>
#include <filesystem>

namespace tessera::bench {

namespace {

constexpr int kMajor = 0, kMinor = 1, kPatch = 2;  // libraryPropertyType

/// "cuBLAS" or "cuBLASLt", as NVIDIA writes it.
std::string title(const std::string& prefix) {
  return "cuBLAS" + prefix.substr(sizeof "cublas" - 1);
}

}  // namespace

int cuda_data_type(DType type) {
  switch (type) {
    case DType::f32: return 0;
    case DType::f64: return 1;
    case DType::f16: return 2;
    case DType::i8: return 3;
    case DType::i32: return 10;
    case DType::bf16: return 14;
    case DType::f8e4m3: return 28;
    case DType::f8e5m2: return 29;
    default: return -1;
  }
}

std::vector<std::string> cublas_candidates(const std::string& library) {
  const std::vector<std::string> files = {library + ".so.13", library + ".so.12"};
  std::vector<std::string> out, folders;
  if (const char* named = std::getenv("TESSERA_CUBLAS")) {
    if (library == "libcublas") out.emplace_back(named);
    else if (const auto folder = std::filesystem::path(named).parent_path(); !folder.empty())
      for (const auto& file : files) out.push_back(folder / file);
  }
  out.insert(out.end(), files.begin(), files.end());
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable)) folders.emplace_back(value);
  }
  folders.emplace_back("/usr/local/cuda");
  for (const auto& folder : folders) {
    for (const auto& file : files) out.push_back(cat(folder, "/lib64/", file));
  }
  return out;
}

CublasLibrary::CublasLibrary(std::string prefix, const std::vector<std::string>& candidates)
    : prefix_(std::move(prefix)) {
  std::string reason;
  for (const auto& each : candidates) {
    path_ = each;
    library_ = dlopen(each.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) return;
    const char* why = dlerror();
    if (reason.empty() && why != nullptr) reason = why;
  }
  throw Error(Category::unavailable, cat(title(prefix_), " cannot be loaded: ", reason), {}, {},
              cat("install lib", prefix_, " of CUDA 13 or name its folder in LD_LIBRARY_PATH"));
}

std::string CublasLibrary::version() const {
  auto* property = function<int(int, int*)>((prefix_ + "GetProperty").c_str());
  int numbers[3] = {};
  for (const int which : {kMajor, kMinor, kPatch}) (void)property(which, &numbers[which]);
  return cat(title(prefix_), " ", numbers[0], ".", numbers[1], ".", numbers[2]);
}

void CublasLibrary::require(int status, const char* what) const {
  if (status == 0) return;
  auto* text = reinterpret_cast<const char* (*)(int)>(
      dlsym(library_, (prefix_ + "GetStatusString").c_str()));
  throw Error(Category::failed, cat(title(prefix_), ", ", what, ": ",
                                    text == nullptr ? cat("status ", status) : text(status)));
}

}  // namespace tessera::bench
