// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// A combination of candidates that changes by one parameter at a time, and what the restrictions
/// say of it. Enumeration works on one of these in place, so that a step costs no more than
/// setting what has changed. Parameters, candidates and restrictions go by their index. Used by
/// one thread.
class combination {
 public:
  combination() = default;
  virtual ~combination() = default;
  combination(const combination&) = delete;
  combination& operator=(const combination&) = delete;

  void set(std::size_t parameter, std::size_t candidate) { do_set(parameter, candidate); }
  /// Throws whatever the restriction throws.
  bool allowed_by(std::size_t restriction) const { return do_allowed_by(restriction); }

 private:
  virtual void do_set(std::size_t parameter, std::size_t candidate) = 0;
  virtual bool do_allowed_by(std::size_t restriction) const = 0;
};

using combination_factory = std::function<std::unique_ptr<combination>()>;

}  // namespace tune::detail
