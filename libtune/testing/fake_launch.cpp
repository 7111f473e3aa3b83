// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/fake_launch.hpp"

#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune::testing {

const fake_argument& fake_launch::at(std::size_t index) const {
  if (index < arguments_.size()) return arguments_[index];
  throw argument_error(fmt::format("fake kernel '{}' asks for argument {} but has {} of them",
                                   kernel_, index, arguments_.size()));
}

const std::byte* fake_launch::scalar_bytes(std::size_t index, std::size_t size) const {
  const fake_argument& value = at(index);
  if (value.bytes.size() == size) return value.bytes.data();
  const std::string given =
      value.memory != nullptr ? "a buffer" : fmt::format("{} bytes", value.bytes.size());
  throw argument_error(
      fmt::format("argument {} of fake kernel '{}' was set to {}, but is read as "
                  "{} bytes",
                  index, kernel_, given, size));
}

std::span<std::byte> fake_launch::buffer_bytes(std::size_t index) const {
  const fake_argument& value = at(index);
  if (value.memory != nullptr) return value.memory->contents();
  throw argument_error(
      fmt::format("argument {} of fake kernel '{}' is not a buffer", index, kernel_));
}

}  // namespace tune::testing
