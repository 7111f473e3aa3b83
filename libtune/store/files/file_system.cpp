// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/file_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkostemp
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/file_descriptor.hpp"
#include "libtune/store/files/private_folder.hpp"

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

/// A unique name, removed at the end unless the file has been renamed.
class [[nodiscard]] temporary_name {
 public:
  explicit temporary_name(const std::string& path) : name_(path + ".XXXXXX") {
    const file_descriptor made(::mkostemp(name_.data(), O_CLOEXEC));
    if (!made) fail(path, "making a temporary file beside it");
  }
  ~temporary_name() { ::unlink(name_.c_str()); }  // fails silently after a rename
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

namespace tune::detail {
namespace {

// Some are missing in the system's headers.
constexpr std::array network_kinds{
    0x6969L,      // NFS
    0x517bL,      // SMB
    0xff534d42L,  // CIFS
    0xfe534d42L,  // SMB 2
    0x0bd00bd0L,  // Lustre
    0x00c36400L,  // Ceph
    0x47504653L,  // GPFS
    0x65735546L,  // FUSE, and so sshfs, GlusterFS and virtiofs
    0x01021997L,  // 9p
    0x5346414fL,  // AFS
    0x6b414653L,  // AFS of the kernel
    0x73757245L,  // Coda
    0x7461636fL,  // OCFS2
    0x01161970L,  // GFS2
    0x19830326L,  // BeeGFS
    0xaad7aaeaL,  // PanFS
    0x20030528L,  // OrangeFS
    0x786f4256L,  // a folder shared with a virtual machine
};

}  // namespace

std::optional<long> file_system_of(const std::string& path) {
  std::filesystem::path asked(path);
  while (true) {
    struct statfs status {};
    if (::statfs(asked.c_str(), &status) == 0) {
      return static_cast<long>(static_cast<unsigned int>(status.f_type));
    }
    if ((errno != ENOENT && errno != ENOTDIR) || !asked.has_relative_path()) return std::nullopt;
    asked = asked.parent_path();
  }
}

bool is_network_file_system(long kind) noexcept {
  return std::ranges::find(network_kinds, kind) != network_kinds.end();
}

std::optional<std::string> node_local_folder() {
  const std::string path = "/var/tmp/libtune-" + std::to_string(::geteuid());
  const auto kind = file_system_of("/var/tmp");
  if (!kind || is_network_file_system(*kind) || create_private_folders(path)) return std::nullopt;
  try {
    if (!private_folder::open(path) || ::access(path.c_str(), W_OK) != 0) return std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;  // another process has made it
  }
  return path;
}

}  // namespace tune::detail

namespace tune {

// The XDG Base Directory specification demands that a relative path be ignored.
std::optional<std::string> user_cache_folder() {
  const auto cache = read_environment("XDG_CACHE_HOME");
  if (cache && cache->front() == '/') return *cache + "/libtune";
  const auto home = read_environment("HOME");
  // Users without a home have the root folder as their home.
  if (home && home->front() == '/' && *home != "/") return *home + "/.cache/libtune";
  return std::nullopt;
}

}  // namespace tune
