// Unpacks a member of a zip archive in memory: a copy, or zlib's inflate.
#include <algorithm>
#include <new>

#include "io/failure.hpp"
#include "io/zip.hpp"

namespace tessera::io {
namespace {

/// deflate cannot compress better than this; a member that claims more is damaged or a zip bomb.
constexpr std::uint64_t kMaxDeflateRatio = 1032;

}  // namespace

ZipReader::ZipReader(const Input& input, const ZipMember& member, std::string path)
    : member_(member), path_(std::move(path)) {
  const std::string_view bytes = input.text();
  const std::string_view header = member.offset > bytes.size() ? "" : bytes.substr(member.offset);
  if (!header.starts_with(kZipHeader)) bad("its zip header does not begin with PK\\x03\\x04");
  if (member.encrypted) bad("it is encrypted");
  if (member.method != ZipMethod::stored && member.method != ZipMethod::deflated)
    bad(cat("it is compressed with zip method ", static_cast<int>(member.method),
            " (only stored and deflated are read)"));
  const std::size_t before = kZipHeaderBytes + zip_number<std::uint16_t>(header, 26) +
                             zip_number<std::uint16_t>(header, 28);
  if (before > header.size() || member.packed > header.size() - before)
    bad("its data go beyond the end of the file");
  packed_ = header.substr(before, member.packed);
  const std::uint64_t ratio = member.method == ZipMethod::stored ? 1 : kMaxDeflateRatio;
  if (member.size / ratio > packed_.size()) {
    bad_file(path_, "claims more bytes than its compressed data can hold",
             cat("at most ", packed_.size() * ratio, " bytes"), cat(member.size, " bytes"),
             "the file is damaged or a zip bomb");
  }
  // A window of the largest size; no header of zlib's own.
  if (member.method == ZipMethod::deflated && inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
    throw std::bad_alloc();
}

ZipReader::~ZipReader() {
  if (member_.method == ZipMethod::deflated) inflateEnd(&stream_);
}

void ZipReader::bad(std::string_view why) const {
  bad_file(path_, cat("cannot be unpacked: ", why), {}, {},
           "copy or download the archive again, or save it with np.savez");
}

/// Unpacks at most `count` bytes; 0 at the end of the member.
std::uint64_t ZipReader::some(Bytef* to, std::uint64_t count) {
  if (member_.method == ZipMethod::stored) {
    const std::size_t got = packed_.copy(reinterpret_cast<char*>(to), count);
    packed_.remove_prefix(got);
    return got;
  }
  std::uint64_t got = 0;
  while (got == 0 && !ended_) {
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed_.data()));
    const uInt in = stream_.avail_in = zlib_part(packed_.size());
    stream_.next_out = to;
    const uInt out = stream_.avail_out = zlib_part(count);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    packed_.remove_prefix(in - stream_.avail_in);
    got = out - stream_.avail_out;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      bad(cat("its deflated data are damaged: ",
              stream_.msg != nullptr ? stream_.msg : "no reason given"));
    ended_ = code == Z_STREAM_END;
    if (got == 0 && packed_.empty()) break;
  }
  return got;
}

void ZipReader::read(void* to, std::uint64_t count) {
  auto* bytes = static_cast<Bytef*>(to);
  while (count > 0) {
    const std::uint64_t got = some(bytes, count);
    if (got == 0) {
      bad_file(path_, "ends before its declared size", cat(member_.size, " bytes"),
               cat(done_, " bytes"), "the file is damaged");
    }
    crc_ = crc32_z(crc_, bytes, got);
    bytes += got;
    done_ += got;
    count -= got;
  }
}

void ZipReader::finish() {
  Bytef more = 0;
  if (some(&more, 1) > 0) bad("it has more bytes than declared");
  if (member_.method == ZipMethod::deflated && !ended_) bad("its deflated data have no end");
  if (crc_ != member_.crc) bad("its checksum (CRC-32) is wrong");
}

}  // namespace tessera::io
