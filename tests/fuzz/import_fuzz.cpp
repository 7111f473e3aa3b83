// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Texts as `tunedb import` and `tunedb tune` take them. What is understood of the exchange form is
// written out and read again, and is then the same.
#include <cstdlib>
#include <string_view>

#include "libtune/base/error.hpp"
#include "libtune/extra/formats/kernel_tuner_cache.hpp"
#include "libtune/extra/formats/t1.hpp"
#include "libtune/extra/formats/t4.hpp"
#include "libtune/extra/maintenance/json_document.hpp"

namespace {

void import_exchange(std::string_view text) {
  const tune::database_content content = tune::from_json_document(text);
  const std::string written = tune::to_json_document(content);
  const tune::database_content again = tune::from_json_document(written);
  if (tune::canonical_text(again) != tune::canonical_text(content)) std::abort();
}

void import_t4(std::string_view text) {
  if (tune::is_own_t4(text)) {
    tune::from_own_t4_text(text);
    return;
  }
  tune::from_t4_text(text, {.function = {.name = "fuzz.autotune", .version = 1}});
}

void import_kernel_tuner(std::string_view text) {
  content_of(tune::read_kernel_tuner_cache(text),
             {.function = {.name = "fuzz.autotune", .version = 1}});
}

void read_t1(std::string_view text) { tune::from_t1_text(text); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto import : {import_exchange, import_t4, import_kernel_tuner, read_t1}) {
    try {
      import(text);
    } catch (const tune::error&) {  // NOLINT(bugprone-empty-catch): it is what may come of it
    }
  }
  return 0;
}
