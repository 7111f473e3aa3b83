// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/files/file_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/environment.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune::detail {
namespace {

// Some are in no header of the system.
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
    return std::nullopt;  // somebody else has made it
  }
  return path;
}

}  // namespace tune::detail

namespace tune {

// The XDG Base Directory specification asks that a relative path be ignored.
std::optional<std::string> user_cache_folder() {
  const auto cache = read_environment("XDG_CACHE_HOME");
  if (cache && cache->front() == '/') return *cache + "/libtune";
  const auto home = read_environment("HOME");
  // Users without a home have the root folder for one.
  if (home && home->front() == '/' && *home != "/") return *home + "/.cache/libtune";
  return std::nullopt;
}

}  // namespace tune
