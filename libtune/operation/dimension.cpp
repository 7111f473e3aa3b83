// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/dimension.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {
namespace {

// The size of one memory transaction of a warp or wavefront.
constexpr std::size_t row_alignment_bytes = 128;

std::size_t hint_of(element_type type) noexcept {
  if (!std::has_single_bit(type.bytes())) return 1;
  return std::max<std::size_t>(row_alignment_bytes / type.bytes(), 1);
}

}  // namespace

struct dimension::rules {
  std::size_t size = 0;
  std::size_t minimum = 0;
  std::size_t alignment = 1;
  std::size_t preferred = 1;
  std::size_t hint = 1;
  bool exact = false;
  bool frozen = false;
  std::size_t members = 1;        // in the tree, counted at its root
  std::shared_ptr<rules> parent;  // null at the root

  std::size_t required() const noexcept {
    if (exact) return round_up(minimum, alignment);
    const std::size_t least = round_up(minimum, std::max(alignment, preferred));
    return least < hint ? least : round_up(least, hint);
  }
  bool is_valid(std::size_t padded_size) const noexcept {
    if (exact) return padded_size == required();
    return padded_size >= minimum && padded_size % alignment == 0;
  }
  void check_exact_fits(const rules& other) const {
    if (!exact || other.is_valid(required())) return;
    throw argument_error("an exact dimension of padded size " + std::to_string(required()) +
                         " cannot be linked to one that needs " + (other.exact ? "exactly " : "") +
                         std::to_string(other.required()) + " with the alignment " +
                         std::to_string(other.alignment));
  }
};

dimension::dimension(std::size_t size, const padding& needs) : rules_(std::make_shared<rules>()) {
  if (!std::has_single_bit(needs.alignment)) {
    throw argument_error("an alignment is a power of two, not " + std::to_string(needs.alignment));
  }
  if (!std::has_single_bit(needs.preferred)) {
    throw argument_error("a multiple that is preferred is a power of two, not " +
                         std::to_string(needs.preferred));
  }
  if (needs.round == 0) throw argument_error("a size cannot be rounded up to a multiple of 0");
  rules_->size = size;
  rules_->minimum = needs.minimum != 0 ? needs.minimum : round_up(size, needs.round);
  rules_->alignment = needs.alignment;
  rules_->preferred = needs.preferred;
  rules_->exact = needs.exact;
  if (rules_->minimum < size) {
    throw argument_error("the minimum padded size " + std::to_string(rules_->minimum) +
                         " is less than the size " + std::to_string(size));
  }
  if (needs.type) add_hint(*needs.type);
}

// Finding a root writes nothing, so that several threads may read one dimension. The trees stay
// flat, because the smaller one is always attached to the larger.
const std::shared_ptr<dimension::rules>& dimension::root() const noexcept {
  const std::shared_ptr<rules>* at = &rules_;
  while ((*at)->parent) at = &(*at)->parent;
  return *at;
}

std::size_t dimension::size() const noexcept { return root()->size; }
std::size_t dimension::required_padded_size() const noexcept { return root()->required(); }
bool dimension::is_valid(std::size_t padded_size) const noexcept {
  return root()->is_valid(padded_size);
}
std::size_t dimension::minimum() const noexcept { return root()->minimum; }
std::size_t dimension::alignment() const noexcept { return root()->alignment; }
std::size_t dimension::hint() const noexcept { return root()->hint; }
bool dimension::is_exact() const noexcept { return root()->exact; }
void dimension::freeze() noexcept { root()->frozen = true; }
bool dimension::is_frozen() const noexcept { return root()->frozen; }

void dimension::add_hint(element_type type) {
  rules& mine = *root();
  if (mine.frozen) {
    throw argument_error("a dimension of size " + std::to_string(mine.size) +
                         " takes no hint once an array has been bound to it");
  }
  mine.hint = std::max(mine.hint, hint_of(type));
}

void dimension::link(dimension& other) {
  std::shared_ptr<rules> large = root();
  std::shared_ptr<rules> small = other.root();
  if (large == small) return;
  if (large->frozen || small->frozen) {
    throw argument_error("a dimension of size " + std::to_string(size()) +
                         " cannot be linked once an array has been bound to it or to the other");
  }
  if (large->size != small->size) {
    throw argument_error("dimensions of sizes " + std::to_string(large->size) + " and " +
                         std::to_string(small->size) + " cannot be linked");
  }
  large->check_exact_fits(*small);
  small->check_exact_fits(*large);

  if (large->members < small->members) std::swap(large, small);
  large->minimum = std::max(large->minimum, small->minimum);
  large->alignment = std::max(large->alignment, small->alignment);
  large->preferred = std::max(large->preferred, small->preferred);
  large->hint = std::max(large->hint, small->hint);
  large->exact = large->exact || small->exact;
  large->members += small->members;
  small->parent = std::move(large);
}

struct dimension_guard::saved_rules {
  std::shared_ptr<dimension::rules> place;
  dimension::rules value;
};

dimension_guard::dimension_guard(const std::vector<dimension>& dimensions) {
  saved_.reserve(dimensions.size());
  for (const dimension& each : dimensions) saved_.push_back({each.root(), *each.root()});
}

void dimension_guard::keep() noexcept { saved_.clear(); }

// Only roots change.
dimension_guard::~dimension_guard() {
  for (saved_rules& each : saved_) *each.place = std::move(each.value);
}

}  // namespace tune
