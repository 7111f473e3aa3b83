// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The order of access to device resources: link libtune::pipeline.
#pragma once

#include "libtune/extra/pipeline/event_loop.hpp"
#include "libtune/extra/pipeline/event_waiter.hpp"
#include "libtune/extra/pipeline/future.hpp"
#include "libtune/extra/pipeline/job_queue.hpp"
#include "libtune/extra/pipeline/resource.hpp"
#include "libtune/extra/pipeline/task.hpp"
