// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include "libtune/array/allocator.hpp"

namespace tune {

/// Each buffer is one of the context's own.
class plain_allocator final : public allocator {
 public:
  explicit plain_allocator(tune::context context) noexcept : allocator(std::move(context)) {}

 private:
  buffer do_allocate(std::size_t bytes) override { return context().create_buffer(bytes); }
};

}  // namespace tune
