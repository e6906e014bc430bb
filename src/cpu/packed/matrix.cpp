// Packs B once into panels as product.hpp would pack them KC block by KC block, in memory of
// its own on huge pages. The extents of a KC block are kept with it, so that every product reads
// the panels as they were written.
#include <sys/mman.h>

#include <utility>

#include "cpu/blocking.hpp"
#include "cpu/call_forms.hpp"
#include "cpu/choose_kernels.hpp"
#include "cpu/each_product.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cpu/packed_matrix.hpp"

namespace tessera::cpu {

template <class In>
PackedMatrix<In>::PackedMatrix(const ElementB<In>* B, index_t K, index_t N, index_t b_row,
                               index_t b_col)
    : K_(K), N_(N) {
  if (K <= 0 || N <= 0) return;
  if (is_degenerate(K, b_row)) b_row = 1;
  if (is_degenerate(N, b_col)) b_col = 1;
  with_kernels<In>([&](const auto& kernels) {
    using Table = std::remove_cvref_t<decltype(kernels)>;
    using KGroup = typename Table::KGroup;
    using Source = typename Table::Source;
    const index_t k_groups = (K + kernels.group - 1) / kernels.group;
    kc_ = kc_block_depth(k_groups, kernels.rows, sizeof(KGroup));
    nr_ = panel_columns(N, kernels.lanes, kernels.vectors);
    const index_t columns = (N + nr_ - 1) / nr_ * nr_, kc_blocks = (k_groups + kc_ - 1) / kc_;
    bytes_ = static_cast<std::size_t>((k_groups + kc_blocks * kernels.b_extra) * columns) *
             sizeof(KGroup);
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw Error(Category::resource, "PackedMatrix: no memory", cat(bytes_, " bytes"));
    madvise(memory, bytes_, MADV_HUGEPAGE);
    data_ = memory;
    KGroup* to = static_cast<KGroup*>(memory);
    for (index_t w = 0; w < k_groups; w += kc_, to += (kc_ + kernels.b_extra) * columns) {
      const index_t k = w * kernels.group, deep = kc_ * kernels.group;
      kernels.pack_b(to, nr_, reinterpret_cast<const Source*>(B + k * b_row), N,
                     K - k < deep ? K - k : deep, b_col, b_row);
    }
  });
}

template <class In>
PackedMatrix<In>::~PackedMatrix() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

template <class In>
PackedMatrix<In>::PackedMatrix(PackedMatrix&& other) noexcept {
  *this = std::move(other);
}

template <class In>
PackedMatrix<In>& PackedMatrix<In>::operator=(PackedMatrix&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(K_, other.K_);
  std::swap(N_, other.N_);
  std::swap(kc_, other.kc_);
  std::swap(nr_, other.nr_);
  return *this;
}

#define TESSERA_INSTANTIATE(T) template class PackedMatrix<T>;
TESSERA_EACH_OPERAND(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cpu
