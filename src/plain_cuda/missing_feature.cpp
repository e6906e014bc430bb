// A table of CUDA's missing names: see missing_feature.hpp.
#include "missing_feature.hpp"

#include <regex>
#include <string_view>

#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

struct Feature {
  const char* names;  ///< a regular expression
  const char* what;
  const char* advice;
};

constexpr std::string_view kUnknown = "which is neither declared nor offered";
constexpr const char* kList = "docs/plain_cuda.md lists what is offered";

constexpr Feature kFeatures[] = {
    {"texture|textureReference|cudaBindTexture\\w*|cudaUnbindTexture|cudaGetTexture(Reference|"
     "AlignmentOffset)",
     "a texture reference, which CUDA 12 has removed",
     "use a texture object: cudaCreateTextureObject(), and tex1Dfetch<float>(object, i) in the "
     "kernel"},
    {"surface|surfaceReference|cudaBindSurfaceToArray|cudaGetSurfaceReference",
     "a surface reference, which CUDA 12 has removed",
     "use a surface object: cudaCreateSurfaceObject(), and surf2Dwrite(value, object, x, y) in the "
     "kernel"},
    {"__(shfl|shfl_up|shfl_down|shfl_xor|any|all|ballot)",
     "a function of warps without a mask, which CUDA has removed",
     "the same name with _sync takes the mask of the lanes first"},
    {"multi_grid_group|this_multi_grid|cudaLaunchCooperativeKernelMultiDevice",
     "a grid of several devices, which CUDA 13 has removed", "launch on one device"},
    {"cudaLaunch|cudaConfigureCall|cudaSetupArgument",
     "a launch in parts, which CUDA 10.1 has removed", "use kernel<<<grid, block>>>(arguments)"},
    {"cu(Init|Device|Ctx|Module|Launch|Mem|Stream|Event|Func|Link|Array|Tex|Surf|Driver|Pointer|"
     "Library|Kernel)\\w*|CU[a-z]\\w*",
     "part of the driver interface, which is not offered",
     "use the runtime: cudaMalloc(), cudaMemcpy(), kernel<<<grid, block>>>()"},
    {"cudaGL\\w*|cudaGraphics\\w*|cudaEGL\\w*|cudaVDPAU\\w*|cudaD3D\\w*",
     "part of the interfaces to graphics, which are not offered",
     "check the kernels by a program that gives them memory of cudaMalloc()"},
    {"\\w*Mipmapped\\w*|tex\\w*Lod|tex\\w*Grad", "part of mipmaps, which are not offered", kList},
    {"(cuda|cublas|curand|cufft|cusparse|cusolver|cudnn|nccl|npp)[A-Z_]\\w*|__[a-z]\\w*|"
     "(tex|surf)[123]D\\w*|(tex|surf)Cubemap\\w*|atomic[A-Z]\\w*",
     kUnknown.data(), kList},
};

bool is_of_cuda(std::string_view scope) {
  static const std::regex scopes(
      "cg|cooperative_groups.*|cuda(::.*)?|nvcuda.*|wmma|(const )?(struct "
      ")?cuda[A-Z]\\w*");
  return std::regex_match(scope.begin(), scope.end(), scopes);
}

/// `texture` and `surface` are common names of variables: the reference is a template.
bool is_variable(const std::string& name, const std::string& source) {
  return (name == "texture" || name == "surface") && !source.empty() &&
         !source.starts_with(name + "<");
}

const Feature* feature_named(const std::string& name, const std::string& source) {
  if (is_variable(name, source)) return nullptr;
  for (const Feature& each : kFeatures)
    if (std::regex_match(name, std::regex(each.names))) return &each;
  return nullptr;
}

}  // namespace

std::optional<MissingFeature> missing_feature(const CompilerError& error) {
  static const std::regex member(
      "'([^']+)' (?:is not a member of|has no member named) '([^']+)'.*"),
      undeclared(
          "'(\\w+)' (?:was not declared in this scope|does not name a (?:template )?type|"
          "has not been declared).*"),
      dependent("there are no arguments to '(\\w+)' that depend on a template parameter.*"),
      suggested(".*did you mean '([^']+)'.*");
  std::smatch found;
  const auto matches = [&](const std::regex& form) {
    return std::regex_match(error.text, found, form);
  };
  MissingFeature out;
  if (matches(member)) {
    const bool is_field = error.text.find("has no member") != error.text.npos;
    const std::string scope = found[is_field ? 1 : 2];
    out.name = found[is_field ? 2 : 1];
    if (!is_of_cuda(scope)) return {};
    const Feature* const known = feature_named(out.name, error.source);
    out.what = known != nullptr ? known->what : cat("no part of ", scope, " that is offered");
    out.advice = known != nullptr ? known->advice : kList;
  } else if (matches(undeclared) || matches(dependent)) {
    out.name = found[1];
    const Feature* const known = feature_named(out.name, error.source);
    if (known == nullptr) return {};
    out.what = known->what, out.advice = known->advice;
    out.is_known = known->what != kUnknown;
    if (!out.is_known && matches(suggested))
      out.what += cat(" (did you mean ", found[1].str(), "?)");
  } else {
    return {};
  }
  return out;
}

}  // namespace tessera::plain_cuda
