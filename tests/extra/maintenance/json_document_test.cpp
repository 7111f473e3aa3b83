// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/json_document.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "tests/store/random_content.hpp"
#include "tests/store/temporary_folder.hpp"

namespace json_document_test {

using tune::database_content;
using tune::database_reader;
using tune::from_json_document;
using tune::to_json_document;
using tune::testing::random_content;
using tune::testing::temporary_folder;
using json = nlohmann::ordered_json;

json sample() {
  random_content random(3);
  database_content content = random.next();
  while (content.functions.empty() || content.functions[0].results.empty() ||
         content.functions[0].searches.empty() || content.functions[0].searches[0].trials.empty()) {
    content = random.next();
  }
  content.functions.resize(1);
  return tune::detail::parse_json<json>(to_json_document(content));
}

TEST_CASE("an export read back is what was exported, whatever it is") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const database_content content = random_content(seed).next();
    const std::string text = to_json_document(content);
    CHECK(canonical_text(from_json_document(text)) == canonical_text(content));
    CHECK(to_json_document(from_json_document(text)) == text);
  }
}

TEST_CASE("a database that imports an export of another holds the same") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    const temporary_folder folder;
    merge_content(folder.file("from"), random_content(seed).next());
    const database_content content = database_reader(folder.file("from")).read_all();
    merge_content(folder.file("to"), from_json_document(to_json_document(content)));
    const database_content copy = database_reader(folder.file("to")).read_all();
    CHECK(canonical_text(copy) == canonical_text(content));
    CHECK(to_json_document(copy) == to_json_document(content));
  }
}

TEST_CASE("a document that is no export is refused with the reason") {
  CHECK_THROWS_WITH_AS(from_json_document("{"), doctest::Contains("not JSON"),
                       tune::argument_error);
  CHECK_THROWS_WITH_AS(from_json_document("[]"), doctest::Contains("format"), tune::argument_error);
  json newer = sample();
  newer["format_version"] = 2;
  CHECK_THROWS_WITH_AS(from_json_document(newer.dump()), doctest::Contains("newer"),
                       tune::argument_error);
}

TEST_CASE("a document that lacks any of its members is refused") {
  const json whole = sample();
  const json flat = whole.flatten();
  int refused = 0;
  for (const auto& [path, item] : flat.items()) {
    // The columns of a row are not the format's business.
    if (path.find("/columns/") != std::string::npos) continue;
    CAPTURE(path);
    json spoiled = whole;
    spoiled[json::json_pointer(path)] = {{"unexpected", json::array({1})}};
    CHECK_THROWS_AS(from_json_document(spoiled.dump()), tune::argument_error);
    ++refused;
  }
  CHECK(refused > 20);
}

TEST_CASE("what nests deeply is refused, not followed") {
  const std::string deep(100'000, '[');
  CHECK_THROWS_AS(from_json_document(deep), tune::argument_error);
  json spoiled = sample();
  spoiled["functions"][0]["name"] = "here";
  std::string text = spoiled.dump();
  const std::string whole = std::string(100'000, '[') + std::string(100'000, ']');
  text.replace(text.find("\"here\""), 6, whole);
  CHECK_THROWS_AS(from_json_document(text), tune::argument_error);
}

}  // namespace json_document_test
