// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/operation/sequence.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/operation/composition.hpp"

namespace tune {

operation_sequence::operation_sequence(command_queue queue, std::vector<named_operation> children,
                                       const std::vector<shared_slots>& compounds,
                                       const std::vector<shared_slots>& aliases,
                                       std::shared_ptr<allocator> memory)
    : operation(std::move(queue), std::move(memory)), children_(std::move(children)) {
  check_children();
  composition made(children_);
  for (const shared_slots& each : compounds) made.add_compound(each);
  for (const shared_slots& each : aliases) made.add_alias(each);
  made.keep();
  slots_ = std::move(made.slots);
  hidden_slots_ = std::move(made.hidden_slots);
  for (const named_operation& each : children_) each.operation->in_sequence_ = true;
}

operation_sequence& operation_sequence::operator=(operation_sequence&& other) noexcept {
  operation::operator=(std::move(other));
  std::swap(children_, other.children_);  // NOLINT: the base has moved its own part
  return *this;
}

operation_sequence::~operation_sequence() {
  for (const named_operation& each : children_) each.operation->in_sequence_ = false;
}

void operation_sequence::check_children() const {
  for (auto at = children_.begin(); at != children_.end(); ++at) {
    const auto fail = [&](std::string_view reason) {
      throw argument_error(
          fmt::format("operation '{}' cannot become part of a sequence: {}", at->name, reason));
    };
    if (at->operation == nullptr) fail("it is null");
    if (at->name.empty() || at->name.find(':') != std::string::npos) {
      fail("it needs a name without ':'");
    }
    if (at->operation->in_sequence_) fail("it is part of one already");
    if (at->operation->queue_.impl() == nullptr) fail("it was moved from");
    if (!(at->operation->queue() == queue())) {
      fail("it was made for another queue than the sequence, on device '" +
           at->operation->queue().device().name() + "'");
    }
    for (auto before = children_.begin(); before != at; ++before) {
      if (before->name == at->name) fail("another one has this name");
      if (before->operation == at->operation) fail("it is there as '" + before->name + "' too");
    }
  }
}

std::size_t operation_sequence::index_of(std::string_view name) const {
  check_not_moved_from();
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (children_[i].name == name) return i;
  }
  std::string known;
  for (const named_operation& each : children_) known += (known.empty() ? "" : ", ") + each.name;
  throw argument_error(
      fmt::format("no operation of the sequence is named '{}'; they are {}", name, known));
}

std::vector<std::string> operation_sequence::child_names() const {
  std::vector<std::string> names;
  for (const named_operation& each : children_) names.push_back(each.name);
  return names;
}

operation& operation_sequence::child(std::string_view name) const {
  return *children_[index_of(name)].operation;
}

void operation_sequence::run(std::string_view name) { run_child(child(name)); }

void operation_sequence::run_range(std::string_view first, std::string_view last) {
  const std::size_t begin = index_of(first);
  const std::size_t end = index_of(last);
  if (end < begin) {
    throw argument_error(fmt::format("'{}' runs after '{}', not before it", first, last));
  }
  for (std::size_t i = begin; i <= end; ++i) run_child(*children_[i].operation);
}

void operation_sequence::run_child(operation& child) {
  child.check_not_moved_from();
  for (const named_slot& item : child.slots()) ensure_bound(*item.slot);
  child.do_run();
}

void operation_sequence::do_run() {
  for (const named_operation& each : children_) run_child(*each.operation);
}

std::vector<named_value> operation_sequence::do_parameters() const {
  std::vector<named_value> all;
  for (const named_operation& each : children_) {
    for (named_value& item : each.operation->parameters()) {
      all.push_back({each.name + ':' + item.name, std::move(item.value)});
    }
  }
  return all;
}

}  // namespace tune
