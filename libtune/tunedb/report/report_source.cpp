// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/report/report_source.hpp"

#include <array>
#include <fmt/format.h>
#include <span>
#include <sys/stat.h>
#include <utility>

#include "libtune/base/sha256.hpp"
#include "libtune/tunedb/report/report_page.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

report_json without_searches(const report_choice& choice) {
  return {{"format", "libtune report"},
          {"version", 1},
          {"made_at", utc_now()},
          {"databases", choice.databases},
          {"damaged", 0},
          {"functions", report_json::array()},
          {"devices", report_json::array()},
          {"searches", report_json::array()}};
}

}  // namespace

// Every commit changes the file, because it has a rollback journal, and no separate log.
std::string report_source::stamp() const {
  std::string text;
  for (const std::string& path : choice_.databases) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      text += "none;";
      continue;
    }
    text += fmt::format("{}.{}.{}.{}.{};", status.st_dev, status.st_ino, status.st_size,
                        status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return detail::to_hex(detail::sha256(std::as_bytes(std::span(text)))).substr(0, 32);
}

std::shared_ptr<const report_state> report_source::now() {
  const std::string stamp = this->stamp();  // before reading: a later change causes another read
  if (last_ && last_->stamp == stamp) return last_;
  std::string text;
  try {
    text = report_data(choice_);
  } catch (const nothing_found&) {
    text = report_text(without_searches(choice_));
  }
  last_ = std::make_shared<const report_state>(report_state{stamp, std::move(text)});
  return last_;
}

}  // namespace tune::cli
