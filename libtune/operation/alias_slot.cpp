// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/alias_slot.hpp"

#include <algorithm>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {

alias_slot::alias_slot(std::string name, std::vector<std::shared_ptr<slot>> children)
    : slot(std::move(name)) {
  if (children.empty()) {
    throw argument_error("alias '" + this->name() + "' has to be made of at least one slot");
  }
  check_children(this->name(), children);
  adopt(std::move(children));
}

const tune::buffer& alias_slot::buffer() const {
  if (memory_) return *memory_;
  throw argument_error("nothing is bound to the alias '" + name() + "'");
}

std::size_t alias_slot::do_required_bytes() const {
  std::size_t bytes = 0;
  for (const auto& child : children()) bytes = std::max(bytes, child->required_bytes());
  return bytes;
}

void alias_slot::do_assign(const tune::buffer& memory) {
  if (memory_ && *memory_ == memory) return;
  memory_ = memory;
  for (const auto& child : children()) assign(*child, memory);
  mark_changed(true);
}

void alias_slot::do_release() noexcept {
  memory_.reset();
  for (const auto& child : children()) release(*child);
  mark_changed(false);
}

void alias_slot::do_collect(std::vector<dimension>& dimensions) const {
  for (const auto& child : children()) {
    const std::vector<dimension> below = child->all_dimensions();
    dimensions.insert(dimensions.end(), below.begin(), below.end());
  }
}

}  // namespace tune
