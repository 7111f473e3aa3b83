// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/capture_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/file_descriptor.hpp"
#include "libtune/extra/capture/frame_index.hpp"
#include "libtune/extra/capture/packing.hpp"

namespace tune {

using detail::capture_chunk;

struct capture_reader::opened {
  std::filesystem::path path;
  detail::file_descriptor file;
  detail::frame_index index;

  [[noreturn]] void refuse(const std::string& reason) const {
    throw capture_file_error("the file of captured frames '" + path.string() + "' " + reason);
  }
  void read_bytes(std::uint64_t offset, std::span<std::byte> bytes) const;
  void open();
  void read_index();
  void read_chunk(std::uint32_t number, std::vector<std::byte>& packed,
                  std::vector<std::byte>& bytes) const;
  std::string user_of(std::uint32_t number) const;
};

namespace {

// An index this large would describe millions of chunks.
constexpr std::uint64_t most_index_bytes = std::uint64_t{1} << 31;

}  // namespace

void capture_reader::opened::read_bytes(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(file.get(), bytes.data(), bytes.size(), static_cast<::off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw error(fmt::format("the file '{}' could not be read at byte {}: {}", path.string(),
                              offset, std::generic_category().message(errno)));
    }
    if (count == 0) refuse(fmt::format("is cut off at byte {}", offset));
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void capture_reader::opened::open() {
  file = detail::file_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    throw error(fmt::format("the file of captured frames '{}' cannot be opened: {}", path.string(),
                            std::generic_category().message(errno)));
  }
  if (!S_ISREG(status.st_mode)) refuse("is no regular file");
}

void capture_reader::opened::read_index() {
  struct stat status {};
  ::fstat(file.get(), &status);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::array<std::byte, 8> begin{};
  if (size < begin.size()) refuse(fmt::format("has only {} bytes, and is none or cut off", size));
  read_bytes(0, begin);
  if (std::memcmp(begin.data(), detail::capture_begin.data(), begin.size()) != 0) {
    refuse("is no file of captured frames, or of a newer libtune: it begins with other bytes");
  }
  detail::capture_end_mark mark;
  std::array<std::byte, detail::capture_end_mark::size> end{};
  if (size < begin.size() + end.size()) refuse(fmt::format("is cut off at byte {}", size));
  read_bytes(size - end.size(), end);
  if (!mark.decode(end)) {
    refuse(
        fmt::format("is cut off or has bytes behind its end: there is no end mark in its last "
                    "{} bytes, from byte {}",
                    end.size(), size - end.size()));
  }
  const std::uint64_t most = size - end.size();
  if (mark.packed > most || mark.offset != most - mark.packed || mark.bytes > most_index_bytes) {
    refuse(fmt::format("is altered: its end mark at byte {} names a place outside of it", most));
  }
  std::vector<std::byte> packed(mark.packed);
  std::vector<std::byte> text(mark.bytes);
  read_bytes(mark.offset, packed);
  const bool is_whole = detail::unpack(packed, text) && detail::sha256(text) == mark.digest;
  if (!is_whole) {
    refuse(fmt::format("is altered: its index, from byte {} to {}, has another digest", mark.offset,
                       most));
  }
  try {
    index = detail::index_from_text({reinterpret_cast<const char*>(text.data()), text.size()},
                                    mark.offset);
  } catch (const argument_error& failure) {
    refuse(std::string("has an index that cannot be read: ") + failure.what());
  }
}

std::string capture_reader::opened::user_of(std::uint32_t number) const {
  const auto has = [&](const std::optional<captured_contents>& contents) {
    return contents && std::ranges::find(contents->chunks, number) != contents->chunks.end();
  };
  for (const captured_frame& frame : index.frames) {
    for (const captured_call& call : frame.calls) {
      for (const captured_slot& slot : call.slots) {
        if (!has(slot.before) && !has(slot.after)) continue;
        return fmt::format("frame {}, operation '{}', slot '{}', contents {} its run", frame.number,
                           call.name, slot.name, has(slot.before) ? "before" : "after");
      }
    }
  }
  return "no frame uses it";
}

void capture_reader::opened::read_chunk(std::uint32_t number, std::vector<std::byte>& packed,
                                        std::vector<std::byte>& bytes) const {
  const capture_chunk& chunk = index.chunks.at(number);
  bytes.resize(chunk.bytes);
  bool is_whole = true;
  if (chunk.packed == chunk.bytes) {
    read_bytes(chunk.offset, bytes);
  } else {
    packed.resize(chunk.packed);
    read_bytes(chunk.offset, packed);
    is_whole = detail::unpack(packed, bytes);
  }
  if (is_whole && detail::sha256(bytes) == chunk.digest) return;
  refuse(fmt::format("is altered: its chunk {}, from byte {} to {}, has another digest ({})",
                     number, chunk.offset, chunk.offset + chunk.packed, user_of(number)));
}

capture_reader::capture_reader(const std::filesystem::path& path) {
  auto made = std::make_shared<opened>();
  made->path = path;
  made->open();
  made->read_index();
  file_ = std::move(made);
}

const std::filesystem::path& capture_reader::path() const noexcept { return file_->path; }

const std::vector<captured_frame>& capture_reader::frames() const noexcept {
  return file_->index.frames;
}

std::uint64_t capture_reader::size_bytes(const captured_contents& contents) const {
  std::uint64_t sum = 0;
  for (const std::uint32_t number : contents.chunks) sum += file_->index.chunks.at(number).bytes;
  return sum;
}

void capture_reader::read(
    const captured_contents& contents,
    const std::function<void(std::size_t offset, std::span<const std::byte>)>& take) const {
  std::vector<std::byte> packed;
  std::vector<std::byte> bytes;
  std::size_t offset = 0;
  for (const std::uint32_t number : contents.chunks) {
    file_->read_chunk(number, packed, bytes);
    take(offset, bytes);
    offset += bytes.size();
  }
}

std::vector<std::byte> capture_reader::read(const captured_contents& contents) const {
  std::vector<std::byte> all(size_bytes(contents));
  read(contents, [&](std::size_t offset, std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(all.data() + offset, bytes.data(), bytes.size());
  });
  return all;
}

void capture_reader::check() const {
  std::vector<std::byte> packed;
  std::vector<std::byte> bytes;
  for (std::uint32_t number = 0; number < file_->index.chunks.size(); ++number) {
    file_->read_chunk(number, packed, bytes);
  }
}

std::string capture_reader::digest(const captured_contents& contents) const {
  std::string chunks;
  for (const std::uint32_t number : contents.chunks) {
    const capture_chunk& chunk = file_->index.chunks.at(number);
    chunks += fmt::format("{} {}\n", chunk.bytes, detail::to_hex(chunk.digest));
  }
  return detail::to_hex(detail::sha256(std::as_bytes(std::span(chunks))));
}

std::vector<capture_reader> read_captures(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) return {capture_reader(path)};
  std::vector<std::filesystem::path> files;
  for (const auto& each : std::filesystem::directory_iterator(path, failure)) {
    if (each.path().extension() == ".ltcapture") files.push_back(each.path());
  }
  if (failure) {
    throw error(fmt::format("the folder of captured frames '{}' cannot be read: {}", path.string(),
                            failure.message()));
  }
  if (files.empty()) {
    throw error(
        fmt::format("the folder '{}' has no file of captured frames (*.ltcapture)", path.string()));
  }
  std::ranges::sort(files);
  return {files.begin(), files.end()};
}

}  // namespace tune
