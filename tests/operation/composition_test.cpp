// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/composition.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/operation/sequence.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/operation/steps.hpp"

namespace composition_test {

using steps::bench;
using steps::scale;
using tune::alias_slot;
using tune::compound_slot;
using tune::device_array;
using tune::dimension;
using tune::dtype;
using tune::io_slot;
using tune::operation_sequence;
using tune::optional_slot;
using tune::shape;
using tune::shared_slots;
using tune::testing::fake_device;
using strings = std::vector<std::string>;

/// Holds a slot, and another one if it has flags.
class holder final : public tune::operation {
 public:
  holder(const tune::command_queue& queue, tune::element_type type, bool has_flags)
      : operation(queue) {
    add_slot("data", {10}, type);
    if (has_flags) add_slot("flags", {10}, dtype::uint8);
  }

 private:
  void do_run() override {}
};

strings names_of(std::span<const tune::named_slot> slots) {
  strings names;
  for (const auto& each : slots) names.push_back(each.name);
  return names;
}

/// Two children that can be asked after a sequence of them has failed.
struct pair {
  explicit pair(const bench& on)
      : a(std::make_shared<scale>(on.make_scale(20, 2, 8))),
        b(std::make_shared<scale>(on.make_scale(20, 3, 64))),
        queue(on.queue) {}

  operation_sequence compose(const std::vector<shared_slots>& compounds,
                             const std::vector<shared_slots>& aliases = {}) const {
    return operation_sequence(queue, {{"a", a}, {"b", b}}, compounds, aliases);
  }

  void refuse(const std::vector<shared_slots>& compounds, const std::vector<shared_slots>& aliases,
              const char* text) const {
    CHECK_THROWS_WITH_AS(compose(compounds, aliases), text, tune::argument_error);
    for (const auto& op : {a, b}) {
      for (const char* name : {"src", "dest"}) CHECK(op->any_slot(name).owner() == nullptr);
    }
    CHECK(b->slot("src").required_layout().padded() == shape{32});
    CHECK(b->slot("dest").required_layout().padded() == shape{64});
    CHECK(compose({}).slots().size() == 4);
  }

  std::shared_ptr<scale> a;
  std::shared_ptr<scale> b;
  tune::command_queue queue;
};

TEST_CASE("the slots of a sequence are those of its children, with the child's name") {
  const bench on(steps::make_device().device());
  const operation_sequence both = pair(on).compose({});
  CHECK(both.slot_names() == strings{"a:src", "a:dest", "b:src", "b:dest"});
  CHECK(both.hidden_slots().empty());
  CHECK(both.required_bytes() == 4 * (32 + 32 + 32 + 64));
}

TEST_CASE("a compound takes the place of its slots, which are hidden") {
  const bench on(steps::make_device().device());
  const pair two(on);
  operation_sequence both = two.compose({{"middle", {"a:dest", "b:src"}}});
  CHECK(both.slot_names() == strings{"a:src", "b:dest", "middle"});
  CHECK(names_of(both.hidden_slots()) == strings{"a:dest", "b:src"});
  both.ensure_bound("middle");
  CHECK(both.buffer("a:dest").buffer() == both.buffer("middle").buffer());
  CHECK(two.b->buffer("src").buffer() == both.buffer("middle").buffer());
  CHECK_FALSE(two.a->slot("src").is_bound());
  CHECK_THROWS_WITH_AS(
      both.bind("a:dest", both.buffer("middle")),
      "slot 'dest' is not a root slot: it is part of slot 'middle'; bind, allocate "
      "or unbind 'middle'",
      tune::argument_error);
}

TEST_CASE("an alias hides its slots, compounds among them, and they lie in its memory") {
  const bench on(steps::make_device().device());
  operation_sequence both =
      pair(on).compose({{"middle", {"a:dest", "b:src"}}}, {{"scratch", {"middle", "b:dest"}}});
  CHECK(both.slot_names() == strings{"a:src", "scratch"});
  CHECK(names_of(both.hidden_slots()) == strings{"a:dest", "b:src", "b:dest", "middle"});
  CHECK(both.required_bytes() == 4 * (32 + 64));
  CHECK_THROWS_WITH_AS(both.buffer("b:dest"), "nothing is bound to the slot 'dest'",
                       tune::argument_error);
  both.ensure_bound("b:dest");  // binds what it is part of
  CHECK(both.any_slot("scratch").is_bound());
  CHECK(both.buffer("b:dest").buffer() == both.buffer("middle").buffer());
  CHECK(both.buffer("a:dest").layout().padded() == shape{32});
}

TEST_CASE("an array cannot be bound to an alias, memory can") {
  const bench on(steps::make_device().device());
  operation_sequence both = pair(on).compose({}, {{"scratch", {"a:src", "b:dest"}}});
  const tune::device_array array(on.context, {dtype::int32, {64}});
  CHECK_THROWS_WITH_AS(
      both.bind("scratch", array),
      "slot 'scratch' is an alias: slots of any types share its memory, so it "
      "takes no array; bind a buffer of 256 bytes, or let ensure_bound allocate it",
      tune::type_error);
  CHECK_THROWS_AS(both.buffer("scratch"), tune::type_error);
  CHECK_THROWS_AS(both.slot("scratch"), tune::type_error);
  both.bind("scratch", array.buffer());
  CHECK(both.buffer("b:dest").buffer() == array.buffer());
}

TEST_CASE("a slot that is missing is an error unless it is optional") {
  const bench on(steps::make_device().device());
  const auto compose = [&](bool has_flags, const std::vector<shared_slots>& compounds) {
    return operation_sequence(on.queue,
                              {{"a", holder(on.queue, dtype::int8, has_flags)},
                               {"b", holder(on.queue, dtype::uint8, true)}},
                              compounds);
  };
  const shared_slots flags{"flags", {optional_slot("a:flags"), "b:flags"}};
  CHECK(compose(true, {flags}).slot_names() == strings{"a:data", "b:data", "flags"});
  CHECK(compose(true, {flags}).any_slot("flags").children().size() == 2);
  CHECK(compose(false, {flags}).any_slot("flags").children().size() == 1);
  CHECK_THROWS_WITH_AS(compose(false, {{"flags", {"b:flags", "a:flags"}}}),
                       "compound 'flags' cannot take 'a:flags': there is no such slot; the slots "
                       "are a:data, b:data, "
                       "b:flags; tune::optional_slot(\"a:flags\") takes it only if it is there",
                       tune::argument_error);
  // Nothing is left of it.
  CHECK(compose(false, {{"none", {optional_slot("a:flags"), optional_slot("c:data")}}})
            .slot_names() == strings{"a:data", "b:data", "b:flags"});
}

TEST_CASE("what cannot be composed says why and leaves the children as they were") {
  const bench on(steps::make_device().device());
  const pair two(on);
  // Each time something has been joined before.
  const shared_slots good{"good", {"a:dest", "b:src"}};
  two.refuse({good, {"bad", {"a:dest", "b:dest"}}}, {},
             "compound 'bad' cannot take 'a:dest': it is part of 'good' already");
  two.refuse({good, {"bad", {optional_slot("a:dest"), "b:dest"}}}, {},
             "compound 'bad' cannot take 'a:dest': it is part of 'good' already");
  two.refuse({good}, {{"bad", {"b:src", "a:src"}}},
             "alias 'bad' cannot take 'b:src': it is part of 'good' already");
  two.refuse({good, {"bad", {"a:src", "a:src"}}}, {},
             "slot 'src' cannot become part of slot 'bad': it is listed twice");
  two.refuse({good, {"good", {"a:src"}}}, {}, "two slots are named 'good'");
  two.refuse({good}, {{"b:src", {"a:src"}}}, "two slots are named 'b:src'");
  two.refuse({good}, {{"bad", {"destination"}}},
             "alias 'bad' cannot take 'destination': there is no such slot; the slots are a:src, "
             "b:dest, good; tune::optional_slot(\"destination\") takes it only if it is there");
}

TEST_CASE("an alias cannot become part of a compound") {
  const bench on(steps::make_device().device());
  auto inner = pair(on).compose({}, {{"scratch", {"a:src", "b:dest"}}});
  CHECK_THROWS_WITH_AS(
      operation_sequence(on.queue, {{"inner", std::move(inner)}}, {{"whole", {"inner:scratch"}}}),
      "compound 'whole' cannot take 'scratch': it is an alias, which has no type and no shape",
      tune::type_error);
}

TEST_CASE("slots of different types or shapes cannot be joined to a compound") {
  const bench on(steps::make_device().device());
  CHECK_THROWS_AS(operation_sequence(on.queue,
                                     {{"a", holder(on.queue, dtype::int8, false)},
                                      {"b", holder(on.queue, dtype::uint8, false)}},
                                     {{"data", {"a:data", "b:data"}}}),
                  tune::type_error);
  CHECK_THROWS_AS(
      operation_sequence(on.queue, {{"a", on.make_scale(3, 1)}, {"b", on.make_scale(4, 1)}},
                         {{"data", {"a:dest", "b:src"}}}),
      tune::argument_error);
}

tune::context fake_context() { return tune::testing::fake_device().device().create_context(); }

std::shared_ptr<io_slot> make(const char* name, std::vector<dimension> dimensions,
                              dtype type = dtype::float32) {
  return std::make_shared<io_slot>(name, std::move(dimensions), type);
}

std::shared_ptr<io_slot> first_slot() {
  return make("first", {{13, {.minimum = 17}},
                        {7, {.minimum = 8, .alignment = 8}},
                        {22, {.minimum = 25, .alignment = 4}}});
}
std::shared_ptr<io_slot> second_slot() {
  return make("second",
              {{13, {.minimum = 14, .alignment = 4}}, {7, {.minimum = 10, .alignment = 4}}, 22});
}

TEST_CASE("a compound requires what all its slots require") {
  const auto first = first_slot();
  const auto second = second_slot();
  const compound_slot whole("whole", {first, second});
  CHECK(whole.required_layout().padded() == shape{20, 16, 28});
  CHECK(first->required_layout() == whole.required_layout());
  CHECK(second->required_layout() == whole.required_layout());
  CHECK(whole.type() == dtype::float32);
  CHECK(first->owner() == &whole);
  CHECK(whole.owner() == nullptr);
  CHECK(whole.children().size() == 2);
}

TEST_CASE("what is bound to a compound is bound to each slot") {
  const auto first = first_slot();
  const auto second = second_slot();
  compound_slot whole("whole", {first, second});
  const device_array array = whole.allocate(fake_context());
  for (const io_slot* each : {static_cast<io_slot*>(&whole), first.get(), second.get()}) {
    REQUIRE(each->is_bound());
    CHECK(each->buffer().buffer() == array.buffer());
    CHECK(each->buffer().layout() == whole.required_layout());
  }
  const std::uint64_t version = first->version();
  whole.unbind();
  CHECK_FALSE(whole.is_bound());
  CHECK_FALSE(first->is_bound());
  CHECK_FALSE(second->is_bound());
  CHECK(first->version() != version);
}

TEST_CASE("a bind that fails leaves all slots of a compound as they were") {
  const tune::context context = fake_context();
  const auto first = first_slot();
  const auto second = second_slot();
  compound_slot whole("whole", {first, second});
  const device_array fits_first(context, {dtype::float32, {13, 7, 22}, {17, 8, 28}});
  CHECK_THROWS_AS(whole.bind(fits_first), tune::argument_error);
  CHECK_THROWS_AS(whole.bind(context.create_buffer(10)), tune::argument_error);
  CHECK_FALSE(whole.is_bound());
  CHECK_FALSE(first->is_bound());
  CHECK_FALSE(second->is_bound());
}

TEST_CASE("the slots of a compound cannot be bound, allocated or unbound alone") {
  const tune::context context = fake_context();
  const auto first = first_slot();
  compound_slot inner("inner", {first, second_slot()});
  const char* text =
      "slot 'first' is not a root slot: it is part of slot 'inner'; bind, allocate or unbind "
      "'inner'";
  CHECK_THROWS_WITH_AS(first->bind(device_array(context, first->required_layout())), text,
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(first->bind(context.create_buffer(100000)), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(first->allocate(context), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(first->allocate(context, false), text, tune::argument_error);
  CHECK_THROWS_WITH_AS(first->unbind(), text, tune::argument_error);
}

TEST_CASE("compounds may be parts of compounds") {
  const auto leaf = make("leaf", {5});
  const auto inner = std::make_shared<compound_slot>(
      "inner", std::vector{leaf, make("other", {{5, {.alignment = 4}}})});
  compound_slot outer("outer", {inner, make("third", {{5, {.minimum = 9}}})});
  CHECK(leaf->required_layout().padded() == shape{12});
  CHECK(&leaf->root() == &outer);
  CHECK_THROWS_WITH_AS(leaf->unbind(),
                       doctest::Contains("is part of slot 'inner'; bind, allocate "
                                         "or unbind 'outer'"),
                       tune::argument_error);
  outer.allocate(fake_context());
  CHECK(leaf->buffer().buffer() == outer.buffer().buffer());
  outer.unbind();
  CHECK_FALSE(leaf->is_bound());
}

TEST_CASE("slots are roots again once their compound is gone, and stay bound") {
  const auto first = first_slot();
  const auto second = second_slot();
  {
    compound_slot whole("whole", {first, second});
    whole.allocate(fake_context());
  }
  CHECK(first->owner() == nullptr);
  CHECK(first->is_bound());
  first->unbind();
  CHECK_FALSE(first->is_bound());
  CHECK(second->is_bound());
}

TEST_CASE("a compound takes any valid padding only if all its slots do") {
  const auto loose = std::make_shared<io_slot>("loose", std::vector<dimension>{2, 3}, dtype::int8,
                                               tune::padding_policy::any_valid);
  const auto other = std::make_shared<io_slot>("other", std::vector<dimension>{2, 3}, dtype::int8,
                                               tune::padding_policy::any_valid);
  const device_array wide(fake_context(), {dtype::int8, {2, 3}, {2, 5}});
  {
    compound_slot whole("whole", {loose, other});
    whole.bind(wide);
    CHECK(loose->is_bound());
    whole.unbind();
  }
  compound_slot whole("whole",
                      {make("strict", {2, 3}, dtype::int8), make("more", {2, 3}, dtype::int8)});
  CHECK_THROWS_AS(whole.bind(wide), tune::argument_error);
}

TEST_CASE("slots that cannot be joined say why and stay as they were") {
  const auto refuse = [](const std::vector<std::shared_ptr<io_slot>>& children, const char* text) {
    std::vector<shape> before;
    before.reserve(children.size());
    for (const auto& child : children) before.push_back(child->required_layout().padded());
    CHECK_THROWS_WITH_AS(compound_slot("whole", children), text, tune::argument_error);
    for (std::size_t i = 0; i < children.size(); ++i) {
      CHECK(children[i]->required_layout().padded() == before[i]);
      CHECK(children[i]->owner() == nullptr);
    }
  };
  refuse({}, "compound 'whole' has to be made of at least one slot, none of them null");
  refuse({make("a", {3}), make("b", {3}, dtype::int8)},
         "the slots of compound 'whole' have to hold one type; 'a' holds float32, 'b' holds int8");
  refuse({make("a", {3, 4}), make("b", {4, 3})},
         "the slots of compound 'whole' have to have one shape; 'a' has (3, 4), 'b' has (4, 3)");
  refuse({make("a", {3}), make("b", {3, 1})},
         "the slots of compound 'whole' have to have one shape; 'a' has (3,), 'b' has (3, 1)");
  // The first axis could be linked, the second cannot.
  refuse({make("a", {{5, {.alignment = 4}}, {6, {.exact = true}}}),
          make("b", {5, {6, {.alignment = 4}}})},
         "compound 'whole' cannot join axis 1 of 'a' and 'b': an exact dimension of padded size 6 "
         "cannot be linked to one that needs 8 with the alignment 4");
  const auto twice = make("a", {3});
  refuse({twice, twice}, "slot 'a' cannot become part of slot 'whole': it is listed twice");
}

TEST_CASE("a compound of other types is a type error, and null is no slot") {
  CHECK_THROWS_AS(compound_slot("whole", {make("a", {3}), make("b", {3}, dtype::int8)}),
                  tune::type_error);
  CHECK_THROWS_AS(compound_slot("whole", {make("a", {3}), nullptr}), tune::argument_error);
}

TEST_CASE("slots that are bound, were bound or have an owner cannot be joined") {
  const auto bound = make("bound", {3});
  const auto other = make("other", {3});
  bound->allocate(fake_context());
  CHECK_THROWS_WITH_AS(compound_slot("whole", {other, bound}),
                       "slot 'bound' cannot become part of slot 'whole': something is bound to it; "
                       "unbind it first",
                       tune::argument_error);
  bound->unbind();
  CHECK_THROWS_WITH_AS(compound_slot("whole", {other, bound}),
                       "compound 'whole' cannot be made of slots to which an array has been bound",
                       tune::argument_error);
  const compound_slot first("first", {other});
  CHECK_THROWS_WITH_AS(
      compound_slot("whole", {other}),
      "slot 'other' cannot become part of slot 'whole': it is part of slot 'first'",
      tune::argument_error);
}

TEST_CASE("slots of different contexts cannot be joined") {
  const auto a = make("a", {3});
  const auto b = make("b", {3});
  const tune::context context = fake_context();
  a->restrict_to(context);
  b->restrict_to(fake_context());
  CHECK_THROWS_WITH_AS(compound_slot("whole", {a, b}),
                       "slot 'b' cannot become part of slot 'whole': it belongs to another context",
                       tune::argument_error);
  b->restrict_to(context);
  compound_slot whole("whole", {a, b});
  CHECK_THROWS_AS(whole.allocate(fake_context()), tune::argument_error);
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

}  // namespace composition_test
