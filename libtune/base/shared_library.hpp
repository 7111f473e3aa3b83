// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A shared library that is loaded at run time, so that the program starts without it. A missing
/// library is a valid state: error() has the reason. The destructor unloads the library, which
/// invalidates its symbols.
class shared_library {
 public:
  /// No library; error() has a text.
  shared_library() = default;
  /// Loads a library by its path, or by its name through the system's search.
  explicit shared_library(const char* name);
  shared_library(shared_library&& other) noexcept;
  shared_library& operator=(shared_library&& other) noexcept;
  ~shared_library();

  /// The folder of the library's file, links resolved; empty without a library.
  std::filesystem::path folder() const;

  /// Loads another library from the folder of this one. Libraries that load
  /// parts of themselves by name alone find those that are already loaded, also where the system's
  /// search does not know the folder.
  shared_library beside(const std::string& name) const;

  explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// The reason for a failed load, in the system's words; empty if the library is loaded.
  const std::string& error() const noexcept { return error_; }

  /// The address of a symbol; null if the library lacks it or is not loaded.
  void* symbol(const char* name) const noexcept;

  /// The address of a symbol as a pointer to a function.
  template <class Function>
  Function function(const char* name) const noexcept {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  void* handle_ = nullptr;
  std::string error_ = "no library was named";
};

}  // namespace tune
