// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "libtune/tune/observer.hpp"

namespace tune {

/// Calls each observer, logging what it throws.
void notify(std::span<const std::shared_ptr<observer>> observers,
            const std::function<void(observer&)>& call) noexcept;

}  // namespace tune
