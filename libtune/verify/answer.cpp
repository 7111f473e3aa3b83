// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/verify/answer.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/verify/device_comparison.hpp"
#include "libtune/verify/result_digest.hpp"
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

}  // namespace

answer::answer() : contents_(std::make_shared<contents>()) {
  contents_->bits = std::make_shared<detail::bit_comparison>();
  contents_->right = std::make_shared<detail::right_results>();
  contents_->digests = std::make_shared<detail::result_digest>();
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

answer answer::of(const std::string& inputs) {
  return contents_->others.try_emplace(inputs).first->second;
}

answer answer::part_of(const std::string& inputs) const {
  const auto found = contents_->others.find(inputs);
  return found == contents_->others.end() ? answer() : found->second;
}

std::vector<std::string> answer::inputs() const {
  std::vector<std::string> names;
  for (const auto& [name, other] : contents_->others) names.push_back(name);
  return names;
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

answer& answer::report_accuracy() {
  contents_->reports_accuracy = true;
  return *this;
}

answer& answer::report_bits() {
  contents_->reports_bits = true;
  return *this;
}

accuracy answer::measure(command_queue& queue, const std::vector<result>& results) const {
  accuracy whole;
  for (const expected_array& expected : contents_->arrays) {
    const device_array& array = find(results, expected.name);
    check_comparable(expected.name, expected.layout, array.layout());
    if (const auto measured = expected.on_device->measure(queue, array)) {
      whole.add(*measured);
      continue;
    }
    const std::vector<std::byte> got = read_back(queue, array);
    whole.add(
        measure_accuracy(expected.layout, expected.elements.get(), array.layout(), got.data()));
  }
  return whole;
}

std::optional<double> answer::digest(command_queue& queue, const std::vector<result>& results,
                                     const std::vector<std::string>& outputs) const {
  const std::vector<std::string>& names = contents_->judged.empty() ? outputs : contents_->judged;
  if (names.empty() || !contents_->deterministic) return std::nullopt;
  std::uint64_t whole = 0;
  for (const std::string& name : names) {
    // Arrays count in their order.
    whole = std::rotl(whole, 7) ^ contents_->digests->of(queue, find(results, name));
  }
  constexpr unsigned kept_bits = 48;
  return static_cast<double>((whole ^ (whole >> kept_bits)) &
                             ((std::uint64_t{1} << kept_bits) - 1));
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

}  // namespace tune
