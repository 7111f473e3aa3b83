// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/tune/observer.hpp"

namespace isolated {

/// Writes down what it hears, without what differs from run to run.
class event_text final : public tune::observer {
 public:
  std::vector<std::string> lines;
  std::vector<tune::trial> trials;  ///< that were finished or refined
  std::vector<tune::search_finished_event> finished;

  void search_started(const tune::search_started_event& event) override {
    lines.push_back("started " + event.subject.function + ' ' + event.strategy + ' ' +
                    std::to_string(event.configurations) + " taken over " +
                    std::to_string(event.taken_over));
  }
  void trial_taken_over(const tune::tuning_subject&, const tune::trial& taken) override {
    add("taken over", taken);
  }
  void trial_finished(const tune::tuning_subject&, const tune::trial& made) override {
    add("finished", made);
    trials.push_back(made);
  }
  void trial_refined(const tune::tuning_subject&, const tune::trial& made) override {
    add("refined", made);
    trials.push_back(made);
  }
  void search_finished(const tune::search_finished_event& event) override {
    lines.push_back("ended with " +
                    (event.best ? to_string(event.trials[*event.best].configuration) : "nothing") +
                    " of " + std::to_string(event.trials.size()));
    finished.push_back(event);
  }

 private:
  void add(const char* what, const tune::trial& of) {
    lines.push_back(std::string(what) + ' ' + to_string(of.configuration) + ' ' +
                    std::string(outcome_name(of.outcome)));
  }
};

}  // namespace isolated
