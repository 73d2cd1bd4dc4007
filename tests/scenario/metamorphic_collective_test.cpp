// Relations between times of one collective by every algorithm on random machines: more of the network is never slower,
// n times the bytes take at least as long, and everything k times as large takes k times as long, to the last bit.
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/collective_run.hpp"
#include "scenario/metamorphic_kit.hpp"

namespace farandole::metamorphic_collective_test { namespace {

using test::Case;
using test::Dimension;
using test::Json;
using test::Random;

/// Whole chunks for up to twelve ranks in up to eight parts each.
constexpr double even_size = 27720.0 * 64;

struct Drawn {
  Case machine;
  const Algorithm* algorithm = nullptr;
  Fidelity fidelity = Fidelity::flow;
  int ranks = 2;
  int root = 0;
  double size = even_size;

  [[nodiscard]] std::string text() const {
    return fmt::format("{} {}, {} ranks, root {}, {} B, {}: {}", name(algorithm->operation), algorithm->name, ranks,
                       root, size, name(fidelity), machine.topology().dump());
  }
};

Drawn draw(Random& random) {
  Drawn drawn;
  drawn.machine.scenario["platform"] = Json::object();
  drawn.machine.topology() = test::draw_topology(random);
  put_device(drawn.machine, 1);
  drawn.algorithm =
      &algorithms()[static_cast<std::size_t>(random.between(0, static_cast<int>(algorithms().size()) - 1))];
  drawn.fidelity = random.one_of<Fidelity>({Fidelity::analytic, Fidelity::flow, Fidelity::message});
  drawn.ranks = random.between(2, std::min(12, test::devices_of(drawn.machine.topology())));
  drawn.root = random.between(0, drawn.ranks - 1);
  drawn.size = even_size * std::exp2(random.between(-2, 6));
  return drawn;
}

double seconds(const Drawn& drawn) {
  static const Catalogue catalogue;
  Document document = Document::parse(drawn.machine.scenario.dump(), "drawn.json");
  const Value where = document.root();
  const Topology topology = catalogue.topology("ethernet-25g", where, document.find("/platform/override"));
  CollectiveRequest request;
  request.algorithm = *drawn.algorithm;
  request.sizes = {Bytes(drawn.size)};
  request.fidelities = {drawn.fidelity};
  request.ranks = drawn.ranks;
  request.root = drawn.root;
  request.folding = drawn.machine.folding;
  const Json& platform = drawn.machine.scenario["platform"];
  if (platform.contains("placement")) request.placement.first_node = platform["placement"]["first_node"];
  return run_collective(request, topology, where).front().time.si();
}

void scale(Drawn& drawn, Dimension dimension, double factor) {
  for (const char* part : {"/network", "/node", "/transport"}) {
    if (drawn.machine.topology().contains(part)) scale_all(drawn.machine.topology()[part], dimension, factor);
  }
}

/// What a change does to the time: `low` to `high` times as much.
struct Law {
  const char* name;
  std::function<bool(Drawn&, Random&)> change;
  double low = 1;
  double high = 1;
};

constexpr double any = 1e30;

/// At `message` a rank that sends eagerly goes on while what it sends is under way: less latency may bring what it
/// sends next beside that on one link, which both share.
bool runs_ahead(const Drawn& d) {
  return d.fidelity == Fidelity::message && d.machine.has("eager_sends");
}

/// With the size from which a message waits for its receiver. Keys of a fixed size are no share of what is sent.
bool double_sizes(Drawn& d) {
  d.size *= 2;
  scale(d, Dimension::size, 2);
  return d.algorithm->key == Bytes(0);
}

const std::vector<Law> laws{
    {"faster links",
     [](Drawn& d, Random& random) {
       scale(d, Dimension::rate, random.between(2, 8));
       return true;
     },
     0, 1},
    {"lower latency",
     [](Drawn& d, Random& random) {
       scale(d, Dimension::time, 1.0 / random.between(2, 8));
       return !runs_ahead(d);
     },
     0, 1},
    {"n times the bytes",
     [](Drawn& d, Random& random) {
       d.size *= random.between(2, 9);
       return true;
     },
     1, any},
    {"all times x 4",
     [](Drawn& d, Random&) {
       scale(d, Dimension::time, 4);
       scale(d, Dimension::rate, 0.25);
       return true;
     },
     4, 4},
    {"all sizes and rates x 2",
     [](Drawn& d, Random&) {
       scale(d, Dimension::rate, 2);
       return double_sizes(d);
     }},
    {"all sizes x 2 at most twice", [](Drawn& d, Random&) { return double_sizes(d) && !runs_ahead(d); }, 1, 2},
};

class Tally {
 public:
  void judge(const std::string& law, double ratio, double low, double high, const std::string& of_what) {
    auto& [tried, broken] = rows_[law];
    ++tried;
    if (ratio >= low * (1 - rounding) && ratio <= high * (1 + rounding)) return;
    ++broken;
    if (++violations_ <= 30) std::cout << fmt::format("{}: {:.17g} times\n  {}\n", law, ratio, of_what);
  }
  [[nodiscard]] int violations() const { return violations_; }
  void print() const {
    for (const auto& [law, row] : rows_) std::cout << fmt::format("{:<40} {:>7} {:>7}\n", law, row[0], row[1]);
  }

 private:
  static constexpr double rounding = 1e-9;
  std::map<std::string, std::array<int, 2>> rows_;
  int violations_ = 0;
};

/// Those of a scenario that a collective has, too.
void expect_unchanged(const Drawn& drawn, double own, std::uint64_t seed, Random& random, Tally& tally) {
  for (const test::Invariance& invariance : test::invariances()) {
    const std::string name = invariance.name;
    if (name.find("layers") != name.npos || name.find("sweep") != name.npos || name == "seed" || name == "locale")
      continue;
    Drawn changed = drawn;
    if (!invariance.change(changed.machine, random)) continue;
    tally.judge(name, seconds(changed) / own, 1 - invariance.rounding, 1 + invariance.rounding,
                fmt::format("seed {}: {}", seed, drawn.text()));
  }
}

void expect_laws(std::uint64_t first, int draws) {
  Tally tally;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(draws); ++seed) {
    Random random(seed);
    const Drawn drawn = draw(random);
    const double own = seconds(drawn);
    expect_unchanged(drawn, own, seed, random, tally);
    for (const Law& law : laws) {
      Drawn changed = drawn;
      if (law.change(changed, random))
        tally.judge(law.name, seconds(changed) / own, law.low, law.high,
                    fmt::format("seed {}: {}", seed, drawn.text()));
    }
  }
  tally.print();
  EXPECT_EQ(tally.violations(), 0);
}

TEST(MetamorphicCollectives, ObeyTheLawsOnRandomMachines) {
  expect_laws(1, 100);
}

TEST(SlowMetamorphicCollectives, ObeyTheLawsOnRandomMachines) {
  expect_laws(1000, 1000);
}

}}  // namespace farandole::metamorphic_collective_test
