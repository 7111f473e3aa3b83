// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/cache/binary_cache.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <list>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/store/files/file_lock.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune {
namespace {

// The length comes first, so that no content can imitate the end of a text.
void append(std::string& encoded, std::string_view text) {
  encoded += std::to_string(text.size());
  encoded += ':';
  encoded += text;
}

}  // namespace

binary_key& binary_key::add(std::string_view name, std::string_view text) {
  append(encoded_, name);
  append(encoded_, text);
  return *this;
}

detail::sha256_digest binary_key::digest() const {
  // Releases with different formats thus use different files, and never replace each other's.
  const std::string whole = std::to_string(detail::binary_format) + ';' + encoded_;
  return detail::sha256(std::as_bytes(std::span(whole)));
}

namespace {

using detail::file_descriptor;
using detail::file_time;
using detail::private_folder;
using detail::sha256_digest;

constexpr std::string_view suffix = ".program";
constexpr file_time one_hour = 3'600'000'000'000;

// The header of a file. Files on disk have this layout: any change of it needs another
// binary_format. Integers are little-endian.
//
//   offset  bytes  content
//        0      8  "libtune" and a zero byte
//        8      4  the format
//       12     32  SHA-256 of the key
//       44      8  length of the binary
//       52     32  SHA-256 of the binary
//       84         the binary, to the end of the file
constexpr std::string_view magic("libtune\0", 8);
constexpr std::size_t format_offset = 8;
constexpr std::size_t key_offset = 12;
constexpr std::size_t length_offset = 44;
constexpr std::size_t content_offset = 52;

template <class Integer>
void put(Integer value, std::byte* to) noexcept {
  for (std::size_t i = 0; i < sizeof value; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

template <class Integer>
Integer get(const std::byte* from) noexcept {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= std::to_integer<Integer>(from[i]) << (8 * i);
  }
  return value;
}

void put(const sha256_digest& digest, std::byte* to) noexcept { std::ranges::copy(digest, to); }

sha256_digest get_digest(const std::byte* from) noexcept {
  sha256_digest digest;
  std::copy_n(from, digest.size(), digest.begin());
  return digest;
}

/// A header without the magic word and the format.
struct binary_header {
  sha256_digest key{};
  std::uint64_t length = 0;
  sha256_digest content{};
};

using encoded_header = std::array<std::byte, binary_cache::header_bytes>;

encoded_header encode(const binary_header& header) noexcept {
  encoded_header bytes;
  std::ranges::copy(std::as_bytes(std::span(magic)), bytes.begin());
  put(detail::binary_format, &bytes[format_offset]);
  put(header.key, &bytes[key_offset]);
  put(header.length, &bytes[length_offset]);
  put(header.content, &bytes[content_offset]);
  return bytes;
}

/// Returns the header; empty if the bytes have another format.
std::optional<binary_header> decode(const encoded_header& bytes) noexcept {
  if (!std::ranges::equal(std::as_bytes(std::span(magic)), std::span(bytes).first(magic.size())) ||
      get<std::uint32_t>(&bytes[format_offset]) != detail::binary_format) {
    return std::nullopt;
  }
  return binary_header{.key = get_digest(&bytes[key_offset]),
                       .length = get<std::uint64_t>(&bytes[length_offset]),
                       .content = get_digest(&bytes[content_offset])};
}

std::string entry_name(const sha256_digest& key) {
  return detail::to_hex(key) + std::string(suffix);
}

bool is_entry_name(std::string_view name) noexcept {
  constexpr std::size_t digits = 2 * std::tuple_size_v<sha256_digest>;
  return name.size() == digits + suffix.size() && name.ends_with(suffix) &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

void read_exactly(const file_descriptor& file, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "reading it");
    if (count == 0) throw std::runtime_error("it ends too early");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// Reads everything from this one open file, and checks it in memory: other processes that change
// the name or the content meanwhile can make the entry useless, but not replace it.
std::vector<std::byte> read_entry(const file_descriptor& file, const sha256_digest& key,
                                  std::uint64_t cap_bytes) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    throw std::system_error(errno, std::generic_category(), "fstat");
  }
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes < binary_cache::header_bytes) throw std::runtime_error("it ends too early");
  if (bytes > cap_bytes) throw std::runtime_error("it is larger than the cache may be");
  encoded_header encoded;
  read_exactly(file, encoded);
  const auto header = decode(encoded);
  if (!header) throw std::runtime_error("its format is not known");
  if (header->key != key) throw std::runtime_error("it belongs to another key");
  if (header->length != bytes - binary_cache::header_bytes) {
    throw std::runtime_error("its length differs from that in its header");
  }
  std::vector<std::byte> binary(header->length);
  read_exactly(file, binary);
  if (detail::sha256(binary) != header->content) throw std::runtime_error("it is damaged");
  return binary;
}

/// Removes files of killed processes, and the least recently used entries until the rest leaves
/// room for new ones of these names.
void make_room(const private_folder& folder, std::span<const std::string> names,
               std::uint64_t allowed_bytes, file_time now) {
  std::vector<detail::listed_file> entries;
  for (detail::listed_file& file : folder.list_files()) {
    // A time far in the future comes from a wrong clock, and is not recent either.
    const bool is_old = file.used < now - one_hour || file.used > now + one_hour;
    if (detail::is_temporary_name(file.name) && is_old) {
      folder.remove_file(file.name);
    } else if (is_entry_name(file.name) && std::ranges::find(names, file.name) == names.end()) {
      entries.push_back(std::move(file));
    }
  }
  for (const std::string& old :
       detail::least_recently_used(std::move(entries), allowed_bytes, now)) {
    folder.remove_file(old);
  }
}

// A resolution of one second is enough, and a hit without a write is much cheaper. A read-only
// folder keeps its order.
void note_use(const file_descriptor& file) {
  constexpr file_time one_second = 1'000'000'000;
  const file_time age = detail::current_time() - detail::last_use(file);
  if (age >= 0 && age < one_second) return;
  static_cast<void>(::futimens(file.get(), nullptr));
}

void log_unusable(const sha256_digest& key, const std::string& reason) {
  log(log_level::debug, "the cached program " + entry_name(key) + " is not used: " + reason);
}

void check_cache_seal(const char* what, const std::string& folder) {
  detail::check_seal(sealed_action::program_cache,
                     [&] { return fmt::format("{} '{}'", what, folder); });
}

// If the current folder cannot be found, the path is empty, and the cache is unused.
std::string absolute(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::absolute(folder, ignored).string();
}

}  // namespace

binary_cache::binary_cache(const std::string& folder, std::uint64_t cap_bytes,
                           std::chrono::milliseconds lock_wait)
    : folder_(absolute(folder)), cap_bytes_(cap_bytes), lock_wait_(lock_wait) {}

std::optional<std::vector<std::byte>> binary_cache::load(const sha256_digest& digest) const {
  check_cache_seal("look for a program in", folder_);
  try {
    const auto folder = private_folder::open(folder_);
    if (!folder) return std::nullopt;
    try {
      const file_descriptor file = folder->open_file(entry_name(digest));
      if (!file) return std::nullopt;
      auto binary = read_entry(file, digest, cap_bytes_);
      note_use(file);
      return binary;
    } catch (const std::runtime_error& failure) {
      log_unusable(digest, failure.what());
    }
  } catch (const std::runtime_error& failure) {
    warn(failure.what());
  }
  return std::nullopt;
}

void binary_cache::save(const binary_key& key, std::span<const std::byte> binary) const {
  check_cache_seal("keep a program in", folder_);
  try {
    write_entry(key.digest(), binary);
  } catch (const std::runtime_error& failure) {
    warn(failure.what());
  }
}

void binary_cache::write_entry(const sha256_digest& key, std::span<const std::byte> binary) const {
  const std::uint64_t bytes = header_bytes + binary.size();
  if (bytes > cap_bytes_) return log_unusable(key, "it is larger than the cache may be");
  if (const std::error_code failure = detail::create_private_folders(folder_)) {
    throw std::system_error(failure, "making the folder");
  }
  const auto folder = private_folder::open(folder_);
  if (!folder) return;  // another process is removing it
  const std::string name = entry_name(key);
  detail::temporary_file entry(*folder);
  entry.write(encode({.key = key, .length = binary.size(), .content = detail::sha256(binary)}));
  entry.write(binary);
  entry.synchronise();
  {
    detail::file_lock lock(folder->open_lock_file(lock_file_name));
    if (!lock.take(lock_wait_)) return log_unusable(key, "other processes keep the cache locked");
    make_room(*folder, std::span(&name, 1), cap_bytes_ - bytes, entry.written());
    entry.publish(name);
  }
  folder->synchronise();
}

void binary_cache::save_all(std::span<const entry> entries) const {
  check_cache_seal("keep programs in", folder_);
  // Few at a time, so that other processes need not wait, and that they fit.
  constexpr std::size_t most = 32;
  try {
    while (!entries.empty()) {
      std::uint64_t bytes = 0;
      std::size_t count = 0;
      while (count < std::min(most, entries.size())) {
        bytes += header_bytes + entries[count].binary.size();
        if (count > 0 && bytes > cap_bytes_ / 4) break;
        ++count;
      }
      write_entries(entries.first(count));
      entries = entries.subspan(count);
    }
  } catch (const std::runtime_error& failure) {
    warn(failure.what());
  }
}

// Readers check the content, so there is no need to wait for the disk.
void binary_cache::write_entries(std::span<const entry> entries) const {
  if (const std::error_code failure = detail::create_private_folders(folder_)) {
    throw std::system_error(failure, "making the folder");
  }
  const auto folder = private_folder::open(folder_);
  if (!folder) return;  // another process is removing it
  std::list<detail::temporary_file> files;
  std::vector<std::string> names;
  std::uint64_t bytes = 0;
  for (const entry& item : entries) {
    const std::uint64_t size = header_bytes + item.binary.size();
    if (size > cap_bytes_) {
      log_unusable(item.key, "it is larger than the cache may be");
      continue;
    }
    detail::temporary_file& file = files.emplace_back(*folder);
    file.write(encode(
        {.key = item.key, .length = item.binary.size(), .content = detail::sha256(item.binary)}));
    file.write(item.binary);
    names.push_back(entry_name(item.key));
    bytes += size;
  }
  if (files.empty()) return;
  detail::file_lock lock(folder->open_lock_file(lock_file_name));
  if (!lock.take(lock_wait_))
    return log_unusable(entries.front().key, "other processes keep the cache locked");
  make_room(*folder, names, cap_bytes_ - bytes, files.back().written());
  auto name = names.cbegin();
  for (detail::temporary_file& file : files) file.publish(*name++);
}

void binary_cache::remove(const binary_key& key) const {
  check_cache_seal("remove a program from", folder_);
  try {
    if (const auto folder = private_folder::open(folder_)) {
      folder->remove_file(entry_name(key.digest()));
    }
  } catch (const std::runtime_error& failure) {
    warn(failure.what());
  }
}

// Once, even if the reasons differ.
void binary_cache::warn(const std::string& reason) const noexcept {
  if (warned_.exchange(true)) return;
  try {
    warn_once("compiled programs are not kept in '" + folder_ + "' (" + reason +
              "); mend that, or set LIBTUNE_CACHE to another folder or to off");
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace tune
