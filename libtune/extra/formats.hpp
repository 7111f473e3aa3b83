// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Problems in the T1 format: link libtune::formats.
#pragma once

#include "libtune/extra/formats/t1.hpp"
