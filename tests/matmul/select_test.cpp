// top_k() and entries_above() against a stable sort of the product itself.
#include "tessera/matmul/select.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "matmul/row_selector.hpp"
#include "tessera/core/error.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera {
namespace {

using Columns = std::vector<index_t>;

template <class T>
std::vector<T> values_of(const SelectedEntries& s) {
  std::vector<T> out(s.columns.size());
  std::memcpy(out.data(), s.values.data(), s.values.size());
  return out;
}

/// Columns of the k best entries of a row.
template <class T>
Columns best(const T* row, index_t count, index_t k) {
  Columns order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), index_t{0});
  const auto is_nan = [&](index_t j) { return row[j] != row[j]; };
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) {
    if (is_nan(a) || is_nan(b)) return !is_nan(a) && is_nan(b);
    return row[a] > row[b];
  });
  order.resize(static_cast<std::size_t>(k));
  return order;
}

template <class T>
void expect_best(const SelectedEntries& found, const T* c, index_t rows, index_t cols, index_t k) {
  ASSERT_EQ(found.rows, rows);
  ASSERT_EQ(found.cols, cols);
  ASSERT_EQ(found.dtype, dtype_of<T>());
  ASSERT_EQ(found.starts.size(), static_cast<std::size_t>(rows + 1));
  const std::vector<T> values = values_of<T>(found);
  for (index_t i = 0; i < rows; ++i) {
    const Columns expected = best(c + i * cols, cols, k);
    const index_t start = found.starts[static_cast<std::size_t>(i)];
    ASSERT_EQ(start, i * k);
    ASSERT_EQ(Columns(found.columns.begin() + start, found.columns.begin() + start + k), expected)
        << "row " << i;
    for (index_t n = 0; n < k; ++n)
      ASSERT_EQ(std::memcmp(&values[static_cast<std::size_t>(start + n)],
                            c + i * cols + expected[static_cast<std::size_t>(n)], sizeof(T)),
                0);
  }
}

/// Whole numbers, so that many entries are equal.
template <class T>
HostTensor<T> numbers(index_t rows, index_t cols, int most, unsigned seed) {
  auto out = HostTensor<T>::uninitialized(rows, cols);
  std::mt19937 random(seed);
  for (index_t i = 0; i < rows * cols; ++i)
    out.data()[i] = static_cast<T>(static_cast<float>(
        static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most));
  return out;
}

template <class T>
ConstMatrix viewed(const HostTensor<T>& m) {
  return matrix(m.data(), m.rows(), m.cols());
}

template <class In, class Out>
void expect_best_of_products() {
  for (const auto& [M, N, K] :
       {std::array<index_t, 3>{5, 40, 3}, {1, 1, 1}, {1030, 70, 4}, {3, 4200, 2}, {7, 9, 0}}) {
    const auto A = numbers<In>(M, K, 3, 1), B = numbers<In>(K, N, 3, 2);
    auto C = HostTensor<Out>::uninitialized(M, N);
    matmul(viewed(A), viewed(B), matrix(C.data(), M, N));
    for (const index_t k : {index_t{0}, index_t{1}, std::min<index_t>(10, N), N})
      expect_best(top_k(viewed(A), viewed(B), k), C.data(), M, N, k);
  }
}

TEST(Select, TheBestOfEachRowForEveryType) {
  expect_best_of_products<double, double>();
  expect_best_of_products<float, float>();
  expect_best_of_products<f16, float>();
  expect_best_of_products<bf16, float>();
  expect_best_of_products<std::int32_t, std::int32_t>();
  expect_best_of_products<std::int8_t, std::int32_t>();
}

TEST(Select, NanComesLastAndZerosAreEqual) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  const std::vector<float> row = {nan, -0.f, 0.f, -inf, nan, 3, inf, 3, nan, -inf};
  for (const index_t k : {1, 4, 7, 8, 10}) {
    auto selector = detail::make_row_selector({k, 0}, DType::f32, 1, 10);
    selector->take(matrix(row.data(), 1, 10), 0, 0, 1);
    expect_best(selector->finish(1), row.data(), 1, 10, k);
  }
}

TEST(Select, RowsOfNanAlone) {
  const std::vector<float> row(300, std::numeric_limits<float>::quiet_NaN());
  auto selector = detail::make_row_selector({3, 0}, DType::f32, 1, 300);
  selector->take(matrix(row.data(), 1, 300), 0, 0, 1);
  EXPECT_THAT(selector->finish(1).columns, ::testing::ElementsAre(0, 1, 2));
}

TEST(Select, BlocksInAnyOrderGiveTheSame) {
  constexpr index_t kN = 640;
  std::mt19937 random(7);
  for (const index_t M : {9, 128}) {
    std::vector<double> c(static_cast<std::size_t>(M * kN));
    for (double& each : c)
      each = random() % 50 == 0 ? std::nan("") : static_cast<double>(random() % 30);
    for (const index_t size : {1, 7, 64, 200}) {
      for (int attempt = 0; attempt < 4; ++attempt) {
        std::vector<index_t> starts;
        for (index_t j = 0; j < kN; j += size) starts.push_back(j);
        std::shuffle(starts.begin(), starts.end(), random);
        auto selector = detail::make_row_selector({12, 0}, DType::f64, M, kN);
        for (const index_t j : starts) {
          const index_t n = std::min(size, kN - j);
          if (attempt % 2 == 0) {
            selector->take({c.data() + j, DType::f64, M, n, kN, 1}, 0, j, 2);
            continue;
          }
          std::vector<double> turned;  // the same block, column after column
          for (index_t col = j; col < j + n; ++col)
            for (index_t i = 0; i < M; ++i)
              turned.push_back(c[static_cast<std::size_t>(i * kN + col)]);
          selector->take({turned.data(), DType::f64, M, n, 1, M}, 0, j, 2);
        }
        expect_best(selector->finish(2), c.data(), M, kN, 12);
      }
    }
  }
}

TEST(Select, AProductWithItsTransposeIsSymmetric) {
  const auto A = numbers<float>(2100, 6, 5, 3);
  auto C = HostTensor<float>::uninitialized(2100, 2100);
  matmul(viewed(A), transposed(viewed(A)), matrix(C.data(), 2100, 2100));
  for (const int threads : {1, 2, 8})
    expect_best(top_k(viewed(A), transposed(viewed(A)), 5, threads), C.data(), 2100, 2100, 5);
}

TEST(Select, EntriesAboveAThreshold) {
  const auto A = numbers<std::int8_t>(70, 5, 9, 4), B = numbers<std::int8_t>(5, 2500, 9, 5);
  const auto C = matmul(A, B);
  for (const double threshold : {-1e9, 0.0, 100.5, 1e9}) {
    const SelectedEntries found = entries_above(viewed(A), viewed(B), threshold);
    std::vector<std::int32_t> values;
    Columns columns, starts = {0};
    for (index_t i = 0; i < 70; ++i) {
      for (index_t j = 0; j < 2500; ++j)
        if (C(i, j) > threshold) values.push_back(C(i, j)), columns.push_back(j);
      starts.push_back(static_cast<index_t>(columns.size()));
    }
    EXPECT_EQ(found.starts, starts);
    EXPECT_EQ(found.columns, columns);
    EXPECT_EQ(values_of<std::int32_t>(found), values);
  }
}

TEST(Select, Refusals) {
  const auto A = numbers<float>(3, 4, 2, 1), B = numbers<float>(4, 5, 2, 1),
             D = numbers<float>(3, 5, 2, 1);
  for (const index_t k : {-1, 6}) EXPECT_THROW(top_k(viewed(A), viewed(B), k), Error);
  EXPECT_THROW(top_k(viewed(A), viewed(D), 1), Error);
  EXPECT_THROW(entries_above(viewed(A), matrix(static_cast<const float*>(nullptr), 4, 5), 0),
               Error);
  EXPECT_EQ(top_k(matrix(A.data(), 0, 4), viewed(B), 2).starts, Columns{0});
}

}  // namespace
}  // namespace tessera
