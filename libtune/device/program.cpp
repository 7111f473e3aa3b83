// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/program.hpp"

#include "libtune/device/interface.hpp"

namespace tune {

kernel program::create_kernel(const std::string& name) const {
  return kernel(impl_->create_kernel(name));
}

std::vector<std::byte> program::binary() const { return impl_->binary(); }

}  // namespace tune
