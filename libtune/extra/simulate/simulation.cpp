// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/simulation.hpp"

#include <deque>
#include <fmt/format.h>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

class simulated_search {
 public:
  simulated_search(strategy& searching, const recorded_space& recorded,
                   const simulation_options& options)
      : searching_(searching), recorded_(recorded), options_(options) {}

  std::vector<simulated_step> run() {
    while (!done()) {
      timed([this] { fill(); });
      if (waiting_.empty()) break;
      evaluate(waiting_.front());
      waiting_.pop_front();
    }
    return std::move(steps_);
  }

 private:
  bool done() const {
    if (options_.max_count && steps_.size() >= *options_.max_count) return true;
    return options_.max_ms && now_ms_ > *options_.max_ms;
  }

  void fill() {
    while (waiting_.size() < options_.ahead) {
      const auto index = searching_.ask();
      if (!index) return;
      waiting_.push_back(*index);
    }
  }

  void evaluate(std::size_t index) {
    const recording& known = recorded_[index];
    now_ms_ += options_.cost_ms.value_or(known.cost_ms());
    steps_.push_back({index, known.score_ms, now_ms_});
    timed([&] { searching_.tell(index, known.score_ms); });
  }

  template <class Function>
  void timed(const Function& function) {
    const double before = options_.clock_ms ? options_.clock_ms() : 0;
    function();
    if (options_.clock_ms) now_ms_ += options_.clock_ms() - before;
  }

  strategy& searching_;
  const recorded_space& recorded_;
  const simulation_options& options_;
  std::deque<std::size_t> waiting_;
  std::vector<simulated_step> steps_;
  double now_ms_ = 0;
};

}  // namespace

std::vector<simulated_step> simulate(strategy& searching, const recorded_space& recorded,
                                     const simulation_options& options) {
  if (searching.space().size() != recorded.size()) {
    throw argument_error(fmt::format("a strategy for {} configurations cannot search '{}' of {}",
                                     searching.space().size(), recorded.name(), recorded.size()));
  }
  if (options.ahead == 0) throw argument_error("a search that asks 0 ahead never asks");
  return simulated_search(searching, recorded, options).run();
}

}  // namespace tune
