// Copies by the threads of a group: CUDA C++ Programming Guide, "memcpy_async". They are
// asynchronous where they lead from global to shared memory.
#pragma once
#include "../parts/letters_begin.h"
// Up to letters_end.h a program's macros of one capital letter do not matter.

#include "../cooperative_groups.h"
#include "../parts/copy_pieces.h"

namespace cooperative_groups {

template <class Group, class Bytes>
inline void memcpy_async(const Group& group, void* to, const void* from, const Bytes& bytes,
                         TESSERA_PLACE) {
  tessera::plain_cuda::copy_pieces(to, from, static_cast<std::size_t>(bytes),
                                   static_cast<std::size_t>(group.thread_rank()),
                                   static_cast<std::size_t>(group.size()), place);
  tessera::plain_cuda::commit_async(place);
}
/// In elements: as many as there is room for and as there are.
template <class Group, class T, class Room, class Count>
inline void memcpy_async(const Group& group, T* to, const Room& room, const T* from,
                         const Count& count, TESSERA_PLACE) {
  const std::size_t fit = room, have = count;
  memcpy_async(group, static_cast<void*>(to), static_cast<const void*>(from),
               (fit < have ? fit : have) * sizeof(T), place);
}
template <unsigned Pending, class Group>
inline void wait_prior(const Group& group, TESSERA_PLACE) {
  tessera::plain_cuda::wait_async(Pending, place);
  group.sync(place);
}
template <class Group>
inline void wait(const Group& group, TESSERA_PLACE) {
  wait_prior<0>(group, place);
}

}  // namespace cooperative_groups
#include "../parts/letters_end.h"
