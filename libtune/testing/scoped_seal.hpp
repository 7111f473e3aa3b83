// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/seal.hpp"

namespace tune::testing {

/// Seals the thread that makes it, or the program, for as long as it lives; a seal of the same
/// scope from before ends with it.
class [[nodiscard]] scoped_seal {
 public:
  /// Seals what the options say: by default the calling thread.
  explicit scoped_seal(seal_options options = {.scope = seal_scope::this_thread})
      : scope_(options.scope) {
    seal(options);
  }
  /// Seals the calling thread in this mode.
  explicit scoped_seal(seal_mode mode)
      : scoped_seal({.mode = mode, .scope = seal_scope::this_thread}) {}
  ~scoped_seal() { unseal(scope_); }
  scoped_seal(const scoped_seal&) = delete;
  scoped_seal& operator=(const scoped_seal&) = delete;

 private:
  seal_scope scope_;
};

}  // namespace tune::testing
