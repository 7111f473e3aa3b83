// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/simulate/gunzip.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <zlib.h>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

class inflating {
 public:
  inflating() {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream_, gzip_only + MAX_WBITS) != Z_OK) {
      throw error("zlib could not begin to unpack: there is no memory, or its version differs");
    }
  }
  ~inflating() { inflateEnd(&stream_); }
  inflating(const inflating&) = delete;
  inflating& operator=(const inflating&) = delete;

  z_stream& operator*() { return stream_; }

 private:
  z_stream stream_{};
};

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

}  // namespace

std::string gunzip(std::string_view bytes, std::size_t most_bytes) {
  if (!is_gzip(bytes)) return std::string(bytes);
  inflating unpack;
  z_stream& stream = *unpack;
  std::string unpacked;
  std::array<char, 1 << 16> buffer{};
  while (true) {
    if (stream.avail_in == 0) {
      constexpr std::size_t most = std::numeric_limits<uInt>::max();
      const std::size_t part = std::min(bytes.size(), most);
      // zlib does not write there, it only fails to say so.
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(part);
      bytes.remove_prefix(part);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    const int state = inflate(&stream, Z_NO_FLUSH);
    unpacked.append(buffer.data(), buffer.size() - stream.avail_out);
    if (unpacked.size() > most_bytes) {
      throw argument_error(fmt::format("a gzip file holds more than {} bytes", most_bytes));
    }
    const bool more = stream.avail_in > 0 || !bytes.empty();
    if (state == Z_STREAM_END) {
      if (!more) return unpacked;
      inflateReset(&stream);  // files may be joined end to end
    } else if (state != Z_OK || (!more && stream.avail_out > 0)) {
      throw argument_error("a gzip file is damaged or cut off");
    }
  }
}

}  // namespace tune
