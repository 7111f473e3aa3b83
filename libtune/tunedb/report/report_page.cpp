// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/report/report_page.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <span>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/sha256.hpp"

// The standard requires compilers to accept only 64 KiB; g++ and clang have no limit.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "columns.js.hpp"
#include "filter.js.hpp"
#include "page.js.hpp"
#include "pictures.js.hpp"
#include "report.css.hpp"
#include "report.html.hpp"
#include "search_figures.js.hpp"
#include "trial_figures.js.hpp"
#ifdef LIBTUNE_HAS_D3
#include "d3.min.js.hpp"
#endif
#pragma GCC diagnostic pop

namespace tune::cli {
namespace {

#ifdef LIBTUNE_HAS_D3
constexpr std::string_view d3 = embedded::d3_min_js;
#else
constexpr std::string_view d3{};
#endif

/// The files of report/ as one script; the first defines the namespace, the last starts it.
std::string own_script() {
  std::string script;
  for (const std::string_view part :
       {embedded::columns_js, embedded::filter_js, embedded::pictures_js,
        embedded::trial_figures_js, embedded::search_figures_js, embedded::page_js}) {
    script += part;
  }
  return script;
}

using replacement = std::pair<std::string_view, std::string_view>;

/// The template with each mark replaced by a text. Inserted texts are not searched for marks.
std::string filled(std::string_view form, std::initializer_list<replacement> replacements) {
  std::string page;
  for (std::size_t at = 0; at < form.size();) {
    std::size_t next = form.size();
    const replacement* found = nullptr;
    for (const replacement& one : replacements) {
      const std::size_t place = form.find(one.first, at);
      if (place >= next) continue;
      next = place;
      found = &one;
    }
    page += form.substr(at, next - at);
    if (found == nullptr) break;
    page += found->second;
    at = next + found->first.size();
  }
  return page;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8U | (i + j < bytes.size() ? std::to_integer<unsigned>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j > bytes.size() ? '=' : letters[group >> (18U - 6U * j) & 63U];
    }
  }
  return text;
}

std::string digest_of(std::string_view text) {
  const detail::sha256_digest digest = detail::sha256(std::as_bytes(std::span(text)));
  return "'sha256-" + base64(std::as_bytes(std::span(digest))) + "'";
}

}  // namespace

bool has_report_page() noexcept { return !d3.empty(); }

void require_report_page() {
  if (has_report_page()) return;
  throw error(
      "this tunedb was built without d3, which draws the report; install the package node-d3 of "
      "Debian or Ubuntu, configure again and build libtune");
}

std::string report_policy() {
  return fmt::format(
      "default-src 'none'; script-src {} {}; style-src {}; connect-src 'none'; base-uri 'none'; "
      "form-action 'none'",
      digest_of(d3), digest_of(own_script()), digest_of(embedded::report_css));
}

void write_report_page(const detail::text_sink& put, const std::function<void()>& put_data) {
  require_report_page();
  constexpr std::string_view mark = "{{data}}";
  const std::string policy = report_policy();
  const std::string script = own_script();
  const std::string_view form = embedded::report_html;
  const std::size_t place = form.find(mark);
  const auto fill = [&](std::string_view part) {
    return filled(part, {{"{{policy}}", policy},
                         {"{{style}}", embedded::report_css},
                         {"{{d3}}", d3},
                         {"{{script}}", script}});
  };
  put(fill(form.substr(0, place)));
  put_data();
  put(fill(form.substr(place + mark.size())));
}

std::string report_page(std::string_view text) {
  std::string page;
  write_report_page([&](std::string_view part) { page += part; }, [&] { page += text; });
  return page;
}

}  // namespace tune::cli
