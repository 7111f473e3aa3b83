// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Operations that run one after the other, as an operation.
#pragma once

#include "libtune/bindings/python/handles.hpp"

namespace tune::python {

using named_slots = std::vector<std::pair<c_text, std::vector<c_text>>>;

/// Shared slots in the form of the C interface, valid as long as the given ones.
class shared_list {
 public:
  explicit shared_list(const named_slots& given) : names_(given.size()) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      for (const c_text& slot : given[i].second) names_[i].push_back(slot.c_str());
      shared_.push_back({given[i].first.c_str(), names_[i].data(), names_[i].size()});
    }
  }
  const libtune_shared_slots* data() const noexcept { return shared_.data(); }
  std::size_t size() const noexcept { return shared_.size(); }

 private:
  std::vector<std::vector<const char*>> names_;
  std::vector<libtune_shared_slots> shared_;
};

inline std::unique_ptr<operation> make_sequence(
    const queue& on, const std::vector<std::pair<c_text, const operation*>>& given,
    const named_slots& compounds, const named_slots& aliases) {
  std::vector<libtune_part> parts;
  parts.reserve(given.size());
  for (const auto& [name, part] : given) parts.push_back({name.c_str(), part->get()});
  const shared_list arrays(compounds);
  const shared_list memory(aliases);
  return make<operation>([&](auto** made) {
    return libtune_sequence_create(on.get(), parts.data(), parts.size(), arrays.data(),
                                   arrays.size(), memory.data(), memory.size(), made);
  });
}

/// The functions of sequences, for the class of operations.
inline py::class_<operation> with_sequences(py::class_<operation> of) {
  of.def_static("sequence", make_sequence);
  of.def("run_range", [](const operation& sequence, const c_text& first, const c_text& last) {
    check(unlocked(
        [&] { return libtune_sequence_run_range(sequence.get(), first.c_str(), last.c_str()); }));
  });
  return of;
}

}  // namespace tune::python
