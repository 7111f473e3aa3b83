// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/by_name/by_name.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/testing/devices.hpp"
#include "libtune/testing/run_tests.hpp"
#include "operations/by_name/operation_maker.hpp"
#include "operations/fill/fill.hpp"
#include "operations/telescope/by_name/telescope_by_name.hpp"
#include "operations/telescope/pfb/pfb.hpp"

namespace by_name_test {

using tune::operations::describe_parameters;
using tune::operations::make_template;
using tune::operations::parameter_stage;

std::string message_of(const auto& call) {
  try {
    call();
    return "";
  } catch (const tune::argument_error& failure) {
    return failure.what();
  }
}

TEST_CASE(
    "each parameter is described once, and no default is of another type than text or number") {
  tune::operations::register_telescope_operations();
  tune::operations::register_telescope_operations();  // which does nothing
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> operations;
  for (const auto& each : describe_parameters()) {
    CAPTURE(each.operation);
    CAPTURE(each.name);
    CHECK_FALSE(each.meaning.empty());
    operations.insert(each.operation);
    const std::string stage(parameter_stage_name(each.stage));
    CHECK(seen.insert({each.operation, stage + each.name}).second);
  }
  CHECK(seen.size() > 100);
  for (const char* name :
       {"fill", "transpose", "hreduce", "maskedsum", "percentile5", "fft", "gemm", "unpack", "pfb",
        "ddc", "quantise", "correlate", "correlate_reduce", "beamform", "rfi", "rfi2d"}) {
    CAPTURE(name);
    CHECK(operations.count(name) == 1);
  }
}

TEST_CASE("the parameters of a key are its fields, with their defaults") {
  using tune::operations::operation_maker;
  using tune::operations::pfb_key;
  operation_maker made("bank");
  made.add_fields<pfb_key>(parameter_stage::key,
                           {{"taps", "taps", true}, {"bits", "bits"}, {"unzip", "parts"}});
  CHECK(made.parameters()[0].default_value == tune::value{});
  CHECK(made.parameters()[1].default_value == tune::value{std::uint64_t{10}});
  CHECK(message_of([] {
          operation_maker("bank").add_fields<pfb_key>(parameter_stage::key, {{"tap", "taps"}});
        }).find("no field 'tap'") != std::string::npos);
  CHECK(message_of([] {
          operation_maker("bank").add_fields<pfb_key>(parameter_stage::key, {{"taps", "taps"}});
        }).find("3 fields, and 1 meanings") != std::string::npos);
}

/// Registers "ones", and "nothing" without a function. The table lasts as long as the process.
void register_ones() {
  using tune::operations::fill_template;
  using tune::operations::given_parameters;
  using tune::operations::operation_maker;
  static const bool done = [] {
    register_operation(
        operation_maker("ones")
            .add(parameter_stage::size, "count", {}, "of elements")
            .made_by([](const tune::context& in,
                        const given_parameters&) { return fill_template(in, tune::dtype::int32); },
                     [](const fill_template& of, const tune::command_queue& queue,
                        const given_parameters& size) {
                       auto made = of.instantiate(queue, {size.count("count")});
                       const std::int32_t one = 1;
                       made.set_value_bytes(std::as_bytes(std::span(&one, 1)));
                       return tune::operations::without_settings(std::move(made));
                     }));
    register_operation(operation_maker("nothing"));
    return true;
  }();
  CHECK(done);
}

void makes_registered_ones(const tune::context& context) {
  register_ones();
  auto queue = context.create_command_queue();
  const auto made = make_template(context, "ones", {})->instantiate(queue, {{"count", 3}});
  made.operation->run();
  CHECK(made.operation->buffer("data").get<std::int32_t>(queue)(2) == 1);
  CHECK(message_of([] {
          register_operation(tune::operations::operation_maker("fill"));
        }).find("'fill' is registered already") != std::string::npos);
  CHECK(message_of([&] { make_template(context, "nothing", {}); }).find("no function") !=
        std::string::npos);
}

void transposes(const tune::context& context) {
  auto queue = context.create_command_queue();
  const auto made = make_template(context, "transpose", {{"type", "int32"}});
  CHECK_FALSE(made->tuning().empty());
  const auto by_name = made->instantiate(queue, {{"rows", 2}, {"columns", std::uint64_t{3}}});
  tune::operation* const op = by_name.operation.get();
  op->ensure_all_bound();
  const std::vector<std::int32_t> numbers{1, 2, 3, 4, 5, 6};
  op->buffer("src").set(queue, tune::host_array<std::int32_t>::wrap_const(numbers, {2, 3}));
  op->run();
  const auto dest = op->buffer("dest").get<std::int32_t>(queue);
  CHECK(dest(2, 1) == 6);
  CHECK(dest(0, 1) == 4);
  CHECK(message_of([&] { by_name.set("value", std::int64_t{1}); }).find("it has none") !=
        std::string::npos);
}

void fills(const tune::context& context) {
  auto queue = context.create_command_queue();
  const auto filled = [&](const char* type, const tune::value& v) {
    const auto made = make_template(context, "fill", {{"type", type}});
    const auto by_name = made->instantiate(queue, {{"shape", "3x2"}});
    tune::operation* const op = by_name.operation.get();
    by_name.set("value", v);
    op->run();
    std::vector<std::byte> first(op->buffer("data").type().bytes());
    queue.read(op->buffer("data").buffer(), first.data(), first.size());
    return first;
  };
  const auto bytes_of = [](auto number) {
    std::vector<std::byte> bytes(sizeof(number));
    std::memcpy(bytes.data(), &number, sizeof(number));
    return bytes;
  };
  CHECK(filled("float32", 2.5) == bytes_of(2.5F));
  CHECK(filled("int64", std::int64_t{-9007199254740993}) ==
        bytes_of(std::int64_t{-9007199254740993}));
  CHECK(filled("uint64", std::uint64_t{18446744073709551615U}) ==
        bytes_of(std::uint64_t{18446744073709551615U}));
  CHECK(filled("int8", -3.0) == bytes_of(std::int8_t{-3}));
  CHECK_THROWS_AS(filled("uint8", std::int64_t{-1}), tune::type_error);
  CHECK_THROWS_AS(filled("int16", 1.5), tune::type_error);
  CHECK_THROWS_AS(filled("float32", "many"), tune::type_error);
}

void refuses(const tune::context& context) {
  auto queue = context.create_command_queue();
  const auto mentions = [](const std::string& message, const char* text) {
    CAPTURE(message);
    CHECK(message.find(text) != std::string::npos);
  };
  mentions(message_of([&] { make_template(context, "turn", {}); }),
           "fill, transpose, hreduce, maskedsum, percentile5, fft, gemm");
  mentions(message_of([&] { make_template(context, "fill", {{"size", 3}}); }), "it has type");
  mentions(message_of([&] { make_template(context, "fft", {}); }), "needs the parameter 'size'");
  mentions(message_of([&] { make_template(context, "fft", {{"size", "4y4"}}); }), "64x1024");
  mentions(message_of([&] {
             make_template(context, "hreduce", {{"operation", "a * b"}});
           }),
           "identity");
  mentions(message_of([&] { make_template(context, "fill", {{"type", "text"}}); }), "float32");
  const auto made = make_template(context, "transpose", {});
  mentions(message_of([&] { made->instantiate(queue, {{"rows", 2}}); }), "'columns'");
  mentions(message_of([&] {
             made->instantiate(queue, {{"rows", -2}, {"columns", 2}});
           }),
           "less than zero");
}

LIBTUNE_DEVICE_TEST_CASE("operations are made by their names", device) {
  const tune::context context = device.create_context();
  transposes(context);
  fills(context);
  refuses(context);
  makes_registered_ones(context);
}

}  // namespace by_name_test
