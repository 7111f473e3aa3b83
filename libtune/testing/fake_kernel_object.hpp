// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/interface.hpp"
#include "libtune/testing/fake_state.hpp"

namespace tune::testing {

/// A kernel object over a host function: the arguments of its next launch.
class fake_kernel_object final : public detail::kernel_interface {
 public:
  fake_kernel_object(std::shared_ptr<detail::context_interface> context, kernel_info info,
                     std::shared_ptr<const fake_kernel_instance> instance);

  const std::shared_ptr<const fake_kernel_instance>& instance() const noexcept { return instance_; }
  std::span<const fake_argument> arguments() const noexcept { return arguments_; }
  /// @throws device_error (invalid_launch) if one is not set
  void check_arguments() const;

 private:
  void do_set_argument(std::size_t index, const void* bytes, std::size_t size) override;
  void do_set_buffer(std::size_t index,
                     const std::shared_ptr<detail::buffer_interface>& buffer) override;
  const fake_parameter& parameter(std::size_t index) const;
  [[noreturn]] void refuse(std::size_t index, const std::string& given) const;

  std::shared_ptr<const fake_kernel_instance> instance_;
  std::vector<fake_argument> arguments_;
};

}  // namespace tune::testing
