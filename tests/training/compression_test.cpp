#include "training/compression.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "training/coding.hpp"

namespace farandole::compression_test { namespace {

using testing::HasSubstr;

/// Kernels start at once and stream a byte a second.
const Coder memory{1_Bps};

/// A matrix of 100 x 50 and a vector of 100, in fp32.
Job matrix_and_vector() {
  return {{{"w", 20000_B, 0_s, 0_s, 100, 50}, {"b", 400_B, 0_s, 0_s, 100, 1}}, 0_s, 0_s};
}

std::vector<WirePiece> pieces_of(const CompressionSettings& compression, const Job& job, int ranks) {
  std::vector<int> all(job.gradients.size());
  std::iota(all.begin(), all.end(), 0);
  return on_the_wire(compression, job, all, ranks, memory);
}

TEST(Compression, HalvesFp32AndLeavesFp16Alone) {
  const auto pieces = pieces_of({Compression::fp16}, matrix_and_vector(), 8);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].operation, Operation::allreduce);
  EXPECT_EQ(pieces[0].size, 10200_B);
  EXPECT_EQ(pieces[0].before, 0_s);  // encoded where the backward pass runs
  EXPECT_DOUBLE_EQ(pieces[0].after.si(), 20400 + 10200);
  Job half = matrix_and_vector();
  half.element = 2_B;
  const auto none = pieces_of({Compression::fp16}, half, 8);
  EXPECT_EQ(none[0].size, half.gradient_bytes());
  EXPECT_EQ(none[0].before, 0_s);
}

TEST(Compression, TopKGathersValuesAndIndicesOfAllRanks) {
  // 1 % of 5000 and of 100 elements: 50 + 1, 8 bytes each, from 8 ranks.
  const auto pieces = pieces_of({Compression::top_k, 0.01}, matrix_and_vector(), 8);
  EXPECT_EQ(pieces[0].operation, Operation::allgather);
  EXPECT_EQ(pieces[0].size, 51 * 8 * 8_B);
  EXPECT_DOUBLE_EQ(pieces[0].after.si(), 20400 + 8 * 2 * 51 * 8);  // clear, then add 8 selections
}

TEST(Compression, OneBitSendsABitPerElementAndTwoMeans) {
  const auto pieces = pieces_of({Compression::one_bit}, matrix_and_vector(), 4);
  EXPECT_EQ(pieces[0].size, 4 * (625_B + 8_B + 13_B + 8_B));  // 5000 / 8, 100 / 8 rounded up
}

TEST(Compression, PowerSgdReducesVectorsWholeThenOneFactorOfMatricesAndThenTheOther) {
  // Rank 2: P is 100 x 2 and Q is 50 x 2.
  const auto pieces = pieces_of({Compression::power_sgd, 0.01, 2}, matrix_and_vector(), 4);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].operation, Operation::allreduce);
  EXPECT_EQ(pieces[0].size, 400_B);
  EXPECT_EQ(pieces[1].size, 800_B);
  EXPECT_EQ(pieces[2].size, 400_B);
}

TEST(Compression, PowerSgdLeavesMatricesAloneThatItWouldNotHalve) {
  // 2 (100 + 50) 20 > 100 x 50.
  const auto pieces = pieces_of({Compression::power_sgd, 0.01, 20}, matrix_and_vector(), 4);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].size, 20400_B);
}

RC_GTEST_PROP(Compression, NeverMakesARankSendMoreThanItsGradientAndAFewBytes, ()) {
  const double rows = *rc::gen::inRange(1, 500);
  const double columns = *rc::gen::inRange(1, 500);
  const Job job{{{"w", Bytes(4 * rows * columns), 0_s, 0_s, rows, columns}}, 0_s, 0_s};
  const auto kind = static_cast<Compression>(*rc::gen::inRange(0, static_cast<int>(compressions().size())));
  const Bytes sent = compressed_size({kind, 0.5}, job, job.gradients[0]);
  RC_ASSERT(sent > Bytes(0));
  RC_ASSERT(sent <= job.gradients[0].size + 9_B);
}

std::string error_of(const std::string& text) {
  const Document document = Document::parse(text, "s.json");
  try {
    read_compression(document.root());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Compression, IsReadByNameOrWithSettings) {
  const Document document = Document::parse(R"({"kind": "top_k", "keep": "5 %", "error_feedback": false})", "s.json");
  const CompressionSettings settings = read_compression(document.root());
  EXPECT_EQ(settings.kind, Compression::top_k);
  EXPECT_EQ(describe(settings), "top_k, 5 % kept, no error feedback");
  EXPECT_EQ(error_of(R"("bf16")"), "no error");
}

TEST(Compression, RefusesWhatDoesNotBelong) {
  EXPECT_THAT(error_of(R"("top-k")"), HasSubstr("did you mean \"top_k\"?"));
  EXPECT_THAT(error_of(R"({"kind": "fp16", "keep": "5 %"})"), HasSubstr("keep"));
  EXPECT_THAT(error_of(R"({"kind": "top_k", "keep": "0 %"})"), HasSubstr("a percentage above 0 % and up to 100 %"));
}

}}  // namespace farandole::compression_test
