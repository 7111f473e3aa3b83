// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/composition.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/operation/sequence.hpp"
#include "tests/operation/steps.hpp"

namespace composition_test {

using steps::bench;
using steps::scale;
using tune::dtype;
using tune::operation_sequence;
using tune::optional_slot;
using tune::shape;
using tune::shared_slots;
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

}  // namespace composition_test
