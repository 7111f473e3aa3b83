// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning many keys before they are needed, and comparing them again: link libtune::ahead.
#pragma once

#include "libtune/extra/ahead/communicator.hpp"
#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/extra/ahead/recheck.hpp"
