// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/device/kernel.hpp"

namespace tune {

namespace detail {
class program_interface;
}

/// A program compiled for one context. A handle: copies mean the same program. Thread-safe.
class program {
 public:
  /// For libtune's backends; users call tune::compile or context::create_program.
  explicit program(std::shared_ptr<detail::program_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// A kernel object of its own for the caller.
  /// @throws device_error if the program has no kernel of this name
  kernel create_kernel(const std::string& name) const;

  /// What the compiler made, for context::create_program_from_binary on the same kind of device
  /// under the same context::compiler_identity. Empty if the driver does not hand it out.
  /// @throws device_error
  std::vector<std::byte> binary() const;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::program_interface>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<detail::program_interface> impl_;
};

}  // namespace tune
