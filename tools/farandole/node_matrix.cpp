#include "node_matrix.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "config/section.hpp"

namespace farandole {
namespace {

using Words = std::vector<std::string>;

/// From the nearest to the furthest; two that share a PCIe bridge are on one switch.
constexpr std::array<const char*, 5> distances{"PIX", "PXB", "PHB", "NODE", "SYS"};
constexpr int on_one_switch = 1;
constexpr int on_one_socket = 3;

struct Row {
  std::string place;  // "topo.txt:2"
  Words cells;
  std::string socket;  // its processors, or the NUMA node where it says no more; empty where it says neither
};

struct NodeMatrix {
  std::size_t gpus = 0;
  Words nics;             // their columns, by the adapters' names where the legend has them
  std::vector<Row> rows;  // of GPUs
  [[nodiscard]] int distance(std::size_t gpu, std::size_t nic) const;
  [[nodiscard]] int links(std::size_t gpu, std::size_t other) const;
};

[[noreturn]] void refuse_cell(const std::string& place, const std::string& expected, const std::string& got) {
  throw InputError(place + ": expected " + expected + ", got " + got);
}

/// Without the escape sequences that underline a heading.
Words cells_of(const std::string& line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size());
    } else {
      plain += line[i];
    }
  }
  std::istringstream words(plain);
  return {std::istream_iterator<std::string>(words), {}};
}

bool is_heading(const Words& words) {
  return words.size() > 1 && words[0] == "GPU0" && words[1] != "X";
}

int NodeMatrix::distance(std::size_t gpu, std::size_t nic) const {
  const std::string& cell = rows[gpu].cells[gpus + nic];
  const auto found = std::ranges::find(distances, cell);
  if (found == distances.end()) {
    refuse_cell(rows[gpu].place, fmt::format("{}", fmt::join(distances, ", ")), quoted(cell));
  }
  return static_cast<int>(found - distances.begin());
}

/// NVLinks between two GPUs; none where they meet over PCIe.
int NodeMatrix::links(std::size_t gpu, std::size_t other) const {
  const std::string& cell = rows[gpu].cells[other];
  if (std::ranges::find(distances, cell) != distances.end()) return 0;
  const std::string number = cell.starts_with("NV") ? cell.substr(2) : "";
  const bool is_number =
      !number.empty() && number.size() < 4 && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) {
    refuse_cell(rows[gpu].place, fmt::format("NV and a number, or {}", fmt::join(distances, ", ")), quoted(cell));
  }
  return std::stoi(number);
}

NodeMatrix read_matrix(const std::string& text, const std::string& file) {
  NodeMatrix matrix;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const Words words = cells_of(line);
    if (words.size() == 2 && words[0].ends_with(':')) {  // "NIC0: mlx5_0"
      const auto named = std::ranges::find(matrix.nics, words[0].substr(0, words[0].size() - 1));
      if (named != matrix.nics.end()) *named = words[1];
    }
    if (is_heading(words)) {
      const auto end = std::ranges::find(words, "CPU");
      const auto nics =
          std::find_if(words.begin(), end, [](const std::string& word) { return !word.starts_with("GPU"); });
      matrix = {static_cast<std::size_t>(nics - words.begin()), {nics, end}, {}};
      continue;
    }
    if (matrix.gpus == 0 || matrix.rows.size() == matrix.gpus || words.empty()) continue;
    const std::string place = fmt::format("{}:{}", file, number);
    const std::size_t columns = matrix.gpus + matrix.nics.size();
    const std::string expected = fmt::format("GPU{} and {} columns", matrix.rows.size(), columns);
    if (words[0] != fmt::format("GPU{}", matrix.rows.size())) refuse_cell(place, expected, quoted(words[0]));
    if (words.size() <= columns) refuse_cell(place, expected, fmt::format("{} columns", words.size() - 1));
    const auto last = words.begin() + 1 + static_cast<std::ptrdiff_t>(columns);
    matrix.rows.push_back({place, {words.begin() + 1, last}, last != words.end() ? *last : ""});
  }
  if (matrix.gpus == 0 || matrix.rows.size() < matrix.gpus) {
    refuse_cell(fmt::format("{}:{}", file, number), "a row for every GPU, as nvidia-smi topo -m prints",
                fmt::format("{} of {}", matrix.rows.size(), matrix.gpus));
  }
  return matrix;
}

/// How many neighbours share something, all alike; nothing where they do not.
template <class Same>
std::optional<std::size_t> share_of(std::size_t gpus, Same same) {
  std::size_t share = 1;
  while (share < gpus && same(0, share)) ++share;
  for (std::size_t one = 0; one < gpus; ++one) {
    for (std::size_t other = 0; other < gpus; ++other) {
      if (one != other && same(one, other) != (one / share == other / share)) return std::nullopt;
    }
  }
  return gpus % share == 0 ? std::optional(share) : std::nullopt;
}

using Ports = std::map<std::string, RdmaPort>;

/// NICs that are nearest: on a switch with GPUs, where any is. Of those that are up.
std::vector<std::size_t> near_nics(const NodeMatrix& matrix, const Ports& ports) {
  std::vector<std::size_t> near;
  for (const int most : {on_one_switch, on_one_socket}) {
    for (std::size_t nic = 0; nic < matrix.nics.size(); ++nic) {
      const auto port = ports.find(matrix.nics[nic]);
      if (!ports.empty() && (port == ports.end() || !port->second.is_active)) continue;
      bool is_near = false;
      for (std::size_t gpu = 0; gpu < matrix.gpus; ++gpu) is_near = is_near || matrix.distance(gpu, nic) <= most;
      if (is_near) near.push_back(nic);
    }
    if (!near.empty()) break;
  }
  return near;
}

std::string put_nvlinks(const NodeMatrix& matrix, Document& topology) {
  constexpr int most_of_a_device = 18;  // up to Blackwell; more than that in sum are links to a switch
  const char* const where = "/node/fabric/nvlink";
  std::vector<std::array<int, 3>> mesh;
  for (std::size_t one = 0; one < matrix.gpus; ++one) {
    for (std::size_t other = one + 1; other < matrix.gpus; ++other) {
      const int links = matrix.links(one, other);
      if (links > 0) mesh.push_back({static_cast<int>(one), static_cast<int>(other), links});
    }
  }
  if (mesh.empty()) {
    topology.remove(where);
    return "no NVLink";
  }
  if (!topology.find(where)) {
    refuse_cell(matrix.rows.front().place, "GPUs without NVLink, as in --topology",
                "NVLink; --topology names a machine that has it");
  }
  topology.set(std::string(where) + "/source", "nvidia-smi topo -m");
  topology.remove(std::string(where) + "/mesh");
  topology.remove(std::string(where) + "/links_per_device");
  const int links = mesh.front()[2];
  const bool are_all = mesh.size() == matrix.gpus * (matrix.gpus - 1) / 2;
  const bool are_alike = std::ranges::all_of(mesh, [&](const auto& pair) { return pair[2] == links; });
  if (are_all && are_alike && links * static_cast<int>(matrix.gpus - 1) > most_of_a_device) {
    topology.set(std::string(where) + "/links_per_device", std::to_string(links));
    return fmt::format("{} NVLinks each into switches", links);
  }
  topology.set(std::string(where) + "/mesh", nlohmann::json(mesh).dump());
  return fmt::format("NVLinks between {} pairs", mesh.size());
}

/// The rate of those NICs, which is one.
std::string put_rate(const NodeMatrix& matrix, const std::vector<std::size_t>& nics, const Ports& ports,
                     Document& topology) {
  if (ports.empty()) return "";
  const RdmaPort& first = ports.at(matrix.nics[nics.front()]);
  for (const std::size_t nic : nics) {
    const std::string& adapter = matrix.nics[nic];
    const RdmaPort& port = ports.at(adapter);
    if (port.rate == first.rate && port.link_layer == first.link_layer) continue;
    throw InputError(fmt::format(
        "--ibstat: expected NICs that are alike, got {} at {} Gbit/s over {} and {} at {} over {}; one that came up "
        "slower than its neighbours is a fault, and --nic without --ibstat says what all have",
        matrix.nics[nics.front()], first.rate, first.link_layer, adapter, port.rate, port.link_layer));
  }
  topology.set("/node/nic/rate", nlohmann::json(fmt::format("{} Gbit/s", first.rate)).dump());
  return fmt::format(" of {} Gbit/s over {}", first.rate, first.link_layer);
}

/// Sockets and switches of the GPUs; says which NICs are where.
std::string put_pcie(const NodeMatrix& matrix, const Ports& ports, Document& topology) {
  const std::string where = "/node/fabric/pcie";
  const std::size_t gpus = matrix.gpus;
  const std::vector<std::size_t> nics = near_nics(matrix, ports);
  const auto on_switch = [&](std::size_t one, std::size_t other) {
    return std::ranges::any_of(nics, [&](std::size_t nic) {
      return matrix.distance(one, nic) <= on_one_switch && matrix.distance(other, nic) <= on_one_switch;
    });
  };
  const auto of_socket = share_of(
      gpus, [&](std::size_t one, std::size_t other) { return matrix.rows[one].socket == matrix.rows[other].socket; });
  const auto of_switch = share_of(gpus, on_switch);
  if (!of_socket || !of_switch || *of_socket % *of_switch != 0) {
    refuse_cell(matrix.rows.front().place,
                "GPUs of a socket, and of a PCIe switch, one behind the other and as many on each", "others");
  }
  const std::size_t sockets = gpus / *of_socket;
  if (!topology.find(where)) {
    refuse_cell(matrix.rows.front().place, "a --topology whose nodes have PCIe links of a known rate", "one without");
  }
  topology.set(where + "/comment", "Sockets and switches by nvidia-smi topo -m.");
  topology.set(where + "/sockets", std::to_string(sockets));
  topology.set(where + "/devices_per_switch", std::to_string(*of_switch));
  if (sockets == 1) topology.remove(where + "/interconnect");
  if (sockets > 1 && !topology.find(where + "/interconnect")) {
    refuse_cell(matrix.rows.front().place, "a --topology whose sockets are joined at a known rate, as dgx-a100's",
                fmt::format("{} sockets, and one whose nodes have one", sockets));
  }
  std::vector<std::string> places;
  for (const std::size_t nic : nics) {
    std::size_t nearest = 0;
    for (std::size_t gpu = 1; gpu < gpus; ++gpu) {
      if (matrix.distance(gpu, nic) < matrix.distance(nearest, nic)) nearest = gpu;
    }
    const bool is_on_switch = *of_switch > 1 && matrix.distance(nearest, nic) <= on_one_switch;
    places.push_back(is_on_switch ? fmt::format("switch{}", nearest / *of_switch)
                                  : fmt::format("socket{}", nearest / *of_socket));
  }
  if (nics.empty()) {
    refuse_cell(matrix.rows.front().place, "a NIC on the socket of a GPU",
                ports.empty() ? "none" : "none that --ibstat says is up");
  }
  topology.set("/node/nics_at", nlohmann::json(places).dump());
  const std::string rate = put_rate(matrix, nics, ports, topology);
  const std::size_t left = matrix.nics.size() - nics.size();
  return fmt::format(
      "{} {}, {} NICs{}{}", sockets, sockets == 1 ? "socket" : "sockets", nics.size(), rate,
      left > 0 ? fmt::format(" ({} further off{} left out)", left, ports.empty() ? "" : " or down") : "");
}

}  // namespace

std::string put_node_matrix(const std::string& text, const std::string& file, const Ports& ports, Document& topology) {
  const NodeMatrix matrix = read_matrix(text, file);
  const auto before = topology.find("/node/devices");
  const bool has_as_many = before && read<std::int64_t>(*before) == static_cast<std::int64_t>(matrix.gpus);
  if (matrix.nics.empty() && !has_as_many) {
    refuse_cell(file, fmt::format("columns of NICs, or a --topology with nodes of {} GPUs", matrix.gpus), "neither");
  }
  if (matrix.nics.empty() && !ports.empty()) refuse_cell(file, "columns of NICs, whose rates --ibstat says", "none");
  topology.set("/node/devices", std::to_string(matrix.gpus));
  topology.remove("/node/measurements");  // of another node
  const std::string nvlinks = put_nvlinks(matrix, topology);
  const std::string pcie = matrix.nics.empty() ? "sockets and NICs as there" : put_pcie(matrix, ports, topology);
  return fmt::format("{} GPUs, {}, {}", matrix.gpus, nvlinks, pcie);
}

}  // namespace farandole
