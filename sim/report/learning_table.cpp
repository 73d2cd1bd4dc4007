#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/reports.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr std::size_t most_weights_shown = 12;

std::vector<std::size_t> epochs_shown(std::size_t epochs) {
  std::vector<std::size_t> shown;
  for (std::size_t power = 1; power <= epochs; power *= 10) {
    for (const std::size_t step : {1, 2, 5}) {
      if (power * step < epochs) shown.push_back(power * step);
    }
  }
  if (epochs > 0) shown.push_back(epochs);
  return shown;
}

void add_rows(Table& table, const std::vector<std::string>& names, const Learning& learning) {
  const auto row = [&](std::size_t epoch, Seconds at, double loss) {
    std::vector<std::string> cells = names;
    cells.insert(cells.end(), {std::to_string(epoch), format(at), fmt::format("{:.6g}", loss)});
    table.row(std::move(cells));
  };
  row(0, Seconds(0), learning.start_loss);
  for (const std::size_t epoch : epochs_shown(learning.loss.size())) {
    row(epoch, learning.seconds[epoch - 1], learning.loss[epoch - 1]);
  }
}

void write_weights(std::ostream& out, const std::vector<std::string>& names, const Learning& learning) {
  if (learning.weights.size() > most_weights_shown) return;
  out << fmt::format("# weights ({}): {:.9g}\n", fmt::join(names, ", "), fmt::join(learning.weights, ", "));
}

}  // namespace

void write_learning(std::ostream& out, const Facets<TrainingPoint>& facets, std::span<const TrainingPoint> points) {
  if (std::ranges::none_of(points, [](const TrainingPoint& point) { return point.learning.has_value(); })) return;
  out << "\nLoss against simulated time\n";
  std::vector<Column> columns = facet_columns(facets);
  for (const char* heading : {"epoch", "simulated time", "loss"}) columns.push_back({heading});
  Table table(std::move(columns));
  for (const TrainingPoint& point : points) {
    if (point.learning) add_rows(table, facet_cells(facets, point), *point.learning);
  }
  table.write(out);
  for (const TrainingPoint& point : points) {
    if (point.learning) write_weights(out, facet_cells(facets, point), *point.learning);
  }
}

}}  // namespace farandole::report
