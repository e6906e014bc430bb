// What this module was built with and what this machine offers.
#include "tessera/core/config.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "device/device_names.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::python {

namespace {

std::string compiler() {
#if defined(__clang__)
  return cat("Clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__);
#else
  return cat("GCC ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__);
#endif
}

nb::dict cuda_config() {
  nb::dict out;
  out["built"] = cuda::is_built();
  nb::list devices;
  for (const auto& device : cuda::devices()) devices.append(device.name);
  out["devices"] = devices;
  out["unavailable"] = cuda::why_unavailable();
  return out;
}

}  // namespace

void add_config(nb::module_& m) {
  m.attr("version") = TESSERA_VERSION;
  m.def(
      "algorithms",
      [] {
        nb::dict out;
        for (const Algorithm& each : algorithms())
          out[std::string(each.name).c_str()] = std::string(each.idea);
        return out;
      },
      "Name and idea of each algorithm, in the order of the ladder.");
  m.def("devices", [] {
    nb::list out;
    for (const DeviceInfo& each : devices()) {
      nb::dict info;
      info["device"] = to_string(each.device);
      info["name"] = each.name;
      info["memory_bytes"] = each.memory_bytes;
      info["block_threads"] = each.most_block_threads;
      info["shared_bytes"] = each.shared_bytes;
      info["f64"] = each.has_f64;
      out.append(info);
    }
    return out;
  });
  m.def("product_device", [](const std::string& text) { return to_string(product_device(text)); });
  m.def("device_names", [] { return device_names(runs_products); });
  m.def("default_device", [] { return to_string(Device::get_default()); });
  m.def("config", [] {
    nb::dict out;
    out["version"] = TESSERA_VERSION;
    out["compiler"] = compiler();
    out["cpu"] = cpu_text();
    out["threads"] = default_threads();
    out["cuda"] = cuda_config();
    return out;
  });
}

}  // namespace tessera::python
