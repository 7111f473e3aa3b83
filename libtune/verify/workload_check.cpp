// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of operations on the arrays of a workload: answer.hpp describes them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/verify/answer.hpp"
#include "libtune/verify/device_comparison.hpp"

namespace tune {
namespace {

// The first is NaN as floats, and the second is not. An integer with the first pattern as its value
// differs from the second.
constexpr std::array poisons{std::byte{0xFF}, std::byte{0x69}};
// Differs from both, so that elements that a trusted operation leaves unwritten are not found
// right.
constexpr std::byte trusted_poison{0x96};

std::vector<answer::result> results_of(const operation& op) {
  std::vector<answer::result> results;
  const auto add = [&](const named_slot& item) {
    const auto* slot = dynamic_cast<const io_slot*>(item.slot.get());
    if (slot != nullptr && slot->is_bound()) results.emplace_back(item.name, slot->buffer());
  };
  for (const named_slot& item : op.slots()) add(item);
  for (const named_slot& item : op.hidden_slots()) add(item);
  return results;
}

bool has_slot(const operation& op, const std::string& name) {
  const auto is_it = [&](const named_slot& item) { return item.name == name; };
  return std::ranges::any_of(op.slots(), is_it) || std::ranges::any_of(op.hidden_slots(), is_it);
}

// Memory outside the workload keeps its earlier contents, which may be the answer.
void require_provided(const workload& work, const operation& op,
                      std::span<const std::string> outputs) {
  for (const std::string& name : outputs) {
    if (!has_slot(op, name) || work.provides(op, name)) continue;
    throw argument_error(
        "the slot '" + name +
        "' has an answer and is bound to an array that is not the workload's, so it would be "
        "neither poisoned nor guarded, and a kernel that writes nothing might be found right; "
        "leave it unbound, and the workload binds it, with contents from workload::set if the "
        "kernel reads them");
  }
}

bool has_other_timed(const workload& work) {
  const auto& all = work.all_inputs();
  return !(all.front().weight > 0) ||
         std::any_of(all.begin() + 1, all.end(), [](const auto& each) { return each.weight > 0; });
}

class workload_check final : public run_check {
 public:
  workload_check(operation& op, workload work, answer expected)
      : operation_(op),
        work_(std::move(work)),
        queue_(work_.queue()),
        expected_(std::move(expected)) {
    for (const std::string& name : expected_.inputs()) require_inputs(name);
    // The first and the last run have the author's inputs. So what the first has shown may suffice,
    // and the inputs are those that are timed.
    for (const auto& each : work_.all_inputs()) {
      inputs_.push_back(inputs_.size());
      const bool are_authors = answers_.empty() || each.is_shifted;
      answers_.push_back(are_authors ? expected_ : expected_.part_of(each.name));
    }
    if (!expected_.empty()) inputs_.push_back(0);
    is_timed_ = !has_other_timed(work_);
    require_all_provided();
  }

  int runs() const noexcept override { return static_cast<int>(inputs_.size()); }
  bool is_timed(int run) const noexcept override { return is_timed_ && inputs_of(run) == 0; }

  void prepare(int run) override {
    if (run == 0) {
      accuracy_ = {};
      bits_.reset();
    }
    work_.use_inputs(inputs_of(run));
    work_.restore(operation_, poisons.at(is_second(run) || run % 2 == 1 ? 1 : 0));
    require_all_provided();  // bindings may have changed since the constructor
  }

  std::optional<std::string> judge(int run) override {
    const std::vector<answer::result> results = results_of(operation_);
    auto wrong = find_wrong(run, results);
    if (auto stray = work_.find_stray_write(operation_)) {
      wrong = std::move(*stray) + (wrong ? "; " + *wrong : "");
    }
    if (!wrong && run == 0 && runs() > 1) keep(results);
    if (!wrong) add_figures(run, results);
    if (wrong || run + 1 == runs()) kept_.clear();
    if (wrong && inputs_of(run) != 0) {
      *wrong = "with the inputs '" + work_.all_inputs()[inputs_of(run)].name + "': " + *wrong;
    }
    if (wrong) work_.use_inputs(0);
    last_ = inputs_of(run);
    return wrong;
  }

  void report_bits() override { reports_bits_ = true; }

  const accuracy& measured() const noexcept { return accuracy_; }

  std::vector<metric> figures() const override {
    std::vector<metric> all =
        expected_.reports_accuracy() ? accuracy_.metrics() : std::vector<metric>{};
    if (bits_) all.push_back({bits_metric, *bits_, ""});
    return all;
  }

  void end() override {
    if (last_ == 0) return;
    work_.use_inputs(0);
    work_.restore(operation_);
  }

 private:
  void require_inputs(const std::string& name) const {
    const auto& all = work_.all_inputs();
    if (std::any_of(all.begin() + 1, all.end(),
                    [&](const auto& each) { return each.name == name; }))
      return;
    throw argument_error("there is an answer for the inputs '" + name +
                         "', which the workload does not have; define them by workload::inputs");
  }

  void require_all_provided() const {
    for (const answer& each : answers_) require_provided(work_, operation_, each.judged());
  }

  // With the author's inputs again.
  bool is_second(int run) const { return run > 0 && inputs_of(run) == 0; }

  void add_figures(int run, const std::vector<answer::result>& results) {
    if (run == 0 && (reports_bits_ || expected_.reports_bits())) {
      bits_ = expected_.digest(queue_, results, work_.outputs(operation_));
    }
    if (expected_.reports_accuracy() && !is_second(run)) {
      accuracy_.add(answers_[inputs_of(run)].measure(queue_, results));
    }
  }

  std::size_t inputs_of(int run) const { return inputs_.at(static_cast<std::size_t>(run)); }

  std::optional<std::string> find_wrong(int run, const std::vector<answer::result>& results) {
    if (!is_second(run)) return answers_[inputs_of(run)].find_mismatch(queue_, results);
    if (expected_.is_deterministic()) return find_change(results);
    auto wrong = expected_.find_mismatch(queue_, results);
    if (wrong) return "in a second run: " + *wrong;
    return std::nullopt;
  }

  bool is_judged(const std::string& name) const {
    const std::vector<std::string>& judged = expected_.judged();
    return std::find(judged.begin(), judged.end(), name) != judged.end();
  }

  void keep(const std::vector<answer::result>& results) {
    kept_.clear();
    if (!expected_.is_deterministic()) return;
    for (const auto& [name, array] : results) {
      if (is_judged(name)) kept_.emplace_back(name, expected_.bits().keep(queue_, array));
    }
  }

  std::optional<std::string> find_change(const std::vector<answer::result>& results) {
    for (const auto& [name, before] : kept_) {
      const auto now =
          std::find_if(results.begin(), results.end(),
                       [&name = name](const auto& item) { return item.first == name; });
      if (now == results.end()) continue;
      if (const auto change = expected_.bits().find_change(queue_, before, now->second)) {
        return "'" + name + "' is not the same in a second run: " + *change;
      }
    }
    return std::nullopt;
  }

  operation& operation_;
  workload work_;
  command_queue queue_;
  answer expected_;
  std::vector<answer> answers_;      // of each set of inputs
  std::vector<std::size_t> inputs_;  // of each run
  bool is_timed_ = true;
  std::size_t last_ = 0;
  accuracy accuracy_;
  bool reports_bits_ = false;
  std::optional<double> bits_;
  std::vector<std::pair<std::string, detail::bit_comparison::snapshot>> kept_;
};

/// Owns the checked operation.
class owning_check final : public run_check {
 public:
  owning_check(std::shared_ptr<operation> op, workload work, answer expected)
      : operation_(std::move(op)), check_(*operation_, std::move(work), std::move(expected)) {}

  int runs() const noexcept override { return check_.runs(); }
  void prepare(int run) override { check_.prepare(run); }
  std::optional<std::string> judge(int run) override { return check_.judge(run); }
  bool is_timed(int run) const noexcept override { return check_.is_timed(run); }
  void end() override { check_.end(); }
  void report_bits() override { check_.report_bits(); }
  std::vector<metric> figures() const override { return check_.figures(); }

 private:
  std::shared_ptr<operation> operation_;
  workload_check check_;
};

}  // namespace

std::shared_ptr<run_check> detail::make_run_check(std::shared_ptr<operation> operation,
                                                  workload work, answer expected) {
  return std::make_shared<owning_check>(std::move(operation), std::move(work), std::move(expected));
}

std::vector<timed_inputs> detail::timed_inputs_of(const std::shared_ptr<operation>& operation,
                                                  const workload& work) {
  std::vector<timed_inputs> timed;
  if (!has_other_timed(work)) return timed;
  for (std::size_t number = 0; number < work.all_inputs().size(); ++number) {
    const double weight = work.all_inputs()[number].weight;
    if (!(weight > 0)) continue;
    const auto prepare = [operation, number, own = work]() mutable {
      own.use_inputs(number);
      own.restore(*operation);
    };
    timed.push_back({.prepare = prepare, .weight = weight});
  }
  if (timed.empty()) {
    throw argument_error("all inputs of the workload have the weight 0, so none could be timed");
  }
  return timed;
}

std::optional<std::string> find_fault(operation& op, workload work, const answer& expected) {
  accuracy unused;
  return find_fault(op, std::move(work), expected, unused);
}

std::optional<std::string> find_fault(operation& op, workload work, const answer& expected,
                                      accuracy& measured) {
  work.bind(op);
  workload_check check(op, work, expected);
  for (int run = 0; run < check.runs(); ++run) {
    check.prepare(run);
    op.run();
    op.queue().finish();
    if (auto wrong = check.judge(run)) return wrong;
  }
  check.end();
  measured.add(check.measured());
  return std::nullopt;
}

void take_answer(answer& expected, workload work, operation& trusted,
                 const std::vector<std::string>& outputs, const tolerance& allowed) {
  work.bind(trusted);
  require_provided(work, trusted, outputs);
  command_queue queue = work.queue();
  const auto& all = work.all_inputs();
  for (std::size_t number = all.size(); number-- > 0;) {  // ends with the author's
    if (all[number].is_shifted) continue;                 // has the answer of the author's
    answer to = number == 0 ? expected : expected.of(all[number].name);
    work.use_inputs(number);
    work.run(trusted, trusted_poison);
    for (const std::string& name : outputs) to.add(name, queue, trusted.buffer(name), allowed);
  }
}

}  // namespace tune
