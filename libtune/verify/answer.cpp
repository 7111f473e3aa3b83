// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/answer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/verify/device_comparison.hpp"
#include "libtune/verify/right_results.hpp"

namespace tune {
namespace {

const device_array& find(const std::vector<answer::result>& results, const std::string& name) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const answer::result& item) { return item.first == name; });
  if (found != results.end()) return found->second;
  std::string known;
  for (const auto& [other, array] : results) known += (known.empty() ? "" : ", ") + other;
  throw argument_error("there is an answer for '" + name + "', but no result of that name; " +
                       (known.empty() ? "there is no result at all" : "the results are " + known));
}

// Poisoned, so that elements which the copy misses do not match by chance.
std::vector<std::byte> read_back(command_queue& queue, const device_array& array) {
  std::vector<std::byte> bytes(array.layout().bytes(), std::byte{0xA5});
  if (!bytes.empty()) queue.read(array.buffer(), bytes.data(), bytes.size());
  return bytes;
}

void check_comparable(const std::string& name, const array_layout& expected,
                      const array_layout& got) {
  if (expected.type() == got.type() && expected.size() == got.size()) return;
  throw argument_error("'" + name + "': the answer is " + to_string(expected.size()) + " of " +
                       std::string(expected.type().name()) + ", the result " +
                       to_string(got.size()) + " of " + std::string(got.type().name()));
}

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
    // Bindings may have changed since the constructor.
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

/// Owns the checked operation.
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

answer::answer() : contents_(std::make_shared<contents>()) {
  contents_->bits = std::make_shared<detail::bit_comparison>();
  contents_->right = std::make_shared<detail::right_results>();
}

answer& answer::add(std::string name, command_queue& queue, const device_array& expected,
                    const tolerance& allowed) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(read_back(queue, expected));
  add_expected({.name = std::move(name),
                .layout = expected.layout(),
                .elements = std::shared_ptr<const void>(bytes, bytes->data()),
                .allowed = allowed});
  return *this;
}

answer& answer::verify(function decides, std::vector<std::string> judges) {
  if (!decides) throw argument_error("the function that decides on the results is empty");
  contents_->functions.push_back(std::move(decides));
  for (std::string& name : judges) note_judged(std::move(name));
  return *this;
}

answer& answer::nondeterministic() {
  contents_->deterministic = false;
  return *this;
}

void answer::note_judged(std::string name) {
  std::vector<std::string>& known = contents_->judged;
  if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(std::move(name));
}

std::optional<std::string> answer::find_mismatch(command_queue& queue,
                                                 const std::vector<result>& results) const {
  for (const expected_array& expected : contents_->arrays) {
    const device_array& array = find(results, expected.name);
    check_comparable(expected.name, expected.layout, array.layout());
    if (expected.on_device->count_mismatches(queue, array) == 0) continue;
    const std::vector<std::byte> got = read_back(queue, array);
    const comparison compared = compare(expected.layout, expected.elements.get(), array.layout(),
                                        got.data(), expected.allowed);
    if (!compared.matches()) return "'" + expected.name + "': " + compared.describe();
  }
  if (contents_->functions.empty()) return std::nullopt;
  if (contents_->right->are(queue, results, *contents_->bits)) return std::nullopt;
  for (const function& decides : contents_->functions) {
    if (auto wrong = decides(queue, results)) return wrong;
  }
  contents_->right->keep(queue, results, *contents_->bits);
  return std::nullopt;
}

std::function<std::optional<std::string>()> answer::check(command_queue queue,
                                                          std::vector<result> results) const {
  return [self = *this, queue = std::move(queue), results = std::move(results)]() mutable {
    return self.find_mismatch(queue, results);
  };
}

void answer::add_expected(expected_array expected) {
  for (const expected_array& known : contents_->arrays) {
    if (known.name == expected.name) {
      throw argument_error("'" + expected.name + "' has an answer already");
    }
  }
  expected.on_device = std::make_shared<detail::device_comparison>(
      expected.layout, expected.elements, expected.allowed);
  note_judged(expected.name);
  contents_->arrays.push_back(std::move(expected));
}

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
