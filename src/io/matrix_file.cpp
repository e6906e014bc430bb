// Blocks of a matrix in a file: see matrix_file.hpp. One call reads each run of contiguous
// elements, either directly to its destination or, if the type or the byte order differs, through a
// buffer.
#include "matrix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "checksum.hpp"
#include "failure.hpp"
#include "formats.hpp"
#include "npy.hpp"
#include "past_cache.hpp"
#include "tessera/core/text.hpp"
#include "uninterrupted.hpp"

namespace tessera {

namespace {

/// Size in bytes of the buffer through which elements of another type pass.
constexpr index_t kStagingBytes = 1 << 20;
/// Linux reads at most 2 GiB in one call.
constexpr index_t kMostAtOnce = 1 << 30;
/// Of short pieces of lines, so many bytes are requested ahead of reading them; where slices follow
/// each other along the same lines, a window of each, of all lines together not more than a small
/// part of the page cache.
constexpr index_t kAhead = index_t{4} << 20, kWindow = index_t{1} << 16,
                  kWindows = index_t{128} << 20;

/// The name of a part of the file in messages.
[[noreturn]] void fail_reading(const std::string& path, int code) {
  io::bad_file(path,
               code == 0 ? "ended while it was read" : "reading failed: " + io::errno_text(code),
               {}, {}, code == 0 ? "do not change it during the run" : "");
}

}  // namespace

struct MatrixFile::State {
  std::string path;
  int descriptor = -1;
  io::PastCache past_cache;
  DType dtype = DType::f32;
  bool swapped = false;
  index_t offset = 0;  ///< of the first element
  std::vector<index_t> shape;
  /// In elements of the matrix; one of them is 1, the other the extent of the contiguous side.
  index_t rows = 0, cols = 0;
  bool in_rows = true;  ///< the elements of a row are contiguous
  Array in_memory;
  std::string identity;
  mutable std::atomic<index_t> bytes_read{0};
  mutable std::atomic<index_t> last_line{-1}, last_window{0};  ///< of the last short pieces

  ~State() {
    if (descriptor >= 0) close(descriptor);
  }

  void read_at(index_t at, void* to, index_t bytes) const {
    auto* next = static_cast<std::byte*>(to);
    bytes_read.fetch_add(bytes, std::memory_order_relaxed);
    const bool direct = io::may_pass_cache(to, at, bytes);
    while (bytes > 0) {
      const ssize_t got =
          direct ? past_cache.read_some(descriptor, at, next, bytes) : io::uninterrupted([&] {
            const index_t now = std::min(bytes, kMostAtOnce);
            return pread(descriptor, next, static_cast<std::size_t>(now), at);
          });
      if (got <= 0) fail_reading(path, got == 0 ? 0 : errno);
      next += got, at += got, bytes -= got;
    }
  }

  /// In the file: lines of `inner` contiguous elements, line after line.
  index_t inner() const { return in_rows ? cols : rows; }

  /// The place in the file of element `first` of a line.
  index_t place(index_t line, index_t first) const {
    return offset + (line * inner() + first) * size_of(dtype);
  }

  /// The end of the window that `at`, a place in a line, is in. Windows of different lines end at
  /// different places, so that each slice enters some.
  index_t window_end(index_t line, index_t at, index_t window) const {
    const index_t shift = line * io::kPage % window, end = place(line + 1, 0);
    return std::min((at + shift + window) / window * window - shift, end);
  }

  /// Requests `bytes` from element `first` of a line on, and what follows in the same window,
  /// unless the window was requested with what precedes.
  void will_need(index_t line, index_t first, index_t bytes, index_t window,
                 bool is_entered) const {
    const index_t begin = place(line, first), end = window_end(line, begin + bytes - 1, window);
    if (is_entered && bytes < io::kPage && window_end(line, begin - 1, window) == end) return;
    (void)posix_fadvise(descriptor, begin, end - begin, POSIX_FADV_WILLNEED);
  }

  /// Reads elements [first, first + count) of lines [line, line + lines) contiguously to `to`.
  void read_lines(index_t line, index_t lines, index_t first, index_t count, void* to) const {
    const index_t bytes = count * size_of(dtype);
    if (count == inner() || lines == 1) return read_at(place(line, first), to, lines * bytes);
    const bool goes_on = last_line.exchange(line, std::memory_order_relaxed) == line && first > 0;
    const index_t window =
        goes_on ? std::clamp(kWindows / lines, io::kPage, kWindow) / io::kPage * io::kPage
                : io::kPage;
    const bool is_entered =
        last_window.exchange(window, std::memory_order_relaxed) == window && goes_on;
    const index_t ahead = std::max<index_t>(1, kAhead / bytes);
    const bool is_short = bytes < io::kLongTransfer;
    for (index_t l = 0, wanted = 0; l < lines; ++l) {
      for (; is_short && wanted < std::min(l + ahead, lines); ++wanted)
        will_need(line + wanted, first, bytes, window, is_entered);
      read_at(place(line + l, first), static_cast<std::byte*>(to) + l * bytes, bytes);
    }
  }

  /// Converts elements to the program's type and byte order.
  void make_native(void* data, index_t count) const {
    if (swapped) io::swap_bytes(data, count, size_of(dtype));
    if (dtype != DType::boolean) return;
    auto* bytes = static_cast<std::byte*>(data);
    std::transform(bytes, bytes + count, bytes,
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
  }

  void open_sliced(const std::string& name, const ReadOptions& options, const std::string& member,
                   Format format, index_t size);
  void identify(const struct stat& info);
};

namespace {

/// The first bytes of a file of `size` bytes, at most `most` of them, as an input.
io::Input beginning(const std::string& path, int descriptor, index_t size, index_t most) {
  const index_t bytes = std::min(size, most);
  auto buffer = std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(bytes)]);
  for (index_t at = 0; at < bytes;) {
    const ssize_t got = io::uninterrupted([&] {
      return pread(descriptor, buffer.get() + at, static_cast<std::size_t>(bytes - at), at);
    });
    if (got <= 0) fail_reading(path, got == 0 ? 0 : errno);
    at += got;
  }
  io::Input out;
  out.path = path;
  out.data = buffer.get();
  out.size = static_cast<std::size_t>(bytes);
  out.owner = std::shared_ptr<void>(buffer, buffer.get());
  return out;
}

}  // namespace

void MatrixFile::State::open_sliced(const std::string& name, const ReadOptions& options,
                                    const std::string& member, Format format, index_t size) {
  path = name;
  if (format == Format::npy) {
    const auto start = beginning(path, descriptor, size, index_t{io::kMaxNpyHeader} + 12);
    io::NpyHeader header =
        io::parse_npy_header(start.text(), static_cast<std::size_t>(size), path, options.untyped);
    dtype = header.dtype, swapped = header.swapped, shape = std::move(header.shape);
    offset = static_cast<index_t>(header.data_offset);
    in_rows = header.order == Order::c;
  } else {
    const io::TensorPlace place = io::locate_safetensors(
        [&](index_t most) { return beginning(path, descriptor, size, most); },
        static_cast<std::size_t>(size), member);
    dtype = place.dtype, shape = place.shape, offset = place.offset;
  }
  if (shape.size() == 2) rows = shape[0], cols = shape[1];
}

void MatrixFile::State::identify(const struct stat& info) {
  std::uint64_t sum = io::kNoChecksum;
  std::byte page[io::kPage];
  for (const index_t at :
       {index_t{0}, info.st_size / 2 / io::kPage * io::kPage, info.st_size - io::kPage}) {
    const ssize_t got = io::uninterrupted(
        [&] { return pread(descriptor, page, sizeof page, std::max<index_t>(0, at)); });
    if (got > 0) sum = io::checksum(page, static_cast<std::size_t>(got), sum);
  }
  identity = cat(info.st_size, " ", info.st_mtim.tv_sec, " ", info.st_mtim.tv_nsec, " ", sum);
}

MatrixFile::MatrixFile(const std::string& name, const ReadOptions& options) : state_(new State) {
  State& s = *state_;
  const Location location = parse_location(name);
  const std::string member = options.member.empty() ? location.member : options.member;
  struct stat info {};
  const bool regular = name != "-" && stat(location.path.c_str(), &info) == 0 &&
                       S_ISREG(info.st_mode) && info.st_size > 0;
  if (regular) {
    s.descriptor = io::open_for_reading(location.path);
    const auto start = beginning(location.path, s.descriptor, info.st_size, 64);
    const Format format = io::input_format(location.path, start, options.format);
    const bool sliced = format == Format::safetensors || (format == Format::npy && member.empty());
    if (fstat(s.descriptor, &info) == 0) s.identify(info);
    if (sliced) {
      if (info.st_size >= io::kLongTransfer) s.past_cache = io::PastCache(s.descriptor, O_RDONLY);
      s.open_sliced(location.path, options, member, format, info.st_size);
      return;
    }
  }
  s.path = location.path;
  s.in_memory = read_array(name, options);
  s.dtype = s.in_memory.dtype(), s.shape = s.in_memory.shape();
  if (s.shape.size() == 2) s.rows = s.shape[0], s.cols = s.shape[1];
  s.in_rows = s.in_memory.is_contiguous(Order::c);
  if (s.descriptor >= 0) close(std::exchange(s.descriptor, -1));
}

MatrixFile::~MatrixFile() = default;
MatrixFile::MatrixFile(MatrixFile&&) noexcept = default;

DType MatrixFile::dtype() const { return state_->dtype; }
const std::vector<index_t>& MatrixFile::shape() const { return state_->shape; }
index_t MatrixFile::rows() const { return state_->rows; }
index_t MatrixFile::cols() const { return state_->cols; }
Order MatrixFile::order() const { return state_->in_rows ? Order::c : Order::fortran; }
bool MatrixFile::is_sliced() const { return state_->descriptor >= 0; }
index_t MatrixFile::memory() const { return is_sliced() ? 0 : state_->in_memory.bytes(); }
index_t MatrixFile::bytes_read() const {
  return state_->bytes_read.load(std::memory_order_relaxed);
}
std::string MatrixFile::identity() const { return state_->identity; }

void MatrixFile::require_matrix(std::string_view what) const {
  Array::read_only(state_->dtype, state_->shape, std::vector<index_t>(state_->shape.size(), 1),
                   nullptr, nullptr)
      .require_matrix(what);
}

void MatrixFile::reshape(index_t rows, index_t cols) {
  State& s = *state_;
  s.rows = rows, s.cols = cols, s.shape = {rows, cols};
  // The elements of a vector are contiguous, whether it becomes a row or a column.
  s.in_rows = rows == 1 || cols != 1;
  if (!is_sliced())
    s.in_memory = Array::read_only(s.dtype, s.shape, contiguous_strides(s.shape, Order::c),
                                   s.in_memory.data(), std::make_shared<Array>(s.in_memory));
}

void MatrixFile::transpose() {
  State& s = *state_;
  require_matrix(s.path);
  std::swap(s.rows, s.cols), std::swap(s.shape[0], s.shape[1]);
  s.in_rows = !s.in_rows;
  if (!is_sliced()) s.in_memory.transpose();
}

void MatrixFile::read_pieces(
    const MatrixBlock& block,
    const std::function<void(const Array&, index_t, index_t)>& took) const {
  const State& s = *state_;
  if (block.rows <= 0 || block.cols <= 0) return;
  if (!is_sliced()) {
    const Array& all = s.in_memory;
    const index_t first = block.row * all.row_stride() + block.col * all.col_stride();
    const auto* data = static_cast<const std::byte*>(all.data()) + first * size_of(s.dtype);
    took(Array::read_only(s.dtype, {block.rows, block.cols}, all.strides(), data, nullptr),
         block.row, block.col);
    return;
  }
  const index_t size = size_of(s.dtype);
  const index_t line0 = s.in_rows ? block.row : block.col,
                lines = s.in_rows ? block.rows : block.cols;
  const index_t first = s.in_rows ? block.col : block.row,
                count = s.in_rows ? block.cols : block.rows;
  const index_t wide = std::min(count, kStagingBytes / size),
                high = std::max<index_t>(1, kStagingBytes / size / wide);
  const Array buffer = make_array(s.dtype, {std::min(high, lines), wide});
  for (index_t line = line0; line < line0 + lines; line += high) {
    const index_t now = std::min(high, line0 + lines - line);
    for (index_t at = first; at < first + count; at += wide) {
      const index_t length = std::min(wide, first + count - at);
      s.read_lines(line, now, at, length, buffer.writable());
      s.make_native(buffer.writable(), now * length);
      if (s.in_rows)
        took(Array::read_only(s.dtype, {now, length}, {length, 1}, buffer.data(), nullptr), line,
             at);
      else
        took(Array::read_only(s.dtype, {length, now}, {1, length}, buffer.data(), nullptr), at,
             line);
    }
  }
}

index_t MatrixFile::place_in_page(const MatrixBlock& block) const {
  const State& s = *state_;
  const index_t at = s.in_rows ? s.place(block.row, block.col) : s.place(block.col, block.row);
  return is_sliced() && at % size_of(s.dtype) == 0 ? at % io::kPage : 0;
}

void MatrixFile::read(const MatrixBlock& block, const Array& to) const {
  const State& s = *state_;
  if (block.rows <= 0 || block.cols <= 0) return;
  auto* const data = static_cast<std::byte*>(to.writable());
  const bool same = is_sliced() && to.dtype() == s.dtype && s.dtype != DType::boolean;
  if (same && (s.in_rows ? to.col_stride() : to.row_stride()) == 1) {
    const index_t size = size_of(s.dtype);
    const index_t step = s.in_rows ? to.row_stride() : to.col_stride();
    const index_t line0 = s.in_rows ? block.row : block.col;
    const index_t lines = s.in_rows ? block.rows : block.cols;
    const index_t first = s.in_rows ? block.col : block.row;
    const index_t count = s.in_rows ? block.cols : block.rows;
    const index_t together = step == count ? lines : 1;
    for (index_t line = 0; line < lines; line += together) {
      std::byte* const at = data + line * step * size;
      s.read_lines(line0 + line, together, first, count, at);
      s.make_native(at, together * count);
    }
    return;
  }
  read_pieces(block, [&](const Array& piece, index_t row, index_t col) {
    const index_t first = (row - block.row) * to.row_stride() + (col - block.col) * to.col_stride();
    convert_into(piece, Array(to.dtype(), piece.shape(), to.strides(),
                              data + first * size_of(to.dtype()), nullptr));
  });
}

}  // namespace tessera
