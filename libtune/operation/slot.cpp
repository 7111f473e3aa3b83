// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/slot.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <span>
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
  // Owners are created as mutable slots; the pointers are constant for users only.
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
  // A buffer must not be empty, but an array may be.
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

io_slot::io_slot(std::string name, std::vector<dimension> dimensions, element_type type,
                 padding_policy policy)
    : slot(std::move(name)), dimensions_(std::move(dimensions)), type_(type), policy_(policy) {
  if (dimensions_.size() > shape::max_rank) {
    throw argument_error(fmt::format("slot '{}' has {} dimensions, at most {} are possible",
                                     this->name(), dimensions_.size(), shape::max_rank));
  }
  if (dimensions_.size() > 1 && !dimensions_.back().is_frozen()) dimensions_.back().add_hint(type);
}

array_layout io_slot::required_layout() const {
  std::array<std::size_t, shape::max_rank> size{};
  std::array<std::size_t, shape::max_rank> padded{};
  for (std::size_t axis = 0; axis < dimensions_.size(); ++axis) {
    size[axis] = dimensions_[axis].size();
    padded[axis] = dimensions_[axis].required_padded_size();
  }
  return {type_, shape(std::span(size).first(dimensions_.size())),
          shape(std::span(padded).first(dimensions_.size()))};
}

const device_array& io_slot::buffer() const {
  if (array_) return *array_;
  throw argument_error(fmt::format("nothing is bound to the slot '{}'", name()));
}

void io_slot::bind(const device_array& array) {
  check(array);
  do_assign_array(array);
}

void io_slot::check(const device_array& array) const {
  check_root();
  // Without this check only the launch would fail, with an argument's number instead of a slot's
  // name.
  check_context(*array.buffer().impl()->context());
  const array_layout& layout = array.layout();
  if (layout.type() != type_) {
    throw type_error(
        fmt::format("slot '{}' holds {}, not {}", name(), type_.name(), layout.type().name()));
  }
  const array_layout required = required_layout();
  if (layout.size() != required.size()) {
    throw argument_error(fmt::format("slot '{}' has the shape {}, not {}", name(),
                                     to_string(required.size()), to_string(layout.size())));
  }
  check_padding(layout, required);
}

void io_slot::check_padding(const array_layout& layout, const array_layout& required) const {
  for (std::size_t axis = 0; axis < dimensions_.size(); ++axis) {
    const std::size_t padded = layout.padded()[axis];
    const bool fits = axis == 0 || policy_ == padding_policy::any_valid
                          ? dimensions_[axis].is_valid(padded)
                          : padded == required.padded()[axis];
    if (fits) continue;
    throw argument_error(fmt::format(
        "axis {} of slot '{}' cannot be padded to {}; allocate it with the padded shape {}", axis,
        name(), padded, to_string(required.padded())));
  }
}

device_array io_slot::allocate(allocator& memory, bool bind) {
  device_array made(allocate_buffer(memory, false), required_layout());
  if (bind) do_assign_array(made);
  return made;
}

device_array io_slot::allocate(const context& context, bool bind) {
  plain_allocator memory(context);
  return allocate(memory, bind);
}

void io_slot::do_assign(const tune::buffer& memory) {
  do_assign_array(device_array(memory, required_layout()));
}

void io_slot::do_assign_array(const device_array& array) {
  const bool same =
      array_ && array_->buffer() == array.buffer() && array_->layout() == array.layout();
  if (same) return;
  array_ = array;
  for (dimension& each : dimensions_) each.freeze();
  mark_changed(true);
}

void io_slot::do_release() noexcept {
  array_.reset();
  mark_changed(false);
}

void io_slot::do_collect(std::vector<dimension>& dimensions) const {
  dimensions.insert(dimensions.end(), dimensions_.begin(), dimensions_.end());
}

}  // namespace tune
