// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/compile_watch.hpp"

#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/kernel/cache/program_digest.hpp"

namespace tune {
namespace {

thread_local compile_watch* current = nullptr;

}  // namespace

compile_watch::compile_watch(const known_build_failures* known) noexcept
    : known_(known), outer_(std::exchange(current, this)) {}

compile_watch::~compile_watch() { current = outer_; }

void compile_watch::meet(const program_source& source) {
  if (current != nullptr) current->note(source);
}

compile_watch::compiling::compiling() : watch_(current) {
  if (watch_ != nullptr && watch_->listener_) watch_->listener_(true);
}

compile_watch::compiling::~compiling() {
  if (watch_ != nullptr && watch_->listener_) watch_->listener_(false);
}

void compile_watch::note(const program_source& source) {
  refused_known_ = false;
  programs_.push_back(program_digest(source).value_or(unknown_program));
  if (refuse_all_) {
    throw build_error("'" + source.name + "' is not compiled, only looked at", std::string());
  }
  if (known_ == nullptr) return;
  const auto failure = known_->find(programs_.back());
  if (failure == known_->end()) return;
  refused_known_ = true;
  throw build_error(failure->second, failure->second);
}

}  // namespace tune
