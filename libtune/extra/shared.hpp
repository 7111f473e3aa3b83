// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A database on a server, which LIBTUNE_SHARED_DB or tuning_options::shared_store names: link
// libtune::shared. A source of the program that includes this header opens it.
#pragma once

#include "libtune/tune/opened_door.hpp"

LIBTUNE_OPEN_DOOR(shared)
