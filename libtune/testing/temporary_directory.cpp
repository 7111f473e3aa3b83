// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/temporary_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "libtune/base/log.hpp"

namespace tune::testing {

temporary_directory::temporary_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "libtune_test_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "making the folder " + name);
  }
  path_ = name;
}

temporary_directory::~temporary_directory() {
  std::error_code failure;
  std::filesystem::remove_all(path_, failure);
  if (failure) {
    log(log_level::warning, "cannot remove " + path_.string() + ": " + failure.message());
  }
}

}  // namespace tune::testing
