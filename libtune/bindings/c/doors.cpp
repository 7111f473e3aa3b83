// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All neighbours that take part in every tuning: programs ask for them by options and variables.
#include "libtune/console.hpp"
#include "libtune/extra/behind.hpp"
#include "libtune/extra/sensors.hpp"
#include "libtune/extra/shared.hpp"
