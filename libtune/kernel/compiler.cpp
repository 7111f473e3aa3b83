// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compiler.hpp"

namespace tune {

program in_process_compiler::do_build(const context& context, const program_source& source) const {
  return context.create_program(source);
}

}  // namespace tune
