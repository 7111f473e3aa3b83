// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/temporary_file.hpp"

#include <array>
#include <cerrno>
#include <sys/random.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/log.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/store/files/without_size_signal.hpp"

namespace tune::detail {
namespace {

constexpr std::string_view suffix = ".tmp";
constexpr std::size_t random_bytes = 16;

// Random, because process numbers repeat between machines and containers that share a folder.
std::string new_name() {
  std::array<std::byte, random_bytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != ssize_t{random.size()}) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return to_hex(random) + std::string(suffix);
}

}  // namespace

temporary_file::temporary_file(const private_folder& folder)
    : folder_(folder), name_(new_name()), file_(folder.create_file(name_)) {}

temporary_file::~temporary_file() {
  if (name_.empty()) return;
  try {
    folder_.remove_file(name_);
  } catch (const std::system_error& failure) {
    log(log_level::debug, "a temporary file stays behind: " + std::string(failure.what()));
  }
}

void temporary_file::write(std::span<const std::byte> bytes) {
  const without_size_signal quiet;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "writing a file");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void temporary_file::synchronise() {
  if (::fsync(file_.get()) != 0) {
    throw std::system_error(errno, std::generic_category(), "fsync of a file");
  }
}

void temporary_file::publish(const std::string& name) {
  folder_.rename_file(name_, name);
  name_.clear();
}

bool is_temporary_name(std::string_view name) noexcept {
  constexpr std::size_t digits = 2 * random_bytes;
  return name.size() == digits + suffix.size() && name.ends_with(suffix) &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

}  // namespace tune::detail
