#include "tessera/io/array.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.hpp"
#include "support/sanitizers.hpp"

namespace tessera::test {
namespace {

TEST(MakeArray, IsZeroAlignedAndContiguous) {
  for (const index_t n : {0, 1, 7, 100, 1000, 3000}) {
    const Array a = make_array(DType::f32, {n, n});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % (n >= 1000 ? 2u << 20 : 64u), 0u) << n;
    EXPECT_TRUE(a.is_contiguous(Order::c));
    const auto* x = static_cast<const float*>(a.data());
    for (index_t i = 0; i < a.count(); ++i) ASSERT_EQ(x[i], 0);
  }
}

TEST(MakeArray, RefusesImpossibleShapes) {
  expect_error(Category::shape, {"negative", "(-1, 2)"}, [] { make_array(DType::f32, {-1, 2}); });
  expect_error(Category::shape, {"too large"}, [] {
    make_array(DType::f64, {index_t{1} << 31, index_t{1} << 31});
  });
  expect_error(Category::resource, {"not enough memory", "(1000000, 1000000) of f64", "7.28 TiB"},
               [] {
                 make_array(DType::f64, {1000000, 1000000});
               });
}

TEST(MakeArray, AddressSpaceLimitIsAnErrorNotACrash) {
  if (testing::kSanitized)
    GTEST_SKIP() << "NOT tested: sanitizers need more address space than a limit leaves";
  Scratch scratch(Where::disk);
  write_array(scratch / "a.npz", make_array(DType::f64, {4000, 4000}),
              {.compression = Compression::deflated});
  scratch.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n9000 9000 0\n");
  write_array(scratch / "a.npy", make_array(DType::f64, {4000, 4000}));
  for (rlim_t megabytes = 32; megabytes <= 512; megabytes *= 2) {
    EXPECT_EQ(0, in_child([&] {
                const auto room = static_cast<rlim_t>(megabytes << 20);
                const rlimit limit{room, room};
                setrlimit(RLIMIT_AS, &limit);
                int others = 0;
                const auto attempt = [&](auto body) {
                  try {
                    body();
                  } catch (const Error& error) {
                    others += error.category() != Category::resource;
                  } catch (...) {
                    ++others;
                  }
                };
                for (const char* name : {"a.npz", "a.mtx", "a.npy"}) {
                  attempt([&] { convert(read_array(scratch / name), DType::f32); });
                }
                attempt([] { make_array(DType::f32, {30000, 30000}); });
                return others;
              }))
        << megabytes << " MiB";
  }
}

TEST(Convert, RoundsAsCoreDoesForEveryPairAndOrder) {
  for (const DType from : kAllTypes) {
    for (const Order order : {Order::c, Order::fortran}) {
      const Array a = counted(from, 5, 9, order);
      for (const DType to : kAllTypes) {
        const Array b = convert(a, to);
        ASSERT_EQ(b.dtype(), to);
        EXPECT_TRUE(b.is_contiguous(order));
        visit_dtype(from, [&](auto from_tag) {
          visit_dtype(to, [&](auto to_tag) {
            using From = typename decltype(from_tag)::type;
            using To = typename decltype(to_tag)::type;
            for (index_t i = 0; i < 5; ++i) {
              for (index_t j = 0; j < 9; ++j) {
                const From x =
                    static_cast<const From*>(a.data())[i * a.row_stride() + j * a.col_stride()];
                const To y = convert<To>(x);
                const double want = static_cast<double>(y);
                const double got = element(b, i, j);
                ASSERT_TRUE(want == got || (want != want && got != got))
                    << name(from) << " -> " << name(to);
              }
            }
          });
        });
      }
    }
  }
}

TEST(Convert, SameTypeSharesTheMemory) {
  const Array a = counted(DType::f32, 3, 3);
  EXPECT_EQ(convert(a, DType::f32).data(), a.data());
}

TEST(Contiguous, ReordersLargeStridedAndNegative) {
  const Array a = counted(DType::f64, 513, 259);
  const Array f = contiguous(a, Order::fortran);
  EXPECT_TRUE(f.is_contiguous(Order::fortran));
  expect_same(a, f);
  const Array t = transposed(f);
  EXPECT_EQ(t.rows(), 259);
  EXPECT_TRUE(t.is_contiguous(Order::c));
  for (index_t i = 0; i < 259; i += 37) {
    for (index_t j = 0; j < 513; j += 41) EXPECT_EQ(element(t, i, j), element(a, j, i));
  }
}

TEST(Contiguous, AnyRank) {
  Array a = make_array(DType::i32, {2, 3, 4});
  auto* data = static_cast<std::int32_t*>(a.writable());
  for (int i = 0; i < 24; ++i) data[i] = i;
  const Array f = contiguous(a, Order::fortran);
  const auto* x = static_cast<const std::int32_t*>(f.data());
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) EXPECT_EQ(x[i + 2 * j + 6 * k], 12 * i + 4 * j + k);
    }
  }
  expect_same(contiguous(f), a);
  EXPECT_EQ(make_array(DType::f32, {}).count(), 1);
}

TEST(IsFinite, FindsOneNanAnywhere) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3}) {
    const Array good = counted(DType::f64, 9, 9);
    EXPECT_TRUE(is_finite(convert(make_array(DType::f64, {9, 9}), dtype)));
    static_cast<double*>(good.writable())[80] = NAN;
    EXPECT_FALSE(is_finite(convert(good, dtype)));
    EXPECT_FALSE(is_finite(transposed(convert(good, dtype))));
  }
  EXPECT_TRUE(is_finite(counted(DType::i32, 3, 3)));
}

TEST(Text, OfShapesAndBytes) {
  EXPECT_EQ(shape_text({}), "()");
  EXPECT_EQ(shape_text({5}), "(5,)");
  EXPECT_EQ(shape_text({3, 4}), "(3, 4)");
  EXPECT_EQ(bytes_text(12), "12 bytes");
  EXPECT_EQ(bytes_text(3 << 19), "1.50 MiB");
}

}  // namespace
}  // namespace tessera::test
