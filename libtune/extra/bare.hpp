// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels described at run time: link libtune::bare.
#pragma once

#include "libtune/extra/bare/bare_kernel.hpp"
#include "libtune/extra/bare/bare_operation.hpp"
#include "libtune/extra/bare/configuration.hpp"
#include "libtune/extra/bare/expression.hpp"
#include "libtune/extra/bare/kernel_argument.hpp"
