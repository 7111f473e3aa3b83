// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Every public header includes this one, directly or through others, before it uses C++20. A
// program of an older standard thus gets one error instead of a thousand.
#pragma once

#if __cplusplus < 202002L
#error "libtune needs C++20: compile with -std=c++20, by g++ 12, clang 15 or a later one"
// Compilers go on after #error; a missing include file stops them.
#include <libtune needs C++20>
#endif
