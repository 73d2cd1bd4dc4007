#include "pcie_links.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "config/section.hpp"

namespace farandole {
namespace {

struct PcieLink {
  double transfers = 0;  // GT/s of a lane
  int lanes = 0;
  /// GB/s. Up to 5 GT/s eight bits take ten, from 8 on NCCL counts as much of each lane as of those.
  [[nodiscard]] double rate() const { return transfers * (transfers < 8 ? 0.075 : 0.09375) * lanes; }
  [[nodiscard]] std::string text() const { return fmt::format("{:g} GT/s x{}", transfers, lanes); }
};

struct PcieDevice {
  std::string address;  // "0000:17:00.0"
  std::string kind;     // "3D controller: NVIDIA Corporation ..."
  std::optional<PcieLink> can;
  std::optional<PcieLink> is;

  [[nodiscard]] std::string bus() const { return address.substr(0, address.rfind(':')); }
  [[nodiscard]] bool is_gpu() const {
    const bool is_display = kind.starts_with("3D controller") || kind.starts_with("VGA compatible controller") ||
                            kind.starts_with("Display controller") || kind.starts_with("Processing accelerators");
    return is_display && (kind.find("NVIDIA") != std::string::npos || kind.find("AMD/ATI") != std::string::npos);
  }
  [[nodiscard]] bool is_nic() const {
    return kind.starts_with("Infiniband controller") || kind.starts_with("InfiniBand controller") ||
           kind.starts_with("Ethernet controller");
  }
};

/// "17:00.0 3D controller: ..." or "0000:17:00.0 ..."; nothing where a line is none of a device.
std::optional<PcieDevice> device_in(const std::string& line) {
  const auto space = line.find(' ');
  if (space == std::string::npos || space < 7) return std::nullopt;
  std::string address = line.substr(0, space);
  if (address.find_first_not_of("0123456789abcdef:.") != std::string::npos || address[address.size() - 2] != '.')
    return std::nullopt;
  if (std::ranges::count(address, ':') == 1) address = "0000:" + address;
  return PcieDevice{address, line.substr(space + 1), {}, {}};
}

/// "LnkSta: Speed 16GT/s (ok), Width x16 (ok)". Nothing where it says neither.
std::optional<PcieLink> link_in(const std::string& line) {
  const auto number_behind = [&](const char* word) {
    const auto place = line.find(word);
    double number = 0;
    if (place != std::string::npos) std::istringstream(line.substr(place + std::string_view(word).size())) >> number;
    return number;
  };
  constexpr double most_transfers = 256;
  constexpr double most_lanes = 32;
  const double transfers = number_behind("Speed ");
  const double lanes = number_behind("Width x");
  const bool is_link = transfers > 0 && transfers <= most_transfers && lanes >= 1 && lanes <= most_lanes;
  return is_link ? std::optional(PcieLink{transfers, static_cast<int>(lanes)}) : std::nullopt;
}

struct Listing {
  std::vector<PcieDevice> devices;
  std::map<std::string, double> ports;  // GT/s that the port above a bus can
};

Listing read_listing(const std::string& text) {
  Listing listing;
  std::string below;  // the bus behind a bridge
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (auto device = device_in(line)) {
      listing.devices.push_back(std::move(*device));
      below.clear();
      continue;
    }
    if (listing.devices.empty()) continue;
    PcieDevice& device = listing.devices.back();
    if (const auto place = line.find("secondary="); place != std::string::npos)
      below = device.address.substr(0, 5) + line.substr(place + 10, 2);
    if (line.find("LnkCap:") != std::string::npos) device.can = link_in(line);
    if (line.find("LnkSta:") != std::string::npos) device.is = link_in(line);
    if (!below.empty() && device.can) listing.ports[below] = device.can->transfers;
  }
  return listing;
}

/// Of the GPUs, as they are while they work.
std::vector<std::pair<std::string, PcieLink>> links_of_gpus(const Listing& listing) {
  std::vector<std::pair<std::string, PcieLink>> links;
  for (const PcieDevice& device : listing.devices) {
    if (!device.is_gpu() || !device.can || !device.is) continue;
    const auto port = listing.ports.find(device.bus());
    const double most = port == listing.ports.end() ? device.is->transfers : port->second;
    links.emplace_back(device.address, PcieLink{std::max(device.is->transfers, std::min(device.can->transfers, most)),
                                                device.is->lanes});
  }
  return links;
}

/// The fastest first.
std::vector<std::pair<std::string, PcieLink>> links_of_nics(const Listing& listing) {
  std::vector<std::pair<std::string, PcieLink>> links;
  for (const PcieDevice& device : listing.devices) {
    if (device.is_nic() && device.is) links.emplace_back(device.address, *device.is);
  }
  std::ranges::stable_sort(links, std::ranges::greater{}, [](const auto& link) { return link.second.rate(); });
  return links;
}

/// What all of them have.
PcieLink one_of(const std::string& file, const std::vector<std::pair<std::string, PcieLink>>& links, std::size_t count,
                const char* what) {
  if (links.size() < count) {
    throw InputError(fmt::format("{}: expected LnkCap and LnkSta of {} {}, as root is told by lspci -vv, got {}", file,
                                 count, what, links.size()));
  }
  const auto& [address, first] = links.front();
  for (std::size_t place = 1; place < count; ++place) {
    const auto& [other, link] = links[place];
    if (link.text() == first.text()) continue;
    throw InputError(fmt::format(
        "{}: expected {} whose links are alike, got {} at {} and {} at {}; one that came up with fewer or slower lanes "
        "is a fault (farandole diagnose has it as a suspect)",
        file, what, address, first.text(), other, link.text()));
  }
  return first;
}

}  // namespace

std::string put_pcie_links(const std::string& text, const std::string& file, Document& topology) {
  const Listing listing = read_listing(text);
  const auto gpus = links_of_gpus(listing);
  const auto devices = static_cast<std::size_t>(read<std::int64_t>(*topology.find("/node/devices")));
  if (gpus.size() > devices)
    throw InputError(fmt::format("{}: expected {} GPUs, as the matrix has, got {}", file, devices, gpus.size()));
  const PcieLink of_gpu = one_of(file, gpus, devices, "GPUs");
  const char* const where = "/node/fabric/pcie/link";
  if (!topology.find(where)) throw InputError("--lspci: expected a --topology with links of PCIe, got one without");
  topology.set(std::string(where) + "/rate", nlohmann::json(fmt::format("{:g} GB/s", of_gpu.rate())).dump());
  topology.set(std::string(where) + "/source",
               nlohmann::json("lspci -vv: " + of_gpu.text() + "; NCCL, src/graph/topo.cc: kvDictPciGen").dump());
  std::string found = fmt::format("PCIe {}", of_gpu.text());
  const auto places = topology.find("/node/nics_at");
  const auto rate = topology.find("/node/nic/rate");
  if (!places || !places->is_array() || !rate) return found;
  const PcieLink of_nic = one_of(file, links_of_nics(listing), places->elements().size(), "NICs");
  if (of_nic.rate() < of_gpu.rate() && BytesPerSecond(of_nic.rate() * 1e9) < read<BytesPerSecond>(*rate)) {
    topology.set("/node/nic/rate", nlohmann::json(fmt::format("{:g} GB/s", of_nic.rate())).dump());
    found += fmt::format(", of NICs {}, which they carry no more than", of_nic.text());
  }
  return found;
}

}  // namespace farandole
