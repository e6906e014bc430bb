// Each row keeps candidates. While they are few, every entry becomes one. Once there are some more
// than twice k, the k best stay and the last of them is the row's bar: further entries are compared
// with it many at a time, and few of them pass.
#include "row_selector.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tessera/core/error.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

namespace {

/// Entries that are compared with the bar at a time.
constexpr index_t kTogether = 16;
/// Rows that one work item scans.
constexpr index_t kRowsTogether = 16;
/// Rows that are side by side in memory, as in a transposed block, are compared together; one work
/// item reads long contiguous runs.
constexpr index_t kSideBySide = 64, kLongLine = 512;
/// Candidates that a row has memory for at first.
constexpr std::size_t kFirst = 32;
/// Entries that are sorted rather than divided once more.
constexpr index_t kFew = 8;
/// Far more than divisions of random entries; more would take long in the worst order.
constexpr int kMostRounds = 40;
/// Elements between the rows of a transposed copy.
constexpr index_t kPadding = 16;

/// Column: 32 bits where they suffice, so that more candidates stay in the cache.
template <class T, class Column>
struct Candidate {
  T value;
  Column column;
};

/// The order of top_k() among numbers: total, so that the order of arrival does not matter.
template <class T, class Column>
bool is_better(const Candidate<T, Column>& a, const Candidate<T, Column>& b) {
  return (a.value > b.value) | ((a.value == b.value) & (a.column < b.column));
}

/// The first of the groups of kTogether entries from `begin` on in which one exceeds the bar; a
/// last group that is shorter counts as one. In vectors, which compilers do not make of this loop.
template <class T>
index_t group_that_exceeds(const T* values, index_t begin, index_t end, T bar) {
  constexpr std::size_t kBytes = 16, kWidth = kBytes / sizeof(T);
  using Vector __attribute__((vector_size(kBytes))) = T;
  Vector bars;
  for (std::size_t i = 0; i < kWidth; ++i) bars[i] = bar;
  for (; end - begin >= kTogether; begin += kTogether) {
    decltype(bars > bars) any{};
    for (std::size_t j = 0; j < kTogether; j += kWidth) {
      Vector now;
      std::memcpy(&now, values + begin + j, kBytes);
      any |= now > bars;
    }
    std::uint64_t halves[2];
    std::memcpy(halves, &any, kBytes);
    if ((halves[0] | halves[1]) != 0) break;
  }
  return begin;
}

/// Moves the `k` best of `count` entries to the front, the last of them to k - 1; the others are
/// lost. Unlike std::nth_element, it has no branch for each entry, which no processor predicts, and
/// loads nothing that it has just stored.
template <class T, class Column>
void move_best_to_front(Candidate<T, Column>* entries, index_t count, index_t k) {
  using Entry = Candidate<T, Column>;
  static thread_local std::vector<Entry> scratch;
  if (scratch.size() < static_cast<std::size_t>(count))
    scratch.resize(static_cast<std::size_t>(count));
  Entry* const divided = scratch.data();
  index_t low = 0, high = count;  // the entry of place k - 1 is in [low, high)
  for (int round = 0; high - low > kFew && round < kMostRounds; ++round) {
    Entry *const a = entries + low, *const b = entries + low + (high - low) / 2,
                 *const c = entries + high - 1;
    Entry* const middle = is_better(*a, *b) ? (is_better(*b, *c)   ? b
                                               : is_better(*a, *c) ? c
                                                                   : a)
                                            : (is_better(*a, *c)   ? a
                                               : is_better(*b, *c) ? c
                                                                   : b);
    std::swap(*middle, *c);
    const Entry pivot = *c;
    index_t better = 0, rest = c - a;  // better entries from the front, others from the back
    for (const Entry* each = a; each < c; ++each) {
      const Entry now = *each;
      const index_t is_front = is_better(now, pivot) ? 1 : 0;
      divided[better] = now;
      divided[rest - 1] = now;
      better += is_front;
      rest -= 1 - is_front;
    }
    const index_t place = low + better;
    if (place >= k - 1) {
      std::copy(divided, divided + better, a);
      entries[place] = pivot;
      high = place;
      if (place == k - 1) return;
    } else {
      std::copy(divided, divided + (c - a), a);
      std::swap(entries[place], *c);  // the pivot: what was there is one of the others
      low = place + 1;
    }
  }
  std::sort(entries + low, entries + high, is_better<T, Column>);
}

template <class T, class Column>
class Row {
 public:
  using Entry = Candidate<T, Column>;

  /// The k best of all entries seen.
  void take_best(const T* values, index_t count, index_t column, index_t k) {
    if (k == 0) return;
    index_t j = 0;
    for (; j < count && !has_bar_; ++j) take_best(values[j], column + j, k);
    while (j < count) {
      const Entry bar = bar_;
      // Of equal entries only those of lower columns pass.
      const bool must_exceed = bar.column < column + j;
      if (must_exceed) j = group_that_exceeds(values, j, count, bar.value);
      const index_t end = std::min(j + kTogether, count);
      // Whether an entry passes is hard to predict: each is written, and stays if it does.
      Entry* const first = room_for(kTogether);
      Entry* next = first;
      const auto offer = [&](const auto& passes) {
        for (; j < end; ++j) {
          const Entry now{values[j], static_cast<Column>(column + j)};
          *next = now;
          next += static_cast<index_t>(passes(now));
        }
      };
      if (must_exceed) offer([&](const Entry& now) { return now.value > bar.value; });
      else offer([&](const Entry& now) { return is_better(now, bar); });
      size_ += next - first;
      if (size_ + kTogether > most_candidates(k)) keep_best(k);
    }
  }

  void take_best(T value, index_t column, index_t k) {
    if (k == 0) return;
    const Entry now{value, static_cast<Column>(column)};
    if (has_bar_ && !is_better(now, bar_)) return;
    if (value != value) return keep_nan(value, column, k);
    *room_for(1) = now;
    if (++size_ == most_candidates(k)) keep_best(k);
  }

  void take_above(const T* values, index_t count, index_t column, double threshold) {
    for (index_t j = 0; j < count; ++j)
      if (static_cast<double>(values[j]) > threshold) {
        room_for(1)[0] = {values[j], static_cast<Column>(column + j)};
        ++size_;
      }
  }

  /// In the order of the result.
  const std::vector<Entry>& sorted(const std::optional<index_t>& k) {
    if (k && size_ > *k) keep_best(*k);
    kept_.resize(static_cast<std::size_t>(size_));
    if (!k) {
      std::sort(kept_.begin(), kept_.end(),
                [](const auto& a, const auto& b) { return a.column < b.column; });
      return kept_;
    }
    std::sort(kept_.begin(), kept_.end(), is_better<T, Column>);
    std::sort(nans_.begin(), nans_.end(),
              [](const auto& a, const auto& b) { return a.column < b.column; });
    for (std::size_t i = 0; i < nans_.size() && static_cast<index_t>(kept_.size()) < *k; ++i)
      kept_.push_back(nans_[i]);
    return kept_;
  }
  bool has_bar() const { return has_bar_; }
  T bar() const { return bar_.value; }
  index_t count(const std::optional<index_t>& k) const {
    return k ? std::min(*k, size_ + static_cast<index_t>(nans_.size())) : size_;
  }

 private:
  static index_t most_candidates(index_t k) { return 2 * k + kTogether; }

  /// After the candidates, memory for `count` more.
  Entry* room_for(index_t count) {
    const auto needed = static_cast<std::size_t>(size_ + count);
    if (needed > kept_.size()) kept_.resize(std::max({needed, 2 * kept_.size(), kFirst}));
    return kept_.data() + size_;
  }

  void keep_best(index_t k) {
    move_best_to_front(kept_.data(), size_, k);
    size_ = k;
    bar_ = kept_[static_cast<std::size_t>(k - 1)];
    has_bar_ = true;
    nans_.clear();
  }

  /// The k of the lowest columns, while there are fewer than k numbers.
  void keep_nan(T value, index_t column, index_t k) {
    nans_.push_back({value, static_cast<Column>(column)});
    if (static_cast<index_t>(nans_.size()) < 2 * k) return;
    std::nth_element(nans_.begin(), nans_.begin() + (k - 1), nans_.end(),
                     [](const auto& a, const auto& b) { return a.column < b.column; });
    nans_.resize(static_cast<std::size_t>(k));
  }

  std::vector<Entry> kept_, nans_;
  index_t size_ = 0;  ///< of the candidates at the beginning of kept_
  Entry bar_{};
  bool has_bar_ = false;
};

template <class T, class Column>
class TypedSelector final : public RowSelector {
 public:
  TypedSelector(const Selection& selection, index_t rows, index_t cols)
      : selection_(selection), cols_(cols), rows_(static_cast<std::size_t>(rows)) {}

  void take(const ConstMatrix& block, index_t row, index_t col, int threads) override {
    const auto* data = static_cast<const T*>(block.data);
    if (block.row_stride == 1 && block.rows % kSideBySide == 0 && have_bars(row, block.rows)) {
      parallel_for((block.rows + kLongLine - 1) / kLongLine, threads, [&](index_t part) {
        const index_t first = part * kLongLine;
        take_side_by_side(data + first, block.col_stride, block.cols, row + first,
                          std::min(kLongLine, block.rows - first), col);
      });
      return;
    }
    const index_t groups = (block.rows + kRowsTogether - 1) / kRowsTogether;
    parallel_for(groups, threads, [&](index_t group) {
      std::vector<T> turned;  // rows of a block that is not row-major
      // Rows a power of two apart would share cache sets.
      const index_t stride = block.cols + kPadding;
      const index_t first = group * kRowsTogether;
      const index_t end = std::min(first + kRowsTogether, block.rows);
      if (block.col_stride != 1) {
        turned.resize(static_cast<std::size_t>((end - first) * stride));
        for (index_t j = 0; j < block.cols; ++j)
          for (index_t i = first; i < end; ++i)
            turned[static_cast<std::size_t>((i - first) * stride + j)] =
                data[i * block.row_stride + j * block.col_stride];
      }
      for (index_t i = first; i < end; ++i) {
        const T* const values =
            turned.empty() ? data + i * block.row_stride : turned.data() + (i - first) * stride;
        Row<T, Column>& now = rows_[static_cast<std::size_t>(row + i)];
        if (selection_.k) now.take_best(values, block.cols, col, *selection_.k);
        else now.take_above(values, block.cols, col, selection_.threshold);
      }
    });
  }

  void take(const SelectedEntries& entries, index_t row) override {
    for (index_t i = 0; i < entries.rows; ++i) {
      Row<T, Column>& now = rows_[static_cast<std::size_t>(row + i)];
      for (index_t n = entries.starts[static_cast<std::size_t>(i)];
           n < entries.starts[static_cast<std::size_t>(i) + 1]; ++n) {
        T value{};
        std::memcpy(&value, entries.values.data() + static_cast<std::size_t>(n) * sizeof(T),
                    sizeof(T));
        const index_t column = entries.columns[static_cast<std::size_t>(n)];
        if (selection_.k) now.take_best(value, column, *selection_.k);
        else now.take_above(&value, 1, column, selection_.threshold);
      }
    }
  }

  SelectedEntries finish(int threads) override {
    SelectedEntries out;
    out.rows = static_cast<index_t>(rows_.size()), out.cols = cols_, out.dtype = dtype_of<T>();
    out.starts.assign(1, 0);
    for (const Row<T, Column>& row : rows_)
      out.starts.push_back(out.starts.back() + row.count(selection_.k));
    out.columns.resize(static_cast<std::size_t>(out.starts.back()));
    out.values.resize(out.columns.size() * sizeof(T));
    parallel_for(out.rows, threads, [&](index_t i) {
      Row<T, Column>& row = rows_[static_cast<std::size_t>(i)];
      auto at = static_cast<std::size_t>(out.starts[static_cast<std::size_t>(i)]);
      for (const auto& each : row.sorted(selection_.k)) {
        out.columns[at] = each.column;
        std::memcpy(out.values.data() + at++ * sizeof(T), &each.value, sizeof(T));
      }
      row = Row<T, Column>();
    });
    return out;
  }

 private:
  bool have_bars(index_t row, index_t count) const {
    const auto begin = rows_.begin() + row;
    return selection_.k && std::all_of(begin, begin + count,
                                       [](const Row<T, Column>& each) { return each.has_bar(); });
  }

  /// `count` rows with bars: nothing in most columns reaches the bar of its row.
  void take_side_by_side(const T* data, index_t stride, index_t cols, index_t row, index_t count,
                         index_t col) {
    Row<T, Column>* const rows = rows_.data() + row;
    T bars[kLongLine];
    for (index_t i = 0; i < count; ++i) bars[i] = rows[i].bar();
    for (index_t j = 0; j < cols; ++j) {
      const T* const values = data + j * stride;
      for (index_t first = 0; first < count; first += kSideBySide) {
        int any = 0;
        for (index_t i = first; i < first + kSideBySide; ++i)
          any |= static_cast<int>(values[i] >= bars[i]);
        if (any == 0) continue;
        for (index_t i = first; i < first + kSideBySide; ++i) {
          if (!(values[i] >= bars[i])) continue;
          rows[i].take_best(values[i], col + j, *selection_.k);
          bars[i] = rows[i].bar();
        }
      }
    }
  }

  Selection selection_;
  index_t cols_;
  std::vector<Row<T, Column>> rows_;
};

template <class T>
std::unique_ptr<RowSelector> selector_of(const Selection& selection, index_t rows, index_t cols) {
  if (cols <= std::numeric_limits<std::int32_t>::max())
    return std::make_unique<TypedSelector<T, std::int32_t>>(selection, rows, cols);
  return std::make_unique<TypedSelector<T, index_t>>(selection, rows, cols);
}

}  // namespace

std::unique_ptr<RowSelector> make_row_selector(const Selection& selection, DType type, index_t rows,
                                               index_t cols) {
  if (selection.k && (*selection.k < 0 || *selection.k > cols))
    throw Error(Category::shape, "a row does not have so many entries", cat("k from 0 to ", cols),
                cat("k = ", *selection.k));
  if (type == DType::f64) return selector_of<double>(selection, rows, cols);
  if (type == DType::i32) return selector_of<std::int32_t>(selection, rows, cols);
  return selector_of<float>(selection, rows, cols);
}

}  // namespace tessera::detail
