// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations that run one after the other, and share arrays and memory.
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/bindings/c/handles.hpp"
#include "libtune/operation/sequence.hpp"

using tune::c_api::give;
using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;
using tune::c_api::text_of;

namespace {

/// The elements of a list of the caller.
template <class T>
std::span<const T> list_of(const T* first, std::size_t count, const char* what) {
  if (count == 0) return {};
  return {&required(first, what), count};
}

std::vector<tune::shared_slots> shared_of(const libtune_shared_slots* given, std::size_t count,
                                          const char* what) {
  std::vector<tune::shared_slots> made;
  for (const libtune_shared_slots& each : list_of(given, count, what)) {
    tune::shared_slots shared{text_of(each.name), {}};
    for (const char* slot : list_of(each.slots, each.count, "the list of slots")) {
      shared.slots.emplace_back(text_of(slot));
    }
    made.push_back(std::move(shared));
  }
  return made;
}

using setter = decltype(libtune_operation::set);

/// The settings of the parts, as "part:setting".
class part_settings {
 public:
  void add(std::string part, setter set) { sets_.emplace(std::move(part), std::move(set)); }

  void operator()(std::string_view name, const tune::value& v) const {
    const std::size_t colon = name.find(':');
    const auto found = sets_.find(std::string(name.substr(0, colon)));
    if (colon != std::string_view::npos && found != sets_.end()) {
      return found->second(name.substr(colon + 1), v);
    }
    std::string known;
    for (const auto& each : sets_) known += (known.empty() ? "" : ", ") + each.first;
    throw tune::argument_error("the sequence has no setting '" + std::string(name) +
                               "': its settings are named 'part:setting', and its parts are " +
                               known);
  }

 private:
  std::map<std::string, setter> sets_;
};

}  // namespace

libtune_status libtune_sequence_create(const libtune_queue* queue, const libtune_part* parts,
                                       size_t part_count, const libtune_shared_slots* compounds,
                                       size_t compound_count, const libtune_shared_slots* aliases,
                                       size_t alias_count, libtune_operation** sequence) {
  return giving(sequence, [&] {
    std::vector<tune::named_operation> children;
    part_settings settings;
    for (const libtune_part& each : list_of(parts, part_count, "the list of parts")) {
      const libtune_operation& part = required(each.operation, "the operation of a part");
      children.emplace_back(text_of(each.name), part.operation);
      settings.add(text_of(each.name), part.set);
    }
    auto made = std::make_shared<tune::operation_sequence>(
        required(queue, "the queue").queue, std::move(children),
        shared_of(compounds, compound_count, "the list of compounds"),
        shared_of(aliases, alias_count, "the list of aliases"));
    give(sequence, std::move(made), nullptr, std::move(settings));
  });
}

libtune_status libtune_sequence_run_range(libtune_operation* sequence, const char* first,
                                          const char* last) {
  return guarded([&] {
    auto* const of =
        dynamic_cast<tune::operation_sequence*>(required(sequence, "the sequence").operation.get());
    if (of == nullptr) {
      throw tune::argument_error("the operation is no sequence, and has no range of parts to run");
    }
    of->run_range(text_of(first), text_of(last));
  });
}
