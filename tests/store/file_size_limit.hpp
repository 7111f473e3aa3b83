// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/resource.h>

namespace tune::testing {

/// Lets the process write no file beyond a size until it goes out of scope, which is as close to a
/// full disk as any user can get.
class [[nodiscard]] file_size_limit {
 public:
  explicit file_size_limit(::rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const ::rlimit lowered{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lowered);
  }
  ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  ::rlimit before_{};
};

}  // namespace tune::testing
