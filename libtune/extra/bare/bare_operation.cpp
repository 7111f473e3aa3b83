// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/bare_operation.hpp"

#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/kernel_description.hpp"

namespace tune {

const device_array& kernel_results::array(std::size_t argument) const {
  if (argument < arrays_.size() && arrays_[argument]) return *arrays_[argument];
  throw argument_error(
      fmt::format("argument {} of the kernel, of {}, is no array", argument, arrays_.size()));
}

bare_operation::bare_operation(command_queue queue,
                               std::shared_ptr<const detail::kernel_description> of,
                               const program& compiled, tune::configuration chosen)
    : operation(std::move(queue)),
      configuration_(std::move(chosen)),
      kernel_(compiled.create_kernel(of->kernel_name(configuration_))) {
  for (const auto& [name, bytes] : of->constants) {
    this->queue().write(compiled.variable(name), bytes.data(), bytes.size());
  }
  const work_size local = of->work_group(configuration_);
  const work_size groups = of->grid(configuration_);
  range_ = {.global = {groups.x * local.x, groups.y * local.y, groups.z * local.z},
            .local = local,
            .local_memory_bytes = of->dynamic_bytes(configuration_)};
  check_count(*of, range_.local_memory_bytes > 0);
  for (std::size_t i = 0; i < of->arguments.size(); ++i) {
    const kernel_argument& argument = of->arguments[i];
    value_bytes_.push_back(argument.bytes.size());
    if (argument.as_image) {
      const image pixels = argument.as_image->in(this->queue());
      if (argument.is_sampler) {
        kernel_.set_sampler(i, pixels);
      } else {
        kernel_.set_argument(i, pixels);
      }
      continue;
    }
    if (!argument.as_array) {
      kernel_.set_argument(i, std::span<const std::byte>(argument.bytes));
      continue;
    }
    std::vector<dimension> dimensions;
    for (const std::size_t extent : argument.as_array->size) {
      dimensions.emplace_back(extent, padding{.exact = true});
    }
    slots_in_order_.push_back(
        {i, add_slot(of->slot_name(i), std::move(dimensions), argument.as_array->type)});
  }
}

// The kernel itself rejects too many arguments.
void bare_operation::check_count(const detail::kernel_description& of, bool is_dynamic) const {
  const std::size_t given = of.arguments.size();
  // Dynamic local memory counts as an argument in OpenCL.
  const std::size_t taken = kernel_.info().argument_count;
  if (given + (is_dynamic ? 1 : 0) >= taken) return;
  throw argument_error(fmt::format("the kernel '{}' takes {} arguments, and {} are given",
                                   kernel_.info().name, taken, given));
}

kernel_results bare_operation::results() const {
  std::vector<std::optional<device_array>> arrays(value_bytes_.size());
  for (const bound_slot& each : slots_in_order_) arrays[each.argument] = each.slot->buffer();
  return {queue(), std::move(arrays)};
}

void bare_operation::set_bytes(std::size_t argument, std::span<const std::byte> bytes) {
  if (argument >= value_bytes_.size() || value_bytes_[argument] != bytes.size()) {
    throw argument_error(fmt::format("argument {} of the kernel '{}' is no value of {} bytes",
                                     argument, kernel_.info().name, bytes.size()));
  }
  kernel_.set_argument(argument, bytes);
  parameters_changed();
}

void bare_operation::set_arrays() {
  for (const bound_slot& each : slots_in_order_) {
    kernel_.set_argument(each.argument, each.slot->buffer().buffer());
  }
}

void bare_operation::do_run() {
  set_arrays();
  queue().enqueue(kernel_, range_);
}

}  // namespace tune
