// Options of a copy, in any order, after source and destination:
//
//   filled_with(x)          elements past the edge of the source read as x, not as zero
//   combined_by(op)         dst = op(dst, src), where the source exists; accumulate is op = plus
//   reading_where(mask)     where mask is false, the source does not exist
//   writing_where(mask)     where mask is false, dst is not written
//
// A mask is a tensor that broadcasts to the destination, or a function of the coordinates.
#pragma once

#include "tessera/tensor/arithmetic.hpp"

namespace tessera {

template <class Value>
struct FilledWith {
  Value value;
};
template <class Value>
TESSERA_HD constexpr FilledWith<Value> filled_with(Value value) {
  return {value};
}

template <class Op>
struct CombinedBy {
  Op op;
};
template <class Op>
TESSERA_HD constexpr CombinedBy<Op> combined_by(Op op) {
  return {op};
}
/// dst += src.
TESSERA_HD constexpr CombinedBy<detail::Plus> accumulating() { return {}; }

template <class Mask>
struct ReadingWhere {
  Mask mask;
};
template <class Mask>
TESSERA_HD constexpr ReadingWhere<Mask> reading_where(Mask mask) {
  return {mask};
}

template <class Mask>
struct WritingWhere {
  Mask mask;
};
template <class Mask>
TESSERA_HD constexpr WritingWhere<Mask> writing_where(Mask mask) {
  return {mask};
}

namespace detail {

/// Is a mask true at these coordinates?
template <class Mask, class... I>
TESSERA_HD constexpr bool holds(const Mask& mask, I... at) {
  if constexpr (AnyTensor<Mask>)
    return broadcast_exists(mask, at...) && broadcast_at(mask, at...) != typename Mask::value{};
  else return mask(at...);
}

/// The answers of one option to each question of a copy. The defaults:
struct NoOption {
  static constexpr bool fills = false, combines = false, masks = false;
  template <class... I>
  TESSERA_HD constexpr bool reads(I...) const {
    return true;
  }
  template <class... I>
  TESSERA_HD constexpr bool writes(I...) const {
    return true;
  }
};
template <class Option>
struct Answer;
template <class Value>
struct Answer<FilledWith<Value>> : NoOption {
  static constexpr bool fills = true;
  FilledWith<Value> option;
  TESSERA_HD constexpr explicit Answer(const FilledWith<Value>& o) : option(o) {}
};
template <class Op>
struct Answer<CombinedBy<Op>> : NoOption {
  static constexpr bool combines = true;
  CombinedBy<Op> option;
  TESSERA_HD constexpr explicit Answer(const CombinedBy<Op>& o) : option(o) {}
};
template <class Mask>
struct Answer<ReadingWhere<Mask>> : NoOption {
  static constexpr bool masks = true;
  ReadingWhere<Mask> option;
  TESSERA_HD constexpr explicit Answer(const ReadingWhere<Mask>& o) : option(o) {}
  template <class... I>
  TESSERA_HD constexpr bool reads(I... at) const {
    return holds(option.mask, at...);
  }
};
template <class Mask>
struct Answer<WritingWhere<Mask>> : NoOption {
  static constexpr bool masks = true;
  WritingWhere<Mask> option;
  TESSERA_HD constexpr explicit Answer(const WritingWhere<Mask>& o) : option(o) {}
  template <class... I>
  TESSERA_HD constexpr bool writes(I... at) const {
    return holds(option.mask, at...);
  }
};

/// The answers of all options together.
template <class... Options>
struct Answers : Answer<Options>... {
  static constexpr bool combines = (false || ... || Answer<Options>::combines);
  static constexpr bool masks = (false || ... || Answer<Options>::masks);

  TESSERA_HD constexpr explicit Answers(const Options&... options) : Answer<Options>(options)... {}

  template <class... I>
  TESSERA_HD constexpr bool reads(I... at) const {
    return (true && ... && Answer<Options>::reads(at...));
  }
  template <class... I>
  TESSERA_HD constexpr bool writes(I... at) const {
    return (true && ... && Answer<Options>::writes(at...));
  }
  template <class To>
  TESSERA_HD constexpr To fill() const {
    To value{};
    (ask_fill<Options>(value), ...);
    return value;
  }
  template <class Dst, class To, class... I>
  TESSERA_HD constexpr void write(const Dst& dst, To value, Here here, I... at) const {
    (ask_combine<Options>(dst, value, here, at...), ...);
    dst(at..., here) = value;
  }

 private:
  template <class Option, class To>
  TESSERA_HD constexpr void ask_fill(To& value) const {
    if constexpr (Answer<Option>::fills) value = element_from<To>(Answer<Option>::option.value);
  }
  template <class Option, class Dst, class To, class... I>
  TESSERA_HD constexpr void ask_combine(const Dst& dst, To& value, Here here, I... at) const {
    if constexpr (Answer<Option>::combines)
      value = combined(value_at(dst, at..., here), value, Answer<Option>::option.op);
  }
};

/// dst(at...) = src(at...) under the options. `Full`: the caller knows that both exist.
template <bool Full, class Src, class Dst, class... Options, class... I>
TESSERA_HD constexpr void copy_element(const Src& src, const Dst& dst,
                                       const Answers<Options...>& answers, Here here, I... at) {
  using To = typename Dst::value;
  if constexpr (!Full) {
    if (!dst.contains(at...)) return;
  }
  if (!answers.writes(at...)) return;
  bool exists = answers.reads(at...);
  if constexpr (!Full) exists = exists && src.contains(at...);
  if (exists) answers.write(dst, element_from<To>(value_at(src, at..., here)), here, at...);
  else if constexpr (!Answers<Options...>::combines) dst(at..., here) = answers.template fill<To>();
}

template <class Src, class Dst>
constexpr bool may_copy() {
  if (Src::rank != Dst::rank) return false;
  for (int m = 0; m < Src::rank; ++m) {
    const index_t a = Src::pattern.shape.mode(m).product();
    const index_t b = Dst::pattern.shape.mode(m).product();
    if (a != dynamic && b != dynamic && a != b) return false;
  }
  return true;
}

/// Checks dynamic extents, on the CPU.
template <class Src, class Dst>
TESSERA_HD constexpr void require_same_extents(const Src& src, const Dst& dst) {
  for_each_number<Src::rank>(
      [&](auto m) { require_copy_extent(src.template extent<m>(), dst.template extent<m>(), m); });
}

}  // namespace detail

}  // namespace tessera
