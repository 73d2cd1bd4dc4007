#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "report/link_table.hpp"

namespace farandole { inline namespace report {
namespace {

/// How nccl-tests describes an operation: the name of its reduction, whether it has a root, and whether its count is
/// one rank's share of the size.
struct Kind {
  std::string_view operation;
  std::string_view reduction;
  int root;
  bool counts_a_share;
};

constexpr int no_root = -1;
// A row's widths, with "# " in place of the first two columns of the size.
constexpr std::string_view heading_form = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}";

Kind kind_of(std::string_view operation) {
  static constexpr std::array<Kind, 8> kinds{{{"allreduce", "sum", no_root, false},
                                              {"reduce_scatter", "sum", no_root, true},
                                              {"allgather", "none", no_root, true},
                                              {"alltoall", "none", no_root, true},
                                              {"broadcast", "none", 0, false},
                                              {"reduce", "sum", 0, false},
                                              {"gather", "none", 0, true},
                                              {"scatter", "none", 0, true}}};
  for (const Kind& kind : kinds) {
    if (kind.operation == operation) return kind;
  }
  return {operation, operation == "parameter_server" ? "sum" : "none", no_root, false};
}

/// Seven characters, with two, one or no decimals: as many as fit.
std::string fitting_time(double microseconds) {
  const int decimals = microseconds < 9999.995 ? 2 : microseconds < 99999.95 ? 1 : 0;
  return fmt::format("{:>7.{}f}", microseconds, decimals);
}

}  // namespace

std::string nccl_heading_names() {
  return fmt::format(heading_form, "size", "count", "type", "redop", "root", "time", "algbw", "busbw");
}

std::string nccl_heading_units() {
  return fmt::format(heading_form, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)");
}

std::string nccl_row(const CollectivePoint& point) {
  constexpr double bytes_of_a_float = 4;
  const Kind kind = kind_of(point.operation);
  const double elements = std::floor(point.bytes.si() / bytes_of_a_float / (kind.counts_a_share ? point.ranks : 1));
  return fmt::format("{:>12.0f}  {:>12.0f}  {:>8}  {:>6}  {:>6}  {}  {:>6.2f}  {:>6.2f}", point.bytes.si(), elements,
                     "float", kind.reduction, kind.root == no_root ? no_root : point.root,
                     fitting_time(point.time.si() * 1e6), point.algorithm_bandwidth.si() / 1e9,
                     point.bus_bandwidth.si() / 1e9);
}

}}  // namespace farandole::report
