#include "rdma_ports.hpp"

#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "config/error.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

/// Between the quotation marks of a line; nothing where it has none.
std::optional<std::string> quoted_name(const std::string& line) {
  const auto begin = line.find('\'');
  const auto end = begin == std::string::npos ? begin : line.find('\'', begin + 1);
  if (end == std::string::npos) return std::nullopt;
  return line.substr(begin + 1, end - begin - 1);
}

/// "CA 'mlx5_0'", or "Infiniband device 'mlx5_0' port 1 status:".
bool begins_adapter(const std::string& line) {
  return line.starts_with("CA '") || line.starts_with("Infiniband device '");
}

/// "Link layer: InfiniBand" or "link_layer: InfiniBand", indented, as it stands there.
std::pair<std::string, std::string> key_and_value(const std::string& line) {
  const auto colon = line.find(':');
  const auto begin = line.find_first_not_of(" \t");
  if (colon == std::string::npos || begin >= colon) return {};
  const auto value = line.find_first_not_of(" \t", colon + 1);
  return {line.substr(begin, colon - begin),
          value == std::string::npos ? "" : line.substr(value, line.find_last_not_of(" \t\r") - value + 1)};
}

/// "400", or "400 Gb/sec (4X NDR)".
double port_rate(const std::string& value, const std::string& place) {
  std::istringstream number(value);
  double rate = 0;
  if (!(number >> rate) || rate < 0) throw InputError(place + ": expected a rate in Gbit/s, got " + quoted(value));
  return rate;
}

}  // namespace

std::map<std::string, RdmaPort> read_rdma_ports(const std::string& text, const std::string& file) {
  std::map<std::string, RdmaPort> ports;
  RdmaPort port;
  std::string adapter;
  const auto keep = [&] {
    const bool is_better = !ports.contains(adapter) || (port.is_active && !ports.at(adapter).is_active);
    if (!adapter.empty() && is_better) ports[adapter] = port;
    port = {};
  };
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto [key, value] = key_and_value(line);
    const bool begins = begins_adapter(line);
    const bool is_port = key.starts_with("Port ") && key.find_first_not_of("0123456789", 5) == std::string::npos;
    if (begins || is_port) keep();  // "Port 1:", not "Port GUID:"
    if (begins) adapter = quoted_name(line).value_or("");
    // ibstat's words and ibstatus's.
    if (key == "State" || key == "state") port.is_active = value == "Active" || value.ends_with(": ACTIVE");
    if (key == "Rate" || key == "rate") port.rate = port_rate(value, fmt::format("{}:{}", file, number));
    if (key == "Link layer" || key == "link_layer") port.link_layer = value;
  }
  keep();
  if (ports.empty())
    throw InputError(fmt::format("{}: expected adapters as ibstat or ibstatus prints them, got none", file));
  return ports;
}

}  // namespace farandole
