// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/merge.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <ctime>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/stat.h>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "tests/store/random_content.hpp"
#include "tests/store/samples.hpp"
#include "tests/store/temporary_folder.hpp"

namespace merge_test {

using namespace tune::testing;
using namespace tune;
using json = nlohmann::ordered_json;

database_content read(const std::string& path) { return database_reader(path).read_all(); }

std::string merged(const std::vector<database_content>& contents) {
  const temporary_folder folder;
  for (const database_content& content : contents) merge_content(folder.file("db"), content);
  return canonical_text(read(folder.file("db")));
}

database_content one_result(std::optional<double> score, std::int64_t wgs = 64) {
  result_content result{.arguments = sample_key().arguments,
                        .values = sample_tuning(wgs),
                        .columns = {{"device_name", sample_device().name},
                                    {"device_platform", sample_device().platform},
                                    {"device_version", sample_device().driver_version},
                                    {"tuned_at", std::string("2024-01-31T12:00:00Z")}}};
  if (score) result.columns["score_ns"] = *score;
  return {.functions = {{.function = sample_function(), .results = {result}, .searches = {}}}};
}

std::string fill_by_the_library(const std::string& path) {
  tuning_database database(path);
  const tune::search_id search = database.begin_search(sample_function(), sample_key());
  database.add_trial(search, {.configuration = sample_tuning(64),
                              .outcome = "measured",
                              .samples_ns = {1500, 1501.5},
                              .score_ns = 1500,
                              .preparation = std::chrono::milliseconds(3)});
  database.add_trial(search, {.configuration = sample_tuning(4096),
                              .outcome = "over a device limit",
                              .message = "too many work items"});
  database.finish_search(search, "found");
  database.store(sample_function(), sample_key(), sample_tuning(64), 1500);
  database.store(sample_function("other", 3), sample_key(32), sample_tuning(32), std::nullopt);
  return path;
}

TEST_CASE("what one database holds, another holds after a merge, and the library finds it there") {
  const temporary_folder folder;
  const database_content content = read(fill_by_the_library(folder.file("from.db")));
  const merge_report report = merge_content(folder.file("to.db"), content);
  CHECK(report.results_added == 2);
  CHECK(report.searches_added == 1);
  CHECK(canonical_text(read(folder.file("to.db"))) == canonical_text(content));

  tuning_database database(folder.file("to.db"));
  REQUIRE(database.find(sample_function(), sample_key()));
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(64));
  const auto search = database.latest_search(sample_function(), sample_key());
  REQUIRE(search);
  CHECK(search->result == "found");
  CHECK(search->trials == tuning_database(folder.file("from.db"))
                              .latest_search(sample_function(), sample_key())
                              ->trials);
}

TEST_CASE("a second merge of the same contents changes nothing and says so") {
  const temporary_folder folder;
  const database_content content = read(fill_by_the_library(folder.file("db")));
  const merge_report report = merge_content(folder.file("db"), content);
  CHECK(report.results_added == 0);
  CHECK(report.results_replaced == 0);
  CHECK(report.results_kept == 2);
  CHECK(report.searches_added == 0);
  CHECK(report.searches_known == 1);
}

TEST_CASE("merging is idempotent, commutative and associative, whatever the databases hold") {
  for (unsigned seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    random_content random(seed);
    const database_content a = random.next();
    const database_content b = random.next();
    const database_content c = random.next();
    const std::string all = merged({a, b, c});
    CHECK(merged({a, a}) == merged({a}));
    CHECK(merged({a, b, a, b}) == merged({b, a}));
    CHECK(merged({c, b, a}) == all);
    CHECK(merged({b, a, c}) == all);
    const temporary_folder folder;
    merge_content(folder.file("bc"), b);
    merge_content(folder.file("bc"), c);
    CHECK(merged({a, read(folder.file("bc"))}) == all);
  }
}

TEST_CASE("what was measured wins over what was not, then the faster, then the smaller hash") {
  const auto winner = [](const database_content& a, const database_content& b) {
    const result_content& x = a.functions[0].results[0];
    const result_content& y = b.functions[0].results[0];
    CHECK(wins_over(x, y) != wins_over(y, x));
    return wins_over(x, y) ? 'a' : 'b';
  };
  CHECK(winner(one_result(std::nullopt, 1), one_result(1e9, 2)) == 'b');
  CHECK(winner(one_result(20), one_result(10)) == 'b');
  CHECK(winner(one_result(10, 64), one_result(10, 128)) ==
        (winner(one_result(10, 128), one_result(10, 64)) == 'a' ? 'b' : 'a'));
  CHECK_FALSE(
      wins_over(one_result(10).functions[0].results[0], one_result(10).functions[0].results[0]));
}

TEST_CASE("a merge may let the incoming result win, and its searches be the only ones of the key") {
  const temporary_folder folder;
  const std::string path = fill_by_the_library(folder.file("db"));
  database_content content = read(path);
  tuning_database database(folder.file("to"));
  database.store(sample_function(), sample_key(), sample_tuning(32), 1);
  const tune::search_id search = database.begin_search(sample_function(), sample_key());
  database.add_trial(search, {.configuration = sample_tuning(32), .outcome = "failed"});
  database.finish_search(database.begin_search(sample_function(), sample_key(16)), "found");
  merge_content(folder.file("to"), content, tune::merge_winner::incoming);
  CHECK(database.find(sample_function(), sample_key())->values == sample_tuning(64));
  CHECK(database.trials(sample_function(), sample_key()).size() == 2);
  CHECK(database.latest_search(sample_function(), sample_key(16)));
  const merge_report again =
      merge_content(folder.file("to"), content, tune::merge_winner::incoming);
  CHECK(again.results_kept == 2);
  CHECK(again.results_replaced == 0);
  CHECK(again.searches_added == 0);
}

TEST_CASE("what could never be stored is left out with the reason, and the rest is taken") {
  const auto check_left = [&](const auto& spoil, const std::string& reason) {
    CAPTURE(reason);
    const temporary_folder folder;
    database_content content = one_result(10);
    content.functions[0].results.push_back(content.functions[0].results[0]);
    content.functions[0].results[1].arguments = sample_key(65).arguments;
    const database_content good = content;
    spoil(content.functions[0]);
    const merge_report report = merge_content(folder.file("db"), content);
    CHECK(report.results_added + report.left == 2);
    CHECK(report.left > 0);
    REQUIRE(report.reasons.size() == 1);
    CHECK(report.reasons[0].find(reason) != std::string::npos);
    std::size_t stored = 0;
    for (const auto& one : read(folder.file("db")).functions) stored += one.results.size();
    CHECK(stored == report.results_added);
    // Nothing of it is in the way of the right one.
    CHECK(merge_content(folder.file("db"), good).results_added == report.left);
  };
  const auto column = [](const char* name, tune::column_value v) {
    return [=](function_content& one) { one.results[0].columns[name] = v; };
  };
  check_left(column("score_ns", -1.0), "-1");
  check_left(column("score_ns", std::numeric_limits<double>::infinity()), "inf");
  check_left(column("score_ns", std::string("fast")), "score_ns");
  check_left(column("later", 1.0), "later");
  check_left(column("device_platform", std::int64_t{1}), "device_platform");
  for (const tune::identity_column& one : tune::identity_columns()) {
    const bool is_text = std::holds_alternative<std::string>(one.get({}));
    check_left(column(one.name, is_text ? tune::column_value(std::int64_t{1})
                                        : tune::column_value(std::string("1024"))),
               one.name);
    if (!is_text) check_left(column(one.name, std::int64_t{-1}), one.name);
  }
  check_left([](auto& one) { one.results[0].columns.erase("device_name"); }, "device_name");
  check_left([](auto& one) { one.results[0].values[0].value = std::string("x"); }, "wgs");
  check_left([](auto& one) { one.results[0].values[0].value = std::int64_t{1} << 40; }, "wgs");
  check_left([](auto& one) { one.function.name = "a\"; DROP TABLE x; --"; }, "DROP TABLE");
  check_left([](auto& one) { one.function.key_fields[0].name = "a b"; }, "a b");
}

TEST_CASE("a search that could never be stored leaves nothing of itself behind") {
  const temporary_folder folder;
  database_content content = read(fill_by_the_library(folder.file("from.db")));
  auto& searches = content.functions[0].searches;
  REQUIRE(searches.size() == 1);
  SUBCASE("a bad time") { searches[0].trials[1].columns["score_ns"] = -1.0; }
  SUBCASE("a bad column of a trial") { searches[0].trials[1].columns["later"] = 1.0; }
  SUBCASE("no device") { searches[0].columns.erase("device_canonical"); }
  SUBCASE("a text where a number belongs") {
    searches[0].trials[1].columns["preparation_ns"] = std::string("x");
  }
  const merge_report report = merge_content(folder.file("db"), content);
  CHECK(report.left == 1);
  CHECK(report.results_added == 2);
  CHECK(report.searches_added == 0);
  SQLite::Database file(folder.file("db"));
  CHECK(file.execAndGet("SELECT count(*) FROM libtune_trial").getInt() == 0);
}

/// The processor time that this thread takes to merge a search into a database where its function
/// has so many others.
double merge_time_s(int others) {
  const temporary_folder folder;
  database_content content = read(fill_by_the_library(folder.file("from.db")));
  const tune::search_content search = content.functions[0].searches.at(0);
  content.functions[0].searches.clear();
  for (int i = 0; i < others; ++i) {
    content.functions[0].searches.push_back(search);
    content.functions[0].searches.back().columns["arguments_canonical"] = std::to_string(i);
  }
  merge_content(folder.file("db"), content);
  content.functions[0].searches = {search};
  const auto now_s = [] {
    ::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  const double begin_s = now_s();
  CHECK(merge_content(folder.file("db"), content).searches_added == 1);
  return now_s() - begin_s;
}

TEST_CASE("a merge of one search takes no longer where the function has many") {
  const double few_s = merge_time_s(1);
  CHECK(merge_time_s(1500) < 5 * few_s);
}

TEST_CASE("a row is written as its columns keep it, or left: none is damaged from the begin") {
  const temporary_folder folder;
  database_content content = one_result(10);
  content.functions[0].results[0].columns["score_ns"] = std::int64_t{10};
  content.functions[0].results.push_back(content.functions[0].results[0]);
  content.functions[0].results[1].arguments = sample_key(65).arguments;
  content.functions[0].results[1].columns["score_ns"] = std::string("10");
  const merge_report report = merge_content(folder.file("db"), content);
  CHECK(report.results_added == 1);
  CHECK(report.left == 1);
  REQUIRE(report.reasons.size() == 1);
  CHECK(report.reasons[0].find("'score_ns'") != std::string::npos);
  const database_content stored = read(folder.file("db"));
  REQUIRE(stored.functions.size() == 1);
  REQUIRE(stored.functions[0].results.size() == 1);
  CHECK(stored.functions[0].results[0].score_ns() == 10);
}

TEST_CASE("a report holds a hundred reasons of as many rows as there are") {
  const temporary_folder folder;
  database_content content = one_result(10);
  const auto sound = content.functions[0].results[0];
  for (int i = 1; i <= 150; ++i) {
    content.functions[0].results.push_back(sound);
    content.functions[0].results.back().arguments = sample_key(1000 + i).arguments;
    content.functions[0].results.back().columns["column_" + std::to_string(i)] = std::int64_t{1};
  }
  const merge_report report = merge_content(folder.file("db"), content);
  CHECK(report.results_added == 1);
  CHECK(report.left == 150);
  REQUIRE(report.reasons.size() == 101);
  CHECK(report.reasons[99].find("column_100") != std::string::npos);
  CHECK(report.reasons[100] == "there are more reasons than these");
}

TEST_CASE("a function with other fields is left, and the others are taken") {
  const temporary_folder folder;
  fill_by_the_library(folder.file("db"));
  database_content content = one_result(10);
  content.functions.push_back(content.functions[0]);
  content.functions[0].function.key_fields[0].type = tune::value_type::int64;
  content.functions[1].function.name = "new";
  const merge_report report = merge_content(folder.file("db"), content);
  CHECK(report.left == 1);
  CHECK(report.results_added == 1);
  REQUIRE(report.reasons.size() == 1);
  CHECK(report.reasons[0].find("arg_rows was int32 and is int64") != std::string::npos);
}

TEST_CASE("a database of another application or a newer libtune is left as it is") {
  const temporary_folder folder;
  for (const char* mark : {"PRAGMA application_id = 7", "PRAGMA user_version = 99"}) {
    CAPTURE(mark);
    const std::string path = folder.file(mark);
    fill_by_the_library(path);
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(mark);
    const std::string before = content_of(path);
    CHECK_THROWS_AS(merge_content(path, one_result(1)), tune::database_error);
    CHECK(content_of(path) == before);
  }
}

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
  for (const auto& member : flat.items()) {
    const std::string& path = member.key();
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

TEST_CASE("a backup holds what was committed, also while a transaction is half written") {
  const temporary_folder folder;
  merge_content(folder.file("db"), random_content(1).next());
  const std::string before = canonical_text(database_reader(folder.file("db")).read_all());
  SQLite::Database writer(folder.file("db"), SQLite::OPEN_READWRITE);
  writer.exec("BEGIN IMMEDIATE; DELETE FROM libtune_search");
  back_up_database(folder.file("db"), folder.file("copy"));
  writer.exec("ROLLBACK");
  CHECK(canonical_text(database_reader(folder.file("copy")).read_all()) == before);
}

TEST_CASE("a backup takes the place of what was there, and leaves no other file") {
  const temporary_folder folder;
  merge_content(folder.file("db"), random_content(1).next());
  std::ofstream(folder.file("copy")) << "something else";
  back_up_database(folder.file("db"), folder.file("copy"));
  CHECK_FALSE(database_reader(folder.file("copy")).read_all().functions.empty());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename();
    CHECK((name == "db" || name == "copy" || name == "db-lock"));
  }
}

TEST_CASE("a database is not backed up over itself, nor one that is not there") {
  const temporary_folder folder;
  merge_content(folder.file("db"), random_content(1).next());
  CHECK_THROWS_AS(back_up_database(folder.file("db"), folder.file("db")), tune::argument_error);
  CHECK_THROWS_AS(back_up_database(folder.file("none"), folder.file("copy")), tune::database_error);
  CHECK_FALSE(std::filesystem::exists(folder.file("none")));
}

}  // namespace merge_test
