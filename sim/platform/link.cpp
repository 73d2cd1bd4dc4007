#include "platform/link.hpp"

#include <array>
#include <numeric>
#include <utility>

#include "config/section.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace platform {
Paths side_by_side(const std::vector<Paths>& ways) {
  if (ways.size() == 1) return ways.front();
  std::size_t each = 1;
  for (const Paths& way : ways) each = std::lcm(each, way.size());
  Paths result;
  for (const Paths& way : ways) {
    for (std::size_t i = 0; i < each; ++i) result.push_back(way[i % way.size()]);
  }
  return result;
}

Paths end_to_end(const Paths& out, int first_out, const Paths& across, const Paths& in, int first_in) {
  Paths paths(std::lcm(out.size(), std::lcm(across.size(), in.size())));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto append = [&](const Path& links, int first_link) {
      for (const int link : links) paths[i].push_back(first_link + link);
    };
    paths[i].reserve(out[i % out.size()].size() + across[i % across.size()].size() + in[i % in.size()].size());
    append(out[i % out.size()], first_out);
    append(across[i % across.size()], 0);
    append(in[i % in.size()], first_in);
  }
  return paths;
}

Paths shifted(Paths paths, int first_link) {
  for (Path& path : paths) {
    for (int& link : path) link += first_link;
  }
  return paths;
}

std::span<const Entry<PacketFormat>> protocols() {
  static const std::array<Entry<PacketFormat>, 8> table{{
      // IEEE 802.3: preamble 8, header 14, check 4, gap 12. RFC 791 and 9293: IPv4 20, TCP 20; RFC 7323: timestamps 12.
      {"tcp", "TCP over IPv4 and Ethernet, with timestamps", {1500_B, 52_B, 38_B, 1}},
      // Ethernet as above; IPv4 20, UDP 8. InfiniBand architecture, annex A17: transport header 12, invariant check 4.
      // The extended header of the first packet of a message (16) is lost among thousands.
      {"roce_v2", "RDMA over UDP, IPv4 and Ethernet", {4096_B, 0_B, 82_B, 1}},
      // InfiniBand architecture, volume 1: local header 8, transport header 12, checks 4 and 2. EDR and HDR are named
      // by
      // their rate behind the line coding.
      {"infiniband", "InfiniBand within one subnet", {4096_B, 0_B, 26_B, 1}},
      // Cray WP-Aries01-1112: 64 % of a link's rate is payload when packets are full, with 64 bytes each.
      {"aries", "Cray Aries, full packets of 64 bytes", {64_B, 0_B, 36_B, 1}},
      // Assumed: the packets of RoCE v2. Slingshot 10 sends just those; Slingshot 11 trims some of the headers.
      {"slingshot", "HPE Slingshot", {4096_B, 0_B, 82_B, 1}},
      // A cache line of a GPU, 128 bytes, in 8 flits of 16 bytes after one with the header (NVIDIA P100 white paper;
      // en.wikichip.org/wiki/nvidia/nvlink). 20 and 25 GB/s become 17.8 and 22.2: NCCL counts on 18 and 22.
      {"nvlink", "NVLink, one cache line a packet", {128_B, 0_B, 16_B, 1}},
      // Kolla, Alizadeh and Lee, "Understanding RCCL Bandwidth and xGMI Performance on AMD Instinct MI300X"
      // (rocm.blogs.amd.com, 2025): checks and the protocol leave 48 of 64 GB/s. RCCL counts on 48, and of MI250X's 50
      // GB/s on 36.
      {"infinity_fabric", "Infinity Fabric between AMD's GPUs", {64_B, 0_B, 0_B, .75}},
      // PCI Express 3.0: 128b/130b; start token with sequence number 4, header with 64-bit address 16, check 4.
      {"pcie", "PCI Express from its third generation on", {256_B, 0_B, 24_B, 128.0 / 130.0}},
  }};
  return table;
}

PacketFormat read_protocol(const Value& where) {
  Section section(where);
  const Value name = section.child("name");
  PacketFormat format = find(protocols(), read<std::string>(name), "a protocol", name).builder;
  if (const auto mtu = section.maybe("mtu")) {
    format.mtu = read<Bytes>(*mtu);
    if (format.mtu <= format.inside) mtu->fail("more than the headers inside it, " + farandole::format(format.inside));
  }
  format.around = section.optional<Bytes>("framing", format.around);
  if (const auto packets = section.maybe("packets_per_acknowledgement"))
    format.packets_per_acknowledgement = read_at_least(*packets, 1);
  for (auto [key, rate] : {std::pair{"flow_rate", &format.flow_rate}, std::pair{"cpu_rate", &format.cpu_rate}}) {
    if (const auto value = section.maybe(key)) {
      *rate = read<BytesPerSecond>(*value);
      if (*rate <= BytesPerSecond(0)) value->fail("a rate above zero");
    }
  }
  section.finish();
  return format;
}

}}  // namespace farandole::platform
