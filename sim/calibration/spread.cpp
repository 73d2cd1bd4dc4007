#include "calibration/spread.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "timeline/validation.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, distances> distance_names{"fitted", "another_operation", "another_scale",
                                                            "another_operation_and_scale"};
constexpr std::size_t enough_errors = 9;  // for a band; the outermost bound it
constexpr double tail = 0.1;              // on either side

using Ratios = std::vector<Errors>;  // per size class

/// What is left out together, and which of it is looked at.
struct LeftOut {
  std::vector<bool> left_out;
  std::vector<bool> judged;
};

LeftOut left_out_group(std::span<const MeasuredTime> rows, auto is_left_out) {
  const std::vector<bool> left_out = mapped(rows, is_left_out);
  return {left_out, left_out};
}

/// One size in four, then the next: what is between two that were fitted to is what is asked for most.
std::vector<LeftOut> one_size_in_four(std::span<const MeasuredTime> rows) {
  std::set<double> sizes;
  for (const MeasuredTime& row : rows) sizes.insert(row.bytes.si());
  return mapped(std::array{0, 1, 2, 3}, [&](int rest) {
    return left_out_group(rows, [&](const MeasuredTime& row) {
      return std::distance(sizes.begin(), sizes.find(row.bytes.si())) % 4 == rest;
    });
  });
}

std::vector<LeftOut> groups_of(std::span<const MeasuredTime> rows, const Spread& spread, Distance distance) {
  if (distance == Distance::fitted) return one_size_in_four(rows);
  if (distance == Distance::another_operation) {
    return mapped(spread.operations, [&](const std::string& operation) {
      return left_out_group(rows, [&](const MeasuredTime& row) { return row.operation == operation; });
    });
  }
  const auto groups = mapped(spread.ranks, [&](int ranks) {
    return left_out_group(rows, [&](const MeasuredTime& row) { return row.ranks == ranks; });
  });
  if (distance == Distance::another_scale) return groups;
  std::vector<LeftOut> pairs;
  for (const std::string& operation : spread.operations) {
    for (const LeftOut& scale : groups) {
      LeftOut pair = scale;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool is_of_it = rows[i].operation == operation;
        pair.judged[i] = scale.left_out[i] && is_of_it;
        pair.left_out[i] = scale.left_out[i] || is_of_it;
      }
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

Ratios ratios_of(std::span<const MeasuredTime> rows, const std::vector<LeftOut>& groups,
                 const PredictWithout& predict) {
  Ratios ratios(size_classes.size());
  for (const LeftOut& group : groups) {
    const bool is_anything_left = std::ranges::find(group.left_out, false) != group.left_out.end();
    const bool is_anything_judged = std::ranges::find(group.judged, true) != group.judged.end();
    if (!is_anything_left || !is_anything_judged) continue;
    const std::vector<double> predicted = predict(group.left_out);
    if (predicted.empty()) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (group.judged[i] && predicted[i] > 0)
        ratios[size_class_of(rows[i].bytes)].emplace_back(-std::log(predicted[i]), 1);
    }
  }
  return ratios;
}

/// Those of the class, and of its neighbours as far as it takes to have enough.
Errors about(const Ratios& ratios, std::size_t size_class) {
  Errors found = ratios[size_class];
  for (std::size_t away = 1; found.size() < enough_errors && away < ratios.size(); ++away) {
    for (const std::size_t other : {size_class - away, size_class + away}) {
      if (other < ratios.size()) found.insert(found.end(), ratios[other].begin(), ratios[other].end());
    }
  }
  return found;
}

/// With room for one more at either end, as of equal weights between the k-th and the next of n, k = share (n + 1).
double weighted_quantile(const Errors& errors, double share) {
  double total = 0;
  for (const auto& [error, weight] : errors) total += weight;
  const double wanted = share * (total + total / static_cast<double>(errors.size()));
  double passed = 0;
  double last = errors.front().first;
  for (const auto& [error, weight] : errors) {
    if (passed + weight >= wanted) return std::lerp(last, error, (wanted - passed) / weight);
    passed += weight;
    last = error;
  }
  return last;
}

void widen(std::optional<TimeBand>& band, const std::optional<TimeBand>& nearer) {
  if (!band || !nearer) return;
  band->least = std::min(band->least, nearer->least);
  band->most = std::max(band->most, nearer->most);
}

}  // namespace

std::optional<TimeBand> band_of_errors(Errors errors) {
  if (errors.empty()) return std::nullopt;
  std::ranges::sort(errors);
  return TimeBand{std::exp(std::min(0.0, weighted_quantile(errors, tail))),
                  std::exp(std::max(0.0, weighted_quantile(errors, 1 - tail)))};
}

std::optional<TimeBand> Spread::band_of(const MeasuredTime& row) const {
  const bool is_new_operation = !operations.contains(row.operation);
  const bool is_new_scale = !ranks.contains(row.ranks);
  const auto& known = bands[(is_new_operation ? 1U : 0U) + (is_new_scale ? 2U : 0U)];
  return known.empty() ? std::nullopt : known[size_class_of(row.bytes)];
}

Spread spread_of(std::span<const MeasuredTime> rows, const PredictWithout& predict) {
  Spread spread;
  for (const MeasuredTime& row : rows) {
    spread.operations.insert(row.operation);
    spread.ranks.insert(row.ranks);
  }
  for (std::size_t d = 0; d < distances; ++d) {
    const Ratios ratios = ratios_of(rows, groups_of(rows, spread, static_cast<Distance>(d)), predict);
    spread.bands[d].resize(ratios.size());
    for (std::size_t c = 0; c < ratios.size(); ++c) {
      std::optional<TimeBand>& band = spread.bands[d][c];
      if (Errors errors = about(ratios, c); errors.size() >= enough_errors) band = band_of_errors(std::move(errors));
      for (std::size_t nearer = 0; nearer < d; ++nearer) {
        if ((nearer & d) == nearer) widen(band, spread.bands[nearer][c]);
      }
    }
  }
  return spread;
}

void widen_by_scatter(Spread& spread, const Scatter& scatter) {
  for (auto& bands : spread.bands) {
    for (std::size_t c = 0; c < bands.size(); ++c) {
      const double reach = to_ninth_decile * scatter.between_rows_of(c);
      widen(bands[c], TimeBand{std::exp(-reach), std::exp(reach)});
    }
  }
}

std::string spread_text(const Spread& spread) {
  Json json{{"comment", "Measured / predicted of four in five that were predicted from the others alone"},
            {"operations", spread.operations},
            {"ranks", spread.ranks}};
  for (std::size_t d = 0; d < distances; ++d) {
    Json classes = Json::object();
    for (std::size_t c = 0; c < spread.bands[d].size(); ++c) {
      if (const auto& band = spread.bands[d][c]) classes[size_classes[c].name] = {band->least, band->most};
    }
    json[distance_names[d]] = classes;
  }
  return json.dump();
}

Spread read_spread(const Value& value) {
  Section section(value);
  (void)section.maybe_read<std::string>("comment");
  Spread spread;
  for (const Value& name : section.child("operations").elements()) spread.operations.insert(read<std::string>(name));
  for (const Value& ranks : section.child("ranks").elements()) spread.ranks.insert(read_at_least(ranks, 1));
  for (std::size_t d = 0; d < distances; ++d) {
    spread.bands[d].resize(size_classes.size());
    for (const auto& [name, band] : section.child(distance_names[d]).members()) {
      const auto ends = band.elements();
      if (ends.size() != 2) band.fail("two numbers");
      const TimeBand read_band{read<double>(ends[0]), read<double>(ends[1])};
      if (!(read_band.least > 0 && read_band.least <= read_band.most)) band.fail("two rising numbers above zero");
      for (std::size_t c = 0; c < size_classes.size(); ++c) {
        if (size_classes[c].name == name) spread.bands[d][c] = read_band;
      }
    }
  }
  section.finish();
  return spread;
}

}}  // namespace farandole::calibration
