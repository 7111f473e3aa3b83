// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ends with 0 if libtune sees the variable LIBTUNE_DB, else with 1.
#include "libtune/base/environment.hpp"

int main() { return tune::read_environment("LIBTUNE_DB") ? 0 : 1; }
