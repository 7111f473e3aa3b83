// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/verified_measure.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/verify/bit_comparison.hpp"

namespace tune {
namespace {

// To floats the first is NaN, and the second is not; an integer that happens to be the one is not
// the other.
constexpr std::array poisons{std::byte{0xFF}, std::byte{0x69}};
// Unlike both, so that what a trusted operation leaves unwritten is not found right.
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

// What is not the workload's keeps what it held before, the answer perhaps.
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

class workload_check final : public run_check {
 public:
  workload_check(operation& op, workload work, answer expected)
      : operation_(op),
        work_(std::move(work)),
        queue_(work_.queue()),
        expected_(std::move(expected)) {
    require_provided(work_, operation_, expected_.judged());
  }

  int runs() const noexcept override {
    return expected_.empty() ? 1 : static_cast<int>(poisons.size());
  }

  void prepare(int run) override {
    work_.restore(operation_, poisons.at(static_cast<std::size_t>(run)));
    // Slots may have been bound anew since.
    require_provided(work_, operation_, expected_.judged());
  }

  std::optional<std::string> judge(int run) override {
    const std::vector<answer::result> results = results_of(operation_);
    auto wrong = find_wrong(run, results);
    if (auto stray = work_.find_stray_write(operation_)) {
      wrong = std::move(*stray) + (wrong ? "; " + *wrong : "");
    }
    if (!wrong && run + 1 < runs()) keep(results);
    if (wrong || run + 1 == runs()) kept_.clear();
    return wrong;
  }

 private:
  std::optional<std::string> find_wrong(int run, const std::vector<answer::result>& results) {
    if (run == 0) return expected_.find_mismatch(queue_, results);
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
  std::vector<std::pair<std::string, detail::bit_comparison::snapshot>> kept_;
};

/// Keeps the operation that it judges.
class owning_check final : public run_check {
 public:
  owning_check(std::shared_ptr<operation> op, workload work, answer expected)
      : operation_(std::move(op)), check_(*operation_, std::move(work), std::move(expected)) {}

  int runs() const noexcept override { return check_.runs(); }
  void prepare(int run) override { check_.prepare(run); }
  std::optional<std::string> judge(int run) override { return check_.judge(run); }

 private:
  std::shared_ptr<operation> operation_;
  workload_check check_;
};

}  // namespace

std::shared_ptr<run_check> detail::make_run_check(std::shared_ptr<operation> operation,
                                                  workload work, answer expected) {
  return std::make_shared<owning_check>(std::move(operation), std::move(work), std::move(expected));
}

std::optional<std::string> find_fault(operation& op, workload work, const answer& expected) {
  work.bind(op);
  workload_check check(op, work, expected);
  for (int run = 0; run < check.runs(); ++run) {
    check.prepare(run);
    op.run();
    op.queue().finish();
    if (auto wrong = check.judge(run)) return wrong;
  }
  return std::nullopt;
}

void take_answer(answer& expected, workload work, operation& trusted,
                 std::initializer_list<std::string> outputs, const tolerance& allowed) {
  work.bind(trusted);
  require_provided(work, trusted, std::vector<std::string>(outputs));
  work.run(trusted, trusted_poison);
  command_queue queue = work.queue();
  for (const std::string& name : outputs) {
    expected.add(name, queue, trusted.buffer(name), allowed);
  }
}

}  // namespace tune
