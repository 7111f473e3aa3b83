// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches in a child process: link libtune::child.
#pragma once

#include "libtune/child/serve_if_worker.hpp"
