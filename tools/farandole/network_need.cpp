#include "network_need.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "machine_network.hpp"
#include "platform/graph_file.hpp"
#include "scenario/anchor.hpp"
#include "scenario/sweep.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array nic_gigabits{0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0};
constexpr double farthest = 16;       // of those that are tried, from the file's own rate
constexpr double near_enough = 1.02;  // of two rates

class NetworkQuestion {
 public:
  NetworkQuestion(const Document& document, const Catalogue& catalogue, const RunOptions& options)
      : document_(anchored(expand_sweep(document).back().document, catalogue)),
        catalogue_(catalogue),
        options_(options) {
    document_.remove("/question");
    const Value platform = Section(document_.root()).child("platform");
    const Value name = Section(platform).child("topology");
    const auto overrides = Section(platform).maybe("override");
    if (overrides) overrides_ = Json::parse(to_json(overrides->node()).dump());
    const Topology machine = catalogue.topology(read<std::string>(name), name);
    if (is_graph_file(machine.file.string())) name.fail("a topology file, whose nodes have NICs");
    Document topology = Document::read(machine.file);
    if (overrides) {
      for (const auto& [pointer, value] : overrides->members()) topology.set(pointer, value.node());
    }
    network_.emplace(std::move(topology), name);
  }

  [[nodiscard]] const MachineNetwork& network() const { return *network_; }

  /// With NICs and all behind them of so many times their rates.
  [[nodiscard]] NetworkVariant with_rates(double relative, bool bands) const {
    Json changed = overrides_;
    network_->scale(changed, relative);
    return run(relative, changed, bands);
  }

  /// With so much of the rate between switches.
  [[nodiscard]] NetworkVariant with_thinner(double relative, int nodes) const {
    Json changed = overrides_;
    network_->thin(changed, relative, nodes);
    return run(relative, changed, false);
  }

  [[nodiscard]] TrainingPoint own() const { return run(document_, true); }

  /// On what was run so far.
  [[nodiscard]] std::vector<std::string> notes() const { return {notes_.begin(), notes_.end()}; }

  /// With one, two, four, ... of the node's NICs, spread over the places that they have.
  [[nodiscard]] std::vector<OtherNetwork> with_fewer_nics() const {
    std::vector<OtherNetwork> fewer;
    for (std::size_t nics = 1; nics < network_->nics(); nics *= 2) {
      Json changed = overrides_;
      network_->keep_nics(changed, nics);
      NetworkVariant variant = run(1, changed, true);
      fewer.push_back(other(topology(), std::move(variant.set), std::move(variant.point)));
      fewer.back().nics = static_cast<int>(nics);
    }
    return fewer;
  }

  /// On every other machine with such nodes; why not, where it does not run there.
  void add_other_machines(NetworkNeed& need) const {
    for (const std::string& name : catalogue_.topologies()) {
      const Document file = Document::read(catalogue_.root() / "topologies" / (name + ".json"));
      if (is_own(file) || !has_same_nodes(file)) continue;
      Document document = document_;
      document.set("/platform/topology", Json(name).dump());
      if (document.find("/platform/override")) document.remove("/platform/override");
      std::vector<SetValue> set{{"/platform/topology", Json(name).dump()}, {"/platform/override", "{}"}};
      try {
        need.others.push_back(other(file, std::move(set), run(document, true)));
      } catch (const InputError& error) {
        need.refused.push_back(name + ": " + error.what());
      }
    }
  }

 private:
  [[nodiscard]] bool is_own(const Document& file) const {
    return read<std::string>(*file.find("/name")) == read<std::string>(*topology().find("/name"));
  }
  [[nodiscard]] const Document& topology() const { return network_->topology(); }
  [[nodiscard]] bool has_same_nodes(const Document& file) const {
    const auto same = [&](const char* pointer) {
      const auto theirs = file.find(pointer);
      const auto ours = topology().find(pointer);
      return theirs && ours && to_json(theirs->node()).dump() == to_json(ours->node()).dump();
    };
    return same("/node/device") && same("/node/devices") && file.find("/node/nic/rate");
  }
  static OtherNetwork other(const Document& file, std::vector<SetValue> set, TrainingPoint point) {
    const auto transport = file.find("/transport/name");
    return {read<std::string>(*file.find("/name")),
            static_cast<int>(nics_of(file)),
            read<BytesPerSecond>(*file.find("/node/nic/rate")),
            transport ? read<std::string>(*transport) : std::string(),
            std::move(set),
            std::move(point)};
  }

  [[nodiscard]] NetworkVariant run(double relative, const Json& overrides, bool bands) const {
    NetworkVariant variant{relative, {{"/platform/override", overrides.dump()}}, {}};
    Document document = document_;
    document.set(variant.set.front().pointer, variant.set.front().json);
    variant.point = run(document, bands);
    return variant;
  }
  [[nodiscard]] TrainingPoint run(const Document& document, bool bands) const {
    RunOptions options = options_;
    options.bands = bands;
    const RunResult result = run_document(document, catalogue_, options);
    if (const auto note = result.settings.find("note"); note != result.settings.end()) notes_.insert(note->second);
    return result.points.front();
  }

  Document document_;
  const Catalogue& catalogue_;
  RunOptions options_;
  Json overrides_ = Json::object();
  std::optional<MachineNetwork> network_;
  mutable std::set<std::string> notes_;
};

using Efficiency = double (*)(const TrainingPoint&);
double point_itself(const TrainingPoint& point) {
  return point.scaling_efficiency;
}
double low_end(const TrainingPoint& point) {
  return point.bands ? point.bands->scaling_efficiency.low : point.scaling_efficiency;
}
double high_end(const TrainingPoint& point) {
  return point.bands ? point.bands->scaling_efficiency.high : point.scaling_efficiency;
}

/// The first from which on all reach it; the end where not even the last does.
auto first_that_reaches(const std::vector<NetworkVariant>& rates, double target, Efficiency of) {
  const auto misses = [&](const NetworkVariant& variant) { return of(variant.point) < target; };
  return std::find_if(rates.rbegin(), rates.rend(), misses).base();
}

/// Between two rates of which one misses and the other reaches it, as if efficiency went straight over the logarithm.
double where_reached(const std::vector<NetworkVariant>& rates, double target, Efficiency of) {
  const auto found = first_that_reaches(rates, target, of);
  if (found == rates.end()) return HUGE_VAL;
  if (found == rates.begin()) return found->relative;
  const auto before = std::prev(found);
  const double part = (target - of(before->point)) / (of(found->point) - of(before->point));
  return before->relative * std::pow(found->relative / before->relative, part);
}

std::optional<NetworkVariant> least_rate(const NetworkQuestion& question, const std::vector<NetworkVariant>& rates,
                                         double target) {
  const auto found = first_that_reaches(rates, target, point_itself);
  if (found == rates.end()) return std::nullopt;
  NetworkVariant reaches = *found;
  double misses = found == rates.begin() ? found->relative : std::prev(found)->relative;
  while (reaches.relative > misses * near_enough) {
    NetworkVariant between = question.with_rates(std::sqrt(misses * reaches.relative), false);
    if (between.point.scaling_efficiency >= target) {
      reaches = std::move(between);
    } else {
      misses = between.relative;
    }
  }
  return reaches;
}

std::optional<NetworkVariant> thinnest(const std::vector<NetworkVariant>& thin, double target) {
  std::optional<NetworkVariant> last;
  for (const NetworkVariant& variant : thin) {
    if (variant.point.scaling_efficiency < target) break;
    last = variant;
  }
  return last;
}

}  // namespace

NetworkNeed network_need(const Document& document, const Catalogue& catalogue, const RunOptions& options,
                         std::span<const double> targets) {
  const NetworkQuestion question(document, catalogue, options);
  NetworkNeed need;
  need.nic = question.network().nic();
  need.nics = static_cast<int>(question.network().nics());
  need.has_switches = question.network().has_switches();
  need.own = question.own();
  if (need.own.nodes < 2) {
    document.find("/platform")->fail("a job on several nodes", fmt::format("{} on one", need.own.ranks));
  }
  for (const double gigabits : nic_gigabits) {
    const double relative = gigabits * 1e9 / 8 / need.nic.si();
    if (relative > farthest || relative * farthest < 1) continue;
    need.rates.push_back(question.with_rates(relative, true));
  }
  std::vector<NetworkVariant> thin;  // one that stays as the file has it has been run
  if (need.has_switches) thin.push_back({1, {}, need.own});
  for (double factor = need.has_switches ? 2 : 1; factor <= most_thinned; factor *= 2)
    thin.push_back(question.with_thinner(1 / factor, need.own.nodes));
  for (const double target : targets) {
    NetworkAnswer answer{target,
                         least_rate(question, need.rates, target),
                         {where_reached(need.rates, target, high_end), where_reached(need.rates, target, low_end)},
                         thinnest(thin, target)};
    if (answer.rate) answer.band.hold(answer.rate->relative);
    need.answers.push_back(std::move(answer));
  }
  need.notes = question.notes();
  need.others = question.with_fewer_nics();
  question.add_other_machines(need);
  return need;
}

}  // namespace farandole
