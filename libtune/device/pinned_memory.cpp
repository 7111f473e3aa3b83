// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/pinned_memory.hpp"

#include "libtune/device/interface.hpp"

namespace tune {

void* pinned_memory::data() const noexcept { return impl_->data(); }

std::size_t pinned_memory::size_bytes() const noexcept { return impl_->bytes(); }

}  // namespace tune
