// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A shared library that is loaded while the program runs, so that the program starts without it.
/// Absence is a state: error() says why. Unloaded with the object, and its symbols with it.
class shared_library {
 public:
  /// No library; error() says so.
  shared_library() = default;
  /// Loads a library, given its path or, for the system's search, its name.
  explicit shared_library(const char* name);
  shared_library(shared_library&& other) noexcept;
  shared_library& operator=(shared_library&& other) noexcept;
  ~shared_library();

  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The reason why it could not be loaded, in the system's words; empty if it is loaded.
  const std::string& error() const noexcept { return error_; }

  /// The address of a symbol; null if the library has none of this name, or is not loaded.
  void* symbol(const char* name) const noexcept;

  /// The same as a pointer to a function.
  template <class Function>
  Function function(const char* name) const noexcept {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  void* handle_ = nullptr;
  std::string error_ = "no library was asked for";
};

}  // namespace tune
