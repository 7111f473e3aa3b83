// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/pool/order_compiler.hpp"
#include "libtune/kernel/pool/serve.hpp"

int main(int count, char** arguments) {
  return tune::worker::run(count, arguments, tune::worker::order_compiler());
}
