// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The inputs of a kernel description, and the answers for them.
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/bare/bare_operation.hpp"
#include "libtune/extra/bare/kernel_description.hpp"
#include "libtune/operation/input_set.hpp"
#include "libtune/operation/workload.hpp"
#include "libtune/verify/answer.hpp"

namespace tune::detail {

std::string kernel_description::answer_name(std::size_t argument) const {
  return fmt::format("the answer for argument {} of the kernel '{}'", argument, defined.name);
}

void kernel_description::fill(workload& work) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& array = arguments[i].as_array;
    if (!array || !array->fill) continue;
    blaming(fmt::format("argument {} of the kernel '{}'", i, defined.name),
            [&] { array->fill(work, slot_name(i)); });
  }
  for (const variation& each : variations) {
    work.inputs(std::string(input_kind_name(each.kind)))
        .derive(slot_name(each.argument), each.kind);
  }
  if (alignment != 0) work.vary_alignment(alignment);
}

void kernel_description::take_reference(answer& expected, const workload& work) const {
  if (!reference) return;
  const kernel_description& trusted = *reference->about;
  blaming(fmt::format("the reference '{}' of the kernel '{}'", trusted.defined.name, defined.name),
          [&] {
            const program compiled = trusted.compile(work.queue().context(), reference->at);
            bare_operation op(work.queue(), reference->about, compiled, reference->at);
            if (trusted.arguments.size() != arguments.size()) {
              throw argument_error(fmt::format("it has {} arguments, the kernel {}",
                                               trusted.arguments.size(), arguments.size()));
            }
            std::vector<std::string> outputs;
            for (std::size_t i = 0; i < arguments.size(); ++i) {
              if (lacks_answer(i)) outputs.push_back(slot_name(i));
            }
            take_answer(expected, work, op, outputs, reference->allowed);
          });
}

bool kernel_description::lacks_answer(std::size_t output) const {
  const auto& array = arguments[output].as_array;
  return array && array->is_output &&
         std::ranges::find(answers, output, &expected::argument) == answers.end();
}

answer kernel_description::expected_answer() const {
  answer made;
  std::vector<std::string> judged;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    names.push_back(arguments[i].as_array ? slot_name(i) : std::string());
    if (lacks_answer(i)) judged.push_back(slot_name(i));
  }
  for (const expected& each : answers) {
    blaming(answer_name(each.argument), [&] {
      each.add(made, slot_name(each.argument), arguments[each.argument].as_array->size);
    });
  }
  if (verify) {
    made.verify(
        [decides = verify, names](command_queue& queue, const std::vector<answer::result>& all) {
          std::vector<std::optional<device_array>> arrays(names.size());
          for (const auto& [name, array] : all) {
            const auto found = std::ranges::find(names, name);
            if (found != names.end())
              arrays[static_cast<std::size_t>(found - names.begin())] = array;
          }
          return decides(kernel_results(queue, std::move(arrays)));
        },
        judged);
  }
  if (!deterministic) made.nondeterministic();
  if (reports_accuracy) made.report_accuracy();
  if (reports_bits) made.report_bits();
  return made;
}

}  // namespace tune::detail
