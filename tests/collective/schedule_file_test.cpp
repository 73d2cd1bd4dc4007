// Algorithms from files: accepted when proved, refused with place, chunk and rank.
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/files/read_schedule.hpp"
#include "collective/proof.hpp"

namespace farandole::schedule_file_test { namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view pair_json = R"({
  "name": "pair", "op": "allreduce", "ranks": 2, "chunks": 1,
  "phases": [
    {"name": "exchange", "transfers": [
      {"from": 0, "to": 1, "chunk": 0, "action": "reduce"},
      {"from": 1, "to": 0, "chunk": 0, "action": "reduce"}]}]
})";

Schedule parsed(const std::string& text) {
  const Document document = Document::parse(text, "own.json");
  Schedule schedule = parse_schedule(document.root());
  require_proof(schedule, document.root().place());
  return schedule;
}

std::string changed(std::string_view text, const std::string& from, const std::string& to) {
  std::string result(text);
  result.replace(result.find(from), from.size(), to);
  return result;
}

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(AlgorithmFile, InJsonIsReadAndProved) {
  const Schedule schedule = parsed(std::string(pair_json));
  EXPECT_EQ(schedule.algorithm, "pair");
  EXPECT_EQ(rounds(schedule), 1);
}

TEST(AlgorithmFile, ThatDoesNotComputeItsOperationIsRefusedWithChunkAndRank) {
  EXPECT_THAT(refusal([] { parsed(changed(pair_json, "\"reduce\"}]", "\"copy\"}]")); }),
              AllOf(HasSubstr("own.json:1"), HasSubstr("expected an algorithm that computes allreduce"),
                    HasSubstr("chunk 0 of rank 0 ends with rank 0's contribution 0 times, not once")));
}

TEST(AlgorithmFile, WithAnUnknownActionIsRefusedAtItsPlace) {
  EXPECT_THAT(refusal([] { parsed(changed(pair_json, "reduce\"},", "add\"},")); }),
              AllOf(HasSubstr("own.json:5"), HasSubstr("/phases/0/transfers/0/action")));
}

TEST(AlgorithmFile, TooLargeToBeProvedIsRefused) {
  EXPECT_THAT(refusal([] { parsed(changed(pair_json, "\"chunks\": 1", "\"chunks\": 1000000000")); }),
              HasSubstr("small enough to be proved"));
}

// What a receiver's buffer held before is nobody's contribution: counts do not show it, numbers do.
TEST(AlgorithmFile, ThatAddsToWhatABufferHappensToHoldIsRefused) {
  const std::string broadcast = R"({"name": "own", "op": "broadcast", "ranks": 3, "chunks": 1, "phases": [
    {"name": "p", "transfers": [{"from": 0, "to": 1, "chunk": 0, "action": "copy"},
                                {"from": 0, "to": 2, "chunk": 0, "action": "copy"}]}]})";
  EXPECT_EQ(parsed(broadcast).algorithm, "own");
  EXPECT_THAT(refusal([&] { parsed(changed(broadcast, "\"copy\"}]", "\"reduce\"}]")); }),
              AllOf(HasSubstr("own.json:1"), HasSubstr("expected an algorithm that computes broadcast"),
                    HasSubstr("element 0 of chunk 0 of rank 2")));
  const std::string allgather = R"({"name": "own", "op": "allgather", "ranks": 2, "chunks": 2, "phases": [
    {"name": "p", "transfers": [{"from": 0, "to": 1, "chunk": 0, "action": "copy"},
                                {"from": 1, "to": 0, "chunk": 1, "action": "copy"}]}]})";
  EXPECT_EQ(parsed(allgather).algorithm, "own");
  EXPECT_THAT(refusal([&] { parsed(changed(allgather, "\"copy\"}]", "\"reduce\"}]")); }),
              HasSubstr("chunk 1 of rank 0"));
}

TEST(AlgorithmFile, HasWeightsThatAreSizes) {
  const auto weighted = [](const std::string& weights) {
    std::string text = changed(pair_json, "\"chunks\": 1,", "\"chunks\": 1, \"weights\": " + weights + ",");
    return refusal([&] { parsed(text); });
  };
  EXPECT_EQ(weighted("[2]"), "not refused");
  EXPECT_THAT(weighted("[-1]"), HasSubstr("a weight of -1, where none is below zero"));
  EXPECT_THAT(weighted("[0]"), HasSubstr("weights that sum up to 0"));
  const std::string two = changed(changed(pair_json, "\"chunks\": 1,", "\"chunks\": 2, \"weights\": [-1, 3],"),
                                  "\"chunk\": 0,", "\"chunk\": 0, \"count\": 2,");
  EXPECT_THAT(refusal([&] { parsed(two); }), HasSubstr("a weight of -1"));
}

TEST(AlgorithmFile, MayPassOnWhatItAddsFromACopy) {
  const std::string text = R"({
    "name": "own_plain_ring", "op": "allreduce", "ranks": 3, "chunks": 2, "copies": 2,
    "phases": [{"name": "pass_on", "repeats": 2, "transfers": [
      {"from": 0, "to": 1, "chunk": 1, "action": "relay"},
      {"from": 1, "to": 2, "chunk": 1, "action": "relay"},
      {"from": 2, "to": 0, "chunk": 1, "action": "relay"}]}]
  })";
  EXPECT_EQ(rounds(parsed(text)), 2);
  EXPECT_THAT(refusal([&] { parsed(changed(text, "\"copies\": 2", "\"copies\": 1")); }),
              HasSubstr("is no copy to pass on"));
  EXPECT_THAT(refusal([&] { parsed(changed(text, "\"repeats\": 2", "\"repeats\": 1")); }),
              HasSubstr("chunk 0 of rank 0"));
}

TEST(AlgorithmFile, IsReadWithEveryNumberInItsPlace) {
  const Document document = Document::parse(R"({
    "name": "own", "op": "alltoall", "ranks": 3, "chunks": 9, "rows": 3, "root": 1, "copies": 2, "weights": [4, 5],
    "phases": [{"name": "all", "repeats": 2, "chunk_step": 3, "row_step": 4, "peer_step": 5, "fan": 6, "window": 7,
      "one_by_one": true, "bundle": [[1, 2], [-3, 4]],
      "transfers": [{"from": 1, "to": 2, "chunk": 8, "action": "reduce", "count": 9, "start": 10}]}]
  })",
                                            "own.json");
  const Schedule schedule = parse_schedule(document.root());
  EXPECT_EQ(std::tie(schedule.ranks, schedule.rows, schedule.root, schedule.copies), std::tuple(3, 3, 1, 2));
  EXPECT_EQ(schedule.chunks, 9);
  EXPECT_EQ(schedule.weights, (std::vector<double>{4, 5}));
  const Phase& phase = schedule.phases.at(0);
  EXPECT_EQ(std::tie(phase.repeats, phase.chunk_step, phase.row_step, phase.peer_step, phase.fan, phase.window),
            std::tuple(2, 3, 4, 5, 6, 7));
  EXPECT_TRUE(phase.one_by_one);
  ASSERT_EQ(phase.bundle.size(), 2U);
  EXPECT_EQ(std::tie(phase.bundle[1].row, phase.bundle[1].column), std::tuple(-3, 4));
  const Transfer& transfer = phase.transfers.at(0);
  EXPECT_EQ(std::tie(transfer.from, transfer.to, transfer.count, transfer.start), std::tuple(1, 2, 9, 10));
  EXPECT_EQ(transfer.chunk, 8);
  EXPECT_EQ(transfer.action, Action::reduce);
}

TEST(AlgorithmFile, MayServeParameters) {
  const std::string text = R"({
    "name": "own_server", "op": "parameter_server", "ranks": 3, "chunks": 2, "servers": 1, "first_worker": 1,
    "weights": [3, 1],
    "phases": [
      {"name": "push", "one_by_one": true, "transfers": [
        {"from": 1, "to": 0, "chunk": 0, "count": 2, "action": "reduce"},
        {"from": 2, "to": 0, "chunk": 0, "count": 2, "action": "reduce"}]},
      {"name": "pull", "one_by_one": true, "transfers": [
        {"from": 0, "to": 1, "chunk": 0, "count": 2, "action": "copy"},
        {"from": 0, "to": 2, "chunk": 0, "count": 2, "action": "copy"}]}]
  })";
  EXPECT_EQ(parsed(text).servers, 1);
  EXPECT_THAT(refusal([&] { parsed(changed(text, "\"servers\": 1", "\"servers\": 2")); }),
              HasSubstr("first worker 1, where 2 of 3 ranks serve"));
  EXPECT_THAT(refusal([&] { parsed(changed(text, "parameter_server", "allreduce")); }),
              HasSubstr("which are for a parameter server"));
}

/// A ring allreduce of two GPUs, in place, as MSCCL's compiler writes it.
constexpr std::string_view ring_xml = R"(<?xml version="1.0"?>
<!-- two GPUs -->
<algo name="pair_ring" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1">
  <gpu id="0" i_chunks="2" o_chunks="0" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="r" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="2" o_chunks="0" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrcs" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>)";

std::string xml_refusal(const std::string& text) {
  return refusal([&] { require_proof(parse_msccl(text, "own.xml"), {"own.xml", 1, ""}); });
}

TEST(MscclFile, IsReadAsRoundsAndProved) {
  const Schedule schedule = parse_msccl(ring_xml, "own.xml");
  EXPECT_EQ(disprove(schedule), std::nullopt);
  EXPECT_EQ(schedule.algorithm, "pair_ring");
  ASSERT_EQ(schedule.phases.size(), 2U);
  EXPECT_EQ(schedule.phases[0].transfers.size(), 2U);
  EXPECT_EQ(schedule.phases[0].transfers[0].action, Action::reduce);
  EXPECT_EQ(schedule.phases[1].transfers[0].action, Action::copy);
}

TEST(MscclFile, ThatOverwritesWhereItShouldAddIsRefusedWithChunkAndRank) {
  EXPECT_THAT(xml_refusal(changed(ring_xml, "rrcs", "rcs")),
              AllOf(HasSubstr("own.xml:1"), HasSubstr("chunk 0 of rank 0")));
}

TEST(MscclFile, WithAReceiveThatNothingMeetsIsRefusedAtItsLine) {
  EXPECT_THAT(
      xml_refusal(changed(ring_xml, "type=\"s\" srcbuf=\"i\" srcoff=\"0\"", "type=\"nop\" srcbuf=\"i\" srcoff=\"0\"")),
      AllOf(HasSubstr("own.xml:8"), HasSubstr("a send from GPU 1 that meets this receive")));
}

TEST(MscclFile, WhoseStepsWaitForOneAnotherIsRefused) {
  const std::string both =
      changed(changed(ring_xml, "type=\"s\" srcbuf=\"i\" srcoff=\"1\"", "type=\"rrcs\" srcbuf=\"i\" srcoff=\"1\""),
              "type=\"s\" srcbuf=\"i\" srcoff=\"0\"", "type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\"");
  const std::string text = changed(changed(both, "type=\"r\"", "type=\"nop\""), "type=\"r\"", "type=\"nop\"");
  EXPECT_THAT(xml_refusal(text), HasSubstr("steps that wait for one another"));
}

TEST(MscclFile, WithAScratchBufferIsRefusedAtItsLine) {
  EXPECT_THAT(xml_refusal(changed(ring_xml, "srcbuf=\"i\"", "srcbuf=\"s\"")),
              AllOf(HasSubstr("own.xml:6"), HasSubstr("i or o")));
}

TEST(MscclFile, WithADependencyBeforeABlocksFirstStepIsRefused) {
  EXPECT_THAT(xml_refusal(changed(ring_xml, "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"-1\"")),
              HasSubstr("a step to depend on"));
}

TEST(MscclFile, WithMoreChunksInAStepThanThereAreIsRefused) {
  for (const char* count : {"cnt=\"3\"", "cnt=\"0\"", "cnt=\"-1\""})
    EXPECT_THAT(xml_refusal(changed(ring_xml, "cnt=\"1\"", count)), HasSubstr("1 to 2 chunks")) << count;
}

// Each of them is looked at: 100,000 steps of 2^16 chunks would take hours, and more memory than there is.
TEST(MscclFile, WithMoreChunksInAllStepsThanCanBeLookedAtIsRefused) {
  std::string text =
      "<algo name=\"a\" nchunksperloop=\"65536\" ngpus=\"2\" coll=\"allreduce\">\n"
      "<gpu id=\"0\"><tb id=\"0\" send=\"1\" recv=\"-1\" chan=\"0\">\n";
  for (int step = 0; step < 65; ++step) {
    text += "<step type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"65536\"/>\n";
  }
  EXPECT_THAT(xml_refusal(text + "</tb></gpu></algo>"), HasSubstr("own.xml:67: /: expected at most 4194304 chunks"));
}

/// Rank 0's data passed on by another block of rank 1, which waits for it.
constexpr std::string_view relay_xml = R"(<algo name="relay" nchunksperloop="1" ngpus="3" coll="broadcast">
  <gpu id="0"><tb id="0" send="1" recv="-1" chan="0">
    <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
  </tb></gpu>
  <gpu id="1"><tb id="0" send="-1" recv="0" chan="0">
    <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
  </tb><tb id="1" send="2" recv="-1" chan="0">
    <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="0" deps="0"/>
  </tb></gpu>
  <gpu id="2"><tb id="0" send="-1" recv="1" chan="0">
    <step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
  </tb></gpu>
</algo>)";

TEST(MscclFile, WithADependencyThatIsNotThereIsRefused) {
  EXPECT_THAT(xml_refusal(changed(ring_xml, "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"7\"")),
              HasSubstr("a step to depend on"));
  // Counted from the third step on, which is the block's first, that is more than an int holds.
  EXPECT_THAT(xml_refusal(changed(relay_xml, "depid=\"0\" deps=\"0\"", "depid=\"1\" deps=\"2147483647\"")),
              HasSubstr("expected a step to depend on, got block 1, step 2147483647"));
}

TEST(MscclFile, MayWaitForAStepOfAnotherBlock) {
  EXPECT_EQ(rounds(parse_msccl(relay_xml, "own.xml")), 2);
  EXPECT_EQ(xml_refusal(std::string(relay_xml)), "not refused");
  EXPECT_THAT(xml_refusal(changed(relay_xml, "depid=\"0\" deps=\"0\"", "depid=\"-1\" deps=\"-1\"")),
              HasSubstr("rank 2"));
}

/// Rank 0's part of a sum waits at rank 1 until rank 2's is there; what rank 0 receives meanwhile may not be in it.
constexpr std::string_view buffered_xml = R"(<algo name="kept" nchunksperloop="1" ngpus="3" coll="reduce" root="1">
  <gpu id="0"><tb id="0" send="1" recv="2" chan="0">
    <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
    <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
  </tb></gpu>
  <gpu id="1"><tb id="0" send="-1" recv="2" chan="0">
    <step s="0" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
  </tb><tb id="1" send="-1" recv="0" chan="0">
    <step s="0" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="0" deps="0"/>
  </tb></gpu>
  <gpu id="2"><tb id="0" send="1" recv="-1" chan="0">
    <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
  </tb><tb id="1" send="0" recv="-1" chan="0">
    <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
  </tb></gpu>
</algo>)";

TEST(MscclFile, KeepsWhatABlockHasSentUntilItHasArrived) {
  EXPECT_EQ(xml_refusal(std::string(buffered_xml)), "not refused");
}

TEST(MscclFile, ThatIsNoXmlIsRefusedWithTheLine) {
  EXPECT_THAT(xml_refusal("<algo name=\"a\"\n  <gpu"), HasSubstr("own.xml:2"));
  EXPECT_THAT(xml_refusal(""), HasSubstr("the end of the file"));
  EXPECT_THAT(xml_refusal("<algo name=\"a\" name=\"b\"/>"), HasSubstr("only once"));
  EXPECT_THAT(xml_refusal("<algo name=\"a\">text</algo>"), HasSubstr("expected \"<\""));
  EXPECT_THAT(xml_refusal("<algo/>"), HasSubstr("an attribute \"coll\""));
}

}}  // namespace farandole::schedule_file_test
