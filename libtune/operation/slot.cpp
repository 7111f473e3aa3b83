// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/slot.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "libtune/array/allocator.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

slot::slot(std::string name) : name_(std::move(name)), version_(next_version()) {}

slot::~slot() {
  for (const auto& child : children_) child->owner_ = nullptr;
}

slot& slot::root() noexcept {
  slot* at = this;
  // The owners were made as slots that could be changed; the pointers are constant for users.
  while (at->owner_ != nullptr) at = const_cast<slot*>(at->owner_);  // NOLINT
  return *at;
}

void slot::bind(const buffer& memory) {
  check_root();
  check_context(*memory.impl()->context());
  const std::size_t needed = required_bytes();
  if (memory.size_bytes() < needed) {
    throw argument_error(fmt::format("slot '{}' needs {} bytes, more than the {} of the buffer",
                                     name_, needed, memory.size_bytes()));
  }
  do_assign(memory);
}

buffer slot::allocate_buffer(allocator& memory, bool bind) {
  check_root();
  check_context(*memory.context().impl());
  // A buffer cannot be empty, an array can.
  buffer made = memory.allocate(std::max<std::size_t>(required_bytes(), 1));
  if (bind) do_assign(made);
  return made;
}

buffer slot::allocate_buffer(const context& context, bool bind) {
  plain_allocator memory(context);
  return allocate_buffer(memory, bind);
}

void slot::unbind() {
  check_root();
  if (bound_) do_release();
}

std::vector<dimension> slot::all_dimensions() const {
  std::vector<dimension> dimensions;
  do_collect(dimensions);
  return dimensions;
}

void slot::adopt(std::vector<std::shared_ptr<slot>> children) noexcept {
  children_ = std::move(children);
  for (const auto& child : children_) {
    child->owner_ = this;
    if (child->context_) context_ = child->context_;
  }
}

void slot::check_children(const std::string& owner,
                          std::span<const std::shared_ptr<slot>> children) {
  const tune::context* common = nullptr;
  for (auto at = children.begin(); at != children.end(); ++at) {
    if (*at == nullptr) throw argument_error("slot '" + owner + "' is to be made of a null slot");
    const auto fail = [&](std::string_view reason) {
      throw argument_error(fmt::format("slot '{}' cannot become part of slot '{}': {}",
                                       (*at)->name_, owner, reason));
    };
    if (std::find(children.begin(), at, *at) != at) fail("it is listed twice");
    if ((*at)->owner_ != nullptr) fail("it is part of slot '" + (*at)->owner_->name_ + "'");
    if ((*at)->bound_) fail("something is bound to it; unbind it first");
    if (!(*at)->context_) continue;
    if (common != nullptr && *common != *(*at)->context_) fail("it belongs to another context");
    common = &*(*at)->context_;
  }
}

void slot::check_root() const {
  if (owner_ == nullptr) return;
  throw argument_error(fmt::format(
      "slot '{0}' is not a root slot: it is part of slot '{1}'; bind, allocate or unbind '{2}'",
      name_, owner_->name_, const_cast<slot*>(this)->root().name_));  // NOLINT: reads
}

void slot::check_context(const detail::context_interface& context) const {
  if (!context_ || context_->impl().get() == &context) return;
  throw argument_error(
      fmt::format("the memory for the slot '{}' belongs to another context than the operation's "
                  "queue on device '{}'; make both from one context",
                  name_, context_->device().name()));
}

void slot::mark_changed(bool bound) noexcept {
  bound_ = bound;
  version_ = next_version();
}

}  // namespace tune
