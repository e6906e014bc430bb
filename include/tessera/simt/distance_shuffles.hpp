// The shuffles by distance of a thread on a GPU, made of its shuffle(value, source): the base of
// CudaThread and GpuThread. Its functions are inlined; it holds nothing.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)  // for GPUs alone

namespace tessera::detail {

/// `rest`: what shuffle() takes after the source, such as a mask of lanes.
template <class Thread>
class DistanceShuffles {
 public:
  template <class T, class... Rest>
  __device__ T shuffle_down(T value, int delta, Rest... rest) {
    return self().shuffle(value, self().lane + delta, rest...);
  }
  template <class T, class... Rest>
  __device__ T shuffle_up(T value, int delta, Rest... rest) {
    return self().shuffle(value, self().lane - delta, rest...);
  }
  template <class T, class... Rest>
  __device__ T shuffle_xor(T value, int by, Rest... rest) {
    return self().shuffle(value, self().lane ^ by, rest...);
  }

 private:
  __device__ Thread& self() { return static_cast<Thread&>(*this); }
};

}  // namespace tessera::detail

#endif
