// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning the operations of a sequence in place: link libtune::sequence.
#pragma once

#include "libtune/extra/sequence/sequence_tuner.hpp"
