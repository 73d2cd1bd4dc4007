#include "training/fusion.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::fusion_test { namespace {

using testing::ElementsAre;

using Group = std::vector<int>;

TEST(Fusion, PutsTensorsTogetherInOrderAsLongAsTheBufferHoldsThem) {
  EXPECT_THAT(fuse({4_MiB, 8_MiB, 50_MiB, 3_MiB}, 64_MiB), ElementsAre(Group{0, 1, 2}, Group{3}));
}

TEST(Fusion, AMisfitClosesTheBuffer) {
  // 40 + 30 > 64 closes the first buffer, although the 10 that follow would fit.
  EXPECT_THAT(fuse({40_MiB, 30_MiB, 10_MiB}, 64_MiB), ElementsAre(Group{0}, Group{1, 2}));
}

TEST(Fusion, ATensorLargerThanTheBufferTravelsAlone) {
  EXPECT_THAT(fuse({392_MiB, 1_MiB}, 64_MiB), ElementsAre(Group{0}, Group{1}));
}

TEST(Fusion, ABufferIsFilledToTheLastByte) {
  EXPECT_THAT(fuse({63_MiB, 1_MiB}, 64_MiB), ElementsAre(Group{0, 1}));
}

TEST(Fusion, AThresholdOfZeroSendsEveryTensorAlone) {
  EXPECT_THAT(fuse({1_B, 1_B, 1_B}, 0_B), ElementsAre(Group{0}, Group{1}, Group{2}));
}

std::vector<Bytes> any_sizes() {
  std::vector<Bytes> sizes;
  for (const int size : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000))) sizes.emplace_back(size);
  return sizes;
}

RC_GTEST_PROP(Fusion, EveryTensorTravelsOnceAndNoSharedBufferOverflows, ()) {
  const auto sizes = any_sizes();
  const Bytes threshold(*rc::gen::inRange(0, 3000));
  std::vector<int> seen;
  for (const auto& group : fuse(sizes, threshold)) {
    Bytes sum;
    for (const int member : group) sum += sizes[static_cast<std::size_t>(member)];
    RC_ASSERT(group.size() == 1 || sum <= threshold);
    seen.insert(seen.end(), group.begin(), group.end());
  }
  std::ranges::sort(seen);
  std::vector<int> all(sizes.size());
  std::iota(all.begin(), all.end(), 0);
  RC_ASSERT(seen == all);
}

RC_GTEST_PROP(Fusion, ALargerBufferNeverMakesMoreMessages, ()) {
  // Each of the larger buffers ends no earlier than the smaller one's.
  const auto sizes = any_sizes();
  const Bytes threshold(*rc::gen::inRange(0, 3000));
  RC_ASSERT(fuse(sizes, threshold * 2).size() <= fuse(sizes, threshold).size());
}

}}  // namespace farandole::fusion_test
