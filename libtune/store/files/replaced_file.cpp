// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/replaced_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkostemp
#include <system_error>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/file_descriptor.hpp"

namespace tune {
namespace {

using detail::file_descriptor;

[[noreturn]] void fail(const std::string& path, const char* step) {
  const std::string reason = std::generic_category().message(errno);
  throw error("the file '" + path + "' could not be written: " + step + ": " + reason);
}

void synchronise(const std::string& path, int flags, const std::string& written) {
  const file_descriptor opened(::open(path.c_str(), flags | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) fail(written, "fsync");
}

void write_all(const std::string& name, const std::string& path, std::string_view content) {
  const file_descriptor file(::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) fail(path, "open");
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "write");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// A name of its own, removed at the end unless it has been renamed.
class [[nodiscard]] temporary_name {
 public:
  explicit temporary_name(const std::string& path) : name_(path + ".XXXXXX") {
    const file_descriptor made(::mkostemp(name_.data(), O_CLOEXEC));
    if (!made) fail(path, "making a temporary file beside it");
  }
  ~temporary_name() { ::unlink(name_.c_str()); }  // finds nothing once it was renamed
  temporary_name(const temporary_name&) = delete;
  temporary_name& operator=(const temporary_name&) = delete;

  const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

}  // namespace

void replace_file_by(const std::string& path, const std::function<void(const std::string&)>& fill) {
  const temporary_name temporary(path);
  fill(temporary.name());
  synchronise(temporary.name(), O_RDONLY, path);
  if (::rename(temporary.name().c_str(), path.c_str()) != 0) fail(path, "renaming to it");
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  synchronise(folder, O_RDONLY | O_DIRECTORY, path);
}

void replace_file(const std::string& path, std::string_view content) {
  replace_file_by(path, [&](const std::string& name) { write_all(name, path, content); });
}

}  // namespace tune
