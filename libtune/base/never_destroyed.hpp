// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The object of a static variable that is never destroyed. Destructors of other static objects may
/// tune, and so may threads that still run after main has returned. Every static object of libtune
/// with a non-trivial destructor is a never_destroyed. Its memory stays reachable, so that leak
/// checkers do not report it. Access to the object is not locked.
///
///   static never_destroyed<known_lines> known;
///   known->mutex.lock();
template <class T>
class never_destroyed {
 public:
  /// Constructs T from these arguments.
  template <class... Arguments>
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): its bytes are those of T
  explicit never_destroyed(Arguments&&... arguments) {
    if constexpr (std::is_constructible_v<T, Arguments...>) {
      ::new (static_cast<void*>(bytes_)) T(std::forward<Arguments>(arguments)...);
    } else {
      ::new (static_cast<void*>(bytes_)) T{std::forward<Arguments>(arguments)...};
    }
  }
  never_destroyed(const never_destroyed&) = delete;
  never_destroyed& operator=(const never_destroyed&) = delete;

  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_)); }
  const T& operator*() const noexcept { return *std::launder(reinterpret_cast<const T*>(bytes_)); }
  T* operator->() noexcept { return &**this; }
  const T* operator->() const noexcept { return &**this; }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
};

}  // namespace tune::detail
