// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/kernel_argument.hpp"

#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/interface.hpp"

namespace tune {

kernel_argument::pixels::pixels(const image_layout& layout, std::span<const std::byte> contents)
    : layout_(layout), contents_(contents.begin(), contents.end()) {
  if (contents_.size() == layout_.size_bytes()) return;
  throw argument_error(
      fmt::format("an image of {} x {} x {} pixels of {} {} has {} bytes, and {} were given",
                  layout_.width, layout_.height, layout_.depth, layout_.channels,
                  dtype_name(layout_.type), layout_.size_bytes(), contents_.size()));
}

image kernel_argument::pixels::in(const command_queue& queue) const {
  const std::lock_guard lock(mutex_);
  const context context = queue.context();
  auto known = made_.lock();
  if (known && known->context() == context.impl()) return {std::move(known), layout_};
  image made = context.create_image(layout_);
  command_queue copies = queue;
  copies.write(made, contents_.data());
  made_ = made.impl();
  return made;
}

void detail::check_elements(const shape& given, const shape& wanted) {
  if (given == wanted || (given.rank() == 1 && given.elements() == wanted.elements())) return;
  throw argument_error(fmt::format("an array of a bare kernel is {}, and its contents are {}",
                                   to_string(wanted), to_string(given)));
}

kernel_argument detail::array_argument(const device_array& contents, std::string name,
                                       bool is_output) {
  return {std::move(name),
          kernel_argument::array{
              contents.type(), contents.size(), is_output,
              [contents](workload& work, const std::string& slot) { work.set(slot, contents); }},
          {}};
}

}  // namespace tune
