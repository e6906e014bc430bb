// tessera_matmul_parts(): products of distributed matrices for other languages; tessera/mpi.py
// calls it.
#include <cstdint>
#include <cstdio>
#include <exception>

#include "scale/mpi_transport.hpp"
#include "tessera/scale/distributed.hpp"

extern "C" {

const struct TesseraMpiCalls* tessera_mpi(void);

/// A part of a matrix: the place of its first element, its extents, strides in elements.
struct TesseraPart {
  std::int64_t row, col, rows, cols, row_stride, col_stride;
  void* data;
};

/// The parts of a matrix on one rank. `dtype`: a name, "f64".
struct TesseraParts {
  std::int64_t rows, cols;
  const char* dtype;
  std::int64_t count;
  const TesseraPart* parts;
};

}  // extern "C"

namespace tessera::scale {

namespace {

template <class M>
Distributed<M> distributed(const TesseraParts& from) {
  Distributed<M> out{from.rows, from.cols, parse_dtype(from.dtype), {}};
  for (std::int64_t n = 0; n < from.count; ++n) {
    const TesseraPart& p = from.parts[n];
    out.parts.push_back(
        {p.row, p.col, M{p.data, out.dtype, p.rows, p.cols, p.row_stride, p.col_stride}});
  }
  return out;
}

}  // namespace

}  // namespace tessera::scale

extern "C" {

/// C = alpha * A * B + beta * C on the communicator with this number. 0, or the exit code of an
/// error and its text.
[[gnu::visibility("default")]] int tessera_matmul_parts(int communicator, const TesseraParts* a,
                                                        const TesseraParts* b,
                                                        const TesseraParts* c, double alpha,
                                                        double beta, int threads, char* text,
                                                        std::int64_t text_size) {
  using namespace tessera;
  const auto failed = [&](const std::exception& error, int code) {
    std::snprintf(text, static_cast<std::size_t>(text_size), "%s", error.what());
    return code;
  };
  try {
    Options options;
    options.threads = threads;
    scale::matmul(tessera_mpi(), communicator, scale::distributed<ConstMatrix>(*a),
                  scale::distributed<ConstMatrix>(*b), scale::distributed<Matrix>(*c), alpha, beta,
                  options);
    return 0;
  } catch (const Error& error) {
    return failed(error, exit_code(error.category()));
  } catch (const std::exception& error) {
    return failed(error, 1);
  }
}

}  // extern "C"
