// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/shared/store_texts.hpp"

#include <array>
#include <fmt/format.h>
#include <span>
#include <unistd.h>

#include "libtune/base/json.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/extra/shared/shared_store.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune::detail {

std::string digest_of(const std::string& text) {
  return to_hex(sha256(std::as_bytes(std::span(text))));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string utf8_or_hex(const std::string& text) {
  const bool fits = is_utf8(text) && text.find('\0') == std::string::npos;
  return fits ? text : to_hex(std::as_bytes(std::span(text)));
}

std::vector<std::string> row_key(const function_identity& function, const record_key& key) {
  return {table_name(function), digest_of(canonical_arguments(key.arguments)),
          digest_of(canonical_text(key.device))};
}

std::vector<std::string> row_of(const function_content& one) {
  if (one.results.size() != 1 || !one.results.front().score_ns()) {
    throw argument_error("one result with its time is pushed at once");
  }
  const result_content& result = one.results.front();
  const device_identity device = result.device();
  std::string document = to_json_document({.functions = {one}});
  if (document.size() > shared_store::most_bytes) {
    throw shared_store_error(
        store_fault::row,
        fmt::format("a result of '{}' has {} bytes with its trials, and a shared store takes {} at "
                    "most",
                    one.function.name, document.size(), shared_store::most_bytes));
  }
  std::vector<std::string> row = row_key(one.function, {result.arguments, device});
  row.push_back(utf8_or_hex(to_string(result.arguments)));
  row.push_back(utf8_or_hex(device.name));
  row.push_back(utf8_or_hex(device.driver_version));
  row.push_back(fmt::format("{}", *result.score_ns()));
  row.push_back(text_of(result.columns, "tuned_at"));
  row.push_back(std::move(document));
  row.push_back(utf8_or_hex(host_name()));
  return row;
}

}  // namespace tune::detail
