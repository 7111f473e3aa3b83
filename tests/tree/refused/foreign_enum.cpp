// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// standard: 20
// says: LIBTUNE_ENUM belongs at global scope or in the namespace of the type
#include "libtune/base/fields.hpp"

namespace app {
enum class layout { rows, columns };
}
namespace other {
LIBTUNE_ENUM(app::layout, rows, columns)
}
