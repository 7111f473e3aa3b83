// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/captured_work.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"

namespace tune::detail {
namespace {

constexpr std::string_view tuning_prefix = "tuning.";
constexpr std::size_t digest_digits = 16;

bool is_of_tuning(const named_value& parameter) {
  return parameter.name.starts_with(tuning_prefix);
}

std::string digest_of(const std::string& text) {
  return to_hex(sha256(std::as_bytes(std::span(text)))).substr(0, digest_digits);
}

/// The contents that a call gets. For operations inside of a sequence they decide with the
/// sequence.
std::string contents_text(const captured_work& run) {
  std::string text = fmt::format("{}\n", fmt::join(run.path, " "));
  for (const captured_slot& slot : run.call->slots) {
    text += fmt::format("{} {} {} {} {}\n", slot.name, slot.type, to_string(slot.size), slot.shares,
                        slot.before ? run.file.digest(*slot.before) : "");
  }
  return text;
}

/// Walks over the operations of a call.
class work_finder {
 public:
  work_finder(std::vector<captured_work>& found, std::set<std::string>& left_out)
      : found_(found), left_out_(left_out) {}

  void add(const captured_work& run) {
    const captured_operation_form& form = *run.form;
    try {
      if (auto known = with_key(run)) return merge(*std::move(known));
    } catch (const error& failure) {
      left_out_.insert(
          fmt::format("'{}': its key is not known: {}", place_of(run), failure.what()));
      return;
    }
    if (form.children.empty()) {
      left_out_.insert(fmt::format("'{}': no tune::tuned_by names the autotuner of its class, {}",
                                   place_of(run), form.type));
      return;
    }
    for (std::size_t i = 0; i < form.children.size(); ++i) {
      captured_work child = run;
      child.path.push_back(i);
      child.form = &form.children[i];
      add(child);
    }
  }

 private:
  static std::string place_of(const captured_work& run) {
    std::string place = run.call->name;
    const captured_operation_form* form = &run.call->form;
    for (const std::size_t i : run.path) {
      place += ':' + form->child_names[i];
      form = &form->children[i];
    }
    return place;
  }

  // The declaration of this program counts first: the program may have changed since.
  static std::optional<captured_work> with_key(captured_work run) {
    const captured_operation_form& form = *run.form;
    if (const auto declared = find_tuning_declaration(form.type)) {
      run.function = declared->function().name;
      run.key = declared->key({form.type, form.parameters});
    } else if (!form.function.empty()) {
      run.function = form.function;
      run.key = form.key;
    } else if (run.path.empty() && !run.call->function.empty()) {
      run.function = run.call->function;
      run.key = run.call->key;
    } else {
      return std::nullopt;
    }
    return run;
  }

  void merge(captured_work run) {
    run.digest = digest_of(fmt::format("{}\n{}\n{}", run.form->type,
                                       canonical_text(without_tuning(run.form->parameters)),
                                       contents_text(run)));
    run.weight = run.frame->weight;
    run.frames = {run.frame};
    const auto same = std::ranges::find_if(found_, [&](const captured_work& other) {
      return other.digest == run.digest && other.function == run.function;
    });
    if (same == found_.end()) {
      found_.push_back(std::move(run));
    } else {
      same->weight += run.weight;
      same->frames.insert(run.frame);
    }
  }

  std::vector<captured_work>& found_;
  std::set<std::string>& left_out_;
};

}  // namespace

std::string name_of_inputs(const captured_frame& frame,
                           const std::function<bool(const std::string&)>& is_taken) {
  const std::string number = fmt::format("frame {}", frame.number);
  if (!is_taken(number)) return number;
  const auto since =
      std::chrono::duration_cast<std::chrono::microseconds>(frame.time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const std::string dated = fmt::format("{} of {:%Y%m%dT%H%M%S}.{:06}", number,
                                        fmt::gmtime(static_cast<std::time_t>(seconds.count())),
                                        (since - seconds).count());
  std::string name = dated;
  for (int copy = 2; is_taken(name); ++copy) name = fmt::format("{} - {}", dated, copy);
  return name;
}

std::vector<named_value> without_tuning(const std::vector<named_value>& parameters) {
  std::vector<named_value> others = parameters;
  std::erase_if(others, is_of_tuning);
  return others;
}

std::vector<named_value> tuning_of(const std::vector<named_value>& parameters) {
  std::vector<named_value> fields;
  for (const named_value& each : parameters) {
    if (is_of_tuning(each)) fields.push_back({each.name.substr(tuning_prefix.size()), each.value});
  }
  return fields;
}

std::vector<named_value> with_tuning(std::vector<named_value> parameters,
                                     const std::vector<named_value>& tuning) {
  for (const named_value& field : tuning) {
    const std::string name = std::string(tuning_prefix) + field.name;
    const auto place = std::ranges::find(parameters, name, &named_value::name);
    if (place != parameters.end()) place->value = field.value;
  }
  return parameters;
}

bool is_same_key(std::vector<named_value> a, std::vector<named_value> b) {
  std::ranges::sort(a, {}, &named_value::name);
  std::ranges::sort(b, {}, &named_value::name);
  return canonical_text(a) == canonical_text(b);
}

std::vector<captured_work> find_work(const std::vector<capture_reader>& files,
                                     std::set<std::string>& left_out) {
  std::vector<captured_work> found;
  work_finder finder(found, left_out);
  for (const capture_reader& file : files) {
    for (const captured_frame& frame : file.frames()) {
      for (const captured_call& call : frame.calls) {
        finder.add({.file = file,
                    .frame = &frame,
                    .call = &call,
                    .path = {},
                    .form = &call.form,
                    .function = {},
                    .key = {},
                    .digest = {}});
      }
    }
  }
  return found;
}

std::string inputs_text(const std::vector<captured_work>& runs) {
  std::set<std::string> pipelines;
  std::set<const captured_frame*> frames;
  std::vector<std::string> digests;
  for (const captured_work& run : runs) {
    pipelines.insert(run.frame->pipeline);
    frames.insert(run.frames.begin(), run.frames.end());
    digests.push_back(fmt::format("{} {}", run.digest, run.weight));
  }
  std::ranges::sort(digests);
  return fmt::format("captured {} frame{} of {} sha256:{}", frames.size(),
                     frames.size() == 1 ? "" : "s", fmt::join(pipelines, ", "),
                     digest_of(fmt::format("{}", fmt::join(digests, "\n"))));
}

}  // namespace tune::detail
