// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/bare/kernel_argument.hpp"

namespace tune {

kernel_argument detail::array_argument(const device_array& contents, std::string name,
                                       bool is_output) {
  return {std::move(name),
          kernel_argument::array{
              contents.type(), contents.size(), is_output,
              [contents](workload& work, const std::string& slot) { work.set(slot, contents); }},
          {}};
}

}  // namespace tune
