// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/configuration_inputs.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace tune::detail {
namespace {

/// The operations of one configuration, of which one runs at a time.
struct configuration {
  struct checked_part {
    configuration_part made;
    std::shared_ptr<run_check> check;
  };

  std::vector<checked_part> parts{};
  std::size_t current = 0;
  measure author{nullptr};
  bool reports_bits = false;

  std::size_t sets() const {
    std::size_t count = 0;
    for (const checked_part& each : parts) count += each.made.work.all_inputs().size();
    return count;
  }
};

/// The checks of all parts, one after the other.
class all_parts_check final : public run_check {
 public:
  explicit all_parts_check(std::shared_ptr<configuration> of) : of_(std::move(of)) {
    for (std::size_t part = 0; part < of_->parts.size(); ++part) {
      for (int run = 0; run < of_->parts[part].check->runs(); ++run)
        places_.emplace_back(part, run);
    }
  }

  int runs() const noexcept override { return static_cast<int>(places_.size()); }
  bool is_timed(int run) const noexcept override { return run == 0 && of_->sets() == 1; }

  void prepare(int run) override {
    const auto [part, own] = place_of(run);
    of_->current = part;
    of_->parts[part].check->prepare(own);
  }

  std::optional<std::string> judge(int run) override {
    const auto [part, own] = place_of(run);
    auto wrong = of_->parts[part].check->judge(own);
    // The check of a workload names all inputs but its author's.
    if (wrong && !wrong->starts_with("with the inputs")) {
      *wrong = "with the inputs '" + of_->parts[part].made.first + "': " + *wrong;
    }
    return wrong;
  }

  void end() override {
    for (auto& each : of_->parts) each.check->end();
    of_->current = 0;
  }
  void report_bits() override { of_->reports_bits = true; }
  std::vector<metric> figures() const override { return of_->author.figures(); }

 private:
  std::pair<std::size_t, int> place_of(int run) const {
    return places_.at(static_cast<std::size_t>(run));
  }

  std::shared_ptr<configuration> of_;
  std::vector<std::pair<std::size_t, int>> places_;
};

std::vector<timed_inputs> timed_sets(const std::shared_ptr<configuration>& of) {
  std::vector<timed_inputs> timed;
  if (of->sets() == 1) return timed;
  for (std::size_t part = 0; part < of->parts.size(); ++part) {
    const workload& work = of->parts[part].made.work;
    for (std::size_t set = 0; set < work.all_inputs().size(); ++set) {
      const auto prepare = [of, part, set] {
        of->current = part;
        configuration_part& chosen = of->parts[part].made;
        chosen.work.use_inputs(set);
        chosen.work.restore(*chosen.of);
      };
      timed.push_back({.prepare = prepare, .weight = work.all_inputs()[set].weight});
    }
  }
  return timed;
}

}  // namespace

void bind_shared(operation& of, workload& work, const shared_memory& shared) {
  work.bind(of);
  for (const auto& [name, owner] : shared) of.bind(name, of.slot(owner).buffer().buffer());
}

measure measure_with(const tuning_command_queue& queue, std::vector<configuration_part> parts,
                     measure author) {
  const auto all = std::make_shared<configuration>();
  const device_settings settings = author.settings();
  for (configuration_part& each : parts) {
    bind_shared(*each.of, each.work, each.shared);
    auto check = make_run_check(each.of, each.work, each.expected);
    all->parts.push_back({std::move(each), std::move(check)});
  }
  all->author = std::move(author);
  return make_measure(queue,
                      std::function<void()>([all] { all->parts[all->current].made.of->run(); }))
      .over(timed_sets(all))
      .check_runs(std::make_shared<all_parts_check>(all))
      .check([all] { return all->author.run_checked({.reports_bits = all->reports_bits}); })
      .at(settings);
}

}  // namespace tune::detail
