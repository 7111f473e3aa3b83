// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/extra/capture/frame_index.hpp"

namespace tune::detail {

/// Writes a file of captured frames from its beginning to its end. The caller gives a temporary
/// name, and renames the file after finish() (replace_file_by). For one thread.
class capture_writer {
 public:
  /// @param name   an existing, empty file
  /// @param level  of compression, 1 to 9; 0: none
  /// @throws error if it cannot be opened or written
  explicit capture_writer(const std::string& name, int level = 1);

  /// Adds a chunk of contents, of at most capture_chunk_bytes; equal chunks are written once.
  /// Returns its number. @throws error if the file cannot be written, as when the disk is full
  std::uint32_t add_chunk(std::span<const std::byte> bytes);
  /// Adds whole contents. @throws error
  captured_contents add_contents(std::span<const std::byte> bytes);
  /// Adds a frame, whose contents have been added.
  void add(captured_frame frame) { index_.frames.push_back(std::move(frame)); }
  /// Writes the index. @throws error
  void finish();

  /// The bytes of the file so far.
  std::uint64_t written() const noexcept { return offset_; }

 private:
  void write(std::span<const std::byte> bytes);

  std::string name_;
  file_descriptor file_;
  int level_;
  std::uint64_t offset_ = 0;
  frame_index index_;
  std::map<sha256_digest, std::uint32_t> numbers_;
  std::vector<std::byte> packed_;
};

}  // namespace tune::detail
