// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One budget of time for all tunings of a program: link libtune::ready.
#pragma once

#include "libtune/extra/ready/get_ready.hpp"
#include "libtune/extra/ready/readiness_report.hpp"
