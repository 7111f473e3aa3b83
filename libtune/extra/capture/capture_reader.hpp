// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/capture/captured_frame.hpp"

namespace tune {

/// A file of captured frames is cut off, altered, or no such file.
class capture_file_error : public error {
 public:
  using error::error;
};

/// Reads a file of captured frames: the index at once, contents when they are requested, chunk by
/// chunk. A handle: copies refer to the same open file. Thread-safe.
class capture_reader {
 public:
  /// Opens a file and reads its index.
  /// @throws error if it cannot be opened; capture_file_error if it is cut off, altered, of a newer
  ///         libtune, or another file: the text names the place
  explicit capture_reader(const std::filesystem::path& path);

  /// The path that was given.
  const std::filesystem::path& path() const noexcept;
  /// The frames of the file, without their contents.
  const std::vector<captured_frame>& frames() const noexcept;

  /// The number of bytes of some contents of this file.
  std::uint64_t size_bytes(const captured_contents& contents) const;
  /// Reads contents of this file, and passes them on in order.
  /// @param take  gets the offset of some bytes in the contents, and the bytes
  /// @throws capture_file_error if a chunk is altered; the text has its place in the file and in
  ///         the contents
  void read(const captured_contents& contents,
            const std::function<void(std::size_t offset, std::span<const std::byte>)>& take) const;
  /// Reads contents into memory. @throws capture_file_error; std::bad_alloc
  std::vector<std::byte> read(const captured_contents& contents) const;
  /// A digest of contents of this file: equal for equal bytes, also of other files. Reads nothing.
  std::string digest(const captured_contents& contents) const;
  /// Reads every chunk of the file. @throws capture_file_error for the first that is altered; the
  /// text names the frame, operation and slot that need it
  void check() const;

 private:
  struct opened;

  std::shared_ptr<const opened> file_;
};

/// Opens a file of captured frames, or all such files of a folder, in the order of their names.
/// @throws as capture_reader; error if a folder has none
std::vector<capture_reader> read_captures(const std::filesystem::path& path);

}  // namespace tune
