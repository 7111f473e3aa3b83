// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/library_version.hpp"

namespace tune {

std::string_view library_version() noexcept { return LIBTUNE_VERSION; }

}  // namespace tune
