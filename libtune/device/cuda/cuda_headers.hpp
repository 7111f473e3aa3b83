// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The one place that includes the headers of the CUDA Toolkit. Types and constants only: nothing
// that is declared there may be called, for the libraries are loaded while the program runs.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <nvrtc.h>
