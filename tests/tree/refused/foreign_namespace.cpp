// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// standard: 20
// says: LIBTUNE_FIELDS belongs at global scope or in the namespace of the type
#include "libtune/base/fields.hpp"

namespace app {
struct tuning {
  int wgs = 1;
};
}  // namespace app
namespace other {
LIBTUNE_FIELDS(app::tuning, wgs)
}
