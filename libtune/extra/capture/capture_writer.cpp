// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/capture_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/extra/capture/packing.hpp"

namespace tune::detail {

capture_writer::capture_writer(const std::string& name, int level)
    : name_(name), file_(::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)), level_(level) {
  if (!file_) {
    throw error("the file '" + name_ +
                "' could not be opened: " + std::generic_category().message(errno));
  }
  write(std::as_bytes(std::span(capture_begin)));
}

void capture_writer::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw error("the file '" + name_ +
                  "' could not be written: " + std::generic_category().message(errno));
    }
    offset_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::uint32_t capture_writer::add_chunk(std::span<const std::byte> bytes) {
  const sha256_digest digest = sha256(bytes);
  const auto number = static_cast<std::uint32_t>(index_.chunks.size());
  const auto [known, is_new] = numbers_.emplace(digest, number);
  if (!is_new) return known->second;
  const bool is_packed = level_ > 0 && pack(bytes, level_, packed_);
  const std::span<const std::byte> stored = is_packed ? std::span(packed_) : bytes;
  const capture_chunk chunk{
      .offset = offset_, .packed = stored.size(), .bytes = bytes.size(), .digest = digest};
  write(stored);
  index_.chunks.push_back(chunk);
  return number;
}

captured_contents capture_writer::add_contents(std::span<const std::byte> bytes) {
  captured_contents contents;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), capture_chunk_bytes));
    contents.chunks.push_back(add_chunk(part));
    bytes = bytes.subspan(part.size());
  }
  return contents;
}

void capture_writer::finish() {
  const std::string text = index_text(index_);
  const auto bytes = std::as_bytes(std::span(text));
  if (!pack(bytes, 6, packed_)) throw error("the index of '" + name_ + "' could not be packed");
  const capture_end_mark mark{
      .offset = offset_, .packed = packed_.size(), .bytes = bytes.size(), .digest = sha256(bytes)};
  write(packed_);
  write(mark.encode());
}

}  // namespace tune::detail
