// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Errors, values, tables and options.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <exception>
#include <new>

#include "libtune/base/library_version.hpp"
#include "libtune/bindings/c/handles.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::c_api {
namespace {

thread_local std::string last_error;
thread_local bool no_memory_for_it = false;
thread_local callback<libtune_stop_function> stop_asked;

void keep_error(const char* text) noexcept {
  no_memory_for_it = false;
  try {
    last_error = text;
  } catch (...) {
    no_memory_for_it = true;
  }
}

/// Appends the texts of nested exceptions, unless it already contains them.
void add_nested(std::string& text, const std::exception& outer) {
  try {
    std::rethrow_if_nested(outer);
  } catch (const std::exception& inner) {
    if (text.find(inner.what()) == std::string::npos) text += std::string(": ") + inner.what();
    add_nested(text, inner);
  } catch (...) {
    return;
  }
}

libtune_status keep(libtune_status status, const std::exception& failure) noexcept {
  try {
    std::string text = failure.what();
    add_nested(text, failure);
    keep_error(text.c_str());
  } catch (...) {
    keep_error(failure.what());
  }
  return status;
}

template <class Enum, std::size_t Count>
Enum word_of(const std::array<const char*, Count>& words, const std::string& option,
             const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < Count; ++i) {
    if (text == words[i]) return static_cast<Enum>(i);
    all += (i == 0 ? "'" : ", '") + std::string(words[i]) + "'";
  }
  throw argument_error("the option '" + option + "' is '" + text + "', none of " + all);
}

template <class T>
T number_of(const std::string& option, const std::string& text) {
  T number{};
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc{} && stop == text.data() + text.size()) return number;
  throw argument_error("the option '" + option + "' is '" + text + "', no number");
}

}  // namespace

void clear_last_error() noexcept { keep_error(""); }

// The most derived types first.
libtune_status note_failure() noexcept {
  try {
    throw;
  } catch (const type_error& failure) {
    return keep(LIBTUNE_TYPE_ERROR, failure);
  } catch (const argument_error& failure) {
    return keep(LIBTUNE_ARGUMENT_ERROR, failure);
  } catch (const tuning_stopped_error& failure) {
    return keep(LIBTUNE_STOPPED, failure);
  } catch (const environment_error& failure) {
    return keep(LIBTUNE_ENVIRONMENT_ERROR, failure);
  } catch (const no_device_error& failure) {
    return keep(LIBTUNE_NO_DEVICE, failure);
  } catch (const database_error& failure) {
    return keep(LIBTUNE_DATABASE_ERROR, failure);
  } catch (const device_error& failure) {
    return keep(failure.failure() == device_failure::out_of_memory ? LIBTUNE_OUT_OF_MEMORY
                                                                   : LIBTUNE_DEVICE_ERROR,
                failure);
  } catch (const build_error& failure) {
    return keep(LIBTUNE_BUILD_ERROR, failure);
  } catch (const not_tuned_error& failure) {
    return keep(LIBTUNE_NOT_TUNED, failure);
  } catch (const not_locked_error& failure) {
    return keep(LIBTUNE_NOT_TUNED, failure);
  } catch (const tuning_failed_error& failure) {
    return keep(LIBTUNE_TUNING_FAILED, failure);
  } catch (const empty_space_error& failure) {
    return keep(LIBTUNE_TUNING_FAILED, failure);
  } catch (const too_little_memory_error& failure) {
    return keep(LIBTUNE_OUT_OF_MEMORY, failure);
  } catch (const std::bad_alloc&) {
    keep_error("the host has no memory left");
    return LIBTUNE_OUT_OF_MEMORY;
  } catch (const std::exception& failure) {
    return keep(LIBTUNE_ERROR, failure);
  } catch (...) {
    keep_error("something that is no std::exception was thrown");
    return LIBTUNE_ERROR;
  }
}

std::string callback_reason(libtune_status status, const char* otherwise) {
  if (!last_error.empty()) return last_error;
  return std::string(otherwise) + " (" + libtune_status_name(status) + ", without a reason)";
}

void throw_failed(libtune_status status, const char* otherwise) {
  const std::string reason = callback_reason(status, otherwise);
  if (status == LIBTUNE_STOPPED) throw tuning_stopped_error(reason);
  throw error(reason);
}

bool is_stop_wanted() noexcept {
  return stop_asked.function != nullptr && stop_asked.function(stop_asked.user) != 0;
}

value to_value(const libtune_value& given) {
  switch (given.type) {
    case LIBTUNE_NONE: return {};
    case LIBTUNE_BOOL: return given.as.integer != 0;
    case LIBTUNE_INT: return given.as.integer;
    case LIBTUNE_UINT: return given.as.natural;
    case LIBTUNE_REAL: return given.as.real;
    case LIBTUNE_TEXT: return text_of(given.as.text);
    default:
      throw argument_error("a value has the type " + std::to_string(given.type) +
                           ", which nothing can be given as");
  }
}

std::vector<named_value> to_values(const libtune_named_value* given, std::size_t count) {
  std::vector<named_value> values;
  if (count == 0) return values;
  static_cast<void>(required(given, "the list of values"));
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(
        {text_of(&required(given[i].name, "the name of a value")), to_value(given[i].value)});
  }
  return values;
}

libtune_value value_store::keep(const value& v) {
  libtune_value made{};
  if (const auto* truth = std::get_if<bool>(&v)) {
    made.type = LIBTUNE_BOOL;
    made.as.integer = *truth ? 1 : 0;
  } else if (const auto* whole = std::get_if<std::int64_t>(&v)) {
    made.type = LIBTUNE_INT;
    made.as.integer = *whole;
  } else if (const auto* natural = std::get_if<std::uint64_t>(&v)) {
    made.type = LIBTUNE_UINT;
    made.as.natural = *natural;
  } else if (const auto* real = std::get_if<double>(&v)) {
    made.type = LIBTUNE_REAL;
    made.as.real = *real;
  } else if (const auto* text = std::get_if<std::string>(&v)) {
    made.type = LIBTUNE_TEXT;
    made.as.text = keep(*text);
  }
  return made;
}

libtune_value value_store::keep(std::vector<double> numbers) {
  libtune_value made{};
  made.type = LIBTUNE_REALS;
  made.count = static_cast<std::int32_t>(numbers.size());
  made.as.reals = numbers_.emplace_back(std::move(numbers)).data();
  return made;
}

value_list::value_list(const std::vector<named_value>& values) {
  for (const named_value& each : values) {
    all_.push_back({store_.keep(each.name), store_.keep(each.value)});
  }
}

void value_list::give(const libtune_named_value** values, std::size_t* count) const {
  required(values, "the place for the values") = all_.data();
  required(count, "the place for their number") = all_.size();
}

std::vector<libtune_value>& table_builder::cells_of(const std::string& column) {
  if (!made_) made_ = std::make_unique<libtune_table>();
  const auto [found, is_new] = places_.try_emplace(column, made_->columns.size());
  if (is_new) made_->columns.push_back({column, {}});
  auto& cells = made_->columns[found->second].cells;
  cells.resize(rows_);
  return cells;
}

void table_builder::reserve(const std::string& column) { static_cast<void>(cells_of(column)); }

void table_builder::set(const std::string& column, const value& v) {
  auto& cells = cells_of(column);
  cells.back() = made_->store.keep(v);
}

void table_builder::set(const std::string& column, std::vector<double> numbers) {
  auto& cells = cells_of(column);
  cells.back() = made_->store.keep(std::move(numbers));
}

void table_builder::give(libtune_table** out) && {
  if (!made_) made_ = std::make_unique<libtune_table>();
  made_->rows = rows_;
  for (auto& each : made_->columns) each.cells.resize(rows_);
  required(out, "the place for the table") = made_.release();
}

std::string apart_from(const std::set<std::string>& others, const std::string& prefix,
                       const std::string& name) {
  return others.contains(name) ? prefix + name : name;
}

void set_option(tuning_options& options, const std::string& name, const char* text) {
  static const tuning_options defaults;
  constexpr std::array modes{"tune", "resume", "cached", "default", "force", "behind"};
  constexpr std::array matches{"exact", "nearest", "verify"};
  constexpr std::array isolations{"automatic", "on", "off"};
  constexpr std::array checks{"every", "finalists", "none"};
  const bool is_set = text != nullptr;
  const std::string given = text_of(text);
  const auto no_such = [&](const char* like) {
    return argument_error("the option '" + name + "' is '" + given + "', not like '" + like + "'");
  };
  if (name == "database") {
    options.database = is_set ? std::optional(given) : std::nullopt;
  } else if (name == "mode") {
    options.mode = is_set ? std::optional(word_of<tuning_mode>(modes, name, given)) : std::nullopt;
  } else if (name == "match") {
    options.match =
        is_set ? std::optional(word_of<match_mode>(matches, name, given)) : std::nullopt;
  } else if (name == "strategy") {
    tuning_options changed = options;
    changed.strategy = given;
    if (is_set) require_strategy(changed);
    options.strategy = given;
  } else if (name == "seed") {
    options.search.seed = is_set ? number_of<std::uint64_t>(name, given) : 0;
  } else if (name == "budget") {
    options.budget = is_set ? budget_from_text(given) : std::nullopt;
    if (is_set && !options.budget) throw no_such("30 s, 200 trials");
  } else if (name == "objective") {
    options.goal = is_set ? goal_from_text(given) : std::nullopt;
    if (is_set && !options.goal) throw no_such("max gflops, power <= 100");
  } else if (name == "isolation") {
    options.isolation =
        is_set ? std::optional(word_of<isolation_mode>(isolations, name, given)) : std::nullopt;
  } else if (name == "verify") {
    options.verify =
        is_set ? std::optional(word_of<result_check>(checks, name, given)) : std::nullopt;
  } else if (name == "wait") {
    options.wait = is_set ? std::optional<std::chrono::milliseconds>(
                                std::chrono::seconds(number_of<std::uint32_t>(name, given)))
                          : std::nullopt;
  } else {
    throw argument_error("there is no option '" + name +
                         "'; there are database, mode, match, strategy, seed, budget, objective, "
                         "isolation, verify and wait");
  }
}

element_type element_type_of(const char* name) {
  const std::string wanted = text_of(name);
  const auto half = element_type::of<operations::complex_half>();
  return wanted == half.name() || wanted == "complex_half" ? half
                                                           : element_type(dtype_from_name(wanted));
}

void require_bytes(const element_type& type, const shape& size, std::size_t bytes) {
  const std::size_t needed = array_layout(type, size).bytes();
  if (bytes == needed) return;
  throw argument_error("an array " + to_string(size) + " of " + std::string(type.name()) + " has " +
                       std::to_string(needed) + " bytes, and " + std::to_string(bytes) +
                       " were given");
}

}  // namespace tune::c_api

using tune::c_api::guarded;
using tune::c_api::required;

const char* libtune_last_error(void) {
  return tune::c_api::no_memory_for_it ? "there is no memory for the text of the error"
                                       : tune::c_api::last_error.c_str();
}

libtune_status libtune_set_last_error(const char* message) {
  tune::c_api::keep_error(message == nullptr ? "" : message);
  return LIBTUNE_OK;
}

libtune_status libtune_stop_by(libtune_stop_function function, void* user) {
  tune::c_api::stop_asked = {function, user};
  return LIBTUNE_OK;
}

const char* libtune_status_name(libtune_status status) {
  switch (status) {
    case LIBTUNE_OK: return "LIBTUNE_OK";
    case LIBTUNE_NOT_FOUND: return "LIBTUNE_NOT_FOUND";
    case LIBTUNE_SKIPPED: return "LIBTUNE_SKIPPED";
    case LIBTUNE_ERROR: return "LIBTUNE_ERROR";
    case LIBTUNE_ARGUMENT_ERROR: return "LIBTUNE_ARGUMENT_ERROR";
    case LIBTUNE_TYPE_ERROR: return "LIBTUNE_TYPE_ERROR";
    case LIBTUNE_ENVIRONMENT_ERROR: return "LIBTUNE_ENVIRONMENT_ERROR";
    case LIBTUNE_NO_DEVICE: return "LIBTUNE_NO_DEVICE";
    case LIBTUNE_DEVICE_ERROR: return "LIBTUNE_DEVICE_ERROR";
    case LIBTUNE_OUT_OF_MEMORY: return "LIBTUNE_OUT_OF_MEMORY";
    case LIBTUNE_BUILD_ERROR: return "LIBTUNE_BUILD_ERROR";
    case LIBTUNE_DATABASE_ERROR: return "LIBTUNE_DATABASE_ERROR";
    case LIBTUNE_NOT_TUNED: return "LIBTUNE_NOT_TUNED";
    case LIBTUNE_TUNING_FAILED: return "LIBTUNE_TUNING_FAILED";
    case LIBTUNE_STOPPED: return "LIBTUNE_STOPPED";
  }
  return "unknown";
}

const char* libtune_version(void) { return tune::library_version().data(); }

int libtune_abi(void) { return LIBTUNE_C_ABI; }

libtune_status libtune_table_size(const libtune_table* table, size_t* rows, size_t* columns) {
  return guarded([&] {
    required(rows, "the place for the rows") = required(table, "the table").rows;
    required(columns, "the place for the columns") = table->columns.size();
  });
}

libtune_status libtune_table_column(const libtune_table* table, size_t column, const char** name,
                                    const libtune_value** values) {
  return guarded([&] {
    const auto& all = required(table, "the table").columns;
    if (column >= all.size()) {
      throw tune::argument_error("the table has no column " + std::to_string(column) + ", only " +
                                 std::to_string(all.size()));
    }
    required(name, "the place for the name") = all[column].name.c_str();
    required(values, "the place for the values") = all[column].cells.data();
  });
}

libtune_status libtune_table_destroy(libtune_table* table) { return tune::c_api::destroy(table); }
