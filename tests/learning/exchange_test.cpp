// Sums carried by schedules, for every algorithm and compression.
#include "learning/exchange.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "learning/numpy_random.hpp"

namespace farandole::exchange_test { namespace {

constexpr MatrixShape matrix{12, 10};

std::vector<Vector> random_vectors(int ranks, Eigen::Index length, std::uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<Vector> vectors(static_cast<std::size_t>(ranks), Vector(length));
  for (Vector& vector : vectors) {
    for (double& element : vector) element = random.normal();
  }
  return vectors;
}

Vector sum_of(const std::vector<Vector>& vectors) {
  Vector sum = Vector::Zero(vectors.front().size());
  for (const Vector& vector : vectors) sum += vector;
  return sum;
}

Exchange exchange_by(Operation operation, const std::string& algorithm, int ranks,
                     CompressionSettings compression = {}) {
  Carrier carrier([=](Operation wanted) {
    return find_algorithm(wanted, wanted == operation ? algorithm : "ring")->build(Shape(ranks));
  });
  return {std::move(carrier), operation, compression, matrix};
}

RC_GTEST_PROP(Exchange, GivesEveryRankTheSumByEveryAllreduceAndAllgather, ()) {
  const int ranks = *rc::gen::inRange(1, 10);
  const Eigen::Index length = *rc::gen::inRange(1, 40);
  const auto vectors = random_vectors(ranks, length, 5);
  for (const Algorithm& row : algorithms()) {
    if (row.operation != Operation::allreduce && row.operation != Operation::allgather) continue;
    auto exchanged = vectors;
    exchange_by(row.operation, row.name, ranks).sum(exchanged);
    for (const Vector& held : exchanged) RC_ASSERT((held - sum_of(vectors)).norm() < 1e-12 * ranks);
  }
}

TEST(Exchange, InHalfPrecisionRoundsTheSumToElevenBits) {
  const auto vectors = random_vectors(4, 100, 5);
  auto exchanged = vectors;
  exchange_by(Operation::allreduce, "ring", 4, {Compression::fp16}).sum(exchanged);
  const Vector error = exchanged[0] - sum_of(vectors);
  EXPECT_GT(error.norm(), 0);
  EXPECT_LT(error.cwiseAbs().maxCoeff(), 8 * std::ldexp(1.0, -11) * 4);  // a rounding per summand, of numbers below 8
}

/// A half has 11 bits, a bfloat16 8: a rounding of every summand and of every partial sum, of numbers below 8.
TEST(Exchange, OfShortGradientsAddsUpInTheirType) {
  const auto vectors = random_vectors(4, 100, 5);
  for (const auto& [type, compression, bits] :
       {std::tuple{GradientType::fp16, Compression::none, 11}, std::tuple{GradientType::bf16, Compression::none, 8},
        std::tuple{GradientType::bf16, Compression::fp16, 8}, std::tuple{GradientType::fp16, Compression::bf16, 8}}) {
    auto exchanged = vectors;
    Exchange exchange = exchange_by(Operation::allreduce, "ring", 4, {compression});
    exchange.use_gradient_type(type);
    exchange.sum(exchanged);
    const Vector error = exchanged[0] - sum_of(vectors);
    EXPECT_GT(error.norm(), 1e-6 * std::ldexp(1.0, -bits));
    EXPECT_LT(error.cwiseAbs().maxCoeff(), 8 * std::ldexp(1.0, -bits) * 8);
  }
}

TEST(Exchange, CompressionToTheTypeThatGradientsHaveChangesNoNumber) {
  auto plain = random_vectors(4, 100, 5);
  auto compressed = plain;
  Exchange exchange = exchange_by(Operation::allreduce, "ring", 4);
  exchange.use_gradient_type(GradientType::fp16);
  exchange.sum(plain);
  Exchange twice = exchange_by(Operation::allreduce, "ring", 4, {Compression::fp16});
  twice.use_gradient_type(GradientType::fp16);
  twice.sum(compressed);
  for (std::size_t rank = 0; rank < plain.size(); ++rank) EXPECT_EQ(plain[rank], compressed[rank]);
}

/// What was sent and what is kept back make up what was to be sent: after k exchanges of the same vectors
///   sum of results + residuals = k * sum of vectors, and the residuals stay bounded.
TEST(Exchange, WithErrorFeedbackLosesNothingInTheLongRun) {
  const auto vectors = random_vectors(4, 130, 5);
  for (const Compression kind : {Compression::top_k, Compression::one_bit, Compression::power_sgd}) {
    Exchange exchange = exchange_by(kind == Compression::power_sgd ? Operation::allreduce : Operation::allgather,
                                    "ring", 4, {kind, 0.1, 1, true});
    Vector received = Vector::Zero(130);
    constexpr int rounds = 400;
    for (int round = 0; round < rounds; ++round) {
      auto exchanged = vectors;
      exchange.sum(exchanged);
      received += exchanged[3];
    }
    EXPECT_LT((received / rounds - sum_of(vectors)).norm(), 0.2 * sum_of(vectors).norm()) << name(kind);
  }
}

TEST(Exchange, WithoutErrorFeedbackLosesTheSameEveryTime) {
  const auto vectors = random_vectors(2, 50, 5);
  Exchange exchange = exchange_by(Operation::allgather, "ring", 2, {Compression::top_k, 0.1, 4, false});
  auto first = vectors;
  exchange.sum(first);
  auto second = vectors;
  exchange.sum(second);
  EXPECT_EQ(first[0], second[0]);
  EXPECT_GT((first[0] - sum_of(vectors)).norm(), 0.5);
}

/// A matrix of rank one is exactly a product of two vectors; the part that is no matrix travels whole.
TEST(PowerSgd, IsExactForMatricesOfItsRank) {
  NumpyRandom random(2);
  Vector column(matrix.rows);
  Vector row(matrix.columns);
  for (double& element : column) element = random.normal();
  for (double& element : row) element = random.normal();
  const Matrix product = column * row.transpose();
  Vector gradient(product.size() + 3);
  gradient << Eigen::Map<const Vector>(product.data(), product.size()), 1, 2, 3;
  std::vector<Vector> exchanged{gradient, 2 * gradient, 3 * gradient};
  exchange_by(Operation::allreduce, "ring", 3, {Compression::power_sgd, 0.01, 1, false}).sum(exchanged);
  for (const Vector& held : exchanged) EXPECT_LT((held - 6 * gradient).norm(), 1e-10 * gradient.norm());
}

TEST(Codec, KeepsTheLargestElements) {
  const Vector values = (Vector(5) << 1, -7, 3, 0, 5).finished();
  EXPECT_THAT(sent_and_decoded({Compression::top_k, 0.4}, values), testing::ElementsAre(0, -7, 0, 0, 5));
}

TEST(Codec, SendsTwoMeansForOneBit) {
  const Vector values = (Vector(4) << 1, -2, 3, -6).finished();
  EXPECT_THAT(sent_and_decoded({Compression::one_bit}, values), testing::ElementsAre(2, -4, 2, -4));
}

/// |error| <= half a step = largest / 254
TEST(Codec, RoundsToABytePerElement) {
  const Vector values = random_vectors(1, 100, 7).front();
  const double most = values.cwiseAbs().maxCoeff() / 254;
  EXPECT_LE((sent_and_decoded({Compression::int8}, values) - values).cwiseAbs().maxCoeff(), most * (1 + 1e-9));
  EXPECT_EQ(sent_and_decoded({Compression::int8}, Vector::Zero(3)), Vector::Zero(3));
}

}}  // namespace farandole::exchange_test
