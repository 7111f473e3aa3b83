// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/buffer.hpp"

#include "libtune/device/interface.hpp"

namespace tune {

std::size_t buffer::size_bytes() const noexcept { return impl_->bytes(); }

void* buffer::host_data() const noexcept { return impl_->host_data(); }

}  // namespace tune
