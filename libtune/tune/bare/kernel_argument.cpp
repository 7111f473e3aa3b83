// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/bare/kernel_argument.hpp"

#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune {

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
