// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of running pipelines in files, and their replay: link libtune::capture.
#pragma once

#include "libtune/extra/capture/capture.hpp"
#include "libtune/extra/capture/capture_reader.hpp"
#include "libtune/extra/capture/captured_frame.hpp"
#include "libtune/extra/capture/captured_keys.hpp"
#include "libtune/extra/capture/replay.hpp"
#include "libtune/extra/capture/replay_child.hpp"
#include "libtune/tune/opened_door.hpp"
#include "libtune/tune/tuned_by.hpp"

LIBTUNE_OPEN_DOOR(capture)
