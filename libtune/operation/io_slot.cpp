// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/io_slot.hpp"

#include <array>
#include <fmt/format.h>
#include <span>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {

io_slot::io_slot(std::string name, std::initializer_list<dimension> dimensions, element_type type)
    : name_(std::move(name)), dimensions_(dimensions), type_(type) {
  if (dimensions_.size() > shape::max_rank) {
    throw argument_error(fmt::format("slot '{}' has {} dimensions, at most {} are possible", name_,
                                     dimensions_.size(), shape::max_rank));
  }
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
  if (bound_) return *bound_;
  throw argument_error(fmt::format("nothing is bound to the slot '{}'", name_));
}

void io_slot::bind(const device_array& array) {
  validate(array.layout());
  assign(array);
}

void io_slot::unbind() noexcept {
  if (bound_) version_ = next_version();
  bound_.reset();
}

const device_array& io_slot::allocate(const context& context) {
  assign(device_array(context, required_layout()));
  return *bound_;
}

void io_slot::assign(const device_array& array) noexcept {
  const bool same =
      bound_ && bound_->buffer() == array.buffer() && bound_->layout() == array.layout();
  if (same) return;
  bound_ = array;
  version_ = next_version();
}

void io_slot::validate(const array_layout& layout) const {
  if (layout.type() != type_) {
    throw type_error(
        fmt::format("slot '{}' holds {}, not {}", name_, type_.name(), layout.type().name()));
  }
  const array_layout required = required_layout();
  if (layout.size() != required.size()) {
    throw argument_error(fmt::format("slot '{}' has the shape {}, not {}", name_,
                                     to_string(required.size()), to_string(layout.size())));
  }
  for (std::size_t axis = 0; axis < dimensions_.size(); ++axis) {
    if (!dimensions_[axis].is_valid(layout.padded()[axis])) {
      throw argument_error(fmt::format(
          "axis {} of slot '{}' cannot be padded to {}; allocate it with the padded shape {}", axis,
          name_, layout.padded()[axis], to_string(required.padded())));
    }
  }
}

}  // namespace tune
