// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// standard: 17
// says: libtune needs C\+\+20: compile with -std=c\+\+20
#include "libtune/libtune.hpp"
