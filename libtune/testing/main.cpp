// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/run_tests.hpp"

int main(int argc, char** argv) { return tune::testing::run_tests(argc, argv); }
