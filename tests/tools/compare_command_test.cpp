// farandole compare: our own timeline is met, times of typed traces are those worked out by hand, and parts sum to the
// step.
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "calibration/trace_samples.hpp"
#include "tools/process.hpp"

namespace farandole::compare_command_test { namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr double us = 1e-6;
constexpr const char* scenario = R"({"name": "small", "workload": {"model": "resnet18", "batch_per_rank": 16},
  "platform": {"topology": "roce25-4xp100", "ranks": 8}, "strategy": {"kind": "ddp"},
  "measure": {"iterations": 3, "warmup": 1}})";

std::string profiler_event(const std::string& category, const std::string& name, int stream, double start,
                           double duration, int device = 0) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}}})", category,
                     name, device, stream, start, duration);
}

std::string profiler_file(const std::vector<std::string>& events) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (const std::string& event : events) text += (&event == &events.front() ? "\n" : ",\n") + event;
  return text + "\n]}\n";
}

/// A step of 1,000 us: products 400; norms 200, of which 100 beside products; an allreduce of 250, of which 50 beside
/// norms; a copy of 200 by an engine, of which 100 beside the allreduce; attention 50; idle 150.
std::vector<std::string> step_events(double begin) {
  return {profiler_event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 9, begin + 600,
                         200),  // out of order, as files are
          profiler_event("kernel", "ampere_sgemm_128x64_nn", 7, begin, 400),
          profiler_event("kernel", "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>", 8,
                         begin + 300, 200),
          profiler_event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20,
                         begin + 450, 250),
          profiler_event("kernel", "void flash_fwd_kernel<Flash_fwd_kernel_traits>", 7, begin + 800, 50),
          profiler_event("cpu_op", "aten::mm", 1, begin + 850, 150)};
}

std::vector<std::string> two_steps() {
  std::vector<std::string> events{profiler_event("user_annotation", "ProfilerStep#7", 1, 1000, 1000),
                                  profiler_event("user_annotation", "ProfilerStep#8", 1, 2000, 1000)};
  for (const double begin : {1000.0, 2000.0}) {
    for (std::string& event : step_events(begin)) events.push_back(std::move(event));
  }
  events.push_back(profiler_event("kernel", "my_own_thing", 7, 2900, 50));
  return events;
}

class Compare : public testing::Test {
 protected:
  Compare() { place.write("s.json", scenario); }

  /// What holds of every answer holds.
  Json asked(const std::string& words) {
    const test::Finished done = place.farandole("compare " + words + " --format json");
    EXPECT_EQ(done.status, 0) << done.err;
    if (done.status != 0) return {};
    Json answer = Json::parse(done.out);
    for (const char* side : {"measured_seconds", "predicted_seconds"}) {
      const double step = answer.at("step").at(side);
      EXPECT_NEAR(sum(answer.at("parts"), side), step, 1e-7 * step) << side;
      if (answer.at("from_peak").empty()) continue;
      EXPECT_NEAR(sum(answer.at("from_peak"), side), step, 1e-7 * step) << side;
    }
    return answer;
  }
  static double sum(const Json& rows, const char* side) {
    double total = 0;
    for (const Json& row : rows) total += row.at(side).get<double>();
    return total;
  }
  static double measured(const Json& answer, const std::string& name, const char* table = "parts",
                         const char* key = "measured_seconds") {
    for (const Json& part : answer.at(table)) {
      if (part.at("name") == name) return part.at(key);
    }
    return 0;
  }
  void run(const std::string& words) {
    ASSERT_EQ(place.farandole("run s.json --quiet --output o.txt " + words).status, 0);
  }

  const test::Workplace place;
};

TEST_F(Compare, MeetsOurOwnTimelineInEveryPart) {
  for (const std::string kind :
       {R"({"kind":"ddp"})", R"({"kind":"horovod"})", R"({"kind":"fsdp"})", R"({"kind":"parameter_server"})",
        R"({"kind":"zero","stage":1,"pipeline":2,"accumulation":2})"}) {
    const std::string set = "--set '/strategy=" + kind + "'";
    run(set + " --timeline t.json");
    const Json answer = asked("t.json s.json " + set);
    EXPECT_GT(answer.at("traces").at(0).at("steps"), 0) << kind;
    EXPECT_EQ(answer.at("predicted_steps"), answer.at("traces").at(0).at("steps")) << kind;
    const double step = answer.at("step").at("predicted_seconds");
    EXPECT_NEAR(answer.at("step").at("measured_seconds").get<double>(), step, 1e-6 * step) << kind;
    for (const char* table : {"parts", "communication"}) {
      EXPECT_FALSE(answer.at(table).empty());
      for (const Json& row : answer.at(table))
        EXPECT_NEAR(row.at("measured_seconds").get<double>(), row.at("predicted_seconds").get<double>(), 1e-6 * step)
            << kind << ": " << row;
    }
    EXPECT_THAT(answer.at("answer").get<std::string>(), HasSubstr("No part of it differs")) << kind;
  }
}

TEST_F(Compare, NamesTheAllreduceOfASlowerNetwork) {
  run("--set '/platform/scale={\"rate\":0.2}' --timeline t.json");
  const Json answer = asked("t.json s.json");
  const Json& first = answer.at("parts").at(0);
  EXPECT_EQ(first.at("name"), "exposed allreduce");
  EXPECT_GT(first.at("measured_seconds").get<double>(), 2 * first.at("predicted_seconds").get<double>());
  EXPECT_THAT(first.at("points_at").get<std::string>(), HasSubstr("times as long: network"));
  EXPECT_THAT(answer.at("answer").get<std::string>(), HasSubstr("The largest difference is exposed allreduce, +"));
  EXPECT_NEAR(measured(answer, "computation"), measured(answer, "computation", "parts", "predicted_seconds"), 1e-4)
      << "not the network's";
}

TEST_F(Compare, CountsAMomentOnceHoweverManyStreamsAreBusy) {
  place.write("t.json", profiler_file(two_steps()));
  const Json answer = asked("t.json s.json");
  const Json& trace = answer.at("traces").at(0);
  EXPECT_EQ(trace.at("marked_by"), "ProfilerStep#");
  EXPECT_EQ(trace.at("steps"), 2);
  EXPECT_NEAR(answer.at("step").at("measured_seconds").get<double>(), 1000 * us, 1e-9);
  const std::map<std::string, double> by_hand{{"matrix products", 400},
                                              {"norms and elementwise", 100},
                                              {"exposed allreduce", 200},
                                              {"copies and casts", 100},
                                              {"attention", 50},
                                              {"other kernels", 25},
                                              {"idle", 125}};
  for (const auto& [name, time] : by_hand) EXPECT_NEAR(measured(answer, name), time * us, 1e-9) << name;
  EXPECT_NEAR(measured(answer, "allreduce", "communication"), 250 * us, 1e-9);
  EXPECT_NEAR(measured(answer, "allreduce", "communication", "measured_exposed_seconds"), 200 * us, 1e-9);
  EXPECT_NEAR(trace.at("busy_seconds").get<double>(), (400 + 100 + 100 + 50 + 25) * us, 1e-9);
  EXPECT_EQ(answer.at("other_kernels").at(0).at("name"), "my_own_thing");
}

TEST_F(Compare, DividesPredictedComputationByLayersAndSaysTheMfu) {
  place.write("t.json", profiler_file(two_steps()));
  const Json answer = asked("t.json s.json");
  const double products = measured(answer, "matrix products", "parts", "predicted_seconds");
  const double norms = measured(answer, "norms and elementwise", "parts", "predicted_seconds");
  EXPECT_GT(products, norms) << "a ResNet's convolutions";
  EXPECT_GT(norms, 0);
  EXPECT_EQ(measured(answer, "attention", "parts", "predicted_seconds"), 0);
  const Json& point = answer.at("point");
  const double ideal = point.at("mfu").get<double>() * point.at("iteration_seconds").get<double>();
  EXPECT_NEAR(answer.at("from_peak").at(0).at("measured_seconds").get<double>(), ideal, 1e-9);
  EXPECT_NEAR(answer.at("mfu").at("measured").get<double>(), ideal / (1000 * us), 1e-6);
}

TEST_F(Compare, TakesStepsOfTheDeviceBeforeThoseOfItsHost) {
  std::vector<std::string> events = step_events(1000);
  for (std::string& event : step_events(2000)) events.push_back(std::move(event));
  events.push_back(profiler_event("user_annotation", "ProfilerStep#1", 1, 0, 500));
  events.push_back(profiler_event("user_annotation", "ProfilerStep#2", 1, 500, 500));
  events.push_back(profiler_event("gpu_user_annotation", "ProfilerStep#1", 7, 1000, 850));
  events.push_back(profiler_event("gpu_user_annotation", "ProfilerStep#1", 9, 1600, 200));  // on each of its streams
  events.push_back(profiler_event("gpu_user_annotation", "ProfilerStep#2", 7, 2000, 850));
  place.write("t.json", profiler_file(events));
  const Json answer = asked("t.json s.json");
  EXPECT_EQ(answer.at("traces").at(0).at("steps"), 2);
  EXPECT_NEAR(answer.at("step").at("measured_seconds").get<double>(), (1000 + 850) / 2.0 * us, 1e-9);
  EXPECT_NEAR(measured(answer, "idle"), 150 / 2.0 * us, 1e-9) << "before the second; behind it the trace ends";
}

TEST_F(Compare, SharesTheSpanOfATraceWithoutMarksOutOverItsSteps) {
  std::vector<std::string> events = step_events(0);
  for (std::string& event : step_events(1000)) events.push_back(std::move(event));
  place.write("t.json", profiler_file(events));
  EXPECT_NEAR(asked("t.json s.json").at("step").at("measured_seconds").get<double>(), 1850 * us, 1e-9);
  const Json answer = asked("t.json s.json --steps 2");
  EXPECT_NEAR(answer.at("step").at("measured_seconds").get<double>(), 925 * us, 1e-9);
  EXPECT_TRUE(answer.at("traces").at(0).at("marked_by").is_null());
  EXPECT_THAT(answer.at("answer").get<std::string>(), HasSubstr("The trace marks no steps: all of it counts as 2."));
  EXPECT_THAT(place.farandole("compare t.json s.json").out,
              HasSubstr("marks no steps: all of it, 1.850 ms, counts as 1 step (--steps)"));
}

TEST_F(Compare, ReadsTheTableOfNsysByDeviceAndUnit) {
  const std::string header =
      "Generating SQLite file x.sqlite\nStart (us),Duration (us),CorrId,Bytes (MB),Device,Ctx,Strm,Name\n";
  const std::string second = "0,400,1,,NVIDIA H100 (1),1,7,nvjet_tst_128x256_64x4_bias\n";
  place.write("t.csv", header +
                           "0,400,1,,NVIDIA H100 (0),1,7,\"void cutlass::Kernel<gemm<1, 2>>(T1::Params)\"\n"
                           "300,300,2,,NVIDIA H100 (0),1,9,ncclKernel_AllGather_RING_LL_Sum_int8_t\n"
                           "700,100,3,1.5,NVIDIA H100 (0),1,7,[CUDA memcpy HtoD]\n" +
                           second);
  const Json answer = asked("t.csv s.json");
  ASSERT_EQ(answer.at("traces").size(), 2U);
  EXPECT_EQ(answer.at("traces").at(0).at("name"), "t.csv, NVIDIA H100 (0)");
  EXPECT_EQ(answer.at("traces").at(0).at("kind"), "nsys");
  const std::map<std::string, double> by_hand{
      {"matrix products", 400}, {"exposed allgather", 200}, {"copies and casts", 100}, {"idle", 100}};
  for (const auto& [name, time] : by_hand) EXPECT_NEAR(measured(answer, name), time * us, 1e-9) << name;
  EXPECT_NEAR(answer.at("traces").at(1).at("step_seconds").get<double>(), 400 * us, 1e-9);
}

TEST_F(Compare, ReadsChakrasNodesOfADevice) {
  place.write("t.json", R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [
    {"id": 1, "name": "aten::mm", "inputs": {}},
    {"id": 2, "name": "ampere_sgemm_128x64_nn", "cat": "kernel", "ts": 100, "inclusive_dur": 300, "stream": 7},
    {"id": 4, "name": "ampere_sgemm_64x64_nn", "cat": "kernel", "ts": 110, "inclusive_dur": 40, "stream": 7},
    {"id": 3, "name": "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "cat": "kernel", "ts": 390, "inclusive_dur": 100, "stream": 20}]})");
  const Json answer = asked("t.json s.json");
  EXPECT_EQ(answer.at("traces").at(0).at("kind"), "Chakra");
  EXPECT_NEAR(measured(answer, "matrix products"), 340 * us, 1e-9) << "launched at 110, the second runs from 400";
  EXPECT_NEAR(measured(answer, "exposed reduce_scatter"), 50 * us, 1e-9);
  EXPECT_NEAR(measured(answer, "reduce_scatter", "communication"), 100 * us, 1e-9);
}

TEST_F(Compare, ComparesOfHorovodsTimelineWhatItHas) {
  place.write("t.json", test::horovod_timeline());
  const Json answer = asked("t.json s.json --set '/strategy={\"kind\":\"horovod\"}'");
  const Json& trace = answer.at("traces").at(0);
  EXPECT_EQ(trace.at("kind"), "Horovod timeline");
  EXPECT_EQ(trace.at("marked_by"), "allreduce.fc.weight is ready");
  EXPECT_EQ(trace.at("steps"), 2) << "three begin, and nobody knows when the third ends";
  EXPECT_NEAR(answer.at("step").at("measured_seconds").get<double>(), 0.1, 1e-9);
  EXPECT_NEAR(measured(answer, "allreduce"), 0.048, 1e-9) << "from 12 to 30 ms, and from 27 to 60: together 48";
  EXPECT_NEAR(measured(answer, "computation or idle"), 0.052, 1e-9);
  EXPECT_TRUE(answer.at("mfu").is_null());
  EXPECT_NEAR(trace.at("exposed_seconds").get<double>(), 0.048, 1e-9);
  EXPECT_NEAR(trace.at("busy_seconds").get<double>(), 0, 1e-9) << "it says nothing of kernels";
}

TEST_F(Compare, NamesTheSlowestOfSeveralRanksByWhatItDoesNotWait) {
  place.write("rank0.json",
              profiler_file({profiler_event("kernel", "sgemm", 7, 0, 400),
                             profiler_event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 400, 600)}));
  place.write("rank1.json",
              profiler_file({profiler_event("kernel", "sgemm", 7, 0, 700),
                             profiler_event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 700, 290)}));
  place.write("rank2.json",
              profiler_file({profiler_event("kernel", "sgemm", 7, 0, 500),
                             profiler_event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 500, 500)}));
  const Json answer = asked("rank0.json s.json --trace rank1.json --trace rank2.json");
  std::vector<std::string> order;
  for (const Json& trace : answer.at("traces")) order.push_back(trace.at("name"));
  EXPECT_EQ(order, (std::vector<std::string>{"rank1.json", "rank2.json", "rank0.json"}));
  EXPECT_THAT(
      answer.at("answer").get<std::string>(),
      HasSubstr(
          "The slowest of 3 traces is rank1.json: without exposed communication their steps take 0.400 to 0.700 ms."));
  EXPECT_NEAR(measured(answer, "matrix products"), 700 * us, 1e-9);
}

TEST_F(Compare, KnowsKernelsByTheNamesThatLibrariesGiveThem) {
  const std::map<std::string, std::string> known{
      {"nvjet_tst_192x208_64x3_2x1_v_bz_coopB_NNN", "matrix products"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "matrix products"},
      {"void cublasLt::splitKreduce_kernel<32, 16, int>", "matrix products"},
      {"Cijk_Ailk_Bljk_BBS_BH_MT256x128x32_MI32x32x8x1", "matrix products"},
      {"cudnn_infer_ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "matrix products"},
      {"void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits>", "attention"},
      {"fmha_cutlassF_bf16_aligned_64x128_rf_sm80", "attention"},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", "attention"},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>", "norms and elementwise"},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true>", "norms and elementwise"},
      {"triton_red_fused__to_copy_mul_rsqrt_3", "norms and elementwise"},
      {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<MulFunctor>>",
       "norms and elementwise"},
      {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>",
       "copies and casts"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<OpaqueType<2u>>", "copies and casts"},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>", "optimizer"},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "exposed send and receive"},
      {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*)", "exposed broadcast"},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>", "exposed allreduce"},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<2, __nv_bfloat16>",
       "exposed allreduce"},
      {"loop_multiply_fusion_7", "norms and elementwise"},
      {"what_nobody_knows", "other kernels"}};
  std::vector<std::string> events;
  std::map<std::string, double> times;
  for (double begin = 0; const auto& [name, part] : known) {
    events.push_back(profiler_event("kernel", name, 7, begin, 10));
    begin += 10;
    times[part] += 10;
  }
  place.write("t.json", profiler_file(events));
  const Json answer = asked("t.json s.json");
  for (const auto& [part, time] : times) EXPECT_NEAR(measured(answer, part), time * us, 1e-9) << part;
}

TEST_F(Compare, WritesBothSidesAsTwoProcessesFromZero) {
  place.write("t.json", profiler_file(two_steps()));
  ASSERT_EQ(place.farandole("compare t.json s.json --timeline both.json").status, 0);
  const Json both = Json::parse(test::contents(place.folder() / "both.json"));
  std::map<int, std::string> processes;
  std::map<int, double> first;
  std::map<int, double> products;
  for (const Json& event : both.at("traceEvents")) {
    const int process = event.at("pid");
    if (event.at("name") == "process_name") processes[process] = event.at("args").at("name");
    if (event.at("ph") != "X") continue;
    const double begin = event.at("ts");
    first[process] = first.contains(process) ? std::min(first[process], begin) : begin;
    if (event.at("cat") == "matrix products") products[process] += event.at("dur").get<double>();
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{{1, "measured"}, {2, "predicted"}}));
  EXPECT_EQ(first, (std::map<int, double>{{1, 0.0}, {2, 0.0}}));
  EXPECT_NEAR(products[1], 800, 1e-3);
  EXPECT_THAT(place.farandole("compare both.json s.json").err, HasSubstr("a comparison that farandole compare wrote"));
}

TEST_F(Compare, AnswersInTheFormOfItsSchemaAndOnAPage) {
  place.write("t.json", profiler_file(two_steps()));
  const test::Finished done =
      place.farandole("compare t.json s.json --format json --output a.json --html a.html --markdown a.md");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(place.farandole("check a.json").out, "a.json: compare_answer, ok\n");
  std::string text = test::contents(place.folder() / "a.json");
  place.write("b.json", text.replace(text.find("\"points_at\""), 11, "\"poinst_at\""));
  EXPECT_EQ(place.farandole("check b.json").status, 2);
  EXPECT_THAT(test::contents(place.folder() / "a.html"), HasSubstr("From the peak to the step"));
  EXPECT_THAT(test::contents(place.folder() / "a.md"), HasSubstr("From the peak to the step"));
}

TEST_F(Compare, RefusesWhatIsNoTraceWithOneLine) {
  place.write("marked.json", profiler_file(two_steps()));
  const std::string kernel = R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 1, "ts": 1, "dur": )";
  const std::map<std::string, std::string> bad{
      {"", "expected a trace, got an empty file"},
      {"steps per second 3.2\n", "expected a trace: JSON of PyTorch's profiler"},
      {R"({"traceEvents": [)", "t.json:1"},
      {R"({"name": "x"})", "expected a Chrome trace"},
      {R"({"traceEvents": []})", "expected at least one event"},
      {R"([{"ph": "X", "name": "load", "pid": 0, "ts": 1, "dur": 2}])",
       "expected events of a device: kernels, copies or collectives"},
      {R"([{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 0, "ts": 1, "dur": 2}])",
       "a profile of the host alone"},
      {"[" + kernel + "-2}]", "t.json:1: /0/dur: expected a duration that is not negative"},
      {"[" + kernel + "0}]", "expected work of a device that takes time"},
      {R"({"nodes": [{"id": 1, "name": "aten::mm"}]})", "expected nodes of a device, as chakra_trace_link adds them"},
      {"Start (ns),Duration (ns),Device,Name\n", "t.json:1: expected a column \"Strm\""},
      {"Start (ns),Duration (ns),Device,Strm,Name\n1,-2,0,1,k\n", "t.json:2: expected a duration that is not negative"},
      {"Start (ns),Duration (ns),Device,Strm,Name\nsoon,2,0,1,k\n", "t.json:2: expected a number, got \"soon\""},
      {"Start (ns),Duration (ns),Device,Strm,Name\n1,2,0\n", "t.json:2: expected 5 columns"},
      {"Start (h),Duration (ns),Device,Strm,Name\n1,2,0,1,k\n", "expected times in ns, us, ms or s"},
      {"\x1f\x8b\x08", "unpack it first: gunzip -k"}};
  for (const auto& [text, words] : bad) {
    place.write("t.json", text);
    const test::Finished done = place.farandole("compare t.json s.json");
    EXPECT_EQ(done.status, 2) << text;
    EXPECT_THAT(done.err, HasSubstr(words)) << text;
    EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
  }
  for (const auto& [words, message] : std::map<std::string, std::string>{
           {"marked.json s.json --steps 2",
            "--steps: expected a trace that marks no steps (this one has ProfilerStep#)"},
           {"marked.json s.json --steps 0", "--steps: expected a whole number of at least 1"},
           {"marked.json s.json --format csv", "--format: expected table or json"},
           {"marked.json s.json --timeline marked.json", "--timeline: expected another file"},
           {"marked.json s.json --trace ''", "--trace: expected a file"},
           {std::string(300, 'y') + " s.json", "File name too long"},
           {"none.json s.json", "none.json"}}) {
    const test::Finished done = place.farandole("compare " + words);
    EXPECT_EQ(done.status, 2) << words;
    EXPECT_THAT(done.err, HasSubstr(message));
  }
}

}}  // namespace farandole::compare_command_test
