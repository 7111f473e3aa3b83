// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Every public header includes this one, through others or itself, before it needs C++20: so a
// program of an older standard gets one line, and not a thousand.
#pragma once

#if __cplusplus < 202002L
#error "libtune needs C++20: compile with -std=c++20, by g++ 12, clang 15 or a later one"
// An error lets compilers go on; a file that is not there does not.
#include <libtune needs C++20>
#endif
