// Writing a file so that a reader sees the complete old or the complete new one, never a part. The
// bytes go to a temporary in the same folder; commit() writes them through to the disk and renames.
// Everything else - an error, an exception, leaving the scope, a signal - leaves the old file as it
// was and removes the temporary, unless it is to stay for a later process. Devices, pipes and
// "-" (stdout) are written directly.
#pragma once

#include <memory>
#include <string>

#include "tessera/io/array.hpp"

namespace tessera {

namespace io {
class RegisteredMapping;
}

/// What to do when the output exists.
enum class Overwrite { refuse, replace };

/// What becomes of an output that is not committed.
enum class Unfinished {
  remove,  ///< its temporary is removed
  begin,   ///< PATH.part, which must be new, keeps its bytes
  go_on,   ///< PATH.part keeps its bytes and may have some from an earlier process
};

/// Throws the errors that AtomicFile would throw for this path: an early check before long work.
/// Leaves no file.
void check_output(const std::string& path, Overwrite overwrite);

/// How many other names (hard links) the file has. They keep the old content when this one is
/// replaced.
index_t other_names(const std::string& path);

/// A stream of bytes to a new file. Every failure is an Error: argument for a path that cannot be
/// an output (a folder, an existing file under Overwrite::refuse, no permission), file for a named
/// pipe that gets no reader within a second, resource for a full disk or a file-size limit. SIGXFSZ
/// and SIGPIPE raised by its writes are absorbed.
class AtomicFile {
 public:
  AtomicFile(std::string path, Overwrite overwrite, Unfinished unfinished = Unfinished::remove);
  /// A file that another process has begun and will commit; `tag` is its tag(). It must be visible
  /// here, beside the same path.
  static AtomicFile joined(std::string path, std::string_view tag);
  AtomicFile(AtomicFile&&) noexcept;
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Writes at a place of a regular file; write() continues where it was.
  void write_at(index_t offset, const void* bytes, std::size_t size);
  /// Reserves disk space for a file of `size` bytes, so that a full disk is known now.
  void reserve(index_t size);
  /// What distinguishes the temporary from those of other processes, in at most 31 characters.
  std::string tag() const;
  /// Writes through to the disk what this process has written.
  void flush();
  /// Flushes, renames, flushes the folder. Call once; no write may follow.
  void commit();

  const std::string& path() const;
  int descriptor() const;
  /// False for devices, pipes and stdout, which cannot be mapped or reserved.
  bool is_regular() const;

 private:
  AtomicFile();

  struct State;
  std::unique_ptr<State> state_;
};

/// A new .npy file whose elements are written in place through a mapping: for results larger than
/// memory. Disk space is reserved first, so a full disk is an Error(resource) before
/// any arithmetic.
class MappedOutput {
 public:
  MappedOutput(std::string path, DType dtype, std::vector<index_t> shape, Overwrite overwrite,
               Order order = Order::c);
  /// The same on a file that has been opened and not yet written.
  MappedOutput(std::unique_ptr<AtomicFile> file, DType dtype, std::vector<index_t> shape,
               Order order = Order::c);
  ~MappedOutput();
  MappedOutput(const MappedOutput&) = delete;
  MappedOutput& operator=(const MappedOutput&) = delete;

  /// Zeros at first. Valid until commit().
  const Array& array() const { return array_; }
  /// Flushes to the disk and renames; an Error(resource) when the disk is full.
  void commit();

 private:
  void unmap() noexcept;

  std::unique_ptr<AtomicFile> file_;
  Array array_;
  std::unique_ptr<io::RegisteredMapping> registered_;
  void* base_ = nullptr;
  std::size_t length_ = 0;
};

/// A new .npy file in C order whose elements are appended piece by piece: results of any size with
/// little memory, and writing overlaps with computing. Disk space is reserved
/// first.
class StreamedOutput {
 public:
  StreamedOutput(std::string path, DType dtype, const std::vector<index_t>& shape,
                 Overwrite overwrite);
  /// The next `count` elements.
  void append(const void* elements, index_t count);
  /// Throws Error(argument) unless every element has been appended.
  void commit();

 private:
  AtomicFile file_;
  DType dtype_;
  index_t missing_;  ///< elements still to come
};

/// Removes the temporaries of all unfinished outputs of this process. Async-signal-safe: for the
/// handlers of all signals that end the process, such as SIGINT, SIGTERM, SIGHUP and SIGQUIT.
void remove_temporaries() noexcept;

/// Installs a SIGBUS handler. A mapped file that shrinks under a reader (or a disk that fails under
/// a mapped output) makes the processor fault; the handler then writes one line naming the file to
/// stderr, removes temporaries and ends the process with exit code 3 (1 for an output). Other
/// faults go to the handler installed before. `prefix` ("tessera multiply: ") is copied.
void guard_mapped_files(std::string_view prefix = {});

/// The path of the mapped file that contains `address`, or nullptr. Async-signal-safe, for a
/// program with its own SIGBUS handler.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace tessera
