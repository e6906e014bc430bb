// The header that a puzzle's spec includes: matrices with their expected values, and a Run that
// launches the learner's kernels on them under the checker, compares every element and judges the
// goals. The command `tessera puzzle` compiles the learner's file and the spec together and reads
// the outcome. Compiled by nvcc the same program runs the kernels on a GPU, with
// TESSERA_PUZZLE_ON_DEVICE on an OpenCL device; there is no checker there, so goals are skipped.
//
//   void spec(tessera::puzzle::Run& run) {
//     const auto A = puzzle::counting("A", 9, 9), B = puzzle::counting("B", 9, 9, 2);
//     auto C = puzzle::product("C", A, B, 3);
//     run.launch("9 x 9 in tiles of 3 x 3", Dim3{3, 3}, Tiled{}, A, B, C);
//     run.goal("barriers of a block", double(run.total().block_barriers) / 9, 6);
//   }
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tessera/check/check.hpp"
#include "tessera/puzzle/bulk_view.hpp"
#include "tessera/puzzle/puzzle.hpp"
#include "tessera/tensor/host_tensor.hpp"
#if defined(__CUDACC__)
#include "tessera/puzzle/on_device.cuh"
#elif defined(TESSERA_PUZZLE_ON_DEVICE)
#include "tessera/puzzle/on_device.hpp"
#endif

namespace tessera::puzzle {

using Rule = std::function<double(index_t row, index_t col)>;

/// A matrix that kernels read.
struct Input {
  std::string name;
  HostTensor<float> values;
};

/// The result of a well-known mistake: if the wrong elements of an output equal it, the mistake is
/// named. `cause`: as in src/course/causes.cpp.
struct Suspect {
  std::string cause;
  HostTensor<float> values;
  std::string sentence, advice;    ///< the puzzle's own words; empty: those of the cause
  index_t k_begin = 0, k_end = 0;  ///< the range of k that it sums, [begin, end); or 0, 0
};
/// The same as a rule.
struct Known {
  std::string cause;
  Rule values;
  std::string sentence, advice;
};

/// A matrix that kernels write: zeros at first. Every element must equal the expected one.
struct Output {
  std::string name;
  HostTensor<float> values, expected;
  double tolerance = 0;           ///< of an element, absolute
  std::vector<Suspect> suspects;  ///< the likelier first
  index_t K = 0, k_tile = 0;      ///< of a product; the tile along k, 0: there are none
};

Input input(std::string name, index_t rows, index_t cols, const Rule& rule);
/// 0, 1, 2, ... row by row, times `factor`.
Input counting(std::string name, index_t rows, index_t cols, double factor = 1);
/// Quarters from -8 to 8 without a pattern: sums of products of them are exact, and not those of
/// whole numbers.
Input scattered(std::string name, index_t rows, index_t cols, int seed = 1);
Output output(std::string name, index_t rows, index_t cols, const Rule& expected);
/// Mistakes that this puzzle expects, the likelier first; they are tried before the general ones.
void expect_mistakes(Output& out, const std::vector<Known>& mistakes);
/// A (M,K) times B (K,N), with the suspects of a product that is computed in tiles of `tile`; 0:
/// without tiles.
Output product(std::string name, const Input& A, const Input& B, index_t tile = 0);
/// A (M,K) times B (N,K) transposed.
Output product_transposed(std::string name, const Input& A, const Input& B, index_t tile = 0);

/// A matrix of one row as a vector: the kernel writes a(i).
template <class Matrix>
struct Line {
  Matrix& matrix;
};
template <class Matrix>
Line<Matrix> line(Matrix& matrix) {
  return {matrix};
}

/// A matrix of which the kernel copies tiles like Tile in bulk: it gets a BulkMatrix.
template <class Tile, class Matrix>
struct InBulk {
  using tile_type = Tile;
  Matrix& matrix;
  Rounding rounding;
};
template <class Tile, class Matrix>
InBulk<Tile, Matrix> in_bulk(Matrix& matrix, Rounding rounding = Rounding::none) {
  return {matrix, rounding};
}

/// Options of a launch.
struct LaunchOptions {
  bool adds_to_outputs = false;  ///< outputs are zero at first and may be read
  bool changes_tiles = false;    ///< tiles of shared memory are changed in place
  bool chooses_tiles = false;    ///< their size is part of the puzzle: the page does not show it
  std::vector<index_t> numbers;  ///< that a kernel in plain CUDA gets after the matrices
  bool is_brief = false;         ///< a further input: one line suffices where it is right
};

namespace detail {
/// A launch of a kernel in plain CUDA, which a program of its own runs under its checker.
struct CudaLaunch {
  struct Argument {
    std::string name;
    bool is_line = false;  ///< a vector
    const HostTensor<float>* input = nullptr;
    HostTensor<float>* output = nullptr;  ///< one of the two
  };
  std::string kernel;  ///< the name that the kernel in Tessera's language declares
  Dim3 grid, block;
  std::vector<Argument> arguments;
  std::vector<index_t> numbers;  ///< parameters after them
  bool adds_to_outputs = false;
};
}  // namespace detail

/// The outcome for the command; src/puzzle/run.cpp writes it.
struct Outcome;

class Run {
 public:
  Run(Outcome& outcome, std::string variant, check::Options options);

  /// Is this variant requested, and nothing wrong so far?
  bool wants(std::string_view variant);
  /// Is anything wrong so far? Then launches do nothing, and goals are not judged.
  bool failed() const;

  /// Launches the kernel on a grid of the block it declares. Matrices in the order of the kernel's
  /// arguments; those that are Outputs are compared. `what`: one line for the learner.
  template <class Kernel, class... Matrices>
  void launch(const std::string& what, Dim3 grid, const Kernel& kernel, Matrices&&... matrices) {
    launch_with({}, what, grid, kernel, matrices...);
  }
  template <class Kernel, class... Matrices>
  void launch_with(const LaunchOptions& how, const std::string& what, Dim3 grid,
                   const Kernel& kernel, Matrices&&... matrices) {
    if (failed()) return;
    const check::Options options = begin(how, what, {name_of(matrices)...});
#if defined(__CUDACC__) || defined(TESSERA_PUZZLE_ON_DEVICE)
    detail::launch_on_gpu(grid, kernel, view_of(matrices)...);
#else
    if constexpr (requires { Kernel::is_in_cuda; }) {  // a declaration: the file has the kernel
      keep(launch_in_cuda(options, {tessera::detail::kernel_name<Kernel>(),
                                    grid,
                                    Kernel::block,
                                    {argument_of(matrices)...},
                                    how.numbers,
                                    how.adds_to_outputs}));
    } else {
      keep(check::check(options, grid, kernel, view_of(matrices)...));
    }
#endif
    (compare_output(matrices), ...);
  }
  /// Compares values that no kernel computes, such as a layout or a constant.
  void values(const std::string& what, index_t rows, index_t cols, const Rule& got,
              const Rule& expected, const std::vector<Known>& mistakes = {});
  /// A goal beyond correctness: `got` may be at most `limit`; `advice` is shown where it is missed,
  /// and may be empty. Skipped on a GPU, where nothing is counted.
  void goal(const std::string& what, double got, double limit, const std::string& advice = {}) {
#if !defined(__CUDACC__) && !defined(TESSERA_PUZZLE_ON_DEVICE)
    judge(what, got, limit, advice);
#endif
  }

  /// Are the kernels in plain CUDA? Then multiply-adds are not counted.
  bool is_cuda() const;
  /// Of the last launch; all zero where it was not run.
  const check::Counters& total() const;

 private:
  template <class Matrix>
  static auto& matrix_of(Matrix& matrix) {
    if constexpr (requires { matrix.matrix; }) return matrix.matrix;
    else return matrix;
  }
  template <class Matrix>
  static std::string name_of(Matrix& matrix) {
    return matrix_of(matrix).name;
  }
  template <class Matrix>
  static auto view_of(Matrix& matrix) {
    auto& values = [&]() -> auto& {
      if constexpr (requires { matrix_of(matrix).expected; }) return matrix_of(matrix).values;
      else return std::as_const(matrix_of(matrix).values);
    }
    ();
    if constexpr (requires { matrix.rounding; })
      return detail::bulk_view<typename Matrix::tile_type>(values.view(), matrix.rounding);
    else if constexpr (requires { matrix.matrix; })
      return tessera::detail::view_as<tessera::detail::row_major_pattern<1>(),
                                      std::remove_pointer_t<decltype(values.data())>, 1>(
          values.data(), {values.size()});
    else return values.view();
  }
  template <class Matrix>
  static detail::CudaLaunch::Argument argument_of(Matrix& matrix) {
    auto& whole = matrix_of(matrix);
    detail::CudaLaunch::Argument out{whole.name};
    if constexpr (requires { matrix.matrix; }) out.is_line = true;
    if constexpr (requires { whole.expected; }) out.output = &whole.values;
    else out.input = &whole.values;
    return out;
  }
  template <class Matrix>
  void compare_output(Matrix& matrix) {
    if constexpr (requires { matrix_of(matrix).expected; }) compare(matrix_of(matrix));
  }
  check::Options begin(const LaunchOptions& how, const std::string& what,
                       std::vector<std::string> names);
  void judge(const std::string& what, double got, double limit, const std::string& advice);
  check::Report launch_in_cuda(const check::Options& options, const detail::CudaLaunch& launch);
  void keep(check::Report report);
  void compare(const Output& output);

  Outcome& outcome_;
  std::string variant_;
  check::Options options_;
};

using Spec = void (*)(Run&);
/// The specs of one program, by name.
struct Entry {
  const char* name;
  Spec spec;
};

/// The main function of the program that the command makes of them. Arguments are key=value:
/// puzzle=NAME, variant=NAME
/// (empty: all), source=FILE, which holds the learner's text, file=NAME, as the compiler calls it,
/// time_limit_s=N, pictures=1, cuda=PROGRAM, which has the kernels in plain CUDA, outcome=FILE,
/// which is written last and atomically. Returns 0 if the outcome, good or bad, could be written.
int run_main(int argc, char** argv, std::span<const Entry> entries);

}  // namespace tessera::puzzle
