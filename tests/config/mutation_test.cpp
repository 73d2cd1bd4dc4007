// A small fuzzer for every build: seeded damage to a document must end in a Document or an InputError of one short
// line. The coverage-guided fuzzer is in tests/fuzz.
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/message.hpp"

namespace farandole::mutation_test { namespace {

constexpr std::string_view original = R"({
  "$schema": "../scenario.schema.json",
  "name": "horovod-512-roce25",
  "workload": {"model": "vgg16", "batch_per_rank": 64, "precision": "fp32"},
  "platform": {"topology": "roce25-4xp100", "ranks": 512, "nested": [[1, [2.5e-3, -0]], {"": null}]},
  "strategy": {"kind": "horovod", "settings": {"HOROVOD_CYCLE_TIME": "5"}, "fusion_threshold": "64 MiB"},
  "effects": {"straggler": {"ranks": [17, -1, 1.5], "slowdown": "10 %"}, "text": "\u00e9\n\ud83d\udc83 µs"},
  "flags": [true, false, null, 9223372036854775807, 18446744073709551615, 1e300]
})";

/// Reads the text; true where it is a document. Anything thrown but an InputError fails the test.
bool survives(std::string_view text) {
  try {
    const auto document = Document::parse(text, "mutant.json");
    return nlohmann::json::accept(document.to_json().dump());
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    EXPECT_TRUE(message.starts_with("mutant.json:")) << message;
    EXPECT_NE(message.find(": expected "), std::string_view::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string_view::npos) << message;
    EXPECT_EQ(message.find("json.exception"), std::string_view::npos) << message;
    EXPECT_LT(message.size(), 500U) << message;
    return false;
  }
}

std::size_t below(std::mt19937& random, std::size_t end) {
  return random() % end;
}

void damage(std::string& text, std::mt19937& random) {
  using namespace std::string_view_literals;
  constexpr auto alphabet = "{}[]:,\"\\/ \n\r\t0123456789.eE+-truefalsnu\x00\x01\x7f\x80\xc3\xed\xef\xff"sv;
  const std::size_t at = below(random, text.size());
  const char c = alphabet[below(random, alphabet.size())];
  switch (below(random, 5)) {
    case 0:
      text[at] = c;
      break;
    case 1:
      text.insert(at, 1, c);
      break;
    case 2:
      text.erase(at, 1 + below(random, 4));
      break;
    case 3:
      text.insert(below(random, text.size()), text.substr(at, 1 + below(random, 40)));
      break;
    default:
      text[at] = static_cast<char>(text[at] ^ static_cast<char>(1U << below(random, 8)));
  }
}

TEST(Mutation, LeavesTheOriginalADocument) {
  EXPECT_TRUE(survives(original));
}

TEST(Mutation, EveryTruncationIsRefused) {
  for (std::size_t length = 0; length < original.size(); ++length) {
    EXPECT_FALSE(survives(original.substr(0, length))) << length;
  }
}

TEST(Mutation, NoDamageCrashesTheReader) {
  std::mt19937 random(1);  // NOLINT: the same mutants on every machine
  std::size_t documents = 0;
  constexpr std::size_t mutants = 5000;
  for (std::size_t i = 0; i < mutants; ++i) {
    std::string text(original);
    for (std::size_t k = 0; k < 1 + i % 4; ++k) damage(text, random);
    documents += survives(text) ? 1U : 0U;
  }
  EXPECT_GT(documents, 0U);
  EXPECT_LT(documents, mutants);
}

TEST(Mutation, AgreesWithTheJsonLibraryOnWhatIsJson) {
  std::mt19937 random(2);  // NOLINT: the same mutants on every machine
  for (int i = 0; i < 3000; ++i) {
    std::string text(original);
    damage(text, random);
    // What we accept must be JSON; the reverse does not hold, for we refuse duplicate keys and more.
    EXPECT_TRUE(!survives(text) || nlohmann::json::accept(text)) << text;
  }
}

TEST(Mutation, NoPointerOrTextCrashesSet) {
  std::mt19937 random(3);  // NOLINT: the same mutants on every machine
  for (int i = 0; i < 3000; ++i) {
    auto document = Document::parse(original, "mutant.json");
    std::string pointer = "/platform/nested/0/1";
    std::string value = R"({"a": [1, "2 us"]})";
    damage(pointer, random);
    damage(value, random);
    try {
      document.set(pointer, value);
      EXPECT_FALSE(document.to_json().dump().empty());
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with("--set: ")) << error.what();
    }
  }
}

}}  // namespace farandole::mutation_test
