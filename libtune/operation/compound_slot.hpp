// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libtune/operation/slot.hpp"

namespace tune {

/// Several slots to which one array is bound, for instance the output of one operation and the
/// input of the next. It requires what they all require: it links their dimensions.
class compound_slot final : public io_slot {
 public:
  /// Becomes the owner of the slots, which may be compounds themselves. If it fails nothing
  /// changes. The links outlive the compound.
  /// @throws type_error if the slots hold different types
  /// @throws argument_error if there are none, one comes twice, is bound or has an owner, belongs
  /// to
  ///         another context or has another shape, or dimensions cannot be linked
  compound_slot(const std::string& name, std::vector<std::shared_ptr<io_slot>> children);

 private:
  void do_assign_array(const device_array& array) override;
  void do_release() noexcept override;

  std::vector<std::shared_ptr<io_slot>> parts_;
};

}  // namespace tune
