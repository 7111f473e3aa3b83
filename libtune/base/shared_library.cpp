// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/shared_library.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <system_error>
#include <utility>

namespace tune {

shared_library::shared_library(const char* name) : handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  const char* reason = handle_ == nullptr ? ::dlerror() : "";
  error_ = reason != nullptr ? reason : "the system does not say why";
}

shared_library::shared_library(shared_library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), error_(std::move(other.error_)) {}

shared_library& shared_library::operator=(shared_library&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(error_, other.error_);
  return *this;
}

shared_library::~shared_library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

std::filesystem::path shared_library::folder() const {
  ::link_map* entry = nullptr;
  if (handle_ == nullptr || ::dlinfo(handle_, RTLD_DI_LINKMAP, &entry) != 0) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(entry->l_name, ignored).parent_path();
}

shared_library shared_library::beside(const std::string& name) const {
  return *this ? shared_library((folder() / name).c_str()) : shared_library();
}

void* shared_library::symbol(const char* name) const noexcept {
  return handle_ != nullptr ? ::dlsym(handle_, name) : nullptr;
}

}  // namespace tune
