// ManagedTensor: elements that move by themselves between the host and devices. The host reads and
// writes them through views, kernels are given the tensor itself, by run(). Rows contiguous.
// Vector<T> has one mode, ManagedMatrix<T> two. (Matrix is a view of matmul's, HostTensor stays in
// host memory, "managed" is what CUDA calls memory that moves by itself.)
//
// A host view is valid until the next run() that uses the tensor: get a new one afterwards. One
// thread at a time uses a tensor.
#pragma once

#include <array>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include "tessera/core/error.hpp"
#include "tessera/device/managed_bytes.hpp"
#include "tessera/tensor/host_tensor.hpp"

namespace tessera {

/// Consecutive rows of a ManagedTensor (of a Vector: elements), as an argument of run() or for the
/// host; keeps the elements alive. With constant elements it is read-only.
template <class T, int Rank>
class TESSERA_CHECKED_SYMBOL ManagedPart {
 public:
  using element = T;
  static constexpr int rank = Rank;
  static constexpr Layout pattern = detail::row_major_pattern<Rank>();

  ManagedPart(std::shared_ptr<detail::ManagedBytes> bytes, index_t first,
              std::array<index_t, Rank> extents)
      : bytes_(std::move(bytes)), first_(first), extents_(extents) {}
  index_t extent(int mode) const { return extents_[static_cast<std::size_t>(mode)]; }
  const std::array<index_t, Rank>& extents() const { return extents_; }
  index_t size() const {
    index_t out = 1;
    for (const index_t each : extents_) out *= each;
    return out;
  }

  /// Its newest elements in host memory; waits for the kernels that write them. Throws Error.
  auto read() const { return view<const T>(true); }
  /// The same, to be changed.
  auto write() const requires(!std::is_const_v<T>) {
    const auto out = view<T>(true);
    bytes_->written(Device::cpu(), range());
    return out;
  }
  /// Elements that the host will write, each of them: nothing is moved for what they were.
  auto overwrite() const requires(!std::is_const_v<T>) {
    const auto out = view<T>(false);
    bytes_->written(Device::cpu(), range());
    return out;
  }

  /// The same elements, only to be read.
  ManagedPart<const T, Rank> constant() const { return {bytes_, first_, extents_}; }

  /// For run(): the bytes of these elements.
  detail::ByteRange range() const {
    constexpr auto size_of = static_cast<index_t>(sizeof(T));
    return {first_ * size_of, (first_ + size()) * size_of};
  }
  detail::ManagedBytes& bytes() const { return *bytes_; }

 private:
  template <class Element>
  auto view(bool needed) const {
    const auto at = bytes_->prepare(Device::cpu(), range(), needed);
    auto* data = reinterpret_cast<Element*>(static_cast<std::byte*>(at.base) + at.offset);
    return detail::view_as<pattern, Element, Rank>(data, extents_);
  }

  std::shared_ptr<detail::ManagedBytes> bytes_;
  index_t first_;  // elements before it
  std::array<index_t, Rank> extents_;
};

template <class T, int Rank>
class TESSERA_CHECKED_SYMBOL ManagedTensor {
  static_assert(Rank >= 1 && Rank <= 8, "a ManagedTensor has 1 to 8 modes");
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "a ManagedTensor holds plain values, which can be copied byte for byte");

 public:
  using element = T;
  static constexpr int rank = Rank;

  /// No elements.
  ManagedTensor() : ManagedTensor(std::array<index_t, Rank>{}) {}
  /// All elements zero. Throws Error(shape) for a negative extent, Error(resource) for more bytes
  /// than can be counted.
  template <class... I>
  requires(sizeof...(I) == Rank &&
           (std::is_convertible_v<I, index_t> && ...)) explicit ManagedTensor(I... extents)
      : ManagedTensor(std::array<index_t, Rank>{static_cast<index_t>(extents)...}) {}
  /// Vector<float> v({1, 2, 3})
  ManagedTensor(std::initializer_list<T> elements) requires(Rank == 1)
      : ManagedTensor(static_cast<index_t>(elements.size())) {
    if (elements.size() == 0) return;
    std::memcpy(overwrite().data(), elements.begin(), elements.size() * sizeof(T));
  }
  /// ManagedMatrix<float> m({{1, 2}, {3, 4}}); throws Error(shape) when the rows differ in length.
  ManagedTensor(std::initializer_list<std::initializer_list<T>> rows) requires(Rank == 2)
      : ManagedTensor(HostTensor<T>(rows)) {}
  /// The elements of a HostTensor, copied.
  explicit ManagedTensor(const HostTensor<T, Rank>& from) : ManagedTensor(from.extents()) {
    if (from.size() == 0) return;
    std::memcpy(overwrite().data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
  }
  /// A tensor that was moved from has no elements.
  ManagedTensor(ManagedTensor&& other) : ManagedTensor() { swap(other); }
  ManagedTensor& operator=(ManagedTensor&& other) {
    ManagedTensor taken(std::move(other));
    swap(taken);
    return *this;
  }
  ManagedTensor(const ManagedTensor&) = delete;
  ManagedTensor& operator=(const ManagedTensor&) = delete;

  index_t extent(int mode) const { return all().extent(mode); }
  const std::array<index_t, Rank>& extents() const { return extents_; }
  index_t size() const { return all().size(); }

  /// Its newest elements as a view of host memory; waits for kernels that write them. Throws Error.
  auto read() const { return all().read(); }
  /// The same for writing: copies on devices are stale from then on.
  auto write() { return all().write(); }
  /// Elements that the host will write, each of them: nothing is moved for what they were.
  auto overwrite() { return all().overwrite(); }
  /// The newest value of one element; a loop should call read() once instead.
  template <class... I>
  T operator()(I... coordinates) const {
    static_assert(sizeof...(I) == Rank, "a ManagedTensor takes one coordinate for each mode");
    return read()(static_cast<index_t>(coordinates)...);
  }

  /// Rows `first` to first + count (elements, of a Vector). Throws Error(shape) where there are
  /// fewer.
  auto part(index_t first, index_t count) { return part_of<T>(first, count); }
  auto part(index_t first, index_t count) const { return part_of<const T>(first, count); }
  /// All rows.
  auto all() { return ManagedPart<T, Rank>(bytes_, 0, extents_); }
  auto all() const { return ManagedPart<const T, Rank>(bytes_, 0, extents_); }

 private:
  explicit ManagedTensor(const std::array<index_t, Rank>& extents)
      : extents_(extents),
        bytes_(std::make_shared<detail::ManagedBytes>(
            static_cast<index_t>(checked_bytes(extents.data(), Rank, sizeof(T))))) {}
  void swap(ManagedTensor& other) {
    std::swap(extents_, other.extents_);
    std::swap(bytes_, other.bytes_);
  }
  template <class Element>
  auto part_of(index_t first, index_t count) const {
    if (first < 0 || count < 0 || first > extents_[0] - count) {
      throw Error(Category::shape, "part: there are no such rows",
                  cat("first and count within ", extents_[0]), cat(first, " and ", count));
    }
    auto extents = extents_;
    extents[0] = count;
    index_t row = 1;
    for (int i = 1; i < Rank; ++i) row *= extents[static_cast<std::size_t>(i)];
    return ManagedPart<Element, Rank>(bytes_, first * row, extents);
  }

  std::array<index_t, Rank> extents_;
  std::shared_ptr<detail::ManagedBytes> bytes_;
};

template <class T>
using Vector = ManagedTensor<T, 1>;
template <class T>
using ManagedMatrix = ManagedTensor<T, 2>;

}  // namespace tessera
