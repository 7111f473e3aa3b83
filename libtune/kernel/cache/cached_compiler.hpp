// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "libtune/kernel/compiler.hpp"

namespace tune {

class binary_cache;
class recent_binaries;

/// Takes programs from a cache, and has another compiler make and then keeps those that it lacks.
/// A binary that the driver does not accept is forgotten, and its source compiled again. What
/// fails to compile is not remembered.
///
/// A program is found only if its text and options, the device and what compiles for it are the
/// same to the letter. Text that includes files is always compiled, because what the files hold is
/// not known.
class cached_compiler final : public compiler {
 public:
  /// @param inner  outlives this
  /// @param cache  null: there is none
  /// @param recent  what need not be read from the cache again; null: everything is
  /// @param keeps  false: programs are taken from the cache, and none is added
  cached_compiler(const compiler& inner, std::shared_ptr<const binary_cache> cache,
                  std::shared_ptr<recent_binaries> recent = nullptr, bool keeps = true) noexcept;

 private:
  program do_build(const context& context, const program_source& source) const override;

  const compiler& inner_;
  std::shared_ptr<const binary_cache> cache_;
  std::shared_ptr<recent_binaries> recent_;
  bool keeps_;
};

}  // namespace tune
