// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>

#include "libtune/tune/observer.hpp"

namespace tune {

/// The extent of a table.
struct table_options {
  bool verbose = false;  ///< lists each configuration without a time, with its reason
};

/// Writes what a search has found, for people: the fields that are the same in all configurations;
/// every measured configuration by its other fields, the fastest first, those within 5 % of the
/// best marked; then how many have no time, and the most frequent reasons; then the search's
/// doubts.
void write_table(std::ostream& out, const search_finished_event& search,
                 const table_options& options = {});

/// Writes the table at the end of each search. The stream has to outlive it.
class table_reporter final : public observer {
 public:
  /// Writes to this stream from now on.
  explicit table_reporter(std::ostream& out, const table_options& options = {})
      : out_(out), options_(options) {}

  void search_finished(const search_finished_event& event) override {
    write_table(out_, event, options_);
  }

 private:
  std::ostream& out_;
  table_options options_;
};

}  // namespace tune
