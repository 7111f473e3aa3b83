// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/operation/slot.hpp"

namespace tune {

/// Slots of any kinds, shapes and types that lie in the same memory, because they are never in use
/// at the same time. It has no type and no shape: memory is bound to it, not an array, and each of
/// its slots gets the array that it requires at the start of that memory.
class alias_slot final : public slot {
 public:
  /// Becomes the owner of the slots. If it fails nothing changes.
  /// @throws argument_error if there are none, one comes twice, is bound or has an owner, or they
  ///         belong to different contexts
  alias_slot(std::string name, std::vector<std::shared_ptr<slot>> children);

  /// The memory. @throws argument_error if none is bound
  const tune::buffer& buffer() const;

 private:
  std::size_t do_required_bytes() const override;
  void do_assign(const tune::buffer& memory) override;
  void do_release() noexcept override;
  void do_collect(std::vector<dimension>& dimensions) const override;

  std::optional<tune::buffer> memory_;
};

}  // namespace tune
