// Writes a zip archive: headers, stored or deflated data, the directory; zip64 where a number needs
// it.
#include <new>

#include "io/failure.hpp"
#include "io/zip.hpp"

namespace tessera::io {
namespace {

constexpr std::uint16_t kVersion = 20, kVersionZip64 = 45, kUnix = 3 << 8;
constexpr std::size_t kLongestField = 0xffff;

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  bytes.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void append(std::string& bytes, T value) {
  put(bytes, bytes.size(), value);
}

std::uint32_t narrowed(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kZipWide));
}

/// The record of a new member, without its sizes.
std::string new_record(std::string_view name, ZipMethod method, uLong crc, bool wide) {
  std::string out(kZipRecordBytes, '\0');
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return (c & 0x80) == 0; });
  out.replace(0, kZipRecord.size(), kZipRecord);
  put(out, 4, static_cast<std::uint16_t>(kUnix | kVersionZip64));
  put(out, 6, wide ? kVersionZip64 : kVersion);
  put(out, 8, ascii ? std::uint16_t{0} : kZipUtf8);
  put(out, 10, static_cast<std::uint16_t>(method));
  // 1980-01-01 00:00, as NumPy: the same array always gives the same bytes.
  put(out, 14, std::uint16_t{0x21});
  put(out, 16, static_cast<std::uint32_t>(crc));
  put(out, 28, static_cast<std::uint16_t>(name.size()));
  put(out, 38, std::uint32_t{0100644} << 16);
  return out;
}

/// The header of a new member, which repeats fields of its record.
std::string header_of(const std::string& record, std::string_view name, std::uint64_t packed,
                      std::uint64_t size, bool wide) {
  std::string out(kZipHeader);
  out.append(record, 6, 24);
  put(out, 18, wide ? kZipWide : narrowed(packed));
  put(out, 22, wide ? kZipWide : narrowed(size));
  append(out, static_cast<std::uint16_t>(wide ? 20 : 0));
  out += name;
  if (!wide) return out;
  append(out, kZip64Extra);
  append(out, std::uint16_t{16});
  append(out, size);
  append(out, packed);
  return out;
}

}  // namespace

void ZipWriter::write(std::string_view bytes) {
  file_.write(bytes);
  at_ += bytes.size();
}

void ZipWriter::add(std::string_view name, std::span<const std::string_view> parts,
                    ZipMethod method) {
  if (name.size() > kLongestField)
    throw Error(Category::argument,
                cat("cannot write ", shown_output(file_.path()),
                    ": the name of a member is too long for a zip archive"),
                cat("at most ", kLongestField, " bytes"), cat(name.size(), " bytes"));
  std::uint64_t size = 0;
  uLong crc = 0;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;  // zlib takes a null pointer for a first call
    size += part.size();
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  // deflate lengthens data that it cannot compress by less than 1 in 1,000.
  const bool wide = size + size / 1000 + 1000 >= kZipWide;
  const std::uint64_t offset = at_;
  std::string record = new_record(name, method, crc, wide);
  std::uint64_t packed = size;
  if (method == ZipMethod::stored) {
    write(header_of(record, name, packed, size, wide));
    for (const std::string_view part : parts) write(part);
  } else if (file_.is_regular()) {
    const std::string header = header_of(record, name, 0, size, wide);
    write(header);
    packed = deflate_parts(parts);
    const std::string complete = header_of(record, name, packed, size, wide);
    file_.write_at(static_cast<index_t>(offset), complete.data(), complete.size());
  } else {
    std::string after = "PK\x07\x08";
    append(after, static_cast<std::uint32_t>(crc));
    put(record, 8,
        static_cast<std::uint16_t>(zip_number<std::uint16_t>(record, 8) | kZipSizesAfter));
    std::string header = header_of(record, name, 0, 0, wide);
    put(header, 14, std::uint32_t{0});
    write(header);
    packed = deflate_parts(parts);
    for (const std::uint64_t each : {packed, size})
      wide ? append(after, each) : append(after, narrowed(each));
    write(after);
  }
  list(std::move(record), name, {}, {}, packed, size, offset);
}

/// Returns how many bytes the deflated data have.
std::uint64_t ZipWriter::deflate_parts(std::span<const std::string_view> parts) {
  const std::uint64_t start = at_;
  struct Stream : z_stream {
    Stream() : z_stream{} {
      if (deflateInit2(this, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL,
                       Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    }
    ~Stream() { deflateEnd(this); }
  } stream;
  std::string buffer(1 << 18, '\0');
  const auto run = [&](int flush) {
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream, flush);
      write(std::string_view(buffer).substr(0, buffer.size() - stream.avail_out));
    } while (stream.avail_out == 0);
  };
  for (std::string_view part : parts) {
    while (!part.empty()) {
      stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(part.data()));
      stream.avail_in = zlib_part(part.size());
      part.remove_prefix(stream.avail_in);
      run(Z_NO_FLUSH);
    }
  }
  run(Z_FINISH);
  return at_ - start;
}

void ZipWriter::copy(const ZipMember& member, std::string_view bytes) {
  const std::string_view record = member.record, rest = record.substr(kZipRecordBytes);
  const std::size_t name = zip_number<std::uint16_t>(record, 28);
  const std::size_t extra = zip_number<std::uint16_t>(record, 30);
  std::string others;  // extra fields but zip64's
  for (std::string_view fields = rest.substr(name, extra); !fields.empty();) {
    const std::string_view field = take_extra(fields);
    if (zip_number<std::uint16_t>(field, 0) != kZip64Extra) others += field;
  }
  list(std::string(record.substr(0, kZipRecordBytes)), rest.substr(0, name), others,
       rest.substr(name + extra), member.packed, member.size, at_);
  write(bytes);
}

/// Adds a member to the directory; `record` has the fields that follow neither from its sizes nor
/// from its offset.
void ZipWriter::list(std::string record, std::string_view name, std::string_view extra,
                     std::string_view comment, std::uint64_t packed, std::uint64_t size,
                     std::uint64_t offset) {
  std::string values;
  const auto field = [&](std::size_t at, std::uint64_t value) {
    put(record, at, narrowed(value));
    if (value >= kZipWide) append(values, value);
  };
  field(24, size);  // the order of the zip64 field
  field(20, packed);
  field(42, offset);
  std::string wide;
  if (!values.empty()) {
    append(wide, kZip64Extra);
    append(wide, static_cast<std::uint16_t>(values.size()));
    wide += values;
    put(record, 6, std::max(kVersionZip64, zip_number<std::uint16_t>(record, 6)));
  }
  const std::size_t extra_bytes = wide.size() + extra.size();
  if (extra_bytes > kLongestField)
    throw Error(Category::file,
                cat("cannot write ", shown_output(file_.path()), ": member ", in_quotes(name),
                    " of the old archive has too many extra fields"),
                {}, {}, "save its arrays again with np.savez");
  put(record, 30, static_cast<std::uint16_t>(extra_bytes));
  directory_.append(record).append(name).append(wide).append(extra).append(comment);
  ++count_;
}

void ZipWriter::finish(std::string_view comment) {
  const std::uint64_t offset = at_, bytes = directory_.size();
  std::string end;
  if (count_ >= 0xffff || bytes >= kZipWide || offset >= kZipWide) {
    end += kZip64End;
    append(end, std::uint64_t{kZip64EndBytes - 12});  // bytes that follow
    append(end, kVersionZip64);
    append(end, kVersionZip64);
    append(end, std::uint64_t{0});  // of the only disk
    for (const std::uint64_t each : {count_, count_, bytes, offset}) append(end, each);
    end += kZip64Locator;
    append(end, std::uint32_t{0});
    append(end, offset + bytes);
    append(end, std::uint32_t{1});
  }
  end += kZipEnd;
  append(end, std::uint32_t{0});
  for (int i = 0; i < 2; ++i)
    append(end, static_cast<std::uint16_t>(std::min<std::uint64_t>(count_, 0xffff)));
  append(end, narrowed(bytes));
  append(end, narrowed(offset));
  append(end, static_cast<std::uint16_t>(comment.size()));
  write(directory_);
  write(end);
  write(comment);
}

}  // namespace tessera::io
