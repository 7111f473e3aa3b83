// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Changes of live pipelines: link libtune::live.
#pragma once

#include "libtune/extra/live/live.hpp"
