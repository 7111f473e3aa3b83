// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The core: all that the author of an operation needs. Its neighbours have headers of their own,
// such as child.hpp and extra/bare.hpp.
#pragma once

#include "libtune/array/allocator.hpp"
#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/array/region.hpp"
#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/fields.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/context.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/operation/input_set.hpp"
#include "libtune/operation/operation.hpp"
#include "libtune/operation/parameter_list.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/search/space/space.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/verify/answer.hpp"
