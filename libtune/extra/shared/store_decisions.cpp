// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The part of a shared store that keeps decisions about new results.
#include <fmt/format.h>

#include "libtune/extra/shared/shared_store.hpp"
#include "libtune/extra/shared/store_connection.hpp"
#include "libtune/extra/shared/store_texts.hpp"

namespace tune {
namespace {

constexpr const char* promoted = "promoted";
constexpr const char* withdrawn = "withdrawn";

/// The begin of a reason, in whole characters.
std::string short_reason(const std::string& reason) {
  constexpr std::size_t longest = 4096;
  std::string text = detail::utf8_or_hex(reason);
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

}  // namespace

// One statement: the result and its decision are stored together or not at all.
void shared_store::promote(const function_content& one, const std::string& reason) {
  std::vector<std::string> values = detail::row_of(one);
  values.push_back(detail::utf8_or_hex(to_string(one.results.front().values)));
  values.push_back(short_reason(reason));
  const std::string sql = fmt::format(
      "WITH stored AS (INSERT INTO libtune.result AS present ({}) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7::double precision, $8, $9, $10) "
      "ON CONFLICT (function, key, device) DO UPDATE SET score_ns = excluded.score_ns, "
      "tuned_at = excluded.tuned_at, document = excluded.document, pushed_by = session_user, "
      "pushed_from = excluded.pushed_from, pushed_at = now() RETURNING 1) "
      "INSERT INTO libtune.decision (function, key, device, arguments, device_name, "
      "configuration, decision, reason, made_from) "
      "SELECT $1, $2, $3, $4, $5, $11, '{}', $12, $10 FROM stored",
      detail::result_columns, promoted);
  connection_->use(true, sql.c_str(), values);
}

void shared_store::withdraw(const function_identity& function, const record_key& key,
                            const std::vector<named_value>& configuration,
                            const std::string& reason) {
  std::vector<std::string> values = detail::row_key(function, key);
  values.push_back(detail::utf8_or_hex(to_string(key.arguments)));
  values.push_back(detail::utf8_or_hex(key.device.name));
  values.push_back(detail::utf8_or_hex(to_string(configuration)));
  values.push_back(short_reason(reason));
  values.push_back(detail::utf8_or_hex(detail::host_name()));
  const std::string sql = fmt::format(
      "INSERT INTO libtune.decision (function, key, device, arguments, device_name, "
      "configuration, decision, reason, made_from) "
      "VALUES ($1, $2, $3, $4, $5, $6, '{}', $7, $8)",
      withdrawn);
  connection_->use(true, sql.c_str(), values);
}

std::vector<shared_decision> shared_store::decisions(std::size_t most) {
  std::vector<shared_decision> found;
  const std::string sql = fmt::format(
      "SELECT function, arguments, device_name, configuration, decision, reason, made_by, "
      "made_from, to_char(made_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') "
      "FROM libtune.decision ORDER BY number DESC LIMIT {}",
      most);
  connection_->use(false, sql.c_str(), {}, [&](const auto& row) {
    found.push_back({.function = row.at(0),
                     .arguments = row.at(1),
                     .device = row.at(2),
                     .configuration = row.at(3),
                     .is_promoted = row.at(4) == promoted,
                     .reason = row.at(5),
                     .made_by = row.at(6),
                     .made_from = row.at(7),
                     .made_at = row.at(8)});
  });
  return found;
}

}  // namespace tune
