#include "suspects.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/document.hpp"
#include "config/section.hpp"
#include "machine_network.hpp"
#include "platform/graph_file.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

std::string share_text(double share) {
  return fmt::format("{:.3g} %", share * 100);
}

constexpr const char* nic_pointer = "/node/nic/rate";
constexpr const char* copy_pointer = "/node/fabric/pcie/link/rate";

SetValue override_of(const std::string& pointer, const Json& value) {
  return {"/platform/override/" + pointer_token(pointer), value.dump()};
}

class JobsSuspects {
 public:
  explicit JobsSuspects(const SuspectedJob& job) : job_(job), document_(job.document) {
    const Value platform = Section(document_.root()).child("platform");
    const Value name = Section(platform).child("topology");
    const Topology machine = job.catalogue.topology(read<std::string>(name), name);
    if (is_graph_file(machine.file.string())) return;
    topology_ = Document::read(machine.file);
    const auto overrides = Section(platform).maybe("override");
    if (!overrides) return;
    for (const auto& [pointer, value] : overrides->members()) topology_->set(pointer, value.node());
  }

  Suspects all() {
    devices();
    network();
    if (job_.ranks > 1) software();
    input();
    program();
    return {std::move(found_), job_.nodes > 1 ? rate(nic_pointer) : std::nullopt, rate(copy_pointer)};
  }

 private:
  void add(Suspect suspect) {
    if (!suspect.severities.empty()) found_.push_back(std::move(suspect));
  }

  /// A list of the scenario with one element more.
  [[nodiscard]] std::string longer(const std::string& pointer, const Json& element) const {
    const auto own = document_.find(pointer);
    Json list = Json::array();
    if (own) list = Json::parse(to_json(own->node()).dump());
    if (!list.is_array()) list = Json::array({list});
    list.push_back(element);
    return list.dump();
  }

  [[nodiscard]] std::optional<double> rate(const std::string& pointer) const {
    const auto value = topology_ ? topology_->find(pointer) : std::nullopt;
    return value ? std::optional(read<BytesPerSecond>(*value).si()) : std::nullopt;
  }
  [[nodiscard]] std::string word(const std::string& pointer, const std::string& otherwise) const {
    const auto value = document_.find(pointer);
    return value && value->is_string() ? read<std::string>(*value) : otherwise;
  }
  [[nodiscard]] bool is_of(std::initializer_list<const char*> kinds) const {
    return std::ranges::find(kinds, word("/strategy/kind", "")) != kinds.end();
  }

  void devices() {
    if (job_.ranks > 1) {
      Suspect slow{
          "straggler", "one device is slow", 2, "step time of each rank; nvidia-smi -q -d TEMPERATURE,ECC", {}};
      slow.is_of_last_node = true;
      for (const double slowdown : {0.1, 0.25, 0.6}) {
        const Json element{{"ranks", {job_.ranks - 1}}, {"slowdown", share_text(slowdown)}};
        slow.severities.push_back({fmt::format("{} more time", share_text(slowdown)),
                                   {{"/effects/straggler", longer("/effects/straggler", element)}}});
      }
      add(std::move(slow));
    }
    Suspect clocks{"clocks", "all devices are slow: clocks, power", 2, "nvidia-smi -q -d CLOCK,POWER,PERFORMANCE", {}};
    std::vector<int> ranks(static_cast<std::size_t>(job_.ranks));
    std::iota(ranks.begin(), ranks.end(), 0);
    for (const double speed : {0.9, 0.8, 0.65}) {
      const Json element{{"ranks", ranks}, {"speed", share_text(speed)}};
      clocks.severities.push_back({fmt::format("at {} speed", share_text(speed)),
                                   {{"/effects/other_devices", longer("/effects/other_devices", element)}}});
      clocks.severities.back().speed = speed;
    }
    add(std::move(clocks));
  }

  void network() {
    const auto nic = rate(nic_pointer);
    if (nic && job_.nodes > 1) nics(*nic);
    part_of(copy_pointer, {0.5, 0.25},
            {"pcie", "PCIe at x8 or an older generation", 1, "nvidia-smi -q | grep -A4 'Link Width'; lspci -vv", {}});
    // What GPUs without peer access send goes through the hosts' memory: about what two PCIe copies leave.
    part_of("/node/fabric/nvlink/link/rate", {0.5, 0.05},
            {"no_peer_access",
             "no NVLink between GPUs, or a part of it",
             1,
             "NCCL_DEBUG=INFO: \"via P2P\"; nvidia-smi topo -m",
             {}});
  }

  /// A rate of the machine, and what is left of it.
  void part_of(const std::string& pointer, std::initializer_list<double> left, Suspect suspect) {
    const auto whole = rate(pointer);
    if (!whole || job_.ranks == 1) return;
    for (const double share : left) {
      suspect.severities.push_back({fmt::format("at {} of its rate", share_text(share)),
                                    {override_of(pointer, fmt::format("{:.6g} GB/s", *whole * share / 1e9))}});
      if (pointer == copy_pointer) suspect.severities.back().copy_rate = share;
    }
    add(std::move(suspect));
  }

  void nics(double rate) {
    Suspect half{"nic_rate", "every NIC below its rate", 1, "ibstat | grep Rate; ethtool | grep Speed", {}};
    for (const double share : {0.5, 0.25})
      half.severities.push_back({fmt::format("at {}", share_text(share)),
                                 {override_of(nic_pointer, in_gigabits(BytesPerSecond(rate * share)))},
                                 share});
    add(std::move(half));
    Suspect one{"one_nic", "one NIC or cable is bad", 2, "ib_write_bw of each NIC; perfquery error counters", {}};
    one.is_of_last_node = true;
    degraded(std::move(one), fmt::format("node{}/nic0", job_.nodes - 1));
    if (nics_of(*topology_) > 1)
      degraded({"rail", "a whole rail is bad", 0.5, "ib_write_bw over each rail; error counters of its switch", {}},
               "node*/nic0");
    if (protocol() != "tcp") tcp(rate);
    Suspect others{"background",
                   "other traffic on the network",
                   1,
                   "port counters while the job waits; Slurm's other jobs on the switch",
                   {}};
    for (const double share : {0.3, 0.6})
      others.severities.push_back(
          {fmt::format("{} of each NIC", share_text(share)),
           {{"/platform/condition/background/node*~1nic*", Json(in_gigabits(BytesPerSecond(rate * share))).dump()}},
           1 - share});
    add(std::move(others));
  }

  void degraded(Suspect suspect, const std::string& nics) {
    for (const double share : {0.5, 0.1}) {
      suspect.severities.push_back(
          {fmt::format("at {}", share_text(share)),
           {{"/platform/condition/degraded/" + pointer_token(nics), Json(share_text(share)).dump()}},
           share});
    }
    add(std::move(suspect));
  }

  [[nodiscard]] std::string protocol() const {
    const auto name = topology_->find("/node/nic/protocol/name");
    return name && name->is_string() ? read<std::string>(*name) : std::string();
  }

  void tcp(double rate) {
    // Of tcp25-4xp100: what a host moves through sockets, fitted; the two halves of what that file's NCCL waits for.
    constexpr double host_rate = 3.69e9;
    const auto own = document_.find("/platform/override");
    Json overrides = own ? Json::parse(to_json(own->node()).dump()) : Json::object();
    overrides["/node/nic/host_rate"] = fmt::format("{:.6g} GB/s", std::min(host_rate, rate) / 1e9);
    overrides["/transport/inter_node_latency"] = "40 us";
    add({"tcp",
         "TCP sockets, not RDMA",
         1,
         "NCCL_DEBUG=INFO: \"NET/Socket\"",
         {{"over sockets", {{"/platform/override", overrides.dump()}}}}});
  }

  void software() {
    const std::string look = "a profile: communication under the backward pass";
    if (is_of({"horovod", "ddp"}) && !document_.find("/strategy/overlap"))
      add({"no_overlap", "no overlap with the backward pass", 1, look, {{"", {{"/strategy/overlap", "false"}}}}});
    if (is_of({"zero"}))
      add({"no_overlap", "overlap_comm is off", 1, look, {{"", {{"/strategy/overlap_comm", "false"}}}}});
    if (is_of({"fsdp"}))
      add({"no_prefetch",
           "no prefetch of parameters",
           1,
           look,
           {{"", {{"/strategy/backward_prefetch", R"("NO_PREFETCH")"}}}}});
    if (is_of({"ddp"}) && !document_.find("/strategy/find_unused_parameters"))
      add({"bucket_order",
           "find_unused_parameters is on",
           0.5,
           "the call of DistributedDataParallel",
           {{"", {{"/strategy/find_unused_parameters", "true"}}}}});
    const std::string own = word("/collectives/allreduce", "");
    if (own.empty() && !is_of({"parameter_server", "distributed_replicated"}))
      add({"algorithm",
           "NCCL_ALGO is set",
           0.5,
           "env | grep NCCL_",
           {{"ring", {{"/collectives/allreduce", R"("ring")"}}}}});
    if (document_.find("/workload/host_dispatch")) return;
    Suspect launches{"host_bound", "slow kernel launches", 1, "gaps between kernels in a profile", {}};
    launches.is_between_kernels = true;
    for (const char* late : {"100 us", "400 us"})
      launches.severities.push_back(
          {fmt::format("{} a layer", late), {{"/workload/host_dispatch", Json(late).dump()}}});
    add(std::move(launches));
  }

  void input() {
    if (document_.find("/effects/input")) return;
    Suspect storage{"storage",
                    "storage: all ranks wait for samples",
                    1.5,
                    "time in next(loader); the same run on synthetic data",
                    {}};
    Suspect decode{"decode", "loader: each rank waits for samples", 1.5, storage.look, {}};
    for (const double share : {0.9, 0.75, 0.5}) {
      const double all = job_.samples_per_second * share;
      const std::string text = fmt::format("{} of the samples that devices take", share_text(share));
      storage.severities.push_back({text, {{"/effects/input/storage_samples_per_second", fmt::format("{:.6g}", all)}}});
      const std::string one = fmt::format(R"({{"decode_workers": 1, "decode_rate": {:.6g}}})", all / job_.ranks);
      decode.severities.push_back({text, {{"/effects/input", Json::parse(one).dump()}}});
    }
    if (job_.ranks > 1) add(std::move(storage));
    add(std::move(decode));
  }

  /// The program does more work than the scenario says.
  void program() {
    const std::string recompute = word("/workload/recompute", "none");
    Suspect again{"recompute", "another recompute setting", 1, "the training script's configuration", {}};
    for (const char* other : {"none", "selective", "full"}) {
      if (recompute != other) again.severities.push_back({other, {{"/workload/recompute", Json(other).dump()}}});
    }
    again.is_a_scale = false;
    add(std::move(again));
    const std::string precision = word("/workload/precision", "");
    Suspect type{"precision", "products in a wider type", 0.5, "kernel names in a profile", {}};
    if (precision == "bf16" || precision == "fp16")
      type.severities.push_back({"tf32", {{"/workload/precision", R"("tf32")"}}});
    if (precision == "fp8") type.severities.push_back({"bf16", {{"/workload/precision", R"("bf16")"}}});
    add(std::move(type));
    const auto compiled = document_.find("/workload/compile");
    if (compiled && read<bool>(*compiled))
      add({"not_compiled",
           "torch.compile fell back to eager",
           1,
           "TORCH_LOGS=graph_breaks",
           {{"", {{"/workload/compile", "false"}}}}});
  }

  const SuspectedJob& job_;
  const Document& document_;
  std::optional<Document> topology_;
  std::vector<Suspect> found_;
};

}  // namespace

Suspects suspects_of(const SuspectedJob& job) {
  return JobsSuspects(job).all();
}

}  // namespace farandole
