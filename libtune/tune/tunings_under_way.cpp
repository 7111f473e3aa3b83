// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/tunings_under_way.hpp"

#include <algorithm>
#include <vector>

namespace tune::detail {
namespace {

std::vector<const tuning_subject*>& subjects() {
  thread_local std::vector<const tuning_subject*> all;
  return all;
}

}  // namespace

tuning_under_way::tuning_under_way(const tuning_subject& subject) {
  subjects().push_back(&subject);
}

tuning_under_way::~tuning_under_way() { subjects().pop_back(); }

bool is_under_way(const tuning_subject& subject) {
  return std::ranges::any_of(subjects(), [&](const tuning_subject* other) {
    return other->function == subject.function && other->version == subject.version &&
           other->arguments == subject.arguments &&
           other->device.identity == subject.device.identity;
  });
}

}  // namespace tune::detail
