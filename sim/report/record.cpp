#include "report/record.hpp"

#include <cmath>
#include <cstdint>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "report/version.hpp"

namespace farandole {
namespace {

/// Sizes are whole numbers of bytes nearly always, and then read best as integers; a double holds them up to 2^53.
Record size_in_bytes(Bytes size, std::string_view key) {
  constexpr double largest_exact = 9007199254740992.0;
  const double bytes = finite(size.si(), key);
  if (bytes == std::floor(bytes) && std::abs(bytes) <= largest_exact) return static_cast<std::int64_t>(bytes);
  return bytes;
}

Record to_record(const Breakdown& breakdown) {
  return {{"compute", finite(breakdown.compute.si(), "compute")},
          {"exposed_communication", finite(breakdown.exposed_communication.si(), "exposed_communication")},
          {"negotiation", finite(breakdown.negotiation.si(), "negotiation")},
          {"straggler", finite(breakdown.straggler.si(), "straggler")},
          {"input", finite(breakdown.input.si(), "input")},
          {"checkpoint", finite(breakdown.checkpoint.si(), "checkpoint")},
          {"other", finite(breakdown.other.si(), "other")}};
}

}  // namespace

double finite(double number, std::string_view key) {
  if (!std::isfinite(number)) throw std::logic_error(fmt::format("the result \"{}\" is not a finite number", key));
  return number + 0.0;  // -0.0 + 0.0 is 0.0
}

Record to_record(const TrainingPoint& point) {
  return {{"model", point.model},
          {"variant", point.variant},
          {"ranks", point.ranks},
          {"nodes", point.nodes},
          {"platform", point.platform},
          {"strategy", point.strategy},
          {"mode", point.mode},
          {"algorithm", point.algorithm},
          {"fidelity", point.fidelity},
          {"iteration_seconds", finite(point.iteration.si(), "iteration_seconds")},
          {"iteration_seconds_p50", finite(point.iteration_p50.si(), "iteration_seconds_p50")},
          {"iteration_seconds_p95", finite(point.iteration_p95.si(), "iteration_seconds_p95")},
          {"samples_per_second", finite(point.samples_per_second, "samples_per_second")},
          {"scaling_efficiency", finite(point.scaling_efficiency, "scaling_efficiency")},
          {"breakdown", to_record(point.breakdown)},
          {"batch_per_rank", point.batch_per_rank},
          {"precision", point.precision},
          {"compute_source", point.compute_source},
          {"collectives_per_iteration", point.collectives_per_iteration},
          {"gradient_bytes", size_in_bytes(point.gradient_bytes, "gradient_bytes")},
          {"folded", point.folded},
          {"mean_staleness", finite(point.mean_staleness, "mean_staleness")}};
}

Record to_record(const CollectivePoint& point) {
  return {{"op", point.operation},
          {"algorithm", point.algorithm},
          {"ranks", point.ranks},
          {"bytes", size_in_bytes(point.bytes, "bytes")},
          {"seconds", finite(point.time.si(), "seconds")},
          {"algorithm_bandwidth", finite(point.algorithm_bandwidth.si(), "algorithm_bandwidth")},
          {"bus_bandwidth", finite(point.bus_bandwidth.si(), "bus_bandwidth")},
          {"fidelity", point.fidelity},
          {"folded", point.folded},
          {"servers", point.servers}};
}

std::string json_text(const Record& record, int indent) {
  return record.dump(indent, ' ', false, Record::error_handler_t::replace);
}

void write_json(std::ostream& out, const Heading& heading, const std::vector<Record>& records) {
  const Record document{{"farandole", version()},
                        {"scenario", heading.scenario},
                        {"settings", Record(heading.settings)},
                        {"points", Record(records)}};
  out << json_text(document, 2) << '\n';
}

}  // namespace farandole
