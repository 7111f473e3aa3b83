// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/serve.hpp"

int main(int count, char** arguments) {
  return tune::detail::run_worker(count, arguments, tune::detail::compile_handlers());
}
