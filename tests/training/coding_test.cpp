// What encoding and decoding cost the device: bytes streamed, products, and kernels that have to be started.
#include "training/coding.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::coding_test { namespace {

/// A matrix of 100 x 50 and a vector of 100, in fp32, each ready a second after the one before.
Job matrix_and_vector() {
  return {{{"w", 20000_B, 0_s, 1_s, 100, 50}, {"b", 400_B, 0_s, 2_s, 100, 1}}, 3_s, 0_s};
}

Coding coding(const CompressionSettings& compression, const Coder& coder, int senders = 1) {
  const Job job = matrix_and_vector();
  return coding_of(compression, job, job.gradients[0], coder, senders);
}

const Coder streams{1_Bps};
/// Nothing takes longer than to start the next.
const Coder starts{BytesPerSecond::infinity(), 10_us};

TEST(Coding, OfHalfPrecisionReadsOneSizeAndWritesTheOther) {
  EXPECT_DOUBLE_EQ(coding({Compression::fp16}, streams).encode.si(), 20000 + 10000);
  EXPECT_DOUBLE_EQ(coding({Compression::fp16}, streams).decode.si(), 10000 + 20000);
  EXPECT_EQ(coding({Compression::bf16}, starts).encode, 10_us);
  Coder buckets = starts;
  buckets.by_bucket = true;
  EXPECT_EQ(coding({Compression::bf16}, buckets).encode, 0_s);
}

TEST(Coding, SelectsTheLargestInEighteenPassesOrInOneOverASample) {
  const double rest = 2 * 20000 + 50 * 8;  // residual twice, 50 values and indices
  CompressionSettings settings{Compression::top_k, 0.01};
  EXPECT_DOUBLE_EQ(coding(settings, streams).encode.si(), 18 * 20000 + rest);
  settings.selection = Selection::sampled;
  EXPECT_DOUBLE_EQ(coding(settings, streams).encode.si(), 20000 + rest);
  EXPECT_DOUBLE_EQ(coding(settings, streams, 8).decode.si(), 20000 + 8 * 2 * 50 * 8);
}

TEST(Coding, ABlockOfThreadsSelectsFromTwoMillionElementsInTheTimeThatWasMeasured) {
  // pytorch/pytorch issue 22812: 100 calls in 2.5577 s on a Quadro GP100, of 717 GB/s.
  const Coder gp100{717_GBps};
  const Job job{{{"g", Bytes(8e6), 0_s, 0_s, 2e6, 1}}, 0_s, 0_s};
  CompressionSettings settings{Compression::top_k, 0.0005};
  settings.selection = Selection::one_block;
  settings.error_feedback = false;
  EXPECT_NEAR(coding_of(settings, job, job.gradients[0], gp100).encode.si(), 25.577e-3, 0.5e-3);
}

TEST(Coding, AProductTakesItsArithmeticAtTheRateOfItsShape) {
  // P = M Q with rank 2: h = 2 x 2 x 50 / 52; 2 x 100 x 50 x 2 operations at h / (h + 10) of 1 kFLOP/s.
  Coder products{BytesPerSecond::infinity()};
  products.products = FlopPerSecond(1000);
  products.half = 10;
  CompressionSettings settings{Compression::power_sgd, 0.01, 2, false};
  const double h = 2.0 * 2 * 50 / 52;
  EXPECT_NEAR(coding(settings, products).encode.si(), 20000 / (1000 * h / (h + 10)), 1e-9);
  const double back = 2.0 * 50 * 2 / 52;  // P Q^T: 50 columns, of which each sums 2 products
  EXPECT_NEAR(coding(settings, products).decode.si(), 20000 / (1000 * back / (back + 10)), 1e-9);
}

TEST(Coding, AddsWhatWasLeftOutKeepsTheSumAndTakesOffWhatWasSent) {
  const CompressionSettings fed{Compression::power_sgd, 0.01, 2, true};
  const CompressionSettings not_fed{Compression::power_sgd, 0.01, 2, false};
  EXPECT_DOUBLE_EQ((coding(fed, streams).encode - coding(not_fed, streams).encode).si(), (3 + 2) * 20000);
  EXPECT_DOUBLE_EQ((coding(fed, streams).decode - coding(not_fed, streams).decode).si(), 3 * 20000);
}

TEST(Coding, MakesColumnsOfBothFactorsOrthogonalOneByOneOrByAFactorisation) {
  const Job job = matrix_and_vector();
  const auto starts_of = [&](int rank, Orthogonal by) {
    CompressionSettings settings{Compression::power_sgd, 0.01, rank, false};
    settings.orthogonal = by;
    const double between = between_factors(settings, job, job.gradients[0], starts) / 10_us - 1;  // but the product
    EXPECT_NEAR(coding(settings, starts).encode / 10_us - 1, between, 1e-9);
    return between;
  };
  EXPECT_NEAR(starts_of(4, Orthogonal::gram_schmidt), 4 * 3 + 3 * 4, 1e-9);
  EXPECT_NEAR(starts_of(4, Orthogonal::qr), 11, 1e-9);
  EXPECT_NEAR(starts_of(4, Orthogonal::by_rank), 11, 1e-9);
  EXPECT_NEAR(starts_of(2, Orthogonal::by_rank), 2 * 3 + 4, 1e-9);
}

TEST(Coding, MakesEveryGradientReadyLaterByWhatWasEncodedUpToIt) {
  const CompressionSettings settings{Compression::fp16};
  const Job job = encoded(matrix_and_vector(), settings, streams);
  EXPECT_DOUBLE_EQ(job.gradients[0].ready.si(), 1 + 30000);
  EXPECT_DOUBLE_EQ(job.gradients[1].ready.si(), 2 + 30000 + 600);
  EXPECT_DOUBLE_EQ(job.backward_end.si(), 3 + 30600);
  const Job plain = encoded(matrix_and_vector(), {}, streams);
  EXPECT_EQ(plain.backward_end, 3_s);
}

/// More of anything that takes time never makes it shorter.
RC_GTEST_PROP(Coding, NeverTakesLessOnASlowerDevice, ()) {
  CompressionSettings settings;
  settings.kind = static_cast<Compression>(*rc::gen::inRange(0, static_cast<int>(compressions().size())));
  settings.rank = *rc::gen::inRange(1, 20);
  settings.selection = static_cast<Selection>(*rc::gen::inRange(0, 3));
  settings.orthogonal = static_cast<Orthogonal>(*rc::gen::inRange(0, 3));
  const double rows = *rc::gen::inRange(1, 500);
  const double columns = *rc::gen::inRange(1, 500);
  const Job job{{{"w", Bytes(4 * rows * columns), 0_s, 0_s, rows, columns}}, 0_s, 0_s};
  const Coder fast{1_GBps, 5_us, 1_TFLOPps, 10};
  Coder slow = fast;
  slow.memory *= 0.5;
  slow.kernel *= 2;
  slow.products *= 0.5;
  const Coding quick = coding_of(settings, job, job.gradients[0], fast, 4);
  const Coding late = coding_of(settings, job, job.gradients[0], slow, 4);
  RC_ASSERT(quick.encode <= late.encode);
  RC_ASSERT(quick.decode <= late.decode);
  RC_ASSERT(between_factors(settings, job, job.gradients[0], fast) <=
            between_factors(settings, job, job.gradients[0], slow));
}

}}  // namespace farandole::coding_test
