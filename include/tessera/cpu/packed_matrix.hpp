// A matrix B that is multiplied many times, packed once: a weight. The products have the same bits
// as without.
#pragma once

#include <cstddef>

#include "tessera/cpu/gemm.hpp"
#include "tessera/layout/algebra.hpp"

namespace tessera::cpu {

/// The position of K-group (line, k) in packed panels: panels of `width` lines, each (width,
/// K-groups) column-major, one after the other. A line is a row of A or a column of B; a K-group is
/// one element, or those along K that one instruction multiplies. Padding lines of the last panel
/// are zeros, or copies of the first line.
inline Layout panel_layout(index_t width, index_t lines, index_t k_groups) {
  const index_t panels = (lines + width - 1) / width;
  return tile_to_shape(col_major(width, k_groups), tuple(width * panels, k_groups));
}

/// B (K,N) as the microkernels of this CPU read it. In: as for Gemm. About as large as B itself
/// (f16, and bf16 where the CPU does not multiply it, are kept as f32).
template <class In>
class PackedMatrix {
 public:
  /// Packs B, strides in elements, any sign. Throws Error(resource) where there is no memory.
  PackedMatrix(const ElementB<In>* B, index_t K, index_t N, index_t b_row, index_t b_col = 1);
  ~PackedMatrix();
  PackedMatrix(PackedMatrix&& other) noexcept;
  PackedMatrix& operator=(PackedMatrix&& other) noexcept;

  index_t rows() const { return K_; }
  index_t cols() const { return N_; }
  std::size_t bytes() const { return bytes_; }

  // How it is packed: KC blocks of kc() K-groups along K, each as panel_layout(nr(), cols(),
  // K-groups) says.
  const void* data() const { return data_; }
  index_t kc() const { return kc_; }
  int nr() const { return nr_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  index_t K_ = 0, N_ = 0, kc_ = 0;
  int nr_ = 0;
};

/// The product of call.A and a packed B; call.B and its strides are ignored. call.N and
/// call.K must be those of B. Throws nothing; without memory for A's panels it is slower.
template <class In, class Out = In>
void gemm(const Gemm<In, Out>& call, const PackedMatrix<In>& B);

}  // namespace tessera::cpu
