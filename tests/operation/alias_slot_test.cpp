// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/alias_slot.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/operation/compound_slot.hpp"
#include "libtune/testing/fake_device.hpp"

namespace alias_slot_test {

using tune::alias_slot;
using tune::compound_slot;
using tune::dimension;
using tune::dtype;
using tune::io_slot;
using tune::testing::fake_device;

std::shared_ptr<io_slot> make(const char* name, std::vector<dimension> dimensions, dtype type) {
  return std::make_shared<io_slot>(name, std::move(dimensions), type);
}

TEST_CASE("an alias needs the bytes of its largest slot, and allocates them once") {
  const fake_device fake;
  const auto a = make("a", {3, 7}, dtype::float32);
  const auto b = make("b", {5, 3}, dtype::complex64);
  alias_slot scratch("scratch", {a, b});
  CHECK(scratch.required_bytes() == 120);
  const tune::buffer memory = scratch.allocate_buffer(fake.device().create_context());
  CHECK(fake.live_bytes() == 120);
  CHECK(scratch.is_bound());
  CHECK(scratch.buffer() == memory);
  CHECK(a->buffer().buffer() == memory);
  CHECK(b->buffer().buffer() == memory);
  CHECK(a->buffer().layout() == a->required_layout());
  CHECK(b->buffer().layout() == b->required_layout());
}

TEST_CASE("spare memory of an alias is bound later, and memory that is too small never") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  const auto a = make("a", {3, 7}, dtype::float32);
  alias_slot scratch("scratch", {a, make("b", {5, 3}, dtype::complex64)});
  const tune::buffer spare = scratch.allocate_buffer(context, false);
  CHECK_FALSE(scratch.is_bound());
  CHECK_THROWS_WITH_AS(scratch.buffer(), "nothing is bound to the alias 'scratch'",
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(scratch.bind(context.create_buffer(119)),
                       "slot 'scratch' needs 120 bytes, more than the 119 of the buffer",
                       tune::argument_error);
  CHECK_FALSE(a->is_bound());
  scratch.bind(spare);
  CHECK(a->buffer().buffer() == spare);
}

TEST_CASE("the version of an alias changes with its memory, not with a bind of the same") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  alias_slot scratch("scratch", {make("a", {3}, dtype::float32)});
  const tune::buffer memory = scratch.allocate_buffer(context);
  const std::uint64_t version = scratch.version();
  scratch.bind(memory);
  CHECK(scratch.version() == version);
  scratch.allocate_buffer(context);
  CHECK(scratch.version() != version);
}

TEST_CASE("unbinding an alias releases its memory") {
  const fake_device fake;
  const auto a = make("a", {100}, dtype::int8);
  alias_slot scratch("scratch", {a});
  scratch.allocate_buffer(fake.device().create_context());
  scratch.unbind();
  CHECK_FALSE(scratch.is_bound());
  CHECK_FALSE(a->is_bound());
  CHECK(fake.live_bytes() == 0);
}

TEST_CASE("an alias may be made of compounds and aliases") {
  const fake_device fake;
  const auto a = make("a", {10}, dtype::int32);
  const auto whole = std::make_shared<compound_slot>(
      "whole", std::vector{a, make("b", {{10, {.alignment = 16}}}, dtype::int32)});
  const auto c = make("c", {7}, dtype::int8);
  const auto inner =
      std::make_shared<alias_slot>("inner", std::vector<std::shared_ptr<tune::slot>>{c});
  alias_slot scratch("scratch", {whole, inner});
  CHECK(scratch.required_bytes() == 64);
  scratch.allocate_buffer(fake.device().create_context());
  CHECK(a->buffer().buffer() == scratch.buffer());
  CHECK(c->buffer().buffer() == scratch.buffer());
  CHECK(scratch.all_dimensions().size() == 2);  // those of a and b are one
  CHECK_THROWS_WITH_AS(
      c->unbind(),
      "slot 'c' is not a root slot: it is part of slot 'inner'; bind, allocate or unbind 'scratch'",
      tune::argument_error);
}

TEST_CASE("slots that cannot be aliased say why") {
  const auto a = make("a", {10}, dtype::int32);
  CHECK_THROWS_WITH_AS(alias_slot("scratch", {}),
                       "alias 'scratch' has to be made of at least one slot", tune::argument_error);
  CHECK_THROWS_WITH_AS(alias_slot("scratch", {a, a}),
                       "slot 'a' cannot become part of slot 'scratch': it is listed twice",
                       tune::argument_error);
  CHECK_THROWS_AS(alias_slot("scratch", {a, nullptr}), tune::argument_error);
  CHECK(a->owner() == nullptr);
  const alias_slot other("other", {a});
  CHECK_THROWS_WITH_AS(alias_slot("scratch", {a}),
                       "slot 'a' cannot become part of slot 'scratch': it is part of slot 'other'",
                       tune::argument_error);
}

TEST_CASE("slots take their memory from an allocator of their context alone") {
  const fake_device fake;
  const tune::context context = fake.device().create_context();
  tune::plain_allocator mine(context);
  tune::plain_allocator other(fake.device().create_context());
  const auto a = make("a", {10}, dtype::int32);
  a->restrict_to(context);
  alias_slot scratch("scratch", {a});
  CHECK_THROWS_WITH_AS(scratch.allocate_buffer(other),
                       doctest::Contains("the slot 'scratch' belongs to another context"),
                       tune::argument_error);
  CHECK(fake.live_bytes() == 0);
  const tune::buffer memory = scratch.allocate_buffer(mine);
  CHECK(a->buffer().buffer() == memory);
}

}  // namespace alias_slot_test
