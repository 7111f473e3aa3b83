// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tunings_under_way.hpp"

namespace tune::detail {
namespace {

// A plain pointer, for the main thread may tune after its other variables have been destroyed.
thread_local const tuning_under_way* latest = nullptr;

bool is_same(const tuning_subject& one, const tuning_subject& other) {
  return other.function == one.function && other.version == one.version &&
         other.arguments == one.arguments && other.device.identity == one.device.identity;
}

}  // namespace

tuning_under_way::tuning_under_way(const tuning_subject& subject)
    : subject_(subject), before_(latest) {
  latest = this;
}

tuning_under_way::~tuning_under_way() { latest = before_; }

bool is_under_way(const tuning_subject& subject) {
  for (const tuning_under_way* each = latest; each != nullptr; each = each->before_) {
    if (is_same(subject, each->subject_)) return true;
  }
  return false;
}

}  // namespace tune::detail
