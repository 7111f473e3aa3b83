// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/simulate/gunzip.hpp"

#include <doctest/doctest.h>
#include <string>
#include <zlib.h>

#include "libtune/base/error.hpp"

namespace gunzip_test {

std::string compressed(const std::string& text) {
  z_stream stream{};
  constexpr int gzip = 16;
  REQUIRE(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip + MAX_WBITS, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(deflateBound(&stream, text.size()) + 32, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 300'000; ++i) text += std::to_string(i);
  return text;
}

TEST_CASE("what was compressed comes back") {
  CHECK(tune::gunzip(compressed("")).empty());
  CHECK(tune::gunzip(compressed("abc")) == "abc");
  CHECK(tune::gunzip(compressed(long_text())) == long_text());
}

TEST_CASE("files joined end to end are read as one") {
  CHECK(tune::gunzip(compressed("abc") + compressed("def")) == "abcdef");
}

TEST_CASE("what is not compressed stays as it is") {
  CHECK(tune::gunzip("{}") == "{}");
  CHECK(tune::gunzip("").empty());
}

TEST_CASE("damaged and cut off files are errors") {
  const std::string whole = compressed(long_text());
  CHECK_THROWS_AS(tune::gunzip(whole.substr(0, whole.size() / 2)), tune::argument_error);
  CHECK_THROWS_AS(tune::gunzip(whole.substr(0, whole.size() - 1)), tune::argument_error);
  CHECK_THROWS_AS(tune::gunzip(whole.substr(0, 2)), tune::argument_error);
  std::string damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(~damaged[whole.size() / 2]);
  CHECK_THROWS_AS(tune::gunzip(damaged), tune::argument_error);
}

TEST_CASE("a file that unpacks to more than is allowed is refused") {
  CHECK(tune::gunzip(compressed("abc"), 3) == "abc");
  CHECK_THROWS_WITH_AS(tune::gunzip(compressed(long_text()), 1000),
                       "a gzip file holds more than 1000 bytes", tune::argument_error);
}

}  // namespace gunzip_test
