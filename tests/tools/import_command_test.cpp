// farandole import, from the text that Keras prints to a run.
#include <regex>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::import_command_test { namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* summary = R"(_________________________________________________________________
Layer (type)                 Output Shape              Param #   
=================================================================
hidden (Dense)               (None, 128)               100480    
_________________________________________________________________
output (Dense)               (None, 10)                1290      
=================================================================
Total params: 101,770
Trainable params: 101,770
)";

TEST(ImportCommand, MakesAWorkloadThatChecksAndRuns) {
  const test::Workplace place;
  place.write("my-net.txt", summary);
  const test::Finished imported = place.farandole("import keras_summary my-net.txt --output net.json");
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(imported.err, "my_net: 101770 parameters in 4 tensors, 101632 multiply-adds, 2 layers\n");
  EXPECT_EQ(place.farandole("check net.json").out, "net.json: model, ok\n");
  place.write("run.json", R"({
    "name": "own", "workload": { "model": "net.json" }, "platform": { "topology": "roce25-4xp100", "ranks": 8 },
    "strategy": { "kind": "ddp" }, "measure": { "iterations": 1, "fidelity": "analytic" } })");
  EXPECT_THAT(place.farandole("run run.json --format csv").out, HasSubstr("my_net"));
}

constexpr const char* config = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
  "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100, "max_position_embeddings": 32})";

TEST(ImportCommand, SeesWhatAFileIs) {
  const test::Workplace place;
  place.write("net.txt", summary);
  place.write("small.json", config);
  place.write("other.txt", "nothing that is known");
  EXPECT_THAT(place.farandole("import net.txt").out, HasSubstr(R"("name": "net")"));
  EXPECT_THAT(place.farandole("import small.json").out, HasSubstr(R"("name": "small")"));
  EXPECT_EQ(place.farandole("import net.txt").out, place.farandole("import keras_summary net.txt").out);
  const test::Finished refused = place.farandole("import other.txt --output net.json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("FILE: expected a Keras summary, a PyTorch or Horovod trace"));
  EXPECT_EQ(place.farandole("import keras_summary net.txt net.txt").status, 2);
}

TEST(ImportCommand, SaysWhichCommandTakesAFileThatIsNoModel) {
  const test::Workplace place;
  for (const auto& [text, command] : std::vector<std::pair<std::string, std::string>>{
           {"#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
            "     1048576        262144     float     sum      -1    100.0   10.49   18.35      0\n",
            "farandole calibrate it --topology NAME --output FILE"},
           {R"({"metadata": {}, "weight_map": {"lm_head.weight": "model-00001.safetensors"}})",
            "farandole import config.json"},
           {"#!/bin/bash\n#SBATCH --nodes 4\nsrun torchrun train.py\n", "farandole new --launch it"},
           {R"({"zero_optimization": {"stage": 3}})", "farandole new --strategy it"},
           {"distributed_type: FSDP\n", "farandole new --strategy it"},
           {"SwitchName=s0 Nodes=n[0-3]\n", "farandole place SCENARIO --topology-conf it"},
           {"Layer (type:depth-idx)   Output Shape   Param #\n├─Conv2d: 1-1   [64, 32, 26, 26]   320\n",
            "tools/export_torch.py MODULE.py:FUNCTION --input SHAPE"},
           {R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1, "ctrl_deps": 0}]})",
            "farandole compare it SCENARIO"},
           {"\x08\x08\x12\x07"
            "pytorch\x1a\x05"
            "2.5.1",
            "tools/export_onnx.py it --output FILE"},
           {"17:00.0 3D controller: NVIDIA\n\t\tLnkSta:\tSpeed 16GT/s, Width x16\n",
            "farandole import topo.txt --topology NAME --lspci it"},
           {"CA 'mlx5_0'\n\tCA type: MT4129\n", "farandole import topo.txt --topology NAME --ibstat it"},
           {"srun -N 2 --ntasks-per-node 8 python train.py\n", "farandole new --launch it"},
           {"mpirun -np 8 python train.py\n", "farandole new --launch it"},
           {"accelerate launch --num_processes 8 train.py\n", "farandole new --launch it"},
           {"deepspeed --num_gpus 8 train.py --deepspeed ds.json\n", "farandole new --launch it"},
           {"[model]\nname = \"llama3\"\n[activation_checkpoint]\nmode = \"full\"\n", "farandole new --strategy it"},
           {"+ srun python\n0: :::MLLOG {\"key\": \"run_start\"}\n", "farandole diagnose SCENARIO --steps it"},
           {"\"_step\",\"_runtime\",\"train/loss\"\n1,2.5,9\n", "farandole diagnose SCENARIO --steps it"},
           {R"({"platform": {"launch": "mpirun -np 8 t.py"}, "workload": {}})", "farandole run it"},
           {R"({"name": "x", "workload": {"model": "resnet50"}})", "farandole run it"}}) {
    place.write("it", text);
    const test::Finished refused = place.farandole("import it");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, testing::EndsWith(": " + command + "\n"));
  }
  place.write("my run", R"({"workload": {}})");
  EXPECT_THAT(place.farandole("import 'my run'").err, testing::EndsWith(": farandole run 'my run'\n"));
}

TEST(ImportCommand, IsNotNeededForAHuggingFaceConfiguration) {
  const test::Workplace place;
  place.write("small.json", config);
  EXPECT_EQ(place.farandole("import small.json --output imported.json").status, 0);
  EXPECT_EQ(place.farandole("check imported.json").out, "imported.json: model, ok\n");
  EXPECT_EQ(place.farandole("check small.json").out, "small.json: a model's configuration, ok\n");
  const auto run = [&](const std::string& model) {
    EXPECT_EQ(place.farandole("new " + model + "-run.json --topology dgx-a100 --ranks 8 --model " + model).status, 0);
    return place.farandole("run " + model + "-run.json --format csv").out;
  };
  const auto after_the_scenarios_name = [](const std::string& csv) { return csv.substr(csv.find("small,")); };
  EXPECT_EQ(after_the_scenarios_name(run("small.json")), after_the_scenarios_name(run("imported.json")));
}

TEST(ImportCommand, RefusesWithTheLineAndLeavesNoFile) {
  const test::Workplace place;
  place.write("net.txt", std::string(summary).replace(std::string(summary).find("1290"), 4, "1299"));
  const test::Finished refused = place.farandole("import keras_summary net.txt --output net.json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("net.txt:6: expected inputs x units parameters"), HasSubstr("got 1299")));
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "net.json"));
  EXPECT_THAT(place.farandole("import keras_sumary net.txt").err, HasSubstr("did you mean \"keras_summary\"?"));
  EXPECT_EQ(place.farandole("import keras_summary none.txt").status, 2);
  EXPECT_EQ(place.farandole("import keras_summary net.txt --input 28xtwo").status, 2);
  place.write("3.txt", summary);
  EXPECT_EQ(place.farandole("import keras_summary 3.txt --name My-Net --output net.json").status, 2);
}

TEST(ImportCommand, RefusesOptionsOfOtherKindsOfFiles) {
  const test::Workplace place;
  place.write("3.txt", summary);
  EXPECT_EQ(place.farandole("import 3.txt --nic \"200 Gbit/s\" --output net.json").err,
            "farandole: --nic: expected --input, of a keras_summary, got \"200 Gbit/s\"\n");
  EXPECT_THAT(place.farandole("import 3.txt --batch 1").err, HasSubstr("--batch: expected --input"));
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "net.json"));
  place.write("config.json", R"({"model_type": "llama"})");
  EXPECT_THAT(place.farandole("import config.json --variant large").err,
              HasSubstr("--variant: expected no option but --output and --name, of a huggingface_config"));
}

/// A matrix of nvidia-smi topo -m, without its legend: `links` between any two GPUs, a NUMA node for `of_socket` of
/// them. `nearness(gpu, nic)`.
template <class Links, class Nearness>
std::string matrix(int gpus, int nics, int of_socket, Links links, Nearness nearness) {
  std::string text = "\x1b[4m";
  for (int gpu = 0; gpu < gpus; ++gpu) text += "\tGPU" + std::to_string(gpu);
  for (int nic = 0; nic < nics; ++nic) text += "\tNIC" + std::to_string(nic);
  text += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n";
  for (int gpu = 0; gpu < gpus; ++gpu) {
    text += "GPU" + std::to_string(gpu);
    for (int other = 0; other < gpus; ++other) text += other == gpu ? "\t X " : "\t" + std::string(links(gpu, other));
    for (int nic = 0; nic < nics; ++nic) text += "\t" + std::string(nearness(gpu, nic));
    const int socket = gpu / of_socket;
    text += "\t" + std::to_string(48 * socket) + "-95\t" + std::to_string(socket) + "\t\tN/A\n";
  }
  return text;
}

TEST(NodeMatrix, BecomesTheNodeOfAMachineThatRuns) {
  const test::Workplace place;
  // A NIC for every GPU, in the other order, and a ninth of the management, as on Azure's ND H100 v5.
  const auto nearness = [](int gpu, int nic) {
    return nic == 8 ? "SYS" : nic == 7 - gpu ? "PIX" : (nic < 4) == (gpu >= 4) ? "NODE" : "SYS";
  };
  place.write("topo.txt", matrix(
                              8, 9, 4, [](int, int) { return "NV18"; }, nearness));
  const test::Finished imported =
      place.farandole("import topo.txt --topology hgx-h100 --nic '200 Gbit/s' --output own.json");
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(imported.err, "own: 8 GPUs, 18 NVLinks each into switches, 2 sockets, 8 NICs (1 further off left out)\n");
  const auto own = nlohmann::json::parse(test::contents(place.folder() / "own.json")).at("node");
  EXPECT_EQ(own.at("nics_at").dump(),
            R"(["socket1","socket1","socket1","socket1","socket0","socket0","socket0","socket0"])");
  EXPECT_EQ(own.at("nic").at("rate"), "200 Gbit/s");
  EXPECT_EQ(place.farandole("check own.json").out, "own.json: topology, ok\n");
  EXPECT_EQ(place.farandole("collective --topology own.json --ranks 16").status, 0);
}

/// As ibstat prints an adapter.
std::string adapter(const std::string& name, const std::string& state, int rate, const std::string& layer) {
  return fmt::format(
      "CA '{}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: {}\n\t\tPhysical state: LinkUp\n"
      "\t\tRate: {}\n\t\tBase lid: 30\n\t\tPort GUID: 0x946dae0300a6e3f0\n\t\tLink layer: {}\n",
      name, state, rate, layer);
}

TEST(NodeMatrix, TakesRatesAndWhichNicsAreUpFromIbstat) {
  const test::Workplace place;
  std::string text = matrix(
      8, 10, 4, [](int, int) { return "NV18"; },
      [](int gpu, int nic) { return nic == gpu || nic > 7    ? "PIX"
                                    : (nic < 4) == (gpu < 4) ? "NODE"
                                                             : "SYS"; });
  text += "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n";
  for (int nic = 0; nic < 10; ++nic) text += fmt::format("  NIC{}: mlx5_{}\n", nic, nic);
  place.write("topo.txt", text);
  const auto import_with = [&](const std::string& ibstat, const std::string& more = "") {
    place.write("ibstat.txt", ibstat);
    return place.farandole("import topo.txt --topology hgx-h100 --ibstat ibstat.txt --output own.json" + more);
  };
  std::string eight;  // the ninth is down, and the tenth no adapter for RDMA
  for (int nic = 0; nic < 8; ++nic) eight += adapter(fmt::format("mlx5_{}", nic), "Active", 200, "InfiniBand");
  const test::Finished imported = import_with(eight + adapter("mlx5_8", "Down", 40, "Ethernet"));
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(imported.err,
            "own: 8 GPUs, 18 NVLinks each into switches, 2 sockets, 8 NICs of 200 Gbit/s over InfiniBand "
            "(2 further off or down left out)\n");
  const auto own = nlohmann::json::parse(test::contents(place.folder() / "own.json")).at("node");
  EXPECT_EQ(own.at("nics_at").size(), 8U);
  EXPECT_EQ(own.at("nic").at("rate"), "200 Gbit/s");
  EXPECT_EQ(place.farandole("check own.json").status, 0);
  // ibstatus.
  std::string status;
  for (int nic = 0; nic < 8; ++nic) {
    status += fmt::format(
        "Infiniband device 'mlx5_{}' port 1 status:\n\tdefault gid:\t fe80:0000\n\tstate:\t\t 4: ACTIVE\n"
        "\tphys state:\t 5: LinkUp\n\trate:\t\t 400 Gb/sec (4X NDR)\n\tlink_layer:\t Ethernet\n\n",
        nic);
  }
  EXPECT_THAT(import_with(status).err, HasSubstr("8 NICs of 400 Gbit/s over Ethernet"));
  // A rail that came up slower; none; no such text; two rates.
  std::string slow = eight;
  slow.replace(slow.rfind("Rate: 200"), 9, "Rate: 100");
  EXPECT_THAT(import_with(slow).err, HasSubstr("got mlx5_0 at 200 Gbit/s over InfiniBand and mlx5_7 at 100 over"));
  EXPECT_THAT(import_with(adapter("mlx5_0", "Initializing", 200, "InfiniBand")).err,
              HasSubstr("none that --ibstat says is up"));
  EXPECT_THAT(import_with("nothing\n").err,
              HasSubstr("ibstat.txt: expected adapters as ibstat or ibstatus prints them"));
  EXPECT_THAT(import_with("CA 'a'\n\tRate: fast\n").err,
              HasSubstr("ibstat.txt:2: expected a rate in Gbit/s, got \"fast\""));
  const auto none = [](int, int) { return ""; };
  place.write("topo.txt", matrix(
                              8, 0, 4, [](int, int) { return "NV18"; }, none));
  EXPECT_THAT(import_with(eight).err,
              HasSubstr("topo.txt: expected columns of NICs, whose rates --ibstat says, got none"));
  EXPECT_THAT(import_with(eight, " --nic '200 Gbit/s'").err, HasSubstr("--nic: expected either a rate or --ibstat"));
}

/// As lspci -vv prints a device: what its link can, and is; a bridge says the bus behind it.
std::string pci_device(const std::string& address, const std::string& kind, const std::string& can,
                       const std::string& is, const std::string& behind = "") {
  const std::string bus = behind.empty() ? "" : "\tBus: primary=16, secondary=" + behind + ", subordinate=1f\n";
  return fmt::format(
      "{} {} (rev a1)\n\tControl: I/O- Mem+\n{}\tCapabilities: [70] Express (v2) Endpoint\n\t\tLnkCap:\tPort #0, "
      "Speed {}, ASPM not supported\n\t\tLnkSta:\tSpeed {}\n\t\t\tTrErr- Train-\n\t\tLnkCap2: Supported Link "
      "Speeds: 2.5-32GT/s\n\n",
      address, kind, bus, can, is);
}

/// Eight GPUs on ports that can less than they do, idle at 2.5 GT/s; nine NICs, one of which is the management's.
std::string listing(const std::string& last_gpu = "2.5GT/s (downgraded), Width x16",
                    const std::string& nic = "16GT/s, Width x16") {
  std::string text;
  for (int gpu = 0; gpu < 8; ++gpu) {
    const std::string bus = fmt::format("{:x}", 0x17 + gpu);
    text += pci_device(fmt::format("16:0{}.0", gpu), "PCI bridge: Broadcom", "16GT/s, Width x16", "2.5GT/s, Width x16",
                       bus);
    text += pci_device(bus + ":00.0", "3D controller: NVIDIA Corporation GH100", "32GT/s, Width x16",
                       gpu == 7 ? last_gpu : "2.5GT/s (downgraded), Width x16");
    text += pci_device(fmt::format("0000:2{}:00.0", gpu), "Infiniband controller: Mellanox Technologies MT2910",
                       "32GT/s, Width x16", nic);
  }
  return text + pci_device("30:00.0", "Ethernet controller: Intel Corporation", "5GT/s, Width x4", "5GT/s, Width x4");
}

/// NCCL's 12 GB/s for 16 lanes at 8 GT/s; half the lanes are half the rate.
TEST(NodeMatrix, TakesTheLinksOfGpusAndNicsFromLspci) {
  const test::Workplace place;
  place.write("topo.txt", matrix(
                              8, 8, 4, [](int, int) { return "NV18"; },
                              [](int gpu, int nic) { return nic == gpu ? "PIX" : "SYS"; }));
  const auto import_with = [&](const std::string& lspci) {
    place.write("lspci.txt", lspci);
    return place.farandole("import topo.txt --topology hgx-h100 --lspci lspci.txt --output own.json");
  };
  const auto node = [&] { return nlohmann::json::parse(test::contents(place.folder() / "own.json")).at("node"); };
  EXPECT_THAT(import_with(listing()).err, testing::EndsWith("8 NICs, PCIe 16 GT/s x16\n"));
  EXPECT_EQ(node().at("fabric").at("pcie").at("link").at("rate"), "24 GB/s");
  EXPECT_EQ(node().at("nic").at("rate"), "400 Gbit/s");
  EXPECT_EQ(place.farandole("check own.json").status, 0);
  EXPECT_THAT(import_with(listing("2.5GT/s (downgraded), Width x16", "8GT/s, Width x8 (downgraded)")).err,
              testing::EndsWith("PCIe 16 GT/s x16, of NICs 8 GT/s x8, which they carry no more than\n"));
  EXPECT_EQ(node().at("nic").at("rate"), "6 GB/s");
  // One that came up with half of its lanes; fewer than the matrix has; nothing that root is told.
  EXPECT_THAT(
      import_with(listing("2.5GT/s, Width x8 (downgraded)")).err,
      HasSubstr("lspci.txt: expected GPUs whose links are alike, got 0000:17:00.0 at 16 GT/s x16 and 0000:1e:00.0 "
                "at 16 GT/s x8"));
  EXPECT_THAT(import_with("17:00.0 3D controller: NVIDIA\n\tCapabilities: <access denied>\n").err,
              HasSubstr("lspci.txt: expected LnkCap and LnkSta of 8 GPUs, as root is told by lspci -vv, got 0"));
  EXPECT_THAT(import_with(listing() + listing()).err, HasSubstr("expected 8 GPUs, as the matrix has, got 16"));
}

TEST(NodeMatrix, KnowsPairsSwitchesAndMeshes) {
  const test::Workplace place;
  const auto node_of = [&](const std::string& text, const std::string& like) {
    place.write("topo.txt", text);
    const test::Finished imported = place.farandole("import topo.txt --topology " + like);
    EXPECT_EQ(imported.status, 0) << imported.err;
    return nlohmann::json::parse(imported.out).at("node");
  };
  // Pairs of GPUs with pairs of NICs on a switch, four sockets: a DGX A100.
  const auto pairs = node_of(matrix(
                                 8, 8, 2, [](int, int) { return "NV12"; },
                                 [](int gpu, int nic) { return nic / 2 == gpu / 2 ? "PXB" : "SYS"; }),
                             "dgx-a100");
  EXPECT_EQ(pairs.at("fabric").at("pcie").at("devices_per_switch"), 2);
  EXPECT_EQ(pairs.at("fabric").at("pcie").at("sockets"), 4);
  EXPECT_EQ(pairs.at("nics_at").dump(),
            R"(["switch0","switch0","switch1","switch1","switch2","switch2","switch3","switch3"])");
  // Four A100 with four links between any two: 12 each, and no switch. One socket.
  const auto four = node_of(matrix(
                                4, 1, 4, [](int, int) { return "NV4"; }, [](int, int) { return "NODE"; }),
                            "dgx-a100");
  EXPECT_EQ(four.at("devices"), 4);
  EXPECT_EQ(four.at("fabric").at("nvlink").at("mesh").size(), 6U);
  EXPECT_FALSE(four.at("fabric").at("nvlink").contains("links_per_device"));
  EXPECT_FALSE(four.at("fabric").at("pcie").contains("interconnect"));
  EXPECT_EQ(four.at("nics_at").dump(), R"(["socket0"])");
  // Before NUMA nodes were printed, the processors tell sockets apart.
  std::string old = matrix(
      4, 1, 2, [](int, int) { return "NV6"; }, [](int gpu, int) { return gpu < 2 ? "NODE" : "SYS"; });
  old = std::regex_replace(old, std::regex("\tNUMA Affinity\tGPU NUMA ID|\t[01]\t\tN/A"), "");
  EXPECT_EQ(node_of(old, "dgx-a100").at("fabric").at("pcie").at("sockets"), 2);
  // Without columns of NICs they stay where they were.
  const auto bare = node_of(matrix(
                                8, 0, 4, [](int, int) { return "NV12"; }, [](int, int) { return ""; }),
                            "dgx-a100");
  EXPECT_EQ(bare.at("nics_at").size(), 8U);
  EXPECT_EQ(bare.at("fabric").at("pcie").at("devices_per_switch"), 2);
  // Two bridged pairs.
  const auto bridged = node_of(matrix(
                                   4, 2, 2, [](int gpu, int other) { return gpu / 2 == other / 2 ? "NV12" : "SYS"; },
                                   [](int gpu, int nic) { return gpu / 2 == nic ? "NODE" : "SYS"; }),
                               "dgx-a100");
  EXPECT_EQ(bridged.at("fabric").at("nvlink").at("mesh").dump(), "[[0,1,12],[2,3,12]]");
  EXPECT_EQ(bridged.at("nics_at").dump(), R"(["socket0","socket1"])");
}

TEST(NodeMatrix, IsRefusedWithTheLineWhereItIsNone) {
  const test::Workplace place;
  const auto links = [](int, int) { return "NV18"; };
  const auto near = [](int, int) { return "NODE"; };
  const auto refusal = [&](const std::string& text, const std::string& options = "--topology hgx-h100") {
    place.write("topo.txt", text);
    const test::Finished refused = place.farandole("import topo.txt --output own.json " + options);
    EXPECT_EQ(refused.status, 2);
    EXPECT_FALSE(std::filesystem::exists(place.folder() / "own.json"));
    return refused.err;
  };
  const std::string whole = matrix(8, 8, 4, links, near);
  EXPECT_THAT(refusal(whole, ""), HasSubstr("--topology: expected the machine that the node is like"));
  EXPECT_THAT(refusal(whole.substr(0, whole.find("GPU5\tNV"))), HasSubstr("expected a row for every GPU"));
  EXPECT_THAT(refusal(std::string(whole).replace(whole.find("NODE"), 4, "NEAR")),
              HasSubstr("topo.txt:2: expected PIX, PXB, PHB, NODE, SYS, got \"NEAR\""));
  EXPECT_THAT(refusal(std::string(whole).replace(whole.find("NV18"), 4, "OK")),
              HasSubstr("topo.txt:2: expected NV and a number"));
  EXPECT_THAT(refusal(matrix(8, 8, 3, links, near)), HasSubstr("as many on each"));
  EXPECT_THAT(refusal(whole, "--topology theta"), HasSubstr("NVLink"));
  EXPECT_THAT(refusal(whole, "--topology hgx-h100 --nic 200"), HasSubstr("--nic: expected a rate such as"));
  EXPECT_THAT(refusal(matrix(4, 0, 4, links, near)), HasSubstr("topo.txt: expected columns of NICs"));
  EXPECT_THAT(refusal(matrix(8, 2, 4, links, [](int, int) { return "SYS"; })),
              HasSubstr("a NIC on the socket of a GPU"));
}

}}  // namespace farandole::import_command_test
