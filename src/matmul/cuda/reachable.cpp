// See reachable.hpp.
#include "reachable.hpp"

#include <cstdint>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

/// Refuses what a kernel on the stream's device could not read.
void require_reachable(std::string_view name, const void* data, DType dtype,
                       const cuda::Stream& stream) {
  const auto beyond =
      reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(size_of(dtype));
  if (beyond != 0)
    throw Error(Category::argument, cat("run: the address of ", name, " is not aligned"),
                cat("a multiple of ", size_of(dtype), " bytes for ", tessera::name(dtype)),
                cat(beyond, " beyond one"));
  const cuda::Where where = cuda::where_is(data);
  if (where.place == cuda::Place::host)
    throw Error(Category::argument, cat("run: ", name, " is in host memory"),
                "device, managed or pinned memory", {},
                "copy it to a cuda::DeviceMatrix first, or run on the CPU");
  if (where.place == cuda::Place::device && where.device != stream.device())
    throw Error(Category::argument, cat("run: ", name, " is on another device than the stream"),
                cat("device ", stream.device()), cat("device ", where.device),
                "copy it, or use a stream of its device");
}

void require_reachable_operands(const Problem& p, const ConstMatrix& A, const ConstMatrix& B,
                                const Matrix& C, const cuda::Stream& stream, const void* bias) {
  if (p.K > 0 && p.alpha != 0) {
    require_reachable("A", A.data, A.dtype, stream);
    require_reachable("B", B.data, B.dtype, stream);
  }
  require_reachable("C", C.data, C.dtype, stream);
  if (p.epilogue.bias != Bias::none)
    require_reachable("bias", bias, size_of(p.out) < 4 ? DType::f32 : p.out, stream);
}

}  // namespace tessera::detail
